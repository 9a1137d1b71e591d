"""Erasing in SQLite: forgotten wordings are taken out of every row, and known as hashes from then on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from holdfast.core.memory.wordings import Fingerprint, Wordings
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import hashed, identity_hash, subject_hash
from holdfast.stores.erasure import (
    erased_document,
    erased_event,
    erased_found,
    erased_passages,
    erased_queries,
    erased_record,
    erased_session,
    erased_text,
    erased_texts,
)
from holdfast.stores.forgettable import Dropped, ForgottenWording, memory_name
from holdfast.stores.sqlite.database import Bindings, Database

ROWS_AT_ONCE: Final = 200
BLOCK_BYTES: Final = 10
"""How long one block's hash is, among those of a wording."""

_Eraser: TypeAlias = Callable[[Sequence[str], Wordings], tuple[str, ...]]


class Erasing:
    """The tables `forgotten_wordings` and `memory_wordings`, and every text in the others."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def forget_memory(self, id: str, at: int) -> Dropped:
        self._database.write(_NOTE, {"name": hashed(memory_name(id)), "at": at})
        return Dropped(memories=self._database.write("delete from memories where id = :id", {"id": id}))

    def erase(self, wordings: Wordings, at: int) -> Dropped:
        copies = [id for id, text in self._each(_MEMORY_TEXTS) if wordings.is_one(text)]
        memories = sum(self.forget_memory(id, at).memories for id in copies)
        mentions = self._erased_passages(wordings)
        mentions += sum(self._erased(table, wordings) for table in _TABLES)
        return Dropped(memories=memories, mentions=mentions + self._erased_reasons(wordings))

    def forgotten_names(self) -> dict[bytes, int]:
        return {bytes(name): int(at) for name, at in self._database.rows(_NAMES)}

    def note_forgotten(self, names: Mapping[bytes, int]) -> None:
        for name, at in names.items():
            self._database.write(_NOTE, {"name": name, "at": at})

    def forgotten_wordings(self) -> list[ForgottenWording]:
        rows = self._database.rows(_WORDINGS)
        return [ForgottenWording(_fingerprint(*row[:3]), int(row[3]), int(row[4])) for row in rows]

    def put_forgotten_wordings(self, wordings: Iterable[ForgottenWording]) -> None:
        for wording in wordings:
            times = {"at": wording.at, "lifted_at": wording.lifted_at}
            self._database.write(_PUT_WORDING, {**_columns(wording.fingerprint), **times})

    def memory_wordings(self, id: str) -> list[Fingerprint]:
        return [_fingerprint(*row) for row in self._database.rows(_MEMORY_WORDINGS, {"id": id})]

    def add_memory_wordings(self, id: str, wordings: Iterable[Fingerprint]) -> None:
        for wording in wordings:
            self._database.write(_ADD_MEMORY_WORDING, {**_columns(wording), "id": id})

    def memory_ids(self) -> list[str]:
        return [str(id) for (id,) in self._database.rows("select id from memories order by id")]

    def project_ids(self) -> list[str]:
        return [str(id) for (id,) in self._database.rows(_PROJECT_IDS)]

    def _erased(self, table: _Table, wordings: Wordings) -> int:
        changes = 0
        for row, *texts in self._each(table.read):
            after = table.erased(texts, wordings)
            if list(after) != list(texts[-len(after) :]):
                bindings: dict[str, str | bytes | int] = {f"text{n}": text for n, text in enumerate(after)}
                self._database.write(table.write, {**bindings, **table.derived(*after), "row": row})
                changes += 1
        return changes

    def _erased_passages(self, wordings: Wordings) -> int:
        changes = 0
        for (session,) in self._database.rows(_INDEXED_SESSIONS):
            rows = self._database.rows(_PASSAGES, {"session": session})
            after = erased_passages([str(text) for _, text, _ in rows], wordings)
            for (row, before, source), text in zip(rows, after, strict=True):
                if text != before:
                    bindings = {"text0": text, "text1": source, "row": row}
                    self._database.write(_DOCUMENTS.write, bindings)
                    changes += 1
        return changes

    def _erased_reasons(self, wordings: Wordings) -> int:
        changes = 0
        for reason, times in self._database.rows("select reason, times from skipped"):
            after = wordings.removed(str(reason))
            if after != reason:
                self._database.write("delete from skipped where reason = :reason", {"reason": reason})
                self._database.write(_COUNT_SKIPPED, {"reason": after, "times": times})
                changes += 1
        return changes

    def _each(self, sql: str) -> Iterator[list[str]]:
        """The rows of a query in order, some at a time: what is read may be changed meanwhile."""
        after: int | str = -1 if ":after_row" in sql else ""
        while True:
            rows = self._database.rows(sql, {"after": after, "after_row": after, "limit": ROWS_AT_ONCE})
            yield from (list(row) for row in rows)
            if len(rows) < ROWS_AT_ONCE:
                return
            after = rows[-1][0]


def _fingerprint(blocks: bytes, words: int, alone: int) -> Fingerprint:
    cut = tuple(bytes(blocks[n : n + BLOCK_BYTES]) for n in range(0, len(blocks), BLOCK_BYTES))
    return Fingerprint(int(words), cut, alone=bool(alone))


def _columns(wording: Fingerprint) -> dict[str, bytes | int]:
    return {"blocks": b"".join(wording.blocks), "words": wording.words, "alone": int(wording.alone)}


def _nothing(*_: str) -> Bindings:
    return {}


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with texts: how its rows are read, behind their number, and how one is written back."""

    read: str
    write: str
    erased: _Eraser
    """What becomes of the columns read; of their last ones, as many as are written."""
    derived: Callable[..., Bindings] = _nothing


def _of_memory(text: str, _tags: str) -> Bindings:
    return {"identity": identity_hash(text), "subject": subject_hash(text)}


_NOTE = """
insert into forgotten (name, at, cursor)
values (:name, :at, '')
on conflict (name) do update
   set at = max(at, excluded.at)
"""

# A source's name is noted with how far it was read, which holds for this store alone.
_NAMES = """
select name, at
  from forgotten
 where cursor = ''
"""

_WORDINGS = """
select blocks, words, alone, at, lifted_at
  from forgotten_wordings
 order by at, blocks
"""

_PUT_WORDING = """
insert into forgotten_wordings (blocks, words, alone, at, lifted_at)
values (:blocks, :words, :alone, :at, :lifted_at)
on conflict (blocks) do update
   set at        = max(at, excluded.at),
       lifted_at = max(lifted_at, excluded.lifted_at)
"""

_MEMORY_WORDINGS = """
select blocks, words, alone
  from memory_wordings
 where memory_id = :id
"""

_ADD_MEMORY_WORDING = """
insert into memory_wordings (memory_id, blocks, words, alone)
values (:id, :blocks, :words, :alone)
on conflict do nothing
"""

_PROJECT_IDS = """
select project_id from memories
 union
select project_id from documents
 order by 1
"""

_MEMORY_TEXTS = """
select id, text
  from memories
 where id > :after
 order by id
 limit :limit
"""

_INDEXED_SESSIONS = """
select distinct session_key
  from documents
 where kind = 'record'
"""

_PASSAGES = """
select number, text, source
  from documents
 where session_key = :session
   and kind = 'record'
 order by place, number
"""

_COUNT_SKIPPED = """
insert into skipped (reason, times)
values (:reason, :times)
on conflict (reason) do update
   set times = times + excluded.times
"""

_SESSIONS = _Table(
    read="""
select rowid, metadata
  from sessions
 where rowid > :after_row
 order by rowid
 limit :limit
""",
    write="update sessions set metadata = :text0 where rowid = :row",
    erased=lambda texts, wordings: (erased_session(texts[0], wordings),),
)

_MESSAGES = _Table(
    read="""
select rowid, type, origin, data
  from messages
 where rowid > :after_row
 order by rowid
 limit :limit
""",
    write="update messages set data = :text0 where rowid = :row",
    erased=lambda texts, wordings: (
        erased_record(texts[2], wordings)
        if texts[1] == "record"
        else erased_event(texts[0], texts[2], wordings),
    ),
)

_CHECKPOINTS = _Table(
    read="""
select rowid, digest, words, coalesce(memory_queries, '[]'), coalesce(recent_remembers, '[]'), outline
  from session_checkpoints
 where rowid > :after_row
 order by rowid
 limit :limit
""",
    write="""
update session_checkpoints
   set digest           = :text0,
       words            = :text1,
       memory_queries   = :text2,
       recent_remembers = :text3,
       outline          = :text4
 where rowid = :row
""",
    erased=lambda texts, wordings: (
        wordings.removed_from_digest(texts[0]),
        erased_text(texts[1], wordings),
        erased_queries(texts[2], wordings),
        erased_texts(texts[3], wordings),
        erased_document(texts[4], wordings),
    ),
)

_RECEIPTS = _Table(
    read="""
select rowid, text, items
  from receipts
 where rowid > :after_row
 order by rowid
 limit :limit
""",
    write="update receipts set text = :text0, items = :text1 where rowid = :row",
    erased=lambda texts, wordings: (wordings.removed(texts[0]), erased_document(texts[1], wordings)),
)

_MEMORIES = _Table(
    read="""
select rowid, text, tags
  from memories
 where rowid > :after_row
 order by rowid
 limit :limit
""",
    write="""
update memories
   set text     = :text0,
       tags     = :text1,
       identity = :identity,
       subject  = :subject
 where rowid = :row
""",
    erased=lambda texts, wordings: (wordings.removed(texts[0]), erased_texts(texts[1], wordings)),
    derived=_of_memory,
)

_DOCUMENTS = _Table(
    read="""
select number, kind, text, source
  from documents
 where number > :after_row
 order by number
 limit :limit
""",
    write="""
delete from vectors
 where document = :row;
update documents
   set vectored = 0,
       text     = :text0,
       source   = :text1
 where number = :row
""",
    erased=lambda texts, wordings: (
        erased_found(texts[0], texts[1], wordings),
        wordings.removed(texts[2]),
    ),
)

_TABLES = (_SESSIONS, _MESSAGES, _CHECKPOINTS, _RECEIPTS, _MEMORIES, _DOCUMENTS)
