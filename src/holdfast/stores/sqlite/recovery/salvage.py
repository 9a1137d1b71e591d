"""Salvage: every row that can still be read in a damaged database, in a sound one made for that.

The damaged file is only read, page by page (`raw_pages.py`). To which table a record belongs is told by its
shape and by what its columns must hold, so neither the schema in the file nor the way to the page is needed.
What can be made again is left: the full-text index, vectors, counts, notes. Bringing the rows into the store
that is in use is `merge.py`'s work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias

import apsw
import msgspec

from holdfast.core.brief.compose import Reason
from holdfast.core.memory.memory import Label, MemoryKind, MemoryScope
from holdfast.core.session.session import Trigger
from holdfast.errors import HoldfastError, StoreTooNew
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import UNREDACTED
from holdfast.stores.codec import (
    decode_event,
    decode_items,
    decode_name,
    decode_outline,
    decode_session,
    decode_texts,
    from_iso,
)
from holdfast.stores.sql.events import message_id
from holdfast.stores.sql.forgetting import BLOCK_BYTES
from holdfast.stores.sqlite.database import Database, run, translated
from holdfast.stores.sqlite.recovery.raw_pages import PageFile, PageRecord, Value
from holdfast.stores.sqlite.schema import Migration, shipped, step
from holdfast.stores.sqlite.store import SqliteStore

TABLES: Final = (
    "forgotten",
    "memories",
    "memory_wordings",
    "sessions",
    "session_checkpoints",
    "receipts",
    "lineage",
    "documents",
    "messages",
    "file_edits",
    "cursors",
    "session_scores",
    "recalls",
    "sites",
    "shared_names",
)
"""The tables whose rows are salvaged, in the order in which they are brought into another store."""
NOT_SALVAGED: Final = frozenset(
    {
        "announced_kinds",
        "announcements",
        "facts",
        "forgotten_wordings",
        "imported_work",
        "last_revision",
        "pull_cursors",
        "shared_bases",
        "shared_versions",
        "skipped",
        "team_memories",
        "unindexed",
        "vectors",
        "vectors_dropped",
    }
)
"""What is made or pulled again, stands beside the store as well, or is about the damaged store alone."""

PAGES_AT_ONCE: Final = 256
_EARLIEST: Final = 100_000_000_000
"""Milliseconds since 1970: no time of ours is from before, and no number of a row is larger."""

_Row: TypeAlias = Mapping[str, Value]
Progress: TypeAlias = Callable[[float], None]
"""Called with how much is done, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """How many rows were read, by table, and how many were seen that could not be read."""

    rows: Mapping[str, int]
    unreadable: int


def salvage(damaged: Path, into: Path, progress: Progress) -> Salvaged:
    """Put every row that can be read in a damaged database into a new one of the latest schema."""
    into.unlink(missing_ok=True)
    with translated(damaged), closing(PageFile(damaged)) as pages:
        migrations = _migrations_of(pages, damaged)
        with closing(_made(into, migrations)) as target:
            shapes = _shapes(target)
            _fill(pages, target, shapes, progress)
            finish(target, migrations[-1].version)
            rows = {name: _count(target, name) for name in TABLES}
        return Salvaged(rows, pages.unreadable)


def finish(target: Database, schema: int) -> None:
    """Bring what was read to the latest schema, as rows that no redactor vouches for."""
    with translated(target.path):
        for migration in shipped():
            if migration.version > schema:
                step(target, migration)
    with target.writing():
        for (table,) in target.rows(_WITH_REDACTOR):
            target.write(f'update "{table}" set redactor = :nobody', {"nobody": UNREDACTED})  # noqa: S608 - ours


def open_salvage(path: Path) -> Database:
    """A database beside the one in use: no trigger of it fires, and a crash may leave it half-written."""
    database = Database(path)
    with translated(path):
        database.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        run(database.connection, "pragma journal_mode = off; pragma synchronous = off")
    return database


def open_salvaged(path: Path) -> SqliteStore:
    """What was salvaged into a database of its own, as a store."""
    return SqliteStore(open_salvage(path))


def _migrations_of(pages: PageFile, damaged: Path) -> tuple[Migration, ...]:
    """The steps to the schema that the file says it has; to the latest where it does not say."""
    every = shipped()
    if pages.schema > every[-1].version:
        raise StoreTooNew(
            f"the damaged store at `{damaged}` was written by a later version "
            f"(schema {pages.schema}, this is {every[-1].version})",
            hint="upgrade with `uv tool upgrade holdfast`",
        )
    return tuple(migration for migration in every if migration.version <= (pages.schema or every[-1].version))


def _made(into: Path, migrations: tuple[Migration, ...]) -> Database:
    into.touch(0o600)
    target = open_salvage(into)
    for migration in migrations:
        step(target, migration)
    return target


# ---------------------------------------------------------------- which table a record belongs to


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    kind: str
    may_be_null: bool
    default: Value
    has_default: bool

    def takes(self, value: Value) -> bool:
        """Whether the column could hold this."""
        if value is None:
            return self.may_be_null
        return isinstance(value, _KINDS.get(self.kind, object))


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the records of a table look like in the file, and how one is written to another."""

    table: str
    columns: tuple[_Column, ...]
    has_rowids: bool

    def row(self, record: PageRecord) -> dict[str, Value] | None:
        """The record as a row of this table; None if it cannot be one."""
        values = record.values
        if self.has_rowids != (record.rowid is not None) or len(values) > len(self.columns):
            return None
        # A row from before a column was added ends before it.
        added = self.columns[len(values) :]
        if not values or not all(column.has_default for column in added):
            return None
        if not all(column.takes(value) for column, value in zip(self.columns, values, strict=False)):
            return None
        row = {column.name: value for column, value in zip(self.columns, values, strict=False)}
        row |= {column.name: column.default for column in added}
        return row if _holds(self.table, row) else None


def _shapes(target: Database) -> tuple[_Shape, ...]:
    tables = {str(name): not without for name, without in target.rows(_TABLES)}
    return tuple(_shape(target, name, has_rowids=tables[name]) for name in TABLES if name in tables)


def _shape(target: Database, table: str, *, has_rowids: bool) -> _Shape:
    columns = list[tuple[int, _Column]]()
    for place, name, kind, not_null, default, key in target.rows(f'pragma table_info("{table}")'):
        # The number of the row itself is not kept a second time.
        is_number = has_rowids and key == 1 and kind.lower() == "integer"
        value = target.rows(f"select {default}")[0][0] if default is not None else None
        may_be_null = is_number or not not_null
        column = _Column(name, kind.lower(), may_be_null, value, default is not None or not not_null)
        # Without row numbers the key comes first.
        columns.append((key if key and not has_rowids else 1000 + place, column))
    ordered = tuple(column for _, column in sorted(columns, key=lambda each: each[0]))
    return _Shape(table, ordered, has_rowids)


def _holds(table: str, row: _Row) -> bool:
    """Whether the columns hold what our code can read: a damaged value must not spread to a sound store."""
    try:
        return _CHECKS[table](row)
    except (HoldfastError, msgspec.MsgspecError, ValueError, OverflowError):
        return False


def _text(row: _Row, column: str) -> str:
    value = row.get(column)
    return value if isinstance(value, str) else ""


def _number(row: _Row, column: str) -> int:
    value = row.get(column)
    return value if isinstance(value, int) else 0


def _is_session(row: _Row) -> bool:
    return bool(_text(row, "key")) and decode_session(_text(row, "metadata")).key == _text(row, "key")


def _is_message(row: _Row) -> bool:
    if _text(row, "id") != message_id(_text(row, "session_key"), _text(row, "record_id")):
        return False
    msgspec.json.decode(_text(row, "data"))
    if _text(row, "origin") != "record":
        decode_event(_text(row, "type"), _text(row, "data"))
    return True


def _is_checkpoint(row: _Row) -> bool:
    decode_name(Trigger, _text(row, "trigger"))
    decode_texts(_text(row, "memory_queries") or "[]")
    decode_texts(_text(row, "recent_remembers") or "[]")
    decode_outline(_text(row, "outline") or "{}")
    return bool(_text(row, "id")) and from_iso(_text(row, "created_at")) > 0


def _is_receipt(row: _Row) -> bool:
    decode_name(Reason, _text(row, "reason"))
    decode_items(_text(row, "items"))
    return bool(_text(row, "id"))


def _is_memory(row: _Row) -> bool:
    decode_name(MemoryKind, _text(row, "kind"))
    decode_name(MemoryScope, _text(row, "scope"))
    decode_texts(_text(row, "tags"))
    for label in decode_texts(_text(row, "labels")):
        decode_name(Label, label)
    return bool(_text(row, "id"))


def _is_tombstone(row: _Row) -> bool:
    name = row.get("name")
    return isinstance(name, bytes) and len(name) == _HASH_BYTES


def _is_wording(row: _Row) -> bool:
    blocks = row.get("blocks")
    whole = isinstance(blocks, bytes) and len(blocks) > 0 and len(blocks) % BLOCK_BYTES == 0
    return whole and bool(_text(row, "memory_id")) and _number(row, "words") > 0


def _is_edit(row: _Row) -> bool:
    return bool(_text(row, "session_key") and _text(row, "path")) and _number(row, "at") > 0


_CHECKS: Final[Mapping[str, Callable[[_Row], bool]]] = {
    "forgotten": _is_tombstone,
    "memories": _is_memory,
    "memory_wordings": _is_wording,
    "sessions": _is_session,
    "session_checkpoints": _is_checkpoint,
    "receipts": _is_receipt,
    "lineage": lambda row: _number(row, "at") > 0 and _text(row, "kind").isalpha(),
    "documents": lambda row: bool(_text(row, "id") and _text(row, "kind")),
    "messages": _is_message,
    "file_edits": _is_edit,
    "cursors": lambda row: bool(_text(row, "source")),
    "session_scores": lambda row: bool(_text(row, "session_key")),
    # Indexes over two texts look the same, with the number of a row where the time stands.
    "recalls": lambda row: _number(row, "at") > _EARLIEST,
    "sites": lambda row: bool(_text(row, "location") and _text(row, "project_id")),
    "shared_names": lambda row: bool(_text(row, "name")) and _number(row, "last_seen_at") > _EARLIEST,
}
_HASH_BYTES: Final = 16
_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "text": str,
    "json": str,
    "integer": int,
    "real": (int, float),
    "blob": (bytes, str),
}


# ---------------------------------------------------------------- reading and writing


def _fill(pages: PageFile, target: Database, shapes: tuple[_Shape, ...], progress: Progress) -> None:
    for first in range(1, pages.count + 1, PAGES_AT_ONCE):
        with target.writing():
            for number in range(first, min(first + PAGES_AT_ONCE, pages.count + 1)):
                _take(pages.records(number), target, shapes)
        progress(min(1.0, (first + PAGES_AT_ONCE) / pages.count))
    with target.writing():
        # Last, so that what was certainly committed counts first.
        _take(pages.records_beyond(), target, shapes)


def _take(records: Iterator[PageRecord], target: Database, shapes: tuple[_Shape, ...]) -> None:
    for record in records:
        for shape in shapes:
            row = shape.row(record)
            if row is not None:
                _insert(target, shape.table, row, record.rowid)
                break


def _insert(target: Database, table: str, row: dict[str, Value], rowid: int | None) -> None:
    """Keep the row under its number, which is its place among the rows; under another if that is taken."""
    columns = {name: value for name, value in row.items() if name != "number"}
    if rowid is None or not target.write(_insertion(table, ("rowid", *columns)), {**columns, "rowid": rowid}):
        target.write(_insertion(table, tuple(columns)), columns)


def _insertion(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    values = ", ".join(f":{name}" for name in columns)
    return f'insert or ignore into "{table}" ({names}) values ({values})'  # noqa: S608 - the names are ours


def _count(target: Database, table: str) -> int:
    row = target.row(f'select count(*) from "{table}"')  # noqa: S608 - the names are ours
    return int(row[0]) if row else 0


# Neither what an index keeps for itself, nor a view of it.
_TABLES = """
select name, wr
  from pragma_table_list
 where schema = 'main'
   and type = 'table'
"""

_WITH_REDACTOR = """
select tables.name
  from pragma_table_list as tables
  join pragma_table_info(tables.name) as columns
 where tables.schema = 'main'
   and tables.type = 'table'
   and columns.name = 'redactor'
"""
