"""The skills are what the format asks for, short, and true: they name commands and tools that there are."""

from __future__ import annotations

import re

import click
import pytest

from holdfast import skills
from holdfast.cli.main import holdfast
from holdfast.core.events.install_request import Skill
from holdfast.engine.tools import table

FORMAT = re.compile(
    r"---\nname: (?P<name>[a-z][a-z0-9-]*)\ndescription: (?P<says>[^\n]+)\n---\n\n# (?P<body>.*)", re.DOTALL
)
EVERY = {skill.name: skill for skill in skills.shipped()}
each = pytest.mark.parametrize("skill", EVERY.values(), ids=EVERY.keys())


def text_of(skill: Skill) -> str:
    return skill.content.decode()


def test_these_come_with_the_package() -> None:
    assert set(EVERY) == {
        "holdfast",
        "holdfast-handoff",
        "holdfast-pickup",
        "holdfast-recall",
        "session-checkpoint",
    }


@each
def test_the_front_matter_names_the_folder_and_says_when(skill: Skill) -> None:
    found = FORMAT.fullmatch(text_of(skill))
    assert found is not None
    assert found["name"] == skill.name
    assert "Use it " in found["says"]
    assert len(found["says"]) < 300


@each
def test_it_is_short(skill: Skill) -> None:
    assert len(text_of(skill).splitlines()) <= 42


@each
def test_every_tool_it_tells_to_call_is_there(skill: Skill) -> None:
    named = re.findall(r"\btool `(\w+)`|[Cc]all `(\w+)`", text_of(skill))
    assert {name for pair in named for name in pair if name} <= set(table.names())


@each
def test_every_command_it_tells_to_run_is_there_with_its_options(skill: Skill) -> None:
    for words in re.findall(r"\bholdfast ((?:[a-z]+ ?)+)((?:[^`\n]*)?)", text_of(skill)):
        check(words[0].split(), re.findall(r"--[a-z-]+", words[1]))


def check(names: list[str], options: list[str]) -> None:
    """The command of these names, as far as there are any, takes these options."""
    command: click.Command = holdfast
    for name in names:
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"holdfast {' '.join(names)}"
        command = found
    taken = {option for parameter in command.params for option in parameter.opts}
    assert set(options) <= taken, f"holdfast {' '.join(names)}"


def test_before_risky_operations_stands_in_its_own_words() -> None:
    assert "before a risky operation" in text_of(EVERY["session-checkpoint"])


@pytest.mark.parametrize(
    "name", ["session-checkpoint", "holdfast-handoff", "holdfast-pickup", "holdfast-recall"]
)
def test_each_says_in_a_line_what_it_did(name: str) -> None:
    assert "ell the user in one line" in text_of(EVERY[name])
