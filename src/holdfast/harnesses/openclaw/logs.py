"""Logs: the sessions of OpenClaw and pi record by record, for taking one over.

In a folder they are files of JSON lines, with an index that says which session a key stands for; in the newer
database, rows. Neither is ever written to. `transcript` interprets the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from holdfast.core.agent_log.records import Log, milliseconds
from holdfast.core.agent_log.records import read_log as tree_of
from holdfast.core.events.event import Skipped
from holdfast.harnesses.base import FoundLog
from holdfast.harnesses.fields import mended
from holdfast.harnesses.openclaw.transcript import (
    DATABASE,
    Unreadable,
    lines_in,
    session_of,
    sessions_in,
)
from holdfast.harnesses.transcript_files import files_below, read_lines

INDEX: Final = "sessions.json"
FORMATS: Final = ("jsonl", "sqlite")
_LARGEST_INDEX: Final = 64 << 20
_BATCH: Final = 1 << 22
_T = TypeVar("_T")


def find_logs(source: Path, log_format: str) -> tuple[FoundLog, ...]:
    """The logs at a path: a database or the folder of one, a folder of files, or one file."""
    logs: list[FoundLog] = []
    if log_format in ("", "sqlite"):
        database = source / DATABASE if source.is_dir() else source
        logs += _in_database(database) if database.suffix == ".sqlite" and database.is_file() else ()
    if log_format in ("", "jsonl"):
        logs += _in_folder(source) if source.is_dir() else _in_file(source)
    return tuple(sorted(logs, key=lambda log: -log.updated_at))


def read_log(log: FoundLog) -> Log:
    """The records of a log, as a tree."""
    if log.path.suffix != ".sqlite":
        return tree_of(map(_text, _lines_of(log.path)))
    try:
        return tree_of(map(_text, lines_in(log.path, log.session)))
    except Unreadable as error:
        return Log((), (Skipped(f"cannot be read: {error}", str(log.path)),))


class _Entry(msgspec.Struct):
    """What the index says about a session."""

    session: str = msgspec.field(default="", name="sessionId")
    file: str | None = msgspec.field(default=None, name="sessionFile")
    updated_at: int | float | None = msgspec.field(default=None, name="updatedAt")


def _in_database(database: Path) -> Iterator[FoundLog]:
    try:
        rows = list(sessions_in(database))
    except Unreadable:
        return
    for key, session, noted in rows:
        entry = _decoded(noted or "{}", _Entry) or _Entry()
        yield FoundLog(key, database, session, milliseconds(entry.updated_at or 0) or _changed(database))


def _in_folder(folder: Path) -> Iterator[FoundLog]:
    """Every file in a folder, under its key in the index, or else under its session's own id."""
    keys = {_file_of(folder, entry): (key, entry) for key, entry in _index(folder).items()}
    for path in files_below(folder):
        key, entry = keys.get(path, ("", None))
        if entry is None:
            yield from _in_file(path)
        else:
            yield FoundLog(key, path, entry.session, milliseconds(entry.updated_at or 0) or _changed(path))


def _in_file(path: Path) -> Iterator[FoundLog]:
    session = session_of(path) if path.suffix == ".jsonl" else ""
    if session:
        yield FoundLog(session, path, session, _changed(path))


def _index(folder: Path) -> dict[str, _Entry]:
    path = folder / INDEX
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size < _LARGEST_INDEX else ""
    except (OSError, UnicodeDecodeError):
        return {}
    entries = _decoded(text, dict[str, msgspec.Raw]) or {}
    return {key: entry for key, raw in entries.items() if (entry := _decoded(raw, _Entry)) is not None}


def _file_of(folder: Path, entry: _Entry) -> Path:
    """The file of a session: by its name in the index, but always in this folder."""
    name = Path(entry.file).name if entry.file else f"{entry.session}.jsonl"
    return folder / name


def _lines_of(path: Path) -> Iterable[bytes]:
    cursor = ""
    while True:
        stretch = read_lines(path, cursor, _BATCH)
        yield from (line.content for line in stretch.lines)
        cursor = stretch.cursor
        if stretch.done:
            return


def _text(line: bytes) -> str:
    """A line as text, repaired if it is not valid."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
        return line.decode()
    except (ValueError, RecursionError):
        return mended(line).decode()


def _decoded(text: str | msgspec.Raw, kind: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(text, type=kind)
    except (ValueError, RecursionError):
        return None


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0
