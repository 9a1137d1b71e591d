"""Last state: what failed, was edited and is open at a cut, and which files are no more."""

from __future__ import annotations

import pytest

from holdfast.core.evaluation.last_state import gone, last_state, offered_as_present
from holdfast.core.events.event import Action, Event, Origin, Todo, TodosChanged
from tests.core.scenes import KEY, NOON, called, returned, said


def test_the_last_state_is_what_failed_what_was_edited_and_what_is_open() -> None:
    todos = (Todo("write the changelog", "pending"), Todo("mend the lexer", "completed"))
    events: list[Event] = [
        called("c1", Action.RUN, "make lint"),
        returned("c1", ok=False),
        called("c2", Action.RUN, "make test"),
        returned("c2", ok=False),
        called("c3", Action.RUN, "make test"),
        returned("c3"),
        called("c4", Action.EDIT, "/app/src/lexer.py"),
        returned("c4"),
        called("c5", Action.EDIT, "/app/src/refused.py"),
        returned("c5", ok=False),
        called("c6", Action.RUN, "cd /app && rg frobnicate src | head"),
        returned("c6", ok=False),
        TodosChanged(session=KEY, record="t", at=NOON, origin=Origin.ASSISTANT, todos=todos),
    ]
    state = last_state(events)
    assert (state.failing, state.edited, state.todos) == (
        "make lint",
        "/app/src/lexer.py",
        ("write the changelog",),
    )
    assert state.held("Failed: `make lint`. Edited src/lexer.py. To do: write the changelog") == (True,) * 3
    assert state.held("All is well.") == (False,) * 3


def test_how_much_of_it_was_shown_is_no_part_of_what_failed() -> None:
    failed: list[Event] = [
        called("c1", Action.RUN, "cd /app && make lint 2>&1 | tail -40"),
        returned("c1", ok=False),
    ]
    assert last_state(failed).held("Failed: `make lint`") == (True,)


def test_nothing_to_hold_is_not_held_against_a_brief() -> None:
    assert last_state([said("Nothing yet.", "s")]).held("") == ()


@pytest.mark.parametrize(
    ("commands", "names"),
    [
        (["rm -f src/old.py"], {"old.py"}),
        (["git mv src/old.py src/new.py"], {"old.py"}),
        (["mv src/old.py lib/"], set()),
        (["mv a.py b.py && mv b.py a.py"], {"b.py"}),
        (["rm src/old.py", "mv src/new.py src/old.py"], {"new.py"}),
        (["ls src/old.py"], set()),
    ],
)
def test_deleted_and_renamed_files_are_gone(commands: list[str], names: set[str]) -> None:
    events: list[Event] = []
    for number, command in enumerate(commands):
        events += [called(f"c{number}", Action.RUN, command), returned(f"c{number}")]
    assert gone(events) == names


def test_a_deletion_that_failed_and_a_file_that_came_back_are_not_gone() -> None:
    failed: list[Event] = [called("c1", Action.RUN, "rm a.py"), returned("c1", ok=False)]
    back: list[Event] = [
        called("c2", Action.DELETE, "/app/b.py"),
        returned("c2"),
        called("c3", Action.WRITE, "/app/b.py"),
        returned("c3"),
    ]
    assert gone([*failed, *back]) == frozenset()


@pytest.mark.parametrize(
    ("brief", "offered"),
    [
        ("- edited `src/old.py` twice", True),
        ("- `src/old.py` was deleted", False),
        ("- renamed `old.py` → `new.py`", False),
        ("- edited `src/older.py`", False),
    ],
)
def test_a_stale_name_must_be_called_so(brief: str, offered: bool) -> None:  # noqa: FBT001
    assert offered_as_present(brief, "old.py") is offered
