"""A harness started by us is told where the last session stood, and saved when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import HARNESS, Person

GOAL = "Move the parser to the new grammar."
NEXT = "port the error messages"
SETTINGS = "[continuity]\nauto_load = true\nauto_save = true\n"


def program(person: Person, body: str, name: str = "claude") -> None:
    """A harness that notes its words and then does this."""
    path = person.root / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {person.root}/words\n{body}\n")
    path.chmod(0o755)


def words(person: Person) -> list[str]:
    return (person.root / "words").read_text().splitlines()


def transcript(
    person: Person, session: str, prompt: str = GOAL, said: str = f"The grammar is done. Next step: {NEXT}."
) -> Path:
    """A transcript such as the harness writes, to be put in its place when it runs."""
    common: dict[str, object] = {
        "timestamp": "NOW",
        "sessionId": session,
        "cwd": str(person.project),
        "isSidechain": False,
        "version": "2.1.325",
    }
    records: list[dict[str, object]] = [
        {
            "type": "user",
            "uuid": f"{session}-1",
            "parentUuid": None,
            "message": {"role": "user", "content": prompt},
        },
        {
            "type": "assistant",
            "uuid": f"{session}-2",
            "parentUuid": f"{session}-1",
            "message": {
                "id": "m1",
                "role": "assistant",
                "content": [{"type": "text", "text": said}],
            },
        },
    ]
    path = person.root / f"{session}.jsonl"
    path.write_text("".join(json.dumps({**common, **one}) + "\n" for one in records))
    return path


def writes(person: Person, session: str, *texts: str) -> str:
    """The command by which a harness writes that transcript."""
    folder = person.user_home / ".claude" / "projects" / "p"
    now = "s/NOW/$(date -u +%FT%T.999Z)/"
    return f'mkdir -p {folder}; sed "{now}" {transcript(person, session, *texts)} > {folder}/{session}.jsonl'


@pytest.fixture
def willing(person: Person) -> Person:
    """Someone who turned both on, and has no hook installed."""
    person.home.mkdir(mode=0o700)
    (person.home / "config.toml").write_text(SETTINGS)
    return Person(person.root, {"PATH": f"{person.root}/bin:{os.defpath}"})


def test_what_a_session_did_is_saved_and_shown_to_the_next(willing: Person) -> None:
    program(willing, writes(willing, "s-1"))
    first = willing.types("run", HARNESS, "--model", "m")
    assert (first.status, words(willing)) == (0, ["--model", "m"])
    assert "the continuity" in first.err
    until = time.monotonic() + 30
    while NEXT not in willing.types("session", "load").out:
        # Either we save it, or the daemon, whoever comes first.
        assert time.monotonic() < until
    program(willing, "exit 0")
    willing.types("run", HARNESS)
    told = "\n".join(words(willing))
    assert words(willing)[0] == "--append-system-prompt"
    assert GOAL in told
    assert NEXT in told


@pytest.mark.parametrize(
    ("said", "is_open"),
    [("I am reading the code.", True), (f"Done: {NEXT} works, and all tests pass.", False)],
)
def test_a_session_that_only_goes_on_hands_on_what_it_was_given(
    willing: Person, said: str, *, is_open: bool
) -> None:
    program(willing, writes(willing, "s-1"))
    willing.types("run", HARNESS)
    program(willing, writes(willing, "s-2", "continue", said))
    willing.types("run", HARNESS)
    assert GOAL in "\n".join(words(willing))
    (second,) = [one for one in willing.types("sessions", "--json").json if one["session_key"] == "s-2"]
    assert second["parent"] == "s-1"
    shown = willing.types("show", "s-2").out
    assert GOAL in shown
    assert (NEXT in shown.partition("Next")[2]) is is_open


def test_a_resumed_session_inherits_nothing(willing: Person) -> None:
    program(willing, writes(willing, "s-1"))
    willing.types("run", HARNESS)
    command = writes(willing, "s-2", "Fix the printer.", "The printer is fixed.")
    program(willing, command.replace("date -u", "date -u -d 2001-01-01"))
    willing.types("resume", HARNESS)
    (second,) = [one for one in willing.types("sessions", "--json").json if one["session_key"] == "s-2"]
    assert second["parent"] is None


def test_nothing_of_another_worktree_or_of_before_is_taken(willing: Person) -> None:
    other = willing.root / "other"
    other.mkdir()
    willing_words = writes(willing, "s-2")
    path = willing.root / "s-2.jsonl"
    path.write_text(path.read_text().replace(str(willing.project), str(other)))
    program(willing, willing_words)
    done = willing.types("run", HARNESS)
    assert done.status == 0
    assert "the continuity" not in done.err
    assert willing.types("sessions", "--json").json == []


def test_until_it_is_wanted_it_only_starts_the_harness(person: Person) -> None:
    plain = Person(person.root, {"PATH": f"{person.root}/bin:{os.defpath}"})
    program(plain, writes(plain, "s-3"))
    done = plain.types("run", HARNESS)
    assert "note: neither continuity.auto_load nor continuity.auto_save is set" in done.err
    assert words(plain) == [""]
    assert plain.types("sessions", "--json").json == []


@pytest.mark.parametrize(
    ("typed", "passed"),
    [
        (["exec", HARNESS, "mend it", "--json"], ["--print", "mend it", "--json"]),
        (["resume", HARNESS], ["--continue"]),
        (["resume", HARNESS, "s-9"], ["--resume", "s-9"]),
        (["exec", "codex", "mend it"], ["exec", "mend it"]),
        (["resume", "codex"], ["resume", "--last"]),
        (["exec", "gemini", "mend it"], ["--prompt", "mend it"]),
        (["run", "gemini", "--help"], ["--help"]),
    ],
)
def test_the_words_are_passed_on_as_each_harness_wants_them(
    willing: Person, typed: list[str], passed: list[str]
) -> None:
    program(willing, "exit 0", {HARNESS: "claude"}.get(typed[1], typed[1]))
    assert willing.types(*typed).status == 0
    assert words(willing) == passed


@pytest.mark.parametrize(("body", "status"), [("exit 7", 7), ("kill -TERM $$", 143)])
def test_its_exit_status_is_ours(willing: Person, body: str, status: int) -> None:
    program(willing, body)
    assert willing.types("run", HARNESS).status == status


def test_where_hooks_tell_the_session_the_wrapper_tells_nothing(willing: Person) -> None:
    willing.settings.write_text("{}")
    willing.types("setup", HARNESS, "--yes")
    willing.prompts(GOAL)
    program(willing, "exit 0")
    willing.types("run", HARNESS, "x")
    assert words(willing) == ["x"]


def test_a_wish_to_end_is_passed_on(willing: Person) -> None:
    at_the_end = f"trap 'echo gone > {willing.root}/end; exit 3' TERM"
    program(willing, f"{at_the_end}\ntouch {willing.root}/up\nwhile :; do sleep 0.05; done")
    wrapper = subprocess.Popen(
        willing.command("run", HARNESS),
        env=willing.environment,
        cwd=willing.project,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 30
    while not (willing.root / "up").exists() and time.monotonic() < until:
        time.sleep(0.02)
    wrapper.send_signal(signal.SIGTERM)
    assert wrapper.wait(30) == 3
    assert (willing.root / "end").read_text() == "gone\n"


def test_a_harness_that_is_not_there_is_named(willing: Person) -> None:
    done = willing.types("run", "codex")
    assert done.status == 1
    assert "`codex` is not on your search path" in done.err
