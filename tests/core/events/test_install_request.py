"""The user's command inside Holdfast's: the user's runs first, whatever happens to either."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.install_request import unwrapped_command, wrapped_command

PAYLOAD = '{"session_id": "s-1", "note": "it\'s $HOME and `ls`"}'
OWN_COMMAND = "cat >/dev/null; printf ours"

commands = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(commands, commands.filter(lambda own_command: "$theirs" not in own_command))
def test_a_wrapped_command_can_be_had_back(user_command: str, own_command: str) -> None:
    assert unwrapped_command(wrapped_command(user_command, own_command)) == user_command


@given(commands)
def test_a_command_that_was_wrapped_twice_is_had_back_in_two_steps(user_command: str) -> None:
    assert unwrapped_command(wrapped_command(wrapped_command(user_command, "a"), "b")) == wrapped_command(
        user_command, "a"
    )


def test_what_the_first_version_installed_can_be_had_back() -> None:
    command = (
        """letter=$(cat); theirs=$(printf %s "$letter" | eval 'my-line "a b"'); """
        """[ -n "$theirs" ] && printf '%s\\n' "$theirs"; printf %s "$letter" | holdfast-line"""
    )
    assert unwrapped_command(command) == 'my-line "a b"'


@pytest.mark.parametrize("command", ["", "my-line", "letter=$(cat)", "input=$(cat)", "cat; printf %s x | y"])
def test_what_stands_alone_is_around_nothing(command: str) -> None:
    assert unwrapped_command(command) == ""


def shown(user_command: str, own_command: str = OWN_COMMAND) -> tuple[int, str]:
    line = wrapped_command(user_command, own_command)
    done = subprocess.run(["/bin/sh", "-c", line], input=PAYLOAD, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("user_command", "out"),
    [
        ("echo theirs; cat >/dev/null", "theirs\nours"),
        ("printf 'two\nlines'", "two\nlines\nours"),
        ("cat", f"{PAYLOAD}\nours"),
        ('case x in x) echo "it\'s";; esac # done', "it's\nours"),
        ("exit 3", "ours"),
        ("no-such-program-here 2>/dev/null", "ours"),
        ("if", "ours"),
        ("true", "ours"),
    ],
)
def test_theirs_stands_first_and_neither_sees_the_other(user_command: str, out: str) -> None:
    status, shown_out = shown(user_command)
    assert (status, shown_out) == (0, out)


def test_both_are_given_the_payload() -> None:
    assert shown("cat", "cat") == (0, f"{PAYLOAD}\n{PAYLOAD}")


def test_theirs_is_shown_where_ours_cannot_run() -> None:
    assert shown("echo theirs", "/no/such/python 2>/dev/null || :") == (0, "theirs\n")
