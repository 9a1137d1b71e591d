"""Machines that share through a hub: what goes out, what arrives, and what happens when anything fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.events.world import Project
from holdfast.core.memory.memory import MemoryScope
from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, SharedKind
from holdfast.engine.sharing.exchange import exchange
from holdfast.engine.sharing.report import notes_of
from holdfast.errors import HubAway, HubRefused, ProtectionUnreadable
from holdfast.settings import Config, Redact, Sharing, Unreadable
from holdfast.stores.hub.base import Identification
from holdfast.stores.shared import TEAM_PREFIX, ItemKey
from tests.engine.sharing.machines import EVERYTHING, NAME, OWN_MEMORIES, Fleet
from tests.engine.stage import NOON

HOUR = 3_600_000


def test_a_memory_reaches_the_other_machine_of_its_person_and_behaves_like_one_of_its_own(
    fleet: Fleet,
) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    assert laptop.exchange().sent == 1
    assert desk.exchange().pulled == 1
    assert desk.texts() == {id: "The staging port is 5433."}
    assert desk.library.texts("staging port", desk.project) == ["The staging port is 5433."]
    assert [each.source for each in desk.store.memories_named([id])] == ["hub:laptop"]
    assert desk.exchange().sent == 0, "what came from the hub is not sent back"


def test_nothing_is_sent_by_default(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=Sharing())
    laptop.remember("The staging port is 5433.")
    laptop.exchange()
    assert fleet.database.items == {}


def test_a_project_that_matches_no_hub_shares_nothing(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=replace(EVERYTHING, hubs=("work: gitlab.com/*",)))
    laptop.remember("The staging port is 5433.")
    laptop.exchange()
    assert fleet.database.items == {}


def test_nobody_else_gets_own_memories_and_the_team_gets_those_that_were_marked(fleet: Fleet) -> None:
    laptop, bobs = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("bobs", "bob", EVERYTHING)
    laptop.remember("My own habit.")
    marked = laptop.remember("The team deploys on Mondays.")
    with laptop.store.writing():
        laptop.store.mark_for_team(marked, NOON)
    laptop.exchange()
    bobs.exchange()
    (item,) = bobs.items(SharedKind.MEMORY)
    assert (item.person, item.machine.name, item.is_mine) == ("ada", "laptop", False)
    assert "Mondays" in item.body
    assert bobs.texts() == {}, "what a colleague wrote is not this person's memory"
    with laptop.store.writing():
        laptop.store.unmark_for_team(marked)
    laptop.exchange()
    bobs.exchange()
    assert bobs.items() == []
    assert len(laptop.texts()) == 2


def test_an_edit_on_one_machine_reaches_the_other(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    laptop.exchange()
    desk.exchange()
    desk.at(NOON + HOUR).edit(id, "The staging port is 6000.")
    desk.exchange()
    laptop.exchange()
    assert laptop.texts() == desk.texts() == {id: "The staging port is 6000."}
    assert laptop.library.texts("staging port", laptop.project) == ["The staging port is 6000."]


@pytest.mark.parametrize("ahead", [0, 5 * HOUR, -5 * HOUR])
def test_of_two_edits_the_later_one_wins_on_both_machines_whatever_their_clocks_say(
    fleet: Fleet, ahead: int
) -> None:
    laptop, desk = fleet.machine("laptop", clock_ahead=ahead), fleet.machine("desk")
    id = laptop.at(NOON).remember("The staging port is 5433.")
    laptop.exchange()
    desk.at(NOON).exchange()
    laptop.at(NOON + 1_000).edit(id, "Earlier.")
    laptop.push_stamps()
    desk.at(NOON + 60_000).edit(id, "Later.")
    desk.exchange()
    laptop.at(NOON + 120_000).exchange()
    desk.at(NOON + 120_000).exchange()
    assert laptop.texts() == desk.texts() == {id: "Later."}
    for machine in (laptop, desk):
        versions = machine.store.versions(ItemKey("work", NAME, SharedKind.MEMORY, id))
        assert [(each.machine.name, each.holds) for each in versions] == [("desk", True), ("laptop", False)]
        assert "Earlier." in versions[1].body, "the other one is history"


def test_forgetting_reaches_every_machine_and_nothing_comes_back(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    laptop.exchange()
    desk.exchange()
    desk.forget(id)
    desk.exchange()
    assert fleet.database.texts == {}
    laptop.exchange()
    assert laptop.texts() == desk.texts() == {}
    assert laptop.library.texts("staging port", laptop.project) == []
    for machine in (laptop, desk):
        assert not any("5433" in each.text for each in machine.store.texts())
        assert "5433" not in (machine.library.home / "forgotten.jsonl").read_text()
        machine.exchange()
    assert laptop.texts() == desk.texts() == {}


def test_an_edit_that_does_not_know_of_the_forgetting_brings_nothing_back(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    laptop.exchange()
    desk.exchange()
    laptop.forget(id)
    laptop.exchange()
    desk.at(NOON + HOUR).edit(id, "The staging port is 6000.")
    for machine in (desk, laptop, desk, laptop):
        machine.exchange()
    assert laptop.texts() == desk.texts() == {}
    assert fleet.database.texts == {}, "what was sent in ignorance is taken back"


def test_what_was_announced_waits_while_the_hub_is_away_and_the_problem_is_noted(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.remember("The staging port is 5433.")
    fleet.database.fails_before = [HubAway("the hub does not answer", "look at it"), HubAway("still not")]
    for _ in range(2):
        with pytest.raises(HubAway):
            laptop.at(laptop.library.now + 1).exchange()
    notes = notes_of(laptop.store, "work")
    assert (notes.problem, notes.pushed_at) == ("still not", 0)
    assert notes.failing_since == notes.tried_at - 1, "since when it fails is not forgotten"
    assert laptop.exchange().sent == 1
    notes = notes_of(laptop.store, "work")
    assert (notes.problem, notes.failing_since, bool(notes.pushed_at)) == ("", 0, True)


def test_what_the_hub_committed_before_the_connection_broke_is_not_doubled(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    fleet.database.fails_after = [HubAway("the connection broke")]
    with pytest.raises(HubAway):
        laptop.exchange()
    laptop.at(NOON + HOUR).exchange()
    desk.exchange()
    assert len(fleet.database.items) == 1
    assert desk.texts() == {id: "The staging port is 5433."}
    own = laptop.store.versions(ItemKey("work", NAME, SharedKind.MEMORY, id))[0]
    assert own.at == next(iter(fleet.database.items.values())).at, "both sides know the same version"


def test_a_memory_forgotten_before_the_acknowledgement_is_removed_at_the_hub(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    id = laptop.remember("The staging port is 5433.")
    fleet.database.fails_after = [HubAway("the connection broke")]
    with pytest.raises(HubAway):
        laptop.exchange()
    laptop.forget(id)
    laptop.exchange()
    assert [each.is_removed for each in fleet.database.items.values()] == [True]


def test_a_change_during_the_push_is_sent_next(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    original = laptop.hub.push

    def changing(project: str, machine: str, items: list[object]) -> None:
        original(project, machine, items)  # type: ignore[arg-type]
        laptop.hub.push = original  # type: ignore[method-assign]
        laptop.edit(id, "The staging port is 6000.")

    laptop.hub.push = changing  # type: ignore[method-assign,assignment]
    laptop.exchange()
    laptop.exchange()
    desk.exchange()
    assert desk.texts() == {id: "The staging port is 6000."}


def test_a_restored_store_continues_above_what_it_ever_sent(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    for n in range(5):
        laptop.edit(id, f"The staging port is {n}.")
        laptop.exchange()
    desk.exchange()
    restored = fleet.restored(laptop)
    new = restored.remember("After the restore.")
    restored.exchange()
    desk.exchange()
    assert desk.texts() == {id: "The staging port is 4.", new: "After the restore."}
    restored.edit(new, "After the restore, changed.")
    restored.exchange()
    desk.exchange()
    assert desk.texts()[new] == "After the restore, changed."
    assert restored.texts() == desk.texts(), "what it had sent came back to it"


def test_text_of_an_older_redactor_waits(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.remember("The staging port is 5433.")
    laptop.library.config = replace(laptop.library.config, redact=Redact(deny=("5433",)))
    exchanged = laptop.exchange()
    assert (exchanged.sent, exchanged.waiting) == (0, 1)
    assert notes_of(laptop.store, "work").pushed_at == 0, "never called sent when it is not"
    redactor = laptop.engine.redactor(laptop.project)
    with laptop.store.writing():
        laptop.store.rewrite(redactor.mark, redactor.redacted, 1_000, 1_000_000)
    assert laptop.exchange().sent == 1
    (item,) = fleet.database.items.values()
    assert "5433" not in item.body


def test_what_arrives_is_redacted_by_the_rules_of_this_machine(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    desk.library.config = replace(desk.library.config, redact=Redact(deny=("Blue Heron",)))
    laptop.remember("The codename is Blue Heron.")
    laptop.exchange()
    desk.exchange()
    assert not any("Blue Heron" in each.text for each in desk.store.texts())


def test_who_may_only_read_still_pulls(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    laptop.remember("The staging port is 5433.")
    laptop.exchange()
    desk.remember("Waits here.")
    fleet.database.inner.connect_owner().invite("ada", "team", is_read_only=True)
    assert desk.exchange().waiting == 1
    assert "The staging port is 5433." in desk.texts().values()
    notes = notes_of(desk.store, "work")
    assert (notes.is_read_only, notes.problem, notes.pushed_at) == (True, "", 0)


def test_what_others_sent_is_pulled_even_if_the_hub_refuses_what_is_sent(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    laptop.remember("The staging port is 5433.")
    laptop.exchange()
    desk.remember("Waits here.")
    fleet.database.fails_before = [HubRefused("no rights", "ask its owner")]
    with pytest.raises(HubRefused):
        desk.exchange()
    assert "The staging port is 5433." in desk.texts().values()
    notes = notes_of(desk.store, "work")
    assert (notes.problem, notes.hint, notes.pushed_at) == ("no rights", "ask its owner", 0)


def test_a_machine_that_applied_the_changes_says_so(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    laptop.remember("The staging port is 5433.")
    laptop.exchange()
    assert {each.machine.name: each.applied for each in laptop.hub.machines(NAME)} == {"laptop": 1}
    desk.exchange()
    assert {each.machine.name: each.applied for each in laptop.hub.machines(NAME)} == {"laptop": 1, "desk": 1}


def test_a_project_that_became_known_under_another_name_is_still_found(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    laptop.exchange()
    desk.rename("github.com/acme/store")
    laptop.rename("github.com/acme/store")
    desk.exchange()
    assert list(desk.texts()) == [id]
    laptop.edit(id, "The staging port is 6000.")
    laptop.exchange()
    desk.exchange()
    desk.exchange()
    assert desk.texts() == {id: "The staging port is 6000."}
    projects = [key[0] for key, item in fleet.database.items.items() if item.body]
    assert projects == ["github.com/acme/store"], "the former one is removed"


def test_personal_memories_go_where_the_settings_say(fleet: Fleet) -> None:
    sharing = replace(OWN_MEMORIES, hubs=("work: ~",))
    laptop, desk = fleet.machine("laptop", sharing=sharing), fleet.machine("desk", sharing=sharing)
    laptop.remember("Of this project alone.")
    id = laptop.remember("I prefer tabs.", scope=MemoryScope.USER)
    laptop.exchange()
    desk.exchange()
    assert desk.texts() == {id: "I prefer tabs."}
    assert [each.scope for each in desk.store.memories_named([id])] == [MemoryScope.USER]


def test_a_change_that_nobody_gave_a_time_yet_is_of_now(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    identify = laptop.hub.identify

    def remembering(machine: Machine) -> Identification:
        laptop.remember("Said while the round begins.")
        return identify(machine)

    laptop.hub.identify = remembering  # type: ignore[method-assign]
    laptop.at(NOON + HOUR).exchange()
    assert [NOON + HOUR <= each.at <= NOON + HOUR + 9 for each in fleet.database.items.values()] == [True]


def test_a_stopping_daemon_does_not_wait_and_says_nothing_untrue(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.remember("The staging port is 5433.")
    laptop.stops = True
    assert laptop.exchange().sent == 0
    assert notes_of(laptop.store, "work").pushed_at == notes_of(laptop.store, "work").pulled_at == 0


def test_the_id_of_a_team_copy_differs_from_that_of_the_own_one(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=EVERYTHING)
    id = laptop.remember("The team deploys on Mondays.")
    with laptop.store.writing():
        laptop.store.mark_for_team(id, NOON)
    laptop.exchange()
    audiences = {key[3]: each.audience for key, each in fleet.database.items.items()}
    assert audiences == {id: Audience.OWN, f"{TEAM_PREFIX}{id}": Audience.TEAM}


def test_erasing_removes_everything_at_the_hub_and_from_colleagues_and_nothing_here(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("desk", sharing=EVERYTHING)
    bobs = fleet.machine("bobs", "bob", EVERYTHING)
    id = laptop.remember("The team deploys on Mondays.")
    with laptop.store.writing():
        laptop.store.mark_for_team(id, NOON)
    for machine in (laptop, desk, bobs):
        machine.exchange()
    assert len(bobs.items()) == 1
    laptop.hub.erase_own(None)
    for machine in (desk, bobs):
        machine.exchange()
    assert (fleet.database.texts, bobs.items()) == ({}, [])
    assert laptop.texts() == desk.texts() == {id: "The team deploys on Mondays."}, "nobody forgot it"


def test_while_the_settings_cannot_be_read_nothing_is_sent_and_nothing_is_lost(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.remember("The staging port is 5433.")
    readable = laptop.library.config
    laptop.library.config = replace(readable, unreadable=Unreadable("a mistake", "mend it", everywhere=True))
    with pytest.raises(ProtectionUnreadable):
        laptop.exchange()
    assert fleet.database.items == {}
    laptop.library.config = readable
    assert laptop.exchange().sent == 1


def test_while_the_settings_of_one_project_cannot_be_read_that_project_waits(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.exchange()
    laptop.remember("The staging port is 5433.")
    engine = laptop.engine
    mistake = Unreadable("a mistake", "mend it", everywhere=False)

    def settings(project: Project) -> Config:
        config = engine.config(project)
        return replace(config, unreadable=mistake) if project.project_id else config

    exchanged = exchange(replace(engine, config=settings), laptop.link, lambda: True)
    assert (exchanged.sent, exchanged.waiting, fleet.database.items) == (0, 1, {})
    assert laptop.exchange().sent == 1


def test_a_hub_that_was_restored_from_an_old_backup_gets_what_it_lost(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    first, second = laptop.remember("The staging port is 5433."), laptop.remember("Releases are signed.")
    for machine in (laptop, desk):
        machine.exchange()
    desk.forget(second)
    for machine in (desk, laptop):
        machine.exchange()
    fleet.database.lose_everything()
    new = desk.remember("Said after the hub came back.")
    for machine in (laptop, desk, laptop):
        machine.exchange()
    assert set(fleet.database.texts) == {first, new}
    assert set(laptop.texts()) == set(desk.texts()) == {first, new}
    assert laptop.exchange().sent == desk.exchange().sent == 0
