"""The titles that harnesses themselves give their sessions, and which of them the user set."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.core.events.event import Titled
from holdfast.harnesses import reader
from tests.harnesses import claude_code_records, codex_records, gemini_records, openclaw_records
from tests.harnesses.opencode_records import Written, asked, text

SUMMARY = {"type": "summary", "summary": "Parser split", "leafUuid": "u1"}


def titles(harness: str, path: Path, session: str, cursor: str = "") -> list[tuple[str, bool]]:
    batch = reader(harness).read_transcript(path, session, cursor, 1 << 20)
    assert batch.skipped == ()
    return [(event.text, event.by_user) for event in batch.events if isinstance(event, Titled)]


def test_claude_code_titles_a_session_and_so_does_its_user(tmp_path: Path) -> None:
    records = [
        {**SUMMARY, "summary": "Another session's title"},
        claude_code_records.user("Split the parser"),
        SUMMARY,
        {"type": "ai-title", "aiTitle": "Split the parser in two", "sessionId": "s"},
        {"type": "custom-title", "customTitle": "parser", "sessionId": "s"},
        {"type": "agent-name", "agentName": "parser", "sessionId": "s"},
        {"type": "ai-title", "aiTitle": ["not", "a", "text"], "sessionId": "s"},
    ]
    path = claude_code_records.written(tmp_path, claude_code_records.jsonl(records))
    assert titles("claude-code", path, "s") == [
        ("Parser split", False),
        ("Split the parser in two", False),
        ("parser", True),
    ]


def test_codex_says_how_the_user_named_a_thread(tmp_path: Path) -> None:
    named = codex_records.event("thread_name_updated", thread_id="t", thread_name="Planner review")
    path = codex_records.written(tmp_path, codex_records.jsonl([*codex_records.session(), named]))
    assert titles("codex", path, codex_records.THREAD) == [("Planner review", True)]


def test_openclaw_says_how_the_user_named_a_session(tmp_path: Path) -> None:
    records = [openclaw_records.header(), openclaw_records.record("session_info", "y1", name="parser")]
    path = openclaw_records.written(tmp_path, openclaw_records.jsonl(records))
    assert titles("openclaw", path, "s-1") == [("parser", True)]


def test_gemini_summarises_a_session_in_a_patch(tmp_path: Path) -> None:
    path = tmp_path / "chats" / "session-x.jsonl"
    path.parent.mkdir()
    records = [*gemini_records.session(), {"$set": {"summary": "Split the parser"}}]
    path.write_bytes(gemini_records.jsonl(records))
    assert titles("gemini", path, gemini_records.SESSION) == [("Split the parser", False)]


def test_opencode_titles_a_session_after_its_first_answer(tmp_path: Path) -> None:
    written = Written(tmp_path / "opencode.db")
    written.session("s1")
    written.message("s1", *asked(text("Split the parser")))
    assert titles("opencode", written.path, "s1") == []
    written.run(("update session set title = 'Parser split'", ()))
    batch = reader("opencode").read_transcript(written.path, "s1", "", 1 << 20)
    assert [event.text for event in batch.events if isinstance(event, Titled)] == ["Parser split"]
    assert titles("opencode", written.path, "s1", batch.cursor) == []


def test_an_export_of_opencode_has_the_title_of_its_session(tmp_path: Path) -> None:
    info, *parts = asked(text("Split the parser"))
    message = {
        "info": {**info, "id": "m1", "time": {"created": 5}},
        "parts": [{**each, "id": "p1"} for each in parts],
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"info": {"id": "s1", "title": "Parser split"}, "messages": [message]}))
    assert titles("opencode", path, "s1") == [("Parser split", False)]
