"""Continuity that a model writes: believed where it holds, else the rules stand in, and say why."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands.documents.test_continuity import local, saved, work
from tests.cli.commands.test_brief import record, written
from tests.cli.conftest import Person

LAYER: dict[str, Any] = {
    "goal": "Mend the lexer",
    "confirmedWorking": [],
    "triedAndFailed": [],
    "notYetTried": [],
    "incompleteNext": [],
    "filesDecisionsEnvironment": [],
}
GOOD = {
    "project": {**LAYER, "triedAndFailed": ["`make test` found no token"]},
    "projectLocal": {
        **LAYER,
        "incompleteNext": ["have the lexer skip comments"],
        "filesDecisionsEnvironment": ["`src/lexer.py`: the token table", "Never touch vendor/."],
    },
}


def answering(person: Person, text: str) -> None:
    """The settings name a command that answers this, and keeps what it was asked."""
    program = person.root / "model.py"
    asked = person.root / "asked.txt"
    program.write_text(
        f"import sys\nopen({str(asked)!r}, 'w').write(sys.stdin.read())\nprint({text!r})\n", encoding="utf-8"
    )
    person.home.mkdir(exist_ok=True)
    command = json.dumps([sys.executable, str(program)])
    (person.home / "config.toml").write_text(
        f'continuity.extractor = "model"\ncheckpoint.model = "command"\nmodels.command = {command}\n'
    )


@pytest.fixture
def transcript(person: Person) -> Path:
    return written(person.root / "s1.jsonl", work(person))


@pytest.mark.parametrize(
    ("text", "actual", "confidence", "reason"),
    [
        (json.dumps(GOOD), "model", "high", ""),
        (json.dumps({**GOOD, "projectLocal": LAYER}), "model", "medium", ""),
        (
            json.dumps({**GOOD, "project": {**LAYER, "confirmedWorking": ["`make test`"]}}),
            "model",
            "low",
            "",
        ),
        ("Sorry.", "heuristic", "low", "not as asked"),
        (json.dumps({"project": LAYER}), "heuristic", "low", "projectLocal"),
        (json.dumps({"project": LAYER, "projectLocal": LAYER}), "heuristic", "low", "says nothing of"),
    ],
)
def test_the_way_that_was_set_and_the_way_that_was_taken_are_accounted_for(
    person: Person, transcript: Path, text: str, actual: str, confidence: str, reason: str
) -> None:
    answering(person, text)
    entry = saved(person, transcript)["latestContinuityAuditEntry"]
    assert (entry["configuredExtractorMode"], entry["preferredPath"]) == ("model", "model")
    assert (entry["actualPath"], entry["confidence"]) == (actual, confidence)
    assert reason in (entry["fallbackReason"] or "")
    assert bool(reason) == bool(entry["fallbackReason"])
    status = person.types("session", "status").out
    assert f"by {'rule' if actual == 'heuristic' else actual}" in status
    assert f"confidence {confidence}" in status


def test_what_the_model_said_is_what_is_written(person: Person, transcript: Path) -> None:
    answering(person, json.dumps(GOOD))
    saved(person, transcript)
    assert "- have the lexer skip comments\n" in local(person).read_text()
    asked = (person.root / "asked.txt").read_text()
    assert "## Commands that failed" in asked
    assert "USER: Mend the lexer of the parser." in asked


def test_of_an_empty_session_no_model_is_asked(person: Person) -> None:
    answering(person, json.dumps(GOOD))
    bare = written(person.root / "s2.jsonl", [record(0, "user", "Good morning to you all")])
    entry = saved(person, bare)["latestContinuityAuditEntry"]
    assert (entry["actualPath"], entry["confidence"]) == ("heuristic", "low")
    assert "too little in the session" in entry["fallbackReason"]
    assert not (person.root / "asked.txt").exists()


def test_a_repository_cannot_have_a_model_asked(person: Person, transcript: Path) -> None:
    (person.project / "holdfast.toml").write_text('continuity.extractor = "model"\n')
    assert saved(person, transcript)["latestContinuityAuditEntry"]["configuredExtractorMode"] == "heuristic"


def test_without_a_model_the_rules_stand_in(person: Person, transcript: Path) -> None:
    person.home.mkdir()
    (person.home / "config.toml").write_text('continuity.extractor = "model"\n')
    entry = saved(person, transcript)["latestContinuityAuditEntry"]
    assert (entry["actualPath"], entry["fallbackReason"]) == ("heuristic", "no model is set")


def test_no_secret_that_a_model_repeats_is_written(person: Person, transcript: Path) -> None:
    key = "ghp_" + "aB3dE6" * 6
    answering(
        person, json.dumps({**GOOD, "project": {**LAYER, "triedAndFailed": [f"`make test` with {key}"]}})
    )
    saved(person, transcript)
    kept = [path for path in (*person.home.rglob("*"), local(person)) if path.is_file()]
    assert any(b"`make test` with" in path.read_bytes() for path in kept)
    assert [path for path in kept if key.encode() in path.read_bytes()] == []
