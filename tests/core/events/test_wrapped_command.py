"""Somebody's command inside of ours: theirs first, whatever becomes of either."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.wrapped_command import unwrapped, wrapped

LETTER = '{"session_id": "s-1", "note": "it\'s $HOME and `ls`"}'
OURS = "cat >/dev/null; printf ours"

commands = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(commands, commands.filter(lambda ours: "$theirs" not in ours))
def test_a_wrapped_command_can_be_had_back(theirs: str, ours: str) -> None:
    assert unwrapped(wrapped(theirs, ours)) == theirs


@given(commands)
def test_a_command_that_was_wrapped_twice_is_had_back_in_two_steps(theirs: str) -> None:
    assert unwrapped(wrapped(wrapped(theirs, "a"), "b")) == wrapped(theirs, "a")


@pytest.mark.parametrize("command", ["", "my-line", "letter=$(cat)", "cat; printf %s x | y"])
def test_what_stands_alone_is_around_nothing(command: str) -> None:
    assert unwrapped(command) == ""


def shown(theirs: str, ours: str = OURS) -> tuple[int, str]:
    line = wrapped(theirs, ours)
    done = subprocess.run(["/bin/sh", "-c", line], input=LETTER, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("theirs", "out"),
    [
        ("echo theirs; cat >/dev/null", "theirs\nours"),
        ("printf 'two\nlines'", "two\nlines\nours"),
        ("cat", f"{LETTER}\nours"),
        ('case x in x) echo "it\'s";; esac # done', "it's\nours"),
        ("exit 3", "ours"),
        ("no-such-program-here 2>/dev/null", "ours"),
        ("if", "ours"),
        ("true", "ours"),
    ],
)
def test_theirs_stands_first_and_neither_sees_the_other(theirs: str, out: str) -> None:
    status, shown_out = shown(theirs)
    assert (status, shown_out) == (0, out)


def test_both_are_given_the_letter() -> None:
    assert shown("cat", "cat") == (0, f"{LETTER}\n{LETTER}")


def test_theirs_is_shown_where_ours_cannot_run() -> None:
    assert shown("echo theirs", "/no/such/python 2>/dev/null || :") == (0, "theirs\n")
