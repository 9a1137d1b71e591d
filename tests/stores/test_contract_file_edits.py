"""Every store keeps which session changed which file, and which imported sessions have no work state yet."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.events.event import Action
from holdfast.core.evidence.file_edits import CallSettled, EditReason, FileEdit, FileExplained
from holdfast.core.memory.wordings import FORGOTTEN, Wordings, fingerprints
from holdfast.core.session.session import Phase
from holdfast.stores.base import ChangedFile, Store
from tests.stores.contract import ALL, NOON, SESSION, Field

EDIT = FileEdit(
    session="s1",
    record="r1",
    path="src/parser.py",
    project_id="shop",
    call="c1",
    action=Action.EDIT,
    at=NOON,
    asked="Fix the parser",
    asked_at=NOON - 5,
    reason="It drops the last line because nothing flushes the buffer.",
    strength=8,
    marks=b"abcdefgh",
    done=True,
)


def edit(**changes: Field) -> FileEdit:
    return replace(EDIT, **changes)


def keep(store: Store, *edits: FileEdit, redactor: str = "7") -> None:
    with store.writing():
        for one in edits:
            store.update_file_edits(one.session, [one], redactor)


def found(store: Store, *paths: str) -> list[FileEdit]:
    return store.file_edits("shop", paths or (EDIT.path,), ALL)


def test_the_edits_of_a_file_come_back_whole_the_newest_first(store: Store) -> None:
    newer = edit(session="s2", at=NOON + 9)
    keep(store, EDIT, newer, edit(record="r2", path="other.py"), edit(record="r3", project_id="other"))
    assert found(store) == [newer, EDIT]
    assert store.file_edits("shop", ["src/parser.py", "other.py"], 1) == [newer]
    assert store.file_edits("shop", [], ALL) == []


def test_an_edit_counts_once_its_call_succeeded(store: Store) -> None:
    keep(store, edit(done=False), edit(record="r2", call="c2", done=False))
    assert found(store) == []
    with store.writing():
        store.update_file_edits("s1", [CallSettled("c1", ok=True), CallSettled("c2", ok=False)], "7")
        store.update_file_edits("s1", [CallSettled("c2", ok=True)], "7")
    assert found(store) == [EDIT]


def test_the_same_edit_again_changes_only_what_is_known_better(store: Store) -> None:
    keep(store, edit(marks=b"", reason="Now the parser.", strength=1))
    keep(store, EDIT, EDIT)
    keep(store, edit(marks=b"", reason="Now the parser.", strength=1, done=False))
    assert found(store) == [EDIT]


def test_a_later_sentence_replaces_a_weaker_reason_of_the_same_turn(store: Store) -> None:
    before, after = edit(record="r0", at=NOON - 10), edit(record="r2", at=NOON + 1)
    keep(store, before, EDIT, after, edit(session="s2"))
    why = EditReason("`parser.py` must flush before it closes.", 11)
    with store.writing():
        store.update_file_edits(
            "s1", [FileExplained(EDIT.path, NOON - 5, NOON, EditReason("Weaker.", 2))], "7"
        )
        store.update_file_edits("s1", [FileExplained(EDIT.path, NOON - 5, NOON, why)], "7")
    assert sorted((one.session, one.record, one.strength) for one in found(store)) == [
        ("s1", "r0", 8),
        ("s1", "r1", 11),
        ("s1", "r2", 8),
        ("s2", "r1", 8),
    ]
    assert why.text in {one.reason for one in found(store)}


def test_a_move_is_found_by_where_it_led(store: Store) -> None:
    moved = edit(path="old.py", renamed_to="src/new.py")
    keep(store, moved, EDIT)
    assert store.renames_to("shop", ["src/new.py", ""]) == [moved]
    assert store.renames_to("other", ["src/new.py"]) == []


def test_the_files_of_a_project_are_listed_by_their_last_edit(store: Store) -> None:
    keep(store, EDIT, edit(session="s2", at=NOON + 1), edit(record="r2", path="a.py", at=NOON + 2))
    keep(store, edit(record="r3", path="failed.py", call="c9", done=False))
    assert store.edited_files("shop", ALL) == [
        ChangedFile("a.py", NOON + 2, 1),
        ChangedFile("src/parser.py", NOON + 1, 2),
    ]
    assert len(store.edited_files("shop", 1)) == 1


def test_edits_outlive_their_session_and_are_pruned_by_age(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION)
    keep(store, EDIT, edit(record="r2", at=NOON + 10))
    with store.writing():
        assert store.prune_file_edits(NOON + 1, 0) == 0
        assert store.prune_file_edits(NOON + 1, ALL) == 1
    assert [one.record for one in found(store)] == ["r2"]


def test_forgetting_a_session_takes_its_edits_also_when_nothing_else_is_left_of_it(store: Store) -> None:
    keep(store, EDIT, edit(session="s2"))
    assert store.keys() == store.keys_of_project("shop") == store.keys_before(NOON + 1) == ["s1", "s2"]
    with store.writing():
        assert store.forget(["s1"], NOON).edits == 1
    assert [one.session for one in found(store)] == ["s2"]
    with store.writing():
        store.forget_all(NOON)
    assert found(store) == []


def test_a_newer_redactor_rewrites_the_texts_of_edits(store: Store) -> None:
    keep(store, EDIT)
    assert store.redaction("8").stale == 1
    with store.writing():
        store.rewrite("8", lambda _, text: text.replace("buffer", "[REDACTED]"), ALL, 1 << 20)
    assert found(store)[0].reason == "It drops the last line because nothing flushes the [REDACTED]."
    assert (store.redaction("8").stale, found(store)[0].path) == (0, EDIT.path)


def test_a_forgotten_wording_is_erased_from_edits(store: Store) -> None:
    wording = "nothing flushes the buffer of the parser at the end"
    keep(store, edit(reason=f"Fixed, because {wording}."))
    wordings = Wordings(b"key", fingerprints(wording, b"key"))
    with store.writing():
        assert store.erase(wordings, NOON).mentions == 1
    assert FORGOTTEN in found(store)[0].reason


def test_every_text_of_an_edit_is_audited(store: Store) -> None:
    keep(store, EDIT)
    assert {EDIT.asked, EDIT.reason} <= {stored.text for stored in store.texts()}


def test_imported_sessions_wait_for_their_work_state_the_latest_first(store: Store) -> None:
    assert store.imported_work("s1") is None
    with store.writing():
        for number in range(3):
            store.put_imported_work(f"s{number}", NOON + number, "")
        store.put_imported_work("s1", NOON + 1, "120@5")
    assert store.waiting_imports(ALL) == ["s2", "s0"]
    assert store.waiting_imports(1) == ["s2"]
    assert (store.imported_work("s1"), store.imported_work("s2")) == ("120@5", "")
    with store.writing():
        store.drop_imported_work("s2")
    assert (store.waiting_imports(ALL), store.imported_work("s2")) == (["s0"], None)


def test_an_imported_session_is_kept_as_long_as_its_passages(store: Store) -> None:
    with store.writing():
        for key in ("s1", "s2"):
            store.put_session(replace(SESSION, key=key, phase=Phase.ENDED))
        store.put_imported_work("s1", NOON, "")
        assert store.prune_sessions(NOON + 1, NOON) == 1
    assert store.session("s1") is not None
    with store.writing():
        assert store.prune_sessions(NOON + 1, NOON + 1) == 1
    assert (store.session("s1"), store.imported_work("s1")) == (None, None)
