"""Secrets are planted wherever a session can carry them; then every column and file of the home is read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import apsw

from tests.daemon.conftest import Lodging, request, wait_until

CANARIES = {
    "github": "ghp_" + "Qw3r" * 9,
    "anthropic": "sk-ant-api03-" + "Ab1-" * 22 + "AA",
    "aws": "AKIA" + "Q2W3E4R5T6Y7U8I9",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0" * 2 + "." + "dozjgNryP4J3jVmN" * 2,
    "url": "hunter2-" + "swordfish",
    "assignment": "Tr0ub4dor-" + "and-3-more",
}


def planted() -> str:
    return (
        f"push with {CANARIES['github']} and {CANARIES['anthropic']}, key {CANARIES['aws']}, "
        f"Authorization: Bearer {CANARIES['jwt']}, postgres://app:{CANARIES['url']}@db/app, "
        f"export DB_PASSWORD={CANARIES['assignment']}"
    )


def record(kind: str, uuid: str, content: object, **more: object) -> dict[str, object]:
    stamp = {"uuid": uuid, "timestamp": "2026-11-15T12:00:00.000Z", "sessionId": "s1"}
    return {"type": kind, **stamp, "message": {"role": kind, "content": content}, **more}


def transcript() -> list[dict[str, object]]:
    """Every place that a transcript has for a text."""
    secret = planted()
    todos = [{"content": secret, "status": "pending", "activeForm": secret}]
    return [
        record("user", "u1", f"Do it: {secret}"),
        record("assistant", "a1", [{"type": "text", "text": f"I will use {secret}"}]),
        record(
            "assistant",
            "a2",
            [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": secret}}],
        ),
        record(
            "user", "u2", [{"type": "tool_result", "tool_use_id": "t1", "content": secret, "is_error": True}]
        ),
        record(
            "assistant",
            "a3",
            [{"type": "tool_use", "id": "t2", "name": "TodoWrite", "input": {"todos": todos}}],
        ),
        record(
            "assistant",
            "a4",
            [{"type": "tool_use", "id": "t3", "name": "Read", "input": {"file_path": f"/x/{secret}"}}],
        ),
        record("user", "u3", [{"type": "tool_result", "tool_use_id": "t3", "content": secret}]),
        record("user", "u4", f"This session is being continued. {secret}", isCompactSummary=True),
    ]


def letters(path: Path) -> list[dict[str, object]]:
    common = {"session_id": "s1", "cwd": "/", "transcript_path": str(path)}
    bare = {"session_id": "s2", "cwd": "/", "transcript_path": None}
    return [
        {**common, "hook_event_name": "UserPromptSubmit", "prompt": planted(), "prompt_id": "p9"},
        {**common, "hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": planted()},
        {**common, "hook_event_name": "SessionStart", "source": "compact"},
        {**common, "hook_event_name": "PostCompact", "compact_summary": planted()},
        {**bare, "hook_event_name": "UserPromptSubmit", "prompt": planted()},
        {**bare, "hook_event_name": "Stop", "last_assistant_message": planted()},
        {**bare, "hook_event_name": "SessionEnd", "reason": planted()},
        {**common, "hook_event_name": "SessionEnd", "reason": "other"},
    ]


def test_nothing_unredacted_is_kept_or_given(lodging: Lodging) -> None:
    path = lodging.root / ".claude" / "projects" / "p" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in transcript()))
    spool = lodging.home / "spool"
    spool.mkdir(mode=0o700)
    (spool / "0.letter").write_bytes(request(json.dumps({**letters(path)[4], "session_id": "s3"}), "spooled"))
    lodging.start()
    given = b""
    for number, letter in enumerate(letters(path)):
        given += lodging.letter(json.dumps(letter), f"id-{number}", process=f"{os.getpid()} 0") or b""
    lodging.send(request("{", "bad", harness=planted()))
    wait_until(lambda: not list(spool.glob("*.letter")))
    lodging.ask("flush")
    assert b"Session Recovery Context" in given
    assert b"[REDACTED" in given
    assert leaks(given.decode()) == []
    assert leaks("\n".join(columns(lodging.home / "store.db"))) == []
    for file in lodging.home.rglob("*"):
        if file.is_file():
            assert leaks(file.read_bytes().decode("utf-8", "replace")) == [], file


def test_the_search_for_leaks_would_find_one() -> None:
    assert leaks(planted()) == sorted(CANARIES)


def leaks(text: str) -> list[str]:
    return sorted(name for name, value in CANARIES.items() if value in text)


def columns(path: Path) -> list[str]:
    """Every value of every column of every table."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
    values = [
        str(value)
        for table in tables
        for row in connection.execute(f'select * from "{table}"')
        for value in row
    ]
    connection.close()
    assert len(values) > 50
    return values
