"""Continuity by itself: saved when a session is over, and given to the next that starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands.documents.test_continuity import loaded, saved, work
from tests.cli.commands.test_brief import record, written
from tests.cli.conftest import HARNESS, Person
from tests.daemon.conftest import wait_until


def settings(person: Person, text: str) -> None:
    person.home.mkdir(exist_ok=True)
    (person.home / "config.toml").write_text(text)


def payload(person: Person, kind: str, session: str, transcript: Path | None, **more: str) -> str:
    told = {
        "session_id": session,
        "transcript_path": str(transcript) if transcript else None,
        "cwd": str(person.project),
        "hook_event_name": kind,
        **more,
    }
    return person.types("hook", "--harness", HARNESS, given=json.dumps(told)).out


@pytest.fixture
def transcript(person: Person) -> Path:
    folder = person.user_home / ".claude/projects/p"
    folder.mkdir(parents=True)
    return written(folder / "s1.jsonl", work(person))


def entries(person: Person) -> list[dict[str, Any]]:
    told = person.types("session", "status", "--json").json
    rows: list[dict[str, Any]] = told["recentContinuityAuditEntries"]
    return rows


def test_a_session_that_ends_is_saved_and_the_next_is_given_it(person: Person, transcript: Path) -> None:
    settings(person, "continuity.auto_save = true\ncontinuity.auto_load = true\n")
    payload(person, "SessionStart", "s1", transcript, source="startup")
    payload(person, "SessionEnd", "s1", transcript, reason="other")
    wait_until(lambda: bool(entries(person)))
    assert [entry["trigger"] for entry in entries(person)] == ["wrapper-auto-save"]
    local = person.project / ".holdfast/sessions/active.md"
    local.write_text(local.read_text().replace("## Not yet tried\n", "## Not yet tried\n- ask Ada\n"))
    given = payload(person, "SessionStart", "s2", None, source="startup")
    assert "# Session Continuity" in given
    assert (given.count("ask Ada"), given.count("skip comments")) == (1, 1)


def test_a_repository_can_have_neither(person: Person, transcript: Path) -> None:
    (person.project / "holdfast.toml").write_text(
        "continuity.auto_save = true\ncontinuity.auto_load = true\n"
    )
    payload(person, "SessionStart", "s1", transcript, source="startup")
    payload(person, "SessionEnd", "s1", transcript, reason="other")
    saved(person, transcript, "--scope", "project")
    assert [entry["trigger"] for entry in entries(person)] == ["manual-save"]
    assert "# Session Continuity" not in payload(person, "SessionStart", "s2", None, source="startup")


def test_recall_surfaces_what_is_under_review_and_the_teams_on_request(person: Person) -> None:
    rows = [
        record(0, "user", "Mend the lexer of the parser. Never touch vendor/.", cwd=str(person.project)),
        record(
            1, "assistant", [{"type": "text", "text": "Decision: the lexer uses SQLite because it is small."}]
        ),
    ]
    saved(person, written(person.root / "s1.jsonl", rows))
    (person.project / "TEAM_MEMORY.md").write_text("# Lexer\nThe lexer is generated.\n")
    words = ("recall", "which database does the lexer use", "--json")
    assert isinstance(person.types(*words).json, list), "the list stays a list"
    before = person.types(*words, "--surfacing").json["querySurfacing"]
    assert (before["dreamRefs"], "holdfast dream build" in before["diagnostics"][0]) == ([], True)
    assert list(person.home.rglob("snapshot.json")) == []
    person.types("dream", "build")
    after = person.types(*words, "--surfacing").json
    assert after["hits"] == person.types(*words).json
    assert ["SQLite" in row["text"] for row in after["querySurfacing"]["dreamRefs"]] == [True]
    assert [row["origin"] for row in after["querySurfacing"]["teamEntries"]] == ["from the repository"]


def test_the_block_can_be_looked_at(person: Person, transcript: Path) -> None:
    saved(person, transcript)
    (person.project / "AGENTS.md").write_text("# Rules\n")
    person.types("remember", "The lexer is fed by the parser")
    block = person.types("session", "load", "--print-startup").out
    titles = [line for line in block.splitlines() if line.startswith("#")]
    assert titles[0] == "# Session Continuity"
    assert titles[-2:] == ["## Instruction files", "## Memories"]
    told = loaded(person)
    assert told["startup"]["startupLayers"] == ["continuity", "instructionFiles", "durableRefs"]
    assert [one["text"] for one in told["resumeContext"]["suggestedDurableRefs"]] == [
        "The lexer is fed by the parser"
    ]
