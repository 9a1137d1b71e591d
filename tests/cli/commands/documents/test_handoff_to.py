"""A handoff given to another harness: printed to be pasted, or the harness itself started with it."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast import harnesses
from holdfast.core.documents.handoff import LONGEST_PASTED
from tests.cli.conftest import HARNESS, TIME_LIMIT, Person

PROGRAM = """\
import json, os, sys
told = {"words": sys.argv[1:], "cwd": os.getcwd(), "session": os.environ.get("CLAUDE_CODE_SESSION_ID", "")}
open(%r, "w").write(json.dumps(told))
print("it ran")
"""
OPTIONS = {
    "claude-code": ((), ("--print",)),
    "codex": ((), ("exec",)),
    "gemini": (("--prompt-interactive",), ("--prompt",)),
    "opencode": (("--prompt",), ("run",)),
    "openclaw": (("tui", "--message"), ("agent", "--message")),
}


@pytest.fixture
def at_work(person: Person) -> Person:
    person.prompts("Round the totals half up")
    return person


def received_by_program(person: Person) -> dict[str, Any]:
    """What the program was told when it was started."""
    told: dict[str, Any] = json.loads((person.root / "told.json").read_text())
    return told


def install(person: Person, harness: str) -> None:
    """Put a program in the place of a harness's, which writes down how it was started."""
    path = person.root / "bin" / harnesses.get(harness).program
    path.parent.mkdir(exist_ok=True)
    code = PROGRAM % str(person.root / "told.json")
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(code)} "$@"\n')
    path.chmod(0o755)


def at_a_terminal(person: Person, *words: str) -> int:
    """The exit status of a command that is typed at a terminal."""
    ours, theirs = pty.openpty()
    try:
        return subprocess.run(
            person.command(*words),
            stdin=theirs,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            env=person.environment,
            cwd=person.project,
            timeout=TIME_LIMIT,
            check=False,
        ).returncode
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("harness", harnesses.names())
def test_without_a_terminal_it_is_started_to_work_on_its_own(at_work: Person, harness: str) -> None:
    install(at_work, harness)
    done = at_work.types("handoff", "create", "Go on", "--to", harness, "--start")
    assert (done.status, done.out) == (0, "it ran\n"), done.err
    assert f"starting {harnesses.get(harness).title}" in done.err
    *options, prompt = received_by_program(at_work)["words"]
    assert tuple(options) == OPTIONS[harness][1]
    assert prompt.startswith(f"Go on from the handoff below, in {harnesses.get(harness).title}.")
    assert "<holdfast-recall>\n# Handoff: Go on" in prompt
    (row,) = at_work.types("handoff", "list", "--json").json
    assert f"`holdfast handoff pickup {row['name']}`" in prompt
    assert row["status"] == "open"


@pytest.mark.parametrize("harness", harnesses.names())
def test_at_a_terminal_it_is_started_to_be_talked_with(at_work: Person, harness: str) -> None:
    install(at_work, harness)
    at_work.types("handoff", "create", "Go on")
    assert at_a_terminal(at_work, "handoff", "show", "--to", harness, "--start") == 0
    assert tuple(received_by_program(at_work)["words"][:-1]) == OPTIONS[harness][0]


def test_it_starts_in_the_project_and_is_not_taken_for_the_session_around_us(at_work: Person) -> None:
    install(at_work, "codex")
    at_work.variables["CLAUDE_CODE_SESSION_ID"] = "s1"
    elsewhere = at_work.root / "elsewhere"
    elsewhere.mkdir()
    words = ("handoff", "create", "Go on", "--project", str(elsewhere), "--to", "codex", "--start")
    assert at_work.types(*words).status == 0
    told = received_by_program(at_work)
    assert (told["cwd"], told["session"]) == (str(elsewhere), "")


def test_one_that_is_too_long_for_a_command_line_is_to_be_read(at_work: Person) -> None:
    install(at_work, HARNESS)
    made = Path(at_work.types("handoff", "create", "Go on").out.strip())
    made.write_text(made.read_text() + "long " * LONGEST_PASTED)
    done = at_work.types("handoff", "show", "--to", HARNESS, "--start")
    assert done.status == 0, done.err
    assert received_by_program(at_work)["words"][-1].endswith(f"It is long: read {made}.")


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (("--start",), 2, "--start needs --to HARNESS"),
        (("--to", HARNESS, "--start", "--json"), 2, "do not go together"),
        (("--to", HARNESS, "--start"), 1, "`claude` is not on your search path"),
        (("--to", "nobody", "--start"), 1, "there is no harness `nobody`"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(
    at_work: Person, words: tuple[str, ...], status: int, why: str
) -> None:
    done = at_work.types("handoff", "create", "Go on", *words)
    assert (done.status, why in done.err) == (status, True), done.err
    assert at_work.types("handoff", "list", "--json").json == []
