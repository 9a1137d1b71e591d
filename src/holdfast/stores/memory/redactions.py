"""Redactors in memory: whose texts the rows hold, and how those of an older one are changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import msgspec

from holdfast.core.brief import Receipt
from holdfast.core.checkpoint import Checkpoint
from holdfast.core.memory import Memory
from holdfast.core.record_texts import map_record
from holdfast.core.session import Session
from holdfast.stores.base import Change, Document, Redaction, Rewritten, Text
from holdfast.stores.codec import (
    decode_event,
    decode_items,
    decode_session,
    encode_event,
    encode_items,
    encode_session,
    kind_of,
    map_document,
    map_session,
    texts_of,
)
from holdfast.stores.memory.tables import Keeper, Line, Row

_Change: TypeAlias = Callable[[str], str]


class Redactions(Keeper):
    """The redactors of all rows, the secrets and the facts."""

    def secret(self, name: str, fresh: bytes) -> bytes:
        return self._tables.secrets.setdefault(name, fresh)

    def redaction(self, redactor: str) -> Redaction:
        carried = [self._tables.redactor(table, id) for table, id, _ in self._tables.rows()]
        return Redaction(len(carried), sum(each != redactor for each in carried))

    def rewrite(self, redactor: str, change: Change, rows: int, characters: int) -> Rewritten:
        tables, seen, changed = self._writable(), 0, 0
        for table, id, row in list(tables.rows()):
            if seen == rows or characters <= 0:
                break
            if tables.redactor(table, id) == redactor:
                continue
            mapped = _mapped(row, partial(change, tables.session_of(row)))
            getattr(tables, table)[id] = mapped
            if isinstance(row, Document) and isinstance(mapped, Document) and mapped.text != row.text:
                tables.bare[row.id] = None
            tables.redactors[table, id] = redactor
            characters -= sum(map(len, _texts(row)))
            seen += 1
            changed += mapped != row
        return Rewritten(seen, changed)

    def texts(self) -> Iterator[Text]:
        for table, _, row in self._tables.rows():
            yield from (Text(table, text) for text in _texts(row))
        yield from (Text("skipped", reason) for reason in self._tables.skipped)

    def fact(self, name: str) -> str:
        return self._tables.facts.get(name, "")

    def put_fact(self, name: str, fact: str) -> None:
        self._writable().facts[name] = fact


def _mapped(row: Row, change: _Change) -> Row:
    match row:
        case Session():
            return decode_session(map_session(encode_session(row), change))
        case Checkpoint():
            return replace(
                row,
                digest=change(row.digest),
                words=change(row.words),
                memory_queries=tuple(map(change, row.memory_queries)),
                recent_remembers=tuple(map(change, row.recent_remembers)),
                outline=row.outline.mapped(change),
            )
        case Receipt():
            items = decode_items(map_document(encode_items(row.items), change))
            return replace(row, text=change(row.text), items=items)
        case Document():
            text = change(row.text)
            source, vector = change(row.source), row.vector if text == row.text else ()
            return replace(row, text=text, source=source, vector=vector)
        case Memory():
            return replace(row, text=change(row.text), tags=tuple(map(change, row.tags)))
        case Line():
            return replace(row, record=replace(row.record, line=map_record(row.record.line, change)))
        case _:
            return decode_event(kind_of(row), map_document(encode_event(row), change)) or row


def _texts(row: Row) -> Iterator[str]:
    if isinstance(row, Line):
        return texts_of(row.record.line)
    return texts_of(msgspec.json.encode(row).decode())
