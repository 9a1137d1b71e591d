"""Notes from commands: what git and trackers report, and what that ends."""

from __future__ import annotations

from holdfast.core.events.event import Event
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.trail import NoteSource
from tests.core.scenes import after, prompt, ran, said, session, touched


def notes(*events: Event) -> dict[str, NoteKind]:
    return {note.text: note.kind for note in after(session(), *events).trail.notes}


def commit(subject: str, id: str, more: str = "") -> tuple[Event, Event]:
    output = f"[main {id}] {subject}\n 1 file changed, 2 insertions(+)"
    return ran(f"git commit -m '{subject}'{more}", text=output)


FIRST, SECOND = commit("Mend the till", "1a2b3c4"), commit("Count the rows", "5d6e7f8")
MENDED, COUNTED = "Committed 1a2b3c4 on main: Mend the till", "Committed 5d6e7f8 on main: Count the rows"


def test_a_commit_is_done() -> None:
    assert notes(*FIRST)[MENDED] is NoteKind.CONFIRMED


def test_a_reset_takes_back_the_commits_after_it() -> None:
    to_first = ran("git reset --hard HEAD~1", text="HEAD is now at 1a2b3c4 Mend the till")
    to_start = ran("git reset --hard HEAD~2", text="HEAD is now at 0f0f0f0 Open the shop")
    assert {MENDED, COUNTED} & notes(*FIRST, *SECOND, *to_first).keys() == {MENDED}
    assert not {MENDED, COUNTED} & notes(*FIRST, *SECOND, *to_start).keys()


def test_a_revert_takes_back_its_commit() -> None:
    output = '[main 9999999] Revert "Mend the till"\n 1 file changed, 2 deletions(-)'
    left = notes(*FIRST, *SECOND, *ran("git revert --no-edit 1a2b3c4", text=output))
    assert MENDED not in left
    assert COUNTED in left


def test_an_amended_commit_replaces_the_last_one() -> None:
    amended = ran("git commit --amend -m 'Count all rows'", text="[main 7777777] Count all rows")
    left = notes(*FIRST, *SECOND, *amended)
    assert {MENDED, "Committed 7777777 on main: Count all rows"} <= left.keys()
    assert COUNTED not in left


def test_a_closed_task_is_done_and_no_longer_next() -> None:
    listed = ran("bd ready", text="1. [P1] shop-1: Mend the till\n2. [P2] shop-2: Count the rows")
    closed = ran('bd close shop-1 --reason="Mended."', text="✓ Closed shop-1: Mended.")
    before, left = notes(*listed), notes(*listed, *closed)
    assert [text for text, kind in before.items() if kind is NoteKind.NEXT and "shop-1" in text]
    assert not [text for text, kind in left.items() if kind is NoteKind.NEXT and "shop-1" in text]
    assert [text for text, kind in left.items() if kind is NoteKind.CONFIRMED and "shop-1 closed" in text]
    assert [text for text, kind in left.items() if kind is NoteKind.NEXT and "shop-2" in text]


def test_a_task_that_was_looked_up_is_the_request_with_its_rules() -> None:
    text = "shop-1: Mend the till\n\nThe till counts every sale twice.\n\nNever touch the register table."
    noted = notes(*ran("bd show shop-1", text=text))
    assert noted["The till counts every sale twice."] is NoteKind.REQUEST
    assert noted["Never touch the register table."] is NoteKind.CONSTRAINT


def test_of_a_task_neither_its_fields_nor_closed_tasks_are_asked_for() -> None:
    shown = """○ shop-1.2 · Mend the till   [● P1 · OPEN]
Owner: Ann Example · Type: task
Created: 2026-02-11 · Updated: 2026-02-11

DESCRIPTION
The till counts every sale twice.

PARENT
  ↑ ○ shop-1: (EPIC) The shop works again ● P1

CHILDREN
  ↳ ✓ shop-1.3: Count all the rows ● P2
  ↳ ○ shop-1.4: Print the whole receipt ● P2
"""
    assert [text for text, kind in notes(*ran("bd show shop-1.2", text=shown)).items()] == [
        "shop-1.2: Mend the till",
        "The till counts every sale twice.",
        "shop-1: (EPIC) The shop works again",
        "shop-1.4: Print the whole receipt",
    ]
    issue = "title:\tMend the till\nstate:\tOPEN\nauthor:\tann\nnumber:\t7\n--\nIt counts every sale twice."
    assert list(notes(*ran("gh issue view 7", text=issue))) == [
        "Mend the till",
        "It counts every sale twice.",
    ]


def test_a_check_that_passes_after_an_edit_ends_the_problem() -> None:
    problem = said("The import fails on an empty row.", "a1")
    edit = touched("src/till.py")
    passing = ran("pytest -q", text="12 passed")
    assert problem.text in notes(problem, *edit)
    assert problem.text in notes(problem, *passing), "nothing was edited since"
    assert problem.text not in notes(problem, *edit, *passing)


def test_a_command_that_passes_ends_what_was_said_of_its_failing() -> None:
    problem = said("`make till` still fails.", "a1")
    other = said("`make tax` still fails.", "a2")
    left = notes(problem, other, *ran("make till 2>&1 | tail -5", text="12 passed"))
    assert problem.text not in left, "also if no file was edited in between"
    assert other.text in left


def test_a_failure_that_is_over_is_told_with_what_worked() -> None:
    failing = ran("pytest tests/test_till.py", ok=False, text="E   KeyError: 'row'\n1 failed")
    session_after = after(session(), prompt("Mend it", "p1"), *failing, *ran("pytest", text="9 passed"))
    lessons = [note for note in session_after.trail.notes if note.source is NoteSource.COMMAND]
    assert [note.text for note in lessons] == [
        "`pytest tests/test_till.py` failed: KeyError: 'row'; `pytest` worked"
    ]
    assert not [run for run in session_after.trail.commands if run.ok is False]
