"""The recipes: every command in the page is run, in its order, by someone who has worked a little."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Person
from tests.engine.repository.test_git import run_git

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
MAY_FIND_FAULT = {"status", "doctor"}
"""Their exit status says how healthy this machine's set-up is, and there is none."""


def lines() -> list[str]:
    blocks = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [line.split("  #")[0].rstrip() for block in blocks for line in block.splitlines()]


@pytest.fixture
def at_work(person: Person) -> Person:
    """A person in a repository, with a session that was asked something."""
    run_git(person.project, "init", "-q", "-b", "main")
    (person.project / "totals.py").write_text("def total(rows):\n")
    run_git(person.project, "add", ".")
    run_git(person.project, "commit", "-q", "-m", "Begin")
    person.prompts("Round the totals in totals.py half up, never touch legacy.py")
    return person


def test_every_command_of_the_recipes_can_be_typed_in_this_order(at_work: Person) -> None:
    for line in lines():
        program, *words = shlex.split(line)
        assert program == "holdfast"
        done = at_work.types(*words)
        assert done.status == 0 or words[0] in MAY_FIND_FAULT, f"{line}: {done.err}"
        assert "should not have happened" not in done.err, line


def test_the_recipes_answer_what_people_ask() -> None:
    text = PAGE.read_text(encoding="utf-8")
    asked = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert len(asked) >= 15
    assert all(question.endswith("?") for question in asked)
    assert len(lines()) > 30
