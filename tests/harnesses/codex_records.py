"""Records in the shapes in which Codex writes them, old and new, for tests to put together.

Only the shapes are its own; every text and id is made up here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

THREAD = "0c0de000-0000-7000-8000-000000000001"
CHILD = "0c0de000-0000-7000-8000-000000000002"
TIME = "2026-03-01T10:00:00.000Z"
AT = 1772359200000
CWD = "/home/you/proj"


def record(kind: str, payload: Json, /, **more: object) -> Json:
    return {"timestamp": TIME, **more, "type": kind, "payload": payload}


def item(kind: str, /, **fields: object) -> Json:
    return record("response_item", {"type": kind, **fields})


def event(kind: str, /, **fields: object) -> Json:
    return record("event_msg", {"type": kind, **fields})


def completed(kind: str, call: str, /, **fields: object) -> Json:
    return event("item_completed", turn_id="turn-1", item={"type": kind, "id": call, **fields})


def meta(thread: str = THREAD, **more: object) -> Json:
    return record(
        "session_meta",
        {"id": thread, "session_id": thread, "timestamp": TIME, "cwd": CWD, "source": "cli", **more},
    )


def turn(model: str = "model-x", turn_id: str = "turn-1", **more: object) -> Json:
    return record("turn_context", {"turn_id": turn_id, "cwd": CWD, "model": model, **more})


def message(role: str, /, *texts: str, kinds: list[str] | None = None, **more: object) -> Json:
    block = "output_text" if role == "assistant" else "input_text"
    content = [{"type": block, "text": one} for one in texts]
    if kinds is not None:
        about = {"turn_id": "turn-9", "content_item_kinds": kinds}
        more["internal_chat_message_metadata_passthrough"] = about
    return item("message", role=role, content=content, **more)


def call(name: str, call_id: str = "call_1", /, **given: object) -> Json:
    return item("function_call", name=name, arguments=json.dumps(given), call_id=call_id)


def output(text: object, call_id: str = "call_1", kind: str = "function_call_output") -> Json:
    return item(kind, call_id=call_id, output=text)


def patch_call(patch: str, call_id: str = "call_1") -> Json:
    return item("custom_tool_call", name="apply_patch", input=patch, call_id=call_id, status="completed")


def tokens(total: int, window: int = 200_000, **last: int) -> Json:
    info = {
        "total_token_usage": {"total_tokens": total},
        "last_token_usage": last,
        "model_context_window": window,
    }
    return event("token_count", info=info, rate_limits=None)


def ran(text: str, status: int = 0) -> str:
    """A command's output as newer versions print it."""
    return (
        f"Chunk ID: 0a1b2c\nWall time: 0.1 seconds\nProcess exited with code {status}\n"
        f"Original token count: 3\nOutput:\n{text}"
    )


def running(process: int, text: str = "…") -> str:
    """The output of a command that has not ended yet."""
    return f"Chunk ID: 0a1b2c\nProcess running with session ID {process}\nOutput:\n{text}"


def session() -> list[Json]:
    """A session with something of everything, each thing told by as many records as Codex writes."""
    patch = "*** Begin Patch\n*** Update File: src/parser.py\n@@\n-a\n+b\n*** End Patch"
    return [
        meta(),
        event("task_started", turn_id="turn-1"),
        message("developer", "<permissions instructions>…</permissions instructions>"),
        message("user", "<environment_context>…</environment_context>"),
        turn(),
        message("user", "Fix the parser. Never touch the lexer."),
        event("user_message", message="Fix the parser. Never touch the lexer."),
        item("reasoning", summary=[], encrypted_content="…"),
        event("agent_message", message="I will look."),
        message("assistant", "I will look.", id="msg_1"),
        call("exec_command", "call_1", cmd="pytest -q"),
        tokens(1_000, input_tokens=900, cached_input_tokens=300, output_tokens=100, total_tokens=1_000),
        output(ran("1 failed\n", 1), "call_1"),
        patch_call(patch, "call_2"),
        event("patch_apply_end", call_id="call_2", success=True, stdout="Success.", stderr="", changes={}),
        output("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", "call_2", "custom_tool_call_output"),
        call("exec_command", "call_3", cmd="make test"),
        output(running(7), "call_3"),
        call("write_stdin", "call_4", session_id=7, chars=""),
        output(ran("all passed\n"), "call_4"),
        call("update_plan", "call_5", plan=[{"step": "Ship it", "status": "pending"}]),
        output("Plan updated", "call_5"),
        record("compacted", {"message": "", "replacement_history": []}),
        turn("model-y", "turn-2"),
        event("context_compacted"),
        message("user", "Go on 🙂", kinds=["user.text"], id="msg_2"),
        completed("UserMessage", "other-id", content=[{"type": "text", "text": "Go on 🙂"}]),
        event("task_complete", turn_id="turn-2", last_agent_message=None),
    ]


def jsonl(records: Iterable[Json]) -> bytes:
    """The records as a rollout, without spaces as the client writes them."""
    lines = (json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in records)
    return "".join(f"{line}\n" for line in lines).encode()


def rollout(thread: str = THREAD, begun: str = "2026-03-01T10-00-00") -> str:
    """How a thread's file is named."""
    return f"rollout-{begun}-{thread}.jsonl"


def written(folder: Path, content: bytes, name: str = rollout()) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def hook_body(event: str, **fields: object) -> bytes:
    """A hook's letter of the session whose thread is `THREAD`."""
    return json.dumps(
        {
            "session_id": THREAD,
            "transcript_path": str(rollout_path(THREAD)),
            "cwd": CWD,
            "hook_event_name": event,
            **fields,
        }
    ).encode()


def rollout_path(thread: str) -> Path:
    return Path("/home/you/.codex/sessions/2026/03/01", rollout(thread))
