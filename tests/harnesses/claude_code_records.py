"""Records and letters in the shape in which Claude Code writes them, for tests to put together.

Only the shape is its own; every text and id is made up here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

SESSION = "5e551011-0000-4000-8000-000000000001"
TIME = "2026-03-01T10:00:00.000Z"
AT = 1772359200000


def user(content: str | list[Json], uuid: str = "u1", **more: object) -> Json:
    return record("user", uuid, message={"role": "user", "content": content}, **more)


def assistant(
    *blocks: Json, uuid: str = "a1", request: str = "msg_1", usage: Json | None = None, **more: object
) -> Json:
    message: Json = {
        "id": request,
        "type": "message",
        "role": "assistant",
        "model": "model-x",
        "content": [*blocks],
    }
    if usage is not None:
        message["usage"] = usage
    return record("assistant", uuid, message=message, requestId="req_1", **more)


def attachment(kind: str, uuid: str = "t1", **fields: object) -> Json:
    return record("attachment", uuid, attachment={"type": kind, **fields}, rendered=[{"content": "…"}])


def record(kind: str, uuid: str, **more: object) -> Json:
    return {
        "parentUuid": "p0",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/you/proj",
        "sessionId": SESSION,
        "version": "2.1.325",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid,
        "timestamp": TIME,
        **more,
    }


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def tool_use(name: str, call: str = "toolu_1", **given: object) -> Json:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def tool_result(content: object, call: str = "toolu_1", **more: object) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def payload(event: str, **fields: object) -> bytes:
    return json.dumps(
        {
            "session_id": SESSION,
            "transcript_path": f"/home/you/.claude/projects/-home-dev-proj/{SESSION}.jsonl",
            "cwd": "/home/you/proj/src",
            "hook_event_name": event,
            **fields,
        }
    ).encode()


def jsonl(records: Iterable[Json]) -> bytes:
    """The records as a transcript, without spaces as the client writes them."""
    lines = (json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in records)
    return "".join(f"{line}\n" for line in lines).encode()


def written(folder: Path, content: bytes, name: str = f"{SESSION}.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
