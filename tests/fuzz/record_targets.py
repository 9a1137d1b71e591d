"""Transcripts of real records that were changed in their fields, as a next version might write them.

Raw bytes seldom get past the JSON; these do. What is asked of a reader is more than that it stands: the same
in pieces as in one, the same again later, nothing twice, nothing out of nothing.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from holdfast.core.events.event import Event
from holdfast.core.events.world import Project
from holdfast.core.session.session import Policy, advance, begin
from holdfast.harnesses import readable, reader
from holdfast.harnesses.base import Batch, Reader
from holdfast.stores.codec import decode_event, decode_session, encode_event, encode_session, kind_of
from tests.fuzz.recipe import Recipe, changed
from tests.fuzz.target import Target
from tests.harnesses.test_reader_contract import SAMPLES

Write: TypeAlias = Callable[[Recipe, Path], None]
PROJECT: Final = Project("/p", "/p", "p", "p", "/p")
RECORDS_MOST: Final = 24
CHANGES_MOST: Final = 4
FAR: Final = 1 << 40
BATCHES_MOST: Final = 5_000
GROWTH: Final = 12
"""What is told of a record is at most so many times as long as the record, with what it takes to say it."""
ALLOWANCE: Final = 4_000


def targets() -> Iterator[Target]:
    """One for each harness whose transcripts are read."""
    for name in readable():
        sample = SAMPLES[name]
        write = (
            partial(_write_lines, _records(sample))
            if sample.startswith(b"{")
            else partial(_write_rows, sample)
        )
        yield Target(f"records-{name}", _recipes(), partial(_read, reader(name), write))


def _records(sample: bytes) -> list[Any]:
    return [json.loads(line) for line in sample.splitlines() if line.strip()]


def _recipes() -> tuple[bytes, ...]:
    """Recipes to begin with: the records as they are, in order; and each kind of change to some of them."""
    plain = b"".join(bytes((number, 0)) for number in range(RECORDS_MOST))
    spoiled = (bytes((number, 1 + number % 3, *range(number, number + 12))) for number in range(64))
    return (plain, *spoiled)


# ---------------------------------------------------------------- what is written


def _write_lines(records: Sequence[Any], recipe: Recipe, path: Path) -> None:
    """Lines of JSON: records of the sample in any order, changed or not."""
    lines: list[bytes] = []
    while not recipe.is_over and len(lines) < RECORDS_MOST:
        record = recipe.one_of(records)
        for _ in range(recipe.number(CHANGES_MOST)):
            record = changed(recipe, record, records)
        lines.append(json.dumps(record).encode() + b"\n")
    path.write_bytes(b"".join(lines))


def _write_rows(sample: bytes, recipe: Recipe, path: Path) -> None:
    """A database whose rows hold JSON: some of it changed."""
    path.write_bytes(sample)
    with closing(sqlite3.connect(path)) as database, database:
        rows = [
            (table, *row)
            for table in ("message", "part")
            for row in database.execute(f"select rowid, data from {table}")
        ]
        known = [json.loads(data) for _, _, data in rows]
        while not recipe.is_over:
            table, row, data = recipe.one_of(rows)
            told = changed(recipe, json.loads(data), known)
            database.execute(f"update {table} set data = ? where rowid = ?", (json.dumps(told), row))


# ---------------------------------------------------------------- what is asked of a reader


def _read(reading: Reader, write: Write, content: bytes) -> None:
    recipe = Recipe(content)
    piece = 1 + recipe.number(2_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s1.jsonl"
        write(recipe, path)
        whole = reading.read_transcript(path, "s1", "", FAR)
        assert whole.done
        assert whole == reading.read_transcript(path, "s1", "", FAR), "another time it tells another thing"
        assert _in_pieces(reading, path, piece) == [*whole.events], "in pieces it tells another thing"
        again = reading.read_transcript(path, "s1", whole.cursor, FAR)
        assert (again.events, again.done) == ((), True), "what was read is told twice"
        assert _said(whole) <= GROWTH * path.stat().st_size + ALLOWANCE * (1 + len(whole.events))
    _stand(reading.name, whole.events)


def _in_pieces(reading: Reader, path: Path, piece: int) -> list[Event]:
    events, cursor, seen = list[Event](), "", set[str]()
    for _ in range(BATCHES_MOST):
        batch = reading.read_transcript(path, "s1", cursor, piece)
        events += batch.events
        if batch.done:
            return events
        assert batch.cursor not in seen, "it stands still"
        seen.add(batch.cursor)
        cursor = batch.cursor
    raise AssertionError("it is read for ever")


def _said(batch: Batch) -> int:
    return sum(len(encode_event(event)) for event in batch.events)


def _stand(harness: str, events: Sequence[Event]) -> None:
    """The core makes of it what it can, and the store keeps it as it is."""
    session = begin("s1", harness, PROJECT, 0)
    for event in events:
        assert event.session == "s1"
        assert event.record
        assert decode_event(kind_of(event), encode_event(event)) == event
        session, _ = advance(session, event, Policy())
    assert decode_session(encode_session(session)) == session
