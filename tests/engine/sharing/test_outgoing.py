"""What of each kind leaves a machine, in which form, and when it is taken back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from holdfast.core.documents.continuity import LayerName
from holdfast.core.redaction.redact import NO_LISTS
from holdfast.core.session.session import Phase
from holdfast.core.sharing.items import SharedKind
from holdfast.engine.documents import continuity
from holdfast.engine.privacy.forget import Everything, OneProject, OneSession, forget
from holdfast.engine.redaction.redactor import mark_of
from holdfast.engine.sharing.status import conflicts
from holdfast.settings import Sharing
from tests.engine.sharing.machines import EVERYTHING, Fleet, SharingMachine
from tests.engine.stage import NOON
from tests.stores.contract import CHECKPOINT, SESSION, Field

MARK = mark_of(NO_LISTS)
HANDOFF = """# Handoff: Finish the report

- Created: 2026-01-01T12:00:00Z
- Status: open

Go on with `report.py` in {root}; the token is ghp_abcdefghijklmnopqrstuvwxyz0123456789.
"""


def write_handoff(machine: SharingMachine, name: str, text: str = HANDOFF) -> Path:
    folder = Path(machine.project.root, ".agents", "handoffs")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text.format(root=machine.project.root))
    return path


def write_continuity(machine: SharingMachine, text: str) -> None:
    files = continuity.continuity_files(machine.engine, machine.library.home, machine.project)
    path = files.places.target(LayerName.SHARED).whole
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def work(machine: SharingMachine) -> None:
    """A session with a checkpoint."""
    project = machine.project
    session = replace(SESSION, project=project, started_at=NOON, last_event_at=NOON)
    checkpoint = replace(
        CHECKPOINT, project_id=project.project_id, project=project.path, project_normalized=project.normalized
    )
    with machine.store.writing():
        machine.store.put_session(session, MARK)
        machine.store.add_checkpoint(checkpoint, MARK)


def kinds_at_hub(fleet: Fleet) -> list[str]:
    return sorted(key[2] for key, item in fleet.database.items.items() if item.body)


def test_a_handoff_reaches_colleagues_redacted_and_without_local_paths(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=replace(EVERYTHING, own=False))
    bobs = fleet.machine("bobs", "bob", EVERYTHING)
    write_handoff(laptop, "report.md")
    laptop.exchange()
    bobs.exchange()
    (item,) = bobs.items(SharedKind.HANDOFF)
    body = json.loads(item.body)
    assert body["name"] == "report.md"
    assert "report.py" in body["text"]
    assert "ghp_" not in item.body
    assert str(fleet.folder) not in item.body


def test_a_handoff_that_changes_or_goes_does_so_everywhere(fleet: Fleet) -> None:
    laptop, bobs = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("bobs", "bob", EVERYTHING)
    path = write_handoff(laptop, "report.md")
    laptop.exchange()
    assert laptop.exchange().sent == 0, "an unchanged file is not sent again"
    write_handoff(laptop, "report.md", HANDOFF.replace("Go on", "Begin"))
    assert laptop.exchange().sent == 1
    bobs.exchange()
    assert "Begin" in bobs.items(SharedKind.HANDOFF)[0].body
    path.unlink()
    laptop.exchange()
    bobs.exchange()
    assert bobs.items() == []


def test_handoffs_of_two_machines_with_one_name_are_two(fleet: Fleet) -> None:
    laptop, bobs = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("bobs", "bob", EVERYTHING)
    for machine in (laptop, bobs):
        write_handoff(machine, "report.md")
        machine.exchange()
    laptop.exchange()
    assert [each.person for each in laptop.items(SharedKind.HANDOFF)] == ["bob"]
    assert len(fleet.database.items) == 2


def test_two_clones_on_one_machine_do_not_take_back_each_others_documents(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=EVERYTHING)
    clone = fleet.clone(laptop)
    write_handoff(laptop, "report.md")
    write_handoff(clone, "other.md")
    write_continuity(laptop, "# Continuity\n\n## Goal\n\n- Ship the shop.\n")
    write_continuity(clone, "# Continuity\n\n## Goal\n\n- Ship it in May.\n")
    assert laptop.exchange().sent == 3
    assert laptop.exchange().sent == 0
    assert kinds_at_hub(fleet) == ["continuity", "handoff", "handoff"]
    assert "in May" in "".join(fleet.database.texts.values()), "the one that was written last"


def test_a_clone_that_is_gone_takes_nothing_back(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=EVERYTHING)
    write_handoff(laptop, "report.md")
    laptop.exchange()
    Path(laptop.project.root).rename(fleet.folder / "elsewhere")
    laptop.exchange()
    assert kinds_at_hub(fleet) == ["handoff"]


def test_of_two_continuities_the_later_one_holds_and_the_other_is_history(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("desk", sharing=EVERYTHING)
    bobs = fleet.machine("bobs", "bob", EVERYTHING)
    write_continuity(laptop, "# Continuity\n\n## Goal\n\n- Ship the shop.\n")
    laptop.at(NOON).exchange()
    write_continuity(desk, "# Continuity\n\n## Goal\n\n- Ship it in May.\n")
    desk.at(NOON + 60_000).exchange()
    bobs.exchange()
    (item,) = bobs.items(SharedKind.CONTINUITY)
    assert (item.machine.name, "in May" in item.body) == ("desk", True)
    assert [each.machine.name for each in bobs.store.versions(item.key)] == ["desk", "laptop"]


def test_the_state_of_a_session_goes_to_own_machines_alone(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("desk", sharing=EVERYTHING)
    bobs = fleet.machine("bobs", "bob", EVERYTHING)
    work(laptop)
    for machine in (laptop, desk, bobs):
        machine.exchange()
    assert [each.key.id for each in desk.items(SharedKind.SESSION)] == ["s1"]
    assert bobs.items(SharedKind.SESSION) == []
    assert len(bobs.items(SharedKind.CHECKPOINT)) == 1


def test_checkpoints_that_are_not_shared_with_the_team_go_with_the_sessions(fleet: Fleet) -> None:
    sharing = Sharing(hubs=("work: *",), sessions="own")
    laptop, desk = fleet.machine("laptop", sharing=sharing), fleet.machine("desk", sharing=sharing)
    bobs = fleet.machine("bobs", "bob", EVERYTHING)
    work(laptop)
    for machine in (laptop, desk, bobs):
        machine.exchange()
    assert {each.key.kind for each in desk.items()} == {SharedKind.SESSION, SharedKind.CHECKPOINT}
    assert bobs.items() == []


def test_forgetting_a_session_reaches_the_other_machines(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("desk", sharing=EVERYTHING)
    work(laptop)
    laptop.exchange()
    desk.exchange()
    forget(laptop.store, laptop.library.home, OneSession("s1"), NOON)
    laptop.exchange()
    desk.exchange()
    assert kinds_at_hub(fleet) == []
    assert desk.items() == []


def test_pruning_reaches_the_other_machines(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("desk", sharing=EVERYTHING)
    work(laptop)
    laptop.exchange()
    desk.exchange()
    with laptop.store.writing():
        laptop.store.prune_checkpoints(NOON + 1, NOON + 1, NOON + 1)
    laptop.exchange()
    desk.exchange()
    assert [each.key.kind for each in desk.items()] == [SharedKind.SESSION]


def test_forgetting_a_project_takes_back_everything_of_it(fleet: Fleet) -> None:
    laptop, bobs = fleet.machine("laptop", sharing=EVERYTHING), fleet.machine("bobs", "bob", EVERYTHING)
    work(laptop)
    laptop.remember("The staging port is 5433.")
    write_handoff(laptop, "report.md")
    write_continuity(laptop, "# Continuity\n\n## Goal\n\n- Ship the shop.\n")
    write_handoff(bobs, "bobs.md")
    bobs.exchange()
    laptop.exchange()
    assert kinds_at_hub(fleet) == ["checkpoint", "continuity", "handoff", "handoff", "memory", "session"]
    forget(laptop.store, laptop.library.home, OneProject(laptop.project.project_id), NOON)
    assert laptop.items() == [], "what others shared in it is gone here too"
    laptop.exchange()
    bobs.exchange()
    assert [key[1] for key, item in fleet.database.items.items() if item.body] == ["bobs-id"]
    assert bobs.items() == []


def test_forgetting_everything_takes_back_everything(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=EVERYTHING)
    work(laptop)
    laptop.remember("The staging port is 5433.")
    write_handoff(laptop, "report.md")
    write_continuity(laptop, "# Continuity\n\n## Goal\n\n- Ship the shop.\n")
    laptop.exchange()
    forget(laptop.store, laptop.library.home, Everything(), NOON)
    laptop.exchange()
    assert kinds_at_hub(fleet) == []


def test_nothing_of_an_excluded_project_leaves(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=EVERYTHING)
    work(laptop)
    write_handoff(laptop, "report.md")
    laptop.library.config = replace(
        laptop.library.config, capture=replace(laptop.library.config.capture, exclude=("shop",))
    )
    laptop.exchange()
    assert fleet.database.items == {}


def test_a_handoff_for_one_person_reaches_that_person_alone(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=EVERYTHING)
    bobs, carols = fleet.machine("bobs", "bob", EVERYTHING), fleet.machine("carols", "carol", EVERYTHING)
    write_handoff(laptop, "report.md", HANDOFF.replace("- Status", "- To: bob\n- Status"))
    for machine in (laptop, bobs, carols):
        machine.exchange()
    assert [each.recipient for each in bobs.store.addressed_to("bob", 10)] == ["bob"]
    assert carols.items() == []


def test_a_live_session_is_sent_now_and_then_and_at_once_when_it_ends(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop", sharing=EVERYTHING)
    work(laptop)
    assert laptop.exchange().sent == 2

    def change(**changes: Field) -> None:
        (session,) = laptop.store.sessions(1)
        with laptop.store.writing():
            laptop.store.put_session(replace(session, last_event_at=session.last_event_at + 1, **changes))

    change()
    assert (laptop.exchange().sent, laptop.exchange().waiting) == (0, 1)
    assert laptop.at(NOON + 20_000).exchange().sent == 1
    change()
    assert laptop.exchange().sent == 0
    change(phase=Phase.ENDED)
    assert laptop.exchange().sent == 1


def test_of_two_changes_the_one_that_lost_is_named(fleet: Fleet) -> None:
    laptop, desk = fleet.machine("laptop"), fleet.machine("desk")
    id = laptop.remember("The staging port is 5433.")
    laptop.exchange()
    desk.exchange()
    desk.at(NOON + 10).edit(id, "It is 6000.")
    desk.exchange()
    laptop.exchange()
    assert conflicts(laptop.store, laptop.library.now) == [], "made from the other one"
    desk.at(NOON + 1_000).edit(id, "It is 7000.")
    desk.push_stamps()
    laptop.at(NOON + 2_000).edit(id, "It is 8000.")
    for machine in (laptop, desk, laptop):
        machine.exchange()
    for machine in (laptop, desk):
        (conflict,) = conflicts(machine.store, machine.library.now)
        assert (conflict.held.machine.name, conflict.other.machine.name) == ("laptop", "desk")
        assert "7000" in conflict.other.body
    assert conflicts(laptop.store, NOON + 8 * 86_400_000) == []
