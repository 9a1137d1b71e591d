"""Exports: a session in the file that `opencode export` writes, as events.

It is one JSON object with all messages and never grows: it is read whole, once. `messages` interprets the
messages.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.events.event import Event, Skipped
from holdfast.harnesses.base import Batch
from holdfast.harnesses.fields import NOTHING, decoded
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.opencode.messages import MessageContext, Row, read_message
from holdfast.harnesses.opencode.records import Span

LARGEST: Final = 256 << 20
_HEAD: Final = 4_096
_BEGINS: Final = (b'"info"', b'"messages"')


class _Session(msgspec.Struct):
    id: str = ""
    directory: str | None = None
    time: Span | None = None


class _Named(msgspec.Struct):
    id: str | None = None
    time: Span | None = None


class _Message(msgspec.Struct):
    info: msgspec.Raw = NOTHING
    parts: list[msgspec.Raw] = msgspec.field(default_factory=list[msgspec.Raw])


class _Export(msgspec.Struct):
    info: _Session
    messages: list[_Message]


_EXPORT = msgspec.json.Decoder(_Export)
_NAMED = msgspec.json.Decoder(_Named)


def is_export(path: Path) -> bool:
    """Whether this is a JSON file that begins like an export."""
    try:
        state = os.lstat(path)
        if not stat.S_ISREG(state.st_mode) or path.suffix not in (".json", ".jsonl"):
            return False
        with path.open("rb") as file:
            head = file.read(_HEAD).lstrip()
    except OSError:
        return False
    return head.startswith(b"{") and head[1:].lstrip().startswith(_BEGINS)


def read(path: Path, session: str, cursor: str) -> Batch:
    """All of it, unless the cursor says that this same file was read."""
    export, mark = _opened(path)
    if cursor == mark:
        return Batch((), (), cursor, done=True)
    if isinstance(export, Skipped):
        return Batch((), (export,), mark, done=True)
    events: list[Event] = []
    skipped: list[Skipped] = []
    reached = MessageContext()
    for message in export.messages:
        header = _named(message.info)
        at = (header.time.created if header.time else None) or 0
        parts = [Row(_named(raw).id or "", bytes(raw)) for raw in message.parts]
        frame = Frame(session, header.id or f"@{at}", at)
        whole = read_message(Row(frame.record, bytes(message.info)), parts, frame, reached)
        events += whole.events
        skipped += whole.skipped
    return Batch(tuple(events), tuple(skipped), mark, done=True, cwd=export.info.directory or reached.cwd)


def session_of(path: Path) -> str:
    """The session of an export; empty if it cannot be read."""
    export, _ = _opened(path)
    return "" if isinstance(export, Skipped) else export.info.id


def _opened(path: Path) -> tuple[_Export | Skipped, str]:
    """The export, and a mark that stays the same as long as the file does."""
    try:
        state = os.lstat(path)
        mark = f"export {state.st_size} {state.st_mtime_ns}"
        if state.st_size > LARGEST:
            return Skipped("too large", str(path)), mark
        return decoded(_EXPORT, path.read_bytes(), str(path)), mark
    except OSError as error:
        return Skipped(f"cannot be opened: {error.strerror or error}", str(path)), ""


def _named(raw: msgspec.Raw) -> _Named:
    header = decoded(_NAMED, raw)
    return _Named() if isinstance(header, Skipped) else header
