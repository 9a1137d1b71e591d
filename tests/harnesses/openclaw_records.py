"""Records in the shape in which pi and OpenClaw write them, for tests to put together.

Only the shape is theirs; every text and id is made up here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from holdfast.core.text.untrusted import fence
from tests.zstd_files import compress

Json: TypeAlias = dict[str, Any]

TIME = "2026-03-01T10:00:00.000Z"
AT = 1772359200000
CWD = "/home/you/proj"


def header(**more: object) -> Json:
    return {"type": "session", "version": 3, "id": "s-1", "timestamp": TIME, "cwd": CWD, **more}


def record(kind: str, id: str = "r1", **more: object) -> Json:
    return {"type": kind, "id": id, "parentId": "p0", "timestamp": TIME, **more}


def message(role: str, id: str, **fields: object) -> Json:
    return record("message", id, message={"role": role, "timestamp": AT, **fields})


def user(content: object, id: str = "u1", **fields: object) -> Json:
    return message("user", id, content=content, **fields)


def assistant(*blocks: Json, id: str = "a1", **fields: object) -> Json:
    given: Json = {
        "api": "api-x",
        "provider": "provider-x",
        "model": "model-x",
        "stopReason": "stop",
        **fields,
    }
    return message("assistant", id, content=[*blocks], **given)


def tool_result(tool: str, output: object, call: str = "c1", id: str = "t1", **fields: object) -> Json:
    content = [text(output)] if isinstance(output, str) else output
    given: Json = {"isError": False, **fields}
    return message("toolResult", id, toolCallId=call, toolName=tool, content=content, **given)


def bash_execution(command: str, output: str, code: int | None, id: str = "b1", **fields: object) -> Json:
    given: Json = {"cancelled": False, "truncated": False, **fields}
    return message("bashExecution", id, command=command, output=output, exitCode=code, **given)


def nested_tool(tool: str, given: Json, result: Json, id: str = "n1", **details: object) -> Json:
    told = {
        "toolName": tool,
        "toolCallId": "in:1",
        "input": given,
        "result": result,
        "isError": False,
        **details,
    }
    return message("custom", id, customType="openclaw.nested-tool.v1", content="", details=told)


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def thinking(words: str) -> Json:
    return {"type": "thinking", "thinking": words}


def image() -> Json:
    return {"type": "image", "data": "AAAA", "mimeType": "image/png"}


def tool_call(name: str, call: str = "c1", **given: object) -> Json:
    return {"type": "toolCall", "id": call, "name": name, "arguments": given}


def tokens(into: int, out: int, read: int = 0, written: int = 0) -> Json:
    return {"input": into, "output": out, "cacheRead": read, "cacheWrite": written, "cost": {"total": 0.1}}


def jsonl(records: Iterable[Json]) -> bytes:
    """The records as a session file, without spaces as the programs write them."""
    lines = (json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in records)
    return "".join(f"{line}\n" for line in lines).encode()


def in_database(path: Path, key: str, session: str, records: Iterable[Json], *, pack: bool = False) -> Path:
    """A database as today's OpenClaw keeps it, with just the columns that we read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript("""
        create table if not exists session_nodes (session_key text, current_session_id text, entry_json text);
        create table if not exists transcript_events (
            session_id text, seq integer, event_json text, event_zstd blob
        );
    """)
    noted = json.dumps({"sessionId": session, "updatedAt": 1772359200000, "compactionCount": 0})
    connection.execute("insert into session_nodes values (?, ?, ?)", (key, session, noted))
    (begun,) = connection.execute(
        "select count(*) from transcript_events where session_id = ?", (session,)
    ).fetchone()
    for seq, each in enumerate(records, begun):
        line = json.dumps(each)
        packed = compress(line.encode()) if pack and seq % 2 else None
        row = (session, seq, None if packed else line, packed)
        connection.execute("insert into transcript_events values (?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    return path


def written(folder: Path, content: bytes, name: str = "s-1.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


SESSION = (
    header(),
    record("model_change", "m1", provider="provider-x", modelId="model-x"),
    record("thinking_level_change", "k1", thinkingLevel="high"),
    user("Fix the parser. Never touch the lexer.", "u1"),
    assistant(
        thinking("hm"),
        text("I look."),
        tool_call("read", "c1", path="src/parser.py"),
        id="a1",
        usage=tokens(10, 40, 3000, 200),
    ),
    tool_result("read", "def parse(): …", "c1", "t1"),
    assistant(tool_call("bash", "c2", command="make test"), id="a2", usage=tokens(5, 9)),
    tool_result("bash", "1 failed\n\nCommand exited with code 2", "c2", "t2", isError=True),
    bash_execution("git status", "M a.py", 0, "b1"),
    record(
        "compaction", "z1", summary="Goal: fix.", firstKeptEntryId="a2", tokensBefore=9000, tokensAfter=200
    ),
    record("custom_message", "h1", customType="holdfast", content=fence("half done"), display=False),
    user([text("Go on."), image()], "u2"),
    record("custom", "x1", customType="model-snapshot", data={"modelId": "model-x"}),
    assistant(text("Fixed."), id="a3", usage=tokens(7, 3)),
)
"""A small session with one of everything."""

WHOLE = jsonl(SESSION)
