"""What a teammate gave the team is found as soon as it was pulled, and is gone once it was forgotten."""

from __future__ import annotations

from holdfast.engine.index import visible_from
from holdfast.settings import Sharing
from tests.engine.sharing.machines import Fleet, SharingMachine
from tests.engine.stage import NOON

TEAM = Sharing(hubs=("work: *",), memories="team")
PORT = "The staging database listens on port 6543"


def found_on(machine: SharingMachine) -> list[tuple[str, str]]:
    """The texts about the port in the index, with their sources; nothing is refreshed by looking."""
    where = visible_from(machine.project)
    hits = machine.store.search(["staging", "port"], where, 10)
    return [(each.text, each.source) for each in machine.store.around([hit.id for hit in hits], 0, where)]


def test_a_team_memory_is_in_the_index_after_a_pull_until_its_author_forgets_it(fleet: Fleet) -> None:
    of_ada, of_bob = fleet.machine("laptop", "ada", TEAM), fleet.machine("desk", "bob", TEAM)
    id = of_ada.at(NOON).remember(PORT)
    with of_ada.store.writing():
        of_ada.store.mark_for_team(id, NOON)
    of_ada.exchange()
    of_bob.at(NOON + 1_000).exchange()
    assert found_on(of_bob) == [(PORT, "memory of ada on laptop")]

    of_ada.at(NOON + 2_000).forget(id)
    of_ada.exchange()
    of_bob.at(NOON + 3_000).exchange()
    assert found_on(of_bob) == []
