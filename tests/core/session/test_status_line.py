"""How a session stands, in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Action
from holdfast.core.session.session import Session, consume
from holdfast.core.session.status_line import NAME_CHARS, project_name, status_line
from tests.core.scenes import MINUTE, NOON, PROJECT, after, called, prompt, returned, session, worked


def saved(at: int) -> Session:
    return consume(worked(), at)


@pytest.mark.parametrize(
    ("state", "used", "line"),
    [
        (session(), 0, "app · no checkpoint yet · all saved"),
        (
            worked(),
            104_000,
            "app · ██████░░░░ 62% 104k/167k · no checkpoint yet · unsaved: 2 prompts, 1 file, 1 command",
        ),
        (saved(NOON + MINUTE), 1_000, "app · ░░░░░░░░░░ 0% 1k/167k · checkpoint 4 min ago · all saved"),
        (
            after(saved(NOON + MINUTE), prompt("and now", "p9", NOON + 2 * MINUTE)),
            170_000,
            "app · ██████████ 101% 170k/167k · checkpoint 4 min ago · unsaved: 1 prompt",
        ),
    ],
)
def test_what_it_says(state: Session, used: int, line: str) -> None:
    assert status_line(state, used, 167_000, NOON + 5 * MINUTE) == line


def test_a_file_that_was_only_read_is_nothing_to_lose() -> None:
    read = after(
        saved(NOON + 1), called("c9", Action.READ, "a.py", NOON + MINUTE), returned("c9", at=NOON + MINUTE)
    )
    assert status_line(read, 0, 167_000, NOON + MINUTE).endswith("all saved")


@pytest.mark.parametrize(
    ("path", "name"),
    [("/home/you/app/", "app"), ("/", ""), ("/x/\x1b[31mred", "red"), (f"/{'n' * 99}", "n" * 31 + "…")],
)
def test_a_project_is_named_as_a_terminal_may_show_it(path: str, name: str) -> None:
    assert project_name(path) == name


@given(st.text(), st.integers(0, 10**8), st.integers(1, 10**8))
def test_it_is_one_line_whatever_the_project_is_called(path: str, used: int, capacity: int) -> None:
    state = replace(worked(), project=replace(PROJECT, path=path))
    line = status_line(state, used, capacity, NOON)
    assert len(line.splitlines()) == 1
    assert len(project_name(path)) <= NAME_CHARS
    assert "\x1b" not in line
