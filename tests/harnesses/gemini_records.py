"""Records in the shape in which Gemini CLI writes them, for tests to put together.

Only the shape is its own; every text and id is made up here.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from holdfast.core.text.untrusted import fence

Json: TypeAlias = dict[str, Any]

SESSION = "9e3141c1-0000-4000-8000-000000000001"
TIME = "2026-03-01T10:00:00.000Z"
AT = 1772359200000
CWD = "/home/you/proj"
THANKS = "Got it. Thanks for the additional context!"


def header(session: str = SESSION, kind: str = "main") -> Json:
    return {
        "sessionId": session,
        "projectHash": "0" * 64,
        "startTime": TIME,
        "lastUpdated": TIME,
        "kind": kind,
    }


def message(kind: str, id: str, content: object, **more: object) -> Json:
    return {"id": id, "timestamp": TIME, "type": kind, "content": content, **more}


def part(text: str) -> Json:
    return {"text": text}


def user(*texts: str, id: str = "u1", **more: object) -> Json:
    return message("user", id, [part(text) for text in texts], **more)


def answer(text: str, id: str = "g1", **more: object) -> Json:
    tokens = {"input": 1200, "output": 30, "cached": 200, "thoughts": 5, "tool": 0, "total": 1235}
    return message("gemini", id, text, **{"thoughts": [], "tokens": tokens, "model": "model-x", **more})


def call(name: str, output: str, /, *, id: str = "c1", status: str = "success", **given: object) -> Json:
    response = {"id": id, "name": name, "response": {"output": output}}
    result = [{"functionResponse": response}]
    return {"id": id, "name": name, "args": given, "result": result, "status": status, "timestamp": TIME}


def ran(command: str, printed: str, code: int = 0, id: str = "c1") -> Json:
    """A shell command as it is recorded: how it ended is said behind what it printed, where it failed."""
    ended = f"Exit Code: {code}\n" if code else ""
    said = f"Output: {printed or '(empty)'}\n{ended}Process Group PGID: 4711"
    output = f"<untrusted_context>\n{said}\n</untrusted_context>"
    return call("run_shell_command", output, command=command, id=id)


def patch(*messages: Json) -> Json:
    return {"$set": {"messages": [*messages], "lastUpdated": TIME}}


def context() -> Json:
    told = f"This is the Gemini CLI.\n- **Workspace Directories:**\n  - {CWD}"
    return user(f"<session_context>\n{told}\n</session_context>", id="ctx")


def compacted(summary: str = "<state_snapshot>half done</state_snapshot>", id: str = "sum1") -> Json:
    return patch(context(), user(summary, id=id), message("gemini", f"{id}-ok", [part(THANKS)]))


def hooked(text: str) -> str:
    """What a hook said, as it stands in a message."""
    return f"<hook_context>{html.escape(text, quote=False)}</hook_context>"


def jsonl(records: Iterable[Json]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def session() -> list[Json]:
    """A session with something of everything."""
    edit = {"file_path": f"{CWD}/totals.py", "old_string": "41", "new_string": "42"}
    asked = f"{hooked(fence('ours'))}\n\nFix the totals. Never touch legacy.py."
    return [
        header(),
        patch(context()),
        user(asked, hooked("theirs"), displayContent=[part(asked)]),
        {"$set": {"lastUpdated": TIME}},
        answer("", id="g1"),
        answer("", id="g1", toolCalls=[ran("pytest -q", "1 failed", 1, id="c1")]),
        user(id="r1"),
        answer("Look here.", id="g2", toolCalls=[call("replace", "Successfully modified", id="c2", **edit)]),
        answer("", id="g3", toolCalls=[call("write_todos", "ok", id="c3", todos=TODOS)]),
        answer("I decided to round half up.", id="g4"),
        compacted(),
        user("Go on.", id="u2"),
        message("info", "i1", "Chat history compressed"),
        answer("Done.", id="g5", model="model-y"),
    ]


TODOS = [{"description": "round", "status": "completed"}, {"description": "test", "status": "pending"}]
