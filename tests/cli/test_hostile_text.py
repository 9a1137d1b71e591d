"""What a stranger wrote is shown, never obeyed: no command prints an escape, a hidden sign or markup raw."""

from __future__ import annotations

import json
import subprocess
import unicodedata
from pathlib import Path

import pytest

from holdfast.core.redaction.redact import redact
from holdfast.daemon.main import open_log
from tests.cli.conftest import HARNESS, Person

MARKUP = "[bold red]loud[/] :bomb:"
HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\\x9b2J\x07 "
    f"\u202eevil\u202c zero\u200bwidth {MARKUP}"
)
SHOWN = f"red link evil zerowidth {MARKUP}"
FOLDER = "dir \u202e\x1b[31m[bold]"
FILE = "a\u2066b\x1b]0;t\x07[bold].py"
BRANCH = "feature/\u202egnp\u200b"
SUBJECT = f"Begin {HOSTILE}"
OLDER_LOG = f"2026-01-01 INFO {HOSTILE}\n"


def record(kind: str, uuid: str, content: object, **more: object) -> dict[str, object]:
    stamp = {"uuid": uuid, "timestamp": "2026-11-15T12:00:00.000Z", "sessionId": "s1"}
    return {"type": kind, **stamp, "message": {"role": kind, "content": content}, **more}


def tool(uuid: str, call: str, name: str, **given: object) -> dict[str, object]:
    return record("assistant", uuid, [{"type": "tool_use", "id": call, "name": name, "input": given}])


def returned(uuid: str, call: str, text: str, *, failed: bool) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
    return record("user", uuid, [block])


def plant_repository(project: Path) -> None:
    """A repository whose own files are as a stranger would write them."""
    git, commit = project / ".git", "1" * 40
    for folder in ("objects", "refs/heads/feature", "logs"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text(f"ref: refs/heads/{BRANCH}\n")
    (git / "refs/heads" / BRANCH).write_text(f"{commit}\n")
    (git / "logs" / "HEAD").write_text(f"{'0' * 40} {commit} A <a@b> 1 +0000\tcommit (initial): {SUBJECT}\n")


@pytest.fixture
def plagued(person: Person) -> Person:
    """A person whose session met hostile text wherever a session can meet it."""
    plant_repository(person.project)
    here = person.project / FOLDER
    here.mkdir()
    transcript = person.user_home / ".claude" / "projects" / "p" / "s1.jsonl"
    transcript.parent.mkdir(parents=True)
    records = [
        record("user", "u1", f"Fix it: {HOSTILE}"),
        tool("a1", "t1", "Write", file_path=str(here / FILE), content="x"),
        returned("u2", "t1", "ok", failed=False),
        tool("a2", "t2", "Bash", command=f"make {MARKUP}"),
        returned("u3", "t2", f"Error: {HOSTILE}", failed=True),
        record("assistant", "a3", [{"type": "text", "text": f"I decided on this: {HOSTILE}"}]),
        record(f"unknown \u202e{MARKUP}", "x1", "x"),
    ]
    transcript.write_text("".join(json.dumps(one) + "\n" for one in records))
    payload = {"session_id": "s1", "transcript_path": str(transcript), "cwd": str(here)}
    for event in ("Stop", "SessionEnd"):
        person.types("hook", "--harness", HARNESS, given=json.dumps(payload | {"hook_event_name": event}))
    person.types("checkpoint", "--session", "s1", "--digest", HOSTILE)
    with (person.home / "logs" / "daemon.log").open("a") as log:
        log.write(OLDER_LOG)
    return person


LISTING = (("sessions",), ("checkpoints", "--all"), ("brief",), ("doctor",))
CHECKPOINT = ("checkpoint", "--session", "s1")


def test_no_command_prints_it_raw_and_each_shows_what_it_says(plagued: Person) -> None:
    said = {words[0]: plagued.types(*words) for words in (*LISTING, ("logs",), CHECKPOINT)}
    assert {name for name, done in said.items() if hidden(done.out + done.err)} == set()
    assert "/dir [bold]" in said["sessions"].out
    assert {name for name in ("checkpoints", "brief", "logs") if SHOWN not in said[name].out} == set()
    assert MARKUP in said["doctor"].out
    assert "/dir [bold]" in said["checkpoint"].err


def test_json_holds_it_whole_and_escaped(plagued: Person) -> None:
    said = {words[0]: plagued.types(*words, "--json") for words in LISTING}
    assert {name for name, done in said.items() if hidden(done.out)} == set()
    assert said["sessions"].json[0]["project"] == str(plagued.project / FOLDER)
    assert said["checkpoints"].json[0]["digest"] == HOSTILE
    assert said["brief"].json["brief"]
    assert said["doctor"].json


def test_a_terminal_with_colours_shows_markup_as_text(plagued: Person) -> None:
    coloured = subprocess.run(
        plagued.command("sessions"),
        capture_output=True,
        check=True,
        env=plagued.environment | {"FORCE_COLOR": "1", "TERM": "xterm-256color"},
        text=True,
    ).stdout
    heading, row = coloured.splitlines()
    assert "\x1b[1m" in heading
    assert "/dir [bold]" in row
    assert hidden(row) == set()


def test_a_row_is_a_line_and_cannot_pose_as_two(person: Person) -> None:
    person.prompts("mend it", session="s1\nforged  row\x0b\u2028\x85and another")
    lines = person.types("sessions").out.splitlines()
    assert len(lines) == 2
    assert "s1 forge  " in lines[1]


def test_the_log_holds_nothing_raw_and_no_forged_line(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    secret = "ghp_" + "Qw3r" * 9
    coloured = f"\x1b[31m{secret[:4]}\x1b[0m{secret[4:]}"
    log.warning("could not read %s", f"{HOSTILE}\n2026-01-01 INFO all is well\r\nalso {coloured}")
    for keeper in log.handlers:
        keeper.close()
    written = (tmp_path / "logs" / "daemon.log").read_text()
    assert hidden(written) == set()
    assert SHOWN in written
    assert [line for line in written.splitlines() if line.startswith("2026-01-01")] == []
    assert secret not in written
    assert redact(secret) in written


def hidden(text: str) -> set[str]:
    """What in a text a terminal would obey or a person could not see."""
    return {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in "\n\t"}
