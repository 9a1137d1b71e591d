"""Stats show what was kept and given back, and say what is unknown."""

from __future__ import annotations

import json

from tests.cli.conftest import HARNESS, Person


def happens(person: Person, event: str, **fields: str) -> None:
    payload = {"session_id": "s1", "cwd": str(person.project), "hook_event_name": event, **fields}
    assert person.types("hook", "--harness", HARNESS, given=json.dumps(payload)).status == 0


def test_before_the_first_session_everything_is_none_or_unknown(person: Person) -> None:
    shown = person.types("stats")
    assert (shown.status, shown.err) == (0, "")
    assert "Sessions      0 kept\n" in shown.out
    assert "Used          unknown: no brief was given\n" in shown.out
    assert "Time          unknown: no hook event was timed yet\n" in shown.out
    assert "█" not in shown.out
    assert not person.home.exists()


def test_what_was_kept_and_given_back_is_counted_and_drawn(person: Person) -> None:
    person.prompts("Fix the retries in queue.py")
    assert person.types("up").status == 0, "a hook does not wait for a daemon that starts slowly"
    happens(person, "PreCompact")
    happens(person, "SessionStart", source="compact")
    shown = person.types("stats", "--days", "7")
    assert f"Sessions      1 kept ({HARNESS} 1)" in shown.out
    assert "Compactions   1 of 1 followed by a brief" in shown.out
    assert "Crashes       none seen" in shown.out
    assert "Briefs        1 given (1 after a compaction)" in shown.out
    assert "Used          unknown: 1 brief with too little work since then to tell" in shown.out
    assert " answered, half within " in shown.out
    assert "no model was asked" in shown.out
    *_, today = shown.out.splitlines()
    assert today.endswith(f"{'█' * 40} 1, 1 brief")
    row = person.types("stats", "--days", "7", "--json").json
    assert row["compactions"] == {"seen": 1, "survived": 1, "imported": 0}
    assert row["cost"]["hook_events"] >= 1
    assert (len(row["by_day"]), row["days"]) == (7, 7)
