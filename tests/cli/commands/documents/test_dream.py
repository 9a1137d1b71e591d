"""The dream sidecar at the shell: nothing is kept without a yes, and no instruction file is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands.documents.test_continuity import saved
from tests.cli.commands.test_brief import record, written
from tests.cli.conftest import Person

RULE = "Never touch vendor/."
DECISION = "Decision: we use SQLite because it needs no server."


@pytest.fixture
def dreamer(person: Person) -> Person:
    records = [
        record(0, "user", f"Mend the lexer of the parser. {RULE}", cwd=str(person.project)),
        record(1, "assistant", [{"type": "text", "text": DECISION}]),
    ]
    saved(person, written(person.root / "s1.jsonl", records))
    return person


def built(person: Person, *more: str) -> dict[str, Any]:
    done = person.types("dream", "build", "--json", *more)
    assert done.status == 0, done.err
    return {row["lane"]: row for row in done.json}


def standing(person: Person, id: str) -> str:
    rows = person.types("dream", "candidates", "--json").json
    return str(next(row["standing"] for row in rows if row["id"] == id))


def test_looking_builds_nothing(dreamer: Person) -> None:
    told = dreamer.types("dream", "inspect", "--json").json
    assert told["candidates"] == []
    assert "holdfast dream build" in told["diagnostics"][0]
    assert list(dreamer.home.rglob("snapshot.json")) == []


def test_what_was_approved_becomes_a_memory_and_nothing_else_does(dreamer: Person) -> None:
    id = built(dreamer)["durable-memory"]["id"]
    early = dreamer.types("dream", "promote", id)
    assert (early.status, "--approve` comes first" in early.err) == (1, True)
    assert dreamer.types("memories", "list", "--json").json == []
    assert dreamer.types("dream", "review", id, "--approve").status == 0
    promoted = dreamer.types("dream", "promote", id, "--json").json
    assert promoted["standing"] == "promoted"
    remembered = dreamer.types("memories", "list", "--json").json
    assert [one["id"] for one in remembered] == [promoted["became"]]


def test_an_instruction_stays_a_proposal_until_a_person_applied_it(dreamer: Person) -> None:
    agents = dreamer.project / "AGENTS.md"
    agents.write_text("# Rules\n")
    id = built(dreamer)["instruction-like"]["id"]
    dreamer.types("dream", "review", id, "--approve")
    assert dreamer.types("dream", "promote", id, "--json").json["standing"] == "manual-apply-pending"
    assert agents.read_text() == "# Rules\n"
    assert f"+- {RULE}" in dreamer.types("dream", "apply-prep", id).out
    unfinished = dreamer.types("dream", "verify-apply", id)
    assert (unfinished.status, "does not say it yet" in unfinished.err) == (1, True)
    agents.write_text(f"# Rules\n- {RULE}\n")
    assert dreamer.types("dream", "verify-apply", id, "--json").json["standing"] == "applied"


def test_a_subagents_candidate_waits_until_it_is_adopted(dreamer: Person) -> None:
    said = record(
        0, "assistant", [{"type": "text", "text": "Decision: we drop the cache because it is stale."}]
    )
    transcript = written(dreamer.root / "agent-1.jsonl", [record(9, "user", "look at the cache"), said])
    done = dreamer.types("dream", "build", "--subagent", str(transcript), "--json")
    blocked = next(row for row in done.json if row["standing"] == "blocked")
    assert "drop the cache" in blocked["text"]
    refused = dreamer.types("dream", "review", blocked["id"], "--approve")
    assert (refused.status, "dream adopt" in refused.err) == (1, True)
    assert dreamer.types("dream", "adopt", blocked["id"]).status == 0
    assert standing(dreamer, blocked["id"]) == "pending"


def test_another_build_keeps_what_was_decided(dreamer: Person) -> None:
    id = built(dreamer)["durable-memory"]["id"]
    dreamer.types("dream", "review", id, "--reject")
    built(dreamer)
    assert standing(dreamer, id) == "rejected"


def test_a_snapshot_says_when_the_continuity_has_changed(dreamer: Person) -> None:
    built(dreamer)
    local = dreamer.project / ".holdfast/sessions/active.md"
    local.write_text(local.read_text() + "\n## Mine\n")
    assert dreamer.types("dream", "inspect", "--json").json["diagnostics"] == [
        f"`{local}` has changed since the snapshot was built"
    ]


def test_a_broken_snapshot_stops_and_is_left_alone(dreamer: Person) -> None:
    built(dreamer)
    snapshot: Path = next(dreamer.home.rglob("snapshot.json"))
    snapshot.write_text("{")
    done = dreamer.types("dream", "candidates")
    assert (done.status, done.err.count("error:"), "put it aside" in done.err) == (1, 1, True)
    assert snapshot.read_text() == "{"


@pytest.mark.parametrize("words", [("review", "zz", "--approve"), ("promote", "zz"), ("proposal", "zz")])
def test_an_unknown_candidate_is_named(dreamer: Person, words: tuple[str, ...]) -> None:
    built(dreamer)
    done = dreamer.types("dream", *words)
    assert (done.status, "there is no candidate `zz`" in done.err) == (1, True)
