"""A database as OpenCode keeps it, with the columns that matter, and messages for it."""

from __future__ import annotations

import itertools
import json
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from holdfast.harnesses.fields import milliseconds

FOLDER: Final = "/home/you/project"
NOON: Final = 1_800_000_000_000
SCHEMA: Final = """
create table session (
  id text primary key, parent_id text, directory text not null, title text not null, version text not null,
  time_created integer not null, time_updated integer not null
);
create table message (
  id text primary key, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null
);
create table part (
  id text primary key, message_id text not null, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null
);
create table todo (
  session_id text not null, content text not null, status text not null, priority text not null,
  position integer not null, time_created integer not null, time_updated integer not null,
  primary key (session_id, position)
);
"""
Json = dict[str, Any]


@dataclass
class Written:
    """A database that messages are written into, each a second after the last."""

    path: Path
    clock: Iterable[int] = field(default_factory=lambda: itertools.count(NOON, 1_000))

    def __post_init__(self) -> None:
        self._clock = iter(self.clock)
        self._numbers = itertools.count(1)
        if not self.path.exists():
            self.run(*((statement, ()) for statement in SCHEMA.split(";") if statement.strip()))

    def run(self, *statements: tuple[str, tuple[object, ...]]) -> None:
        with closing(sqlite3.connect(self.path)) as database, database:
            for statement, given in statements:
                database.execute(statement, given)

    def session(self, id: str, parent: str | None = None, at: int = NOON, folder: str = FOLDER) -> None:
        self.run(
            (
                "insert into session values (?, ?, ?, ?, '1.18.33', ?, ?)",
                (id, parent, folder, "New session - 2026-03-01T10:00:00.000Z", at, at),
            )
        )

    def message(self, session: str, info: Json, *parts: Json) -> str:
        """The message's id."""
        at, number = next(self._clock), next(self._numbers)
        id = f"msg_{number:04}"
        rows: list[tuple[str, tuple[object, ...]]] = [
            ("insert into message values (?, ?, ?, ?, ?)", (id, session, at, at, json.dumps(info)))
        ]
        rows += [
            (
                "insert into part values (?, ?, ?, ?, ?, ?)",
                (f"prt_{number:04}_{nth}", id, session, at, at, json.dumps(part)),
            )
            for nth, part in enumerate(parts)
        ]
        self.run(*rows)
        return id

    def fork(self, session: str, id: str, at: int) -> None:
        """Fork a session as OpenCode does it: a copy under new ids, of which only the times are the same."""
        self.session(id, at=at)
        copied = "select ? || id, ?, time_created, ?, data from message where session_id = ?"
        self.run((f"insert into message {copied}", (id, id, at, session)))

    def rewrite(self, id: str, data: Json) -> None:
        """Change a part or a message in place, as is done while it is written."""
        table = "part" if id.startswith("prt_") else "message"
        statement = f"update {table} set data = ?, time_updated = ? where id = ?"
        self.run((statement, (json.dumps(data), next(self._clock), id)))

    def todos(self, session: str, *todos: tuple[str, str]) -> None:
        at = next(self._clock)
        self.run(
            ("delete from todo where session_id = ?", (session,)),
            *(
                ("insert into todo values (?, ?, ?, 'high', ?, ?, ?)", (session, text, status, nth, at, at))
                for nth, (text, status) in enumerate(todos)
            ),
        )


def asked(*parts: Json) -> tuple[Json, ...]:
    return ({"role": "user", "time": {"created": NOON}, "agent": "build"}, *parts)


def answered(*parts: Json, **more: object) -> tuple[Json, ...]:
    info = {
        "role": "assistant",
        "mode": "build",
        "modelID": "some-model",
        "path": {"cwd": FOLDER, "root": FOLDER},
        "time": {"created": NOON, "completed": NOON + 1},
        **more,
    }
    return (info, *parts)


def text(said: str, **more: object) -> Json:
    return {"type": "text", "text": said, "time": {"start": NOON, "end": NOON + 1}, **more}


def tool(name: str, given: Json, output: str = "", **more: object) -> Json:
    """A call that came to its end."""
    state = {"status": "completed", "input": given, "output": output, "metadata": {}, **more}
    return {"type": "tool", "tool": name, "callID": f"call_{name}", "state": state}


def counted(sent: int, output: int = 5, read: int = 0, write: int = 0) -> Json:
    tokens = {"input": sent, "output": output, "reasoning": 1, "cache": {"read": read, "write": write}}
    return {"type": "step-finish", "reason": "stop", "tokens": tokens}


def compacted(summary: str, *, by_itself: bool) -> tuple[tuple[Json, ...], tuple[Json, ...]]:
    """The two messages of a compaction."""
    begun = asked({"type": "compaction", "auto": by_itself})
    return begun, answered(text(summary), counted(7), mode="compaction", summary=True)


def story(session: str, path: Path) -> Written:
    """A session in which something of everything happens."""
    written = Written(path)
    written.session(session)
    written.session("ses_child", parent=session)
    written.message(session, *asked(text("Fix the totals. Never touch legacy.py.")))
    written.message(
        session,
        *answered(
            {"type": "step-start"},
            {"type": "reasoning", "text": "hm"},
            text("I look first."),
            tool("read", {"filePath": f"{FOLDER}/totals.py"}, "1: x"),
            counted(100, read=40),
        ),
    )
    written.message("ses_child", *asked(text("Look for callers.")))
    written.message("ses_child", *answered(text("There are none."), counted(9)))
    written.message(
        session,
        *answered(
            tool("bash", {"command": "pytest"}, "1 failed", metadata={"exit": 1}),
            tool("todowrite", {"todos": [{"content": "Round half up", "status": "pending"}]}),
            text("I decided to round half up."),
            counted(120),
        ),
    )
    for half in compacted("They worked.", by_itself=True):
        written.message(session, *half)
    written.message(session, *asked(text("Continue if you have next steps.", synthetic=True)))
    written.message(session, *answered(text("I go on."), counted(20)))
    written.todos(session, ("Round half up", "in_progress"))
    return written


def database(session: str) -> bytes:
    """The bytes of a database with that story."""
    with tempfile.TemporaryDirectory() as folder:
        return story(session, Path(folder, "opencode.db")).path.read_bytes()


def message(*whole: Json, id: str) -> Json:
    """A message as an export has it: what is said of it, and its parts."""
    info, *parts = whole
    numbered = [{"id": f"{id}-{nth}"} | part for nth, part in enumerate(parts)]
    return {"info": {"id": id} | info, "parts": numbered}


def exported(messages: Iterable[Json], folder: str = FOLDER) -> bytes:
    """An export of these messages, each written at its `timestamp`."""
    stamped: list[Json] = []
    for each in messages:
        at = milliseconds(each["timestamp"])
        stamped.append(each | {"info": each["info"] | {"time": {"created": at, "completed": at}}})
    session = {"id": "ses_1", "directory": folder, "time": {"created": NOON}}
    return json.dumps({"info": session, "messages": stamped}, indent=2).encode()
