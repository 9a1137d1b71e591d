"""Status shows how things stand, problems first, and its exit status says whether there is one."""

from __future__ import annotations

import json

import pytest

from holdfast.stores.store_files import note_held
from tests.cli.conftest import HARNESS, Done, Person


@pytest.fixture
def connected(person: Person) -> Person:
    person.settings.write_text("{}")
    assert person.types("setup", "--yes").status == 0
    return person


def happens(person: Person, event: str, session: str = "s1", **fields: str) -> Done:
    payload = {"session_id": session, "cwd": str(person.project), "hook_event_name": event, **fields}
    return person.types("hook", "--harness", HARNESS, given=json.dumps(payload))


def test_without_setup_it_says_what_to_do_and_makes_no_home(person: Person) -> None:
    shown = person.types("status")
    assert shown.status == 1
    assert shown.out.startswith(
        "1 problem; `holdfast doctor` looks closer\nFAIL  setup: no harness is connected\n"
        "      fix: run `holdfast setup`\n"
    )
    assert "Claude Code: not connected: `holdfast setup` connects it" in shown.out
    assert not person.home.exists()


def test_all_that_one_asks_first_is_there_with_the_daemon_and_without(connected: Person) -> None:
    connected.prompts("Fix the retries in queue.py")
    happens(connected, "PreCompact")
    happens(connected, "SessionStart", source="compact")
    assert connected.types("up").status == 0
    shown = connected.types("status")
    assert (shown.status, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0] == "no problem"
    assert any(line.startswith("Harnesses     Claude Code: 1 session, last event ") for line in lines)
    assert "              not installed: Codex, OpenClaw, Gemini CLI, OpenCode" in lines
    live = next(line for line in lines if line.startswith("Live now"))
    assert live.startswith("Live now      Fix the retries in queue.py (s1) · ")
    assert any("(before a compaction): Fix the retries in queue.py" in line for line in lines)
    assert any("after a compaction: Fix the retries in queue.py" in line for line in lines)
    assert any(line.startswith("Store ") and "1 session, 1 checkpoint, 0 memories" in line for line in lines)
    assert any(line.startswith("Daemon        running for ") for line in lines)

    by_daemon = connected.types("status", "--json").json
    assert connected.types("down").status == 0
    alone = connected.types("status", "--json").json
    assert (by_daemon["ok"], by_daemon["running"], alone["running"]) == (True, True, False)
    for name in ("problems", "harnesses", "live", "last_checkpoint", "last_brief"):
        assert by_daemon[name] == alone[name], name
    (session,) = alone["live"]
    assert (session["session_key"], session["title"]) == ("s1", "Fix the retries in queue.py")
    assert (alone["last_checkpoint"]["trigger"], alone["last_brief"]["reason"]) == (
        "pre_compaction",
        "compact",
    )
    assert alone["store"]["bytes"] > 0


def test_a_harness_that_waits_for_a_review_is_a_problem(person: Person) -> None:
    (person.user_home / ".codex").mkdir()
    assert person.types("setup", "--yes").status == 0
    for _ in ("alone", "by the daemon"):
        shown = person.types("status")
        assert shown.status == 1
        assert "FAIL  trust of codex: 7 of Holdfast's hooks wait for a review" in shown.out
        assert "Codex: waits for you: see above" in shown.out
        states = {row["name"]: row["state"] for row in person.types("status", "--json").json["harnesses"]}
        assert (states["codex"], states[HARNESS]) == ("blocked", "connected")
        person.types("up")


def test_a_store_that_cannot_be_read_is_named_and_left_alone(connected: Person) -> None:
    (connected.home / "store.db").touch(0o600)
    (connected.home / "store.db").write_bytes(b"not a database" * 500)
    shown = connected.types("status")
    assert shown.status == 1
    assert "FAIL  store: " in shown.out
    assert "Store         cannot be read" in shown.out
    assert connected.types("status", "--json").json["store"] is None
    assert (connected.home / "store.db").read_bytes() == b"not a database" * 500


def test_of_a_store_that_is_gone_it_says_once_what_was_in_it(connected: Person) -> None:
    note_held(connected.home / "store.db", {"sessions": 1, "memories": 2}, 1_800_000_000_000)
    (problem,) = connected.types("status", "--json").json["problems"]
    assert problem["detail"].endswith("it is gone; it held 1 session, 2 memories on 2027-01-15")
    assert problem["detail"].count("it held") == 1
