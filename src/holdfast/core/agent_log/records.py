"""Records: the lines of a session's log, the tree that they form, and the texts in them.

A record is one JSON object with a type, an id and the id of the record that it follows. Its JSON stays as it
was written, so that unknown fields are not lost. `map_record` changes its texts, such as to redact them, but
not the names and ids that must stay as they are. `record_bodies` parses the content of a record; `context`
decides what a model is sent of a log; a store holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final, TypeAlias, cast

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
TextChange: TypeAlias = Callable[[str], str]
PartsChange: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Changes the consecutive texts of one message; it returns as many texts as it is given."""


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


def new_record(kind: str, id: str, parent: str, at: int, body: Mapping[str, object]) -> Record:
    """A new record of that type."""
    head = {"type": kind, "id": id, "parentId": parent or None, "timestamp": iso(at)}
    return Record(id, parent, kind, at, msgspec.json.encode({**head, **body}).decode())


def header(id: str, at: int, cwd: str) -> Record:
    """The first record of a log, which is not part of the tree."""
    head = {"type": SESSION, "version": VERSION, "id": id, "timestamp": iso(at), "cwd": cwd}
    return Record(id, "", SESSION, at, msgspec.json.encode(head).decode())


def parse_record(line: str, previous: str, unnamed: str) -> Record | Skipped:
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
        record = parse_record(line, previous, f"@{place}")
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


def map_record(line: str, change: TextChange) -> str:
    """A record's line with every text in it changed; the same bytes where no text changes."""
    return map_parts(line, lambda parts: tuple(map(change, parts)))


def map_parts(line: str, change: PartsChange) -> str:
    """The same, with the texts of adjacent blocks passed together: they may be one text that was split."""
    try:
        fields = cast("dict[str, object]", msgspec.json.decode(line))
        changed = _mapped(fields, change)
        return line if changed == fields else msgspec.json.encode(changed).decode()
    except RecursionError:
        # A record nested this deeply cannot be searched, so only its place in the tree is kept.
        head = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        return msgspec.json.encode({name: head[name] for name in _PLACE if name in head}).decode()


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


def _mapped(value: object, change: PartsChange) -> object:
    if isinstance(value, str):
        return change((value,))[0]
    if isinstance(value, list):
        return _mapped_list(cast("list[object]", value), change)
    if isinstance(value, dict):
        return _mapped_fields(cast("dict[str, object]", value), change)
    return value


def _mapped_list(values: list[object], change: PartsChange) -> list[object]:
    mapped: list[object] = []
    for adjacent_texts, run in groupby(values, _is_text):
        blocks = list(run)
        if adjacent_texts:
            text_blocks = cast("list[dict[str, object]]", blocks)
            texts = change([cast("str", block["text"]) for block in text_blocks])
            mapped += [{**block, "text": text} for block, text in zip(text_blocks, texts, strict=True)]
        else:
            mapped += [_mapped(block, change) for block in blocks]
    return mapped


def _is_text(value: object) -> bool:
    """Whether it is a block whose only changeable content is text."""
    if not isinstance(value, dict):
        return False
    block = cast("dict[str, object]", value)
    return block.get("type") == "text" and isinstance(block.get("text"), str) and block.keys() <= _TEXT_BLOCK


def _mapped_fields(fields: Mapping[str, object], change: PartsChange) -> dict[str, object]:
    mapped = {name: _mapped_field(fields, name, change) for name in fields}
    if mapped.get("type") == "thinking" and mapped.get("thinking") != fields.get("thinking"):
        # The provider that signed it would refuse the changed text.
        mapped["thinkingSignature"] = ""
    return mapped


def _mapped_field(fields: Mapping[str, object], name: str, change: PartsChange) -> object:
    value = fields[name]
    if name in _FREE and not isinstance(value, str):
        return _mapped_freely(value, change)
    if name in _FIXED_FIELDS or (name == "data" and fields.get("type") == "image"):
        return value
    return _mapped(value, change)


def _mapped_freely(value: object, change: PartsChange) -> object:
    """Change every string in free-form data, where a field of any name may contain text."""
    if isinstance(value, str):
        return change((value,))[0]
    if isinstance(value, list):
        return [_mapped_freely(each, change) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        return {name: _mapped_freely(each, change) for name, each in named.items()}
    return value


_TEXT_BLOCK: Final = frozenset({"type", "text", "textSignature"})
_PLACE: Final = ("type", "id", "parentId", "timestamp")
_FREE: Final = frozenset({"arguments", "details", "data"})
_FIXED_FIELDS: Final = frozenset(
    # These identify a record, a call or a model.
    "id parentId firstKeptEntryId targetId fromId toolCallId toolName name responseId "
    "api provider model modelId "
    # These are enumerations or times.
    "type role stopReason mimeType customType thinkingLevel timestamp "
    # These are signatures that a provider accepts only unchanged.
    "signature thinkingSignature textSignature thoughtSignature".split()
)
