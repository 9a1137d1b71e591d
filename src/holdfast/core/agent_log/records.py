"""Records: the lines of a session's log, and the tree that they form.

A record is one JSON object with a type, an id and the id of the record that it follows. Its JSON stays as it
was written, so that unknown fields are not lost. `record_bodies` parses the content of a record; `context`
decides what a model is sent of a log; a store holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from holdfast.core.events.event import Skipped
from holdfast.lazy_dataclass import dataclass

SESSION: Final = "session"
MESSAGE: Final = "message"
COMPACTION: Final = "compaction"
CHECKPOINT: Final = "checkpoint"
MODEL_CHANGE: Final = "model_change"
THINKING_LEVEL_CHANGE: Final = "thinking_level_change"
CUSTOM: Final = "custom"
CUSTOM_MESSAGE: Final = "custom_message"
BRANCH_SUMMARY: Final = "branch_summary"
CONTEXT_EDIT: Final = "context_edit"
RESET: Final = "reset"

OWN: Final = "holdfast"
"""The harness name of a session whose log is stored in Holdfast."""
VERSION: Final = 3
"""The version of the log format, as in a log's first record."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a log: its place in the tree, and its JSON."""

    id: str
    parent: str
    """The id of an earlier record; empty for a root."""
    type: str
    at: int
    line: str


@dataclass(frozen=True, slots=True)
class Log:
    """A parsed log: its records, each once, and the lines that could not be parsed."""

    records: tuple[Record, ...]
    skipped: tuple[Skipped, ...] = ()


def record_id(at: int, entropy: bytes) -> str:
    """`{milliseconds}_{hex}`: the creation time, and entropy that distinguishes ids of the same moment."""
    return f"{at}_{entropy.hex()}"


def made(kind: str, id: str, parent: str, at: int, body: Mapping[str, object]) -> Record:
    """A new record of that type."""
    head = {"type": kind, "id": id, "parentId": parent or None, "timestamp": iso(at)}
    return Record(id, parent, kind, at, msgspec.json.encode({**head, **body}).decode())


def header(id: str, at: int, cwd: str) -> Record:
    """The first record of a log, which is not part of the tree."""
    head = {"type": SESSION, "version": VERSION, "id": id, "timestamp": iso(at), "cwd": cwd}
    return Record(id, "", SESSION, at, msgspec.json.encode(head).decode())


def parsed(line: str, previous: str, unnamed: str) -> Record | Skipped:
    """The record on this line; without a parent it follows `previous`, without an id it is `unnamed`."""
    try:
        head = _HEAD.decode(line)
    except msgspec.ValidationError as error:
        return Skipped(f"not as expected: {error}")
    except RecursionError:
        return Skipped("nested too deeply")
    except (ValueError, UnicodeError):
        return Skipped("not JSON" if line.strip() else "empty")
    if not head.type:
        return Skipped("record without a type")
    at = milliseconds(head.timestamp) if head.timestamp is not None else 0
    if head.type == SESSION:
        return Record(_named(head.id) or unnamed, "", SESSION, at, line)
    parent = previous if head.parent is msgspec.UNSET else _named(head.parent)
    return Record(_named(head.id) or unnamed, parent, head.type, at, line)


def read_log(lines: Iterable[str]) -> Log:
    """The log in these lines, as a tree: every id is unique, every parent is an earlier record.

    Logs of the oldest format have neither ids nor parents: there each record follows the previous one, and
    its id is its place, by which compactions in that format refer to it too.
    """
    by_id: dict[str, Record] = {}
    skipped: list[Skipped] = []
    previous = ""
    place = 0
    for line in lines:
        record = parsed(line, previous, f"@{place}")
        if isinstance(record, Skipped):
            skipped.append(record)
            continue
        place += 1
        if record.id in by_id:
            continue
        if record.parent and record.parent not in by_id:
            record = replace(record, parent=previous)
        by_id[record.id] = record
        previous = record.id if record.type != SESSION else previous
    return Log(tuple(by_id.values()), tuple(skipped))


def path_to(records: Sequence[Record], leaf: str = "") -> tuple[Record, ...]:
    """The records from a root to the leaf, which is the last record by default.

    If a part of the log is missing, the path begins with the record whose parent is missing.
    """
    places = {record.id: place for place, record in enumerate(records)}
    place = places.get(leaf, -1) if leaf else _last(records)
    path: list[Record] = []
    while place >= 0:
        record = records[place]
        path.append(record)
        above = places.get(record.parent, -1) if record.parent else -1
        # A parent must be an earlier record, so that a malformed log cannot lead in a circle.
        place = above if above < place else -1
    path.reverse()
    return tuple(path)


def portable(record: Record) -> str:
    """The record's line for other programs: with its id and parent, even if it was written without."""
    fields = msgspec.json.decode(record.line, type=dict[str, msgspec.Raw])
    missing = _missing_of_header(fields) if record.type == SESSION else _missing(record, fields)
    if not missing:
        return record.line
    rest = {name: value for name, value in fields.items() if name not in missing and name != "type"}
    return msgspec.json.encode({"type": record.type, **missing, **rest}).decode()


def iso(at: int) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC."""
    return (_EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(moment: str | float) -> int:
    """Milliseconds since 1970 for a time in ISO 8601 or milliseconds; 0 if it is not a valid time."""
    if not isinstance(moment, str):
        return int(moment) if 0 < moment < _LATEST else 0
    try:
        parsed_time = datetime.fromisoformat(moment)
        aware = parsed_time if parsed_time.tzinfo else parsed_time.replace(tzinfo=UTC)
        return max(0, (aware - _EPOCH) // timedelta(milliseconds=1))
    except (ValueError, OverflowError):
        return 0


class _Head(msgspec.Struct):
    """The fields of a line that give its place in the tree."""

    type: str = ""
    id: str | int | None = None
    parent: str | int | msgspec.UnsetType | None = msgspec.field(default=msgspec.UNSET, name="parentId")
    timestamp: str | int | float | None = None


def _missing_of_header(fields: Mapping[str, msgspec.Raw]) -> dict[str, object]:
    """The field that a header of the oldest format lacks: a version whose records have ids."""
    version = msgspec.json.decode(fields["version"]) if "version" in fields else 1
    return {} if isinstance(version, int) and version >= _WITH_IDS else {"version": _WITH_IDS}


def _missing(record: Record, fields: Mapping[str, msgspec.Raw]) -> dict[str, object]:
    """The fields that a record of the oldest format lacks: ids."""
    place = {"id": record.id, "parentId": record.parent or None}
    missing: dict[str, object] = {name: value for name, value in place.items() if name not in fields}
    if record.type == COMPACTION and "firstKeptEntryId" not in fields and "firstKeptEntryIndex" in fields:
        missing["firstKeptEntryId"] = f"@{bytes(fields['firstKeptEntryIndex']).decode()}"
    return missing


def _named(id: str | int | msgspec.UnsetType | None) -> str:
    return "" if id is None or id is msgspec.UNSET else str(id)


def _last(records: Sequence[Record]) -> int:
    """The index of the last record that is part of the tree; -1 if there is none."""
    return next((place for place in range(len(records) - 1, -1, -1) if records[place].type != SESSION), -1)


_WITH_IDS: Final = 2
_HEAD: Final = msgspec.json.Decoder(_Head)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 1 << 48
