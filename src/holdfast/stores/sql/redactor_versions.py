"""Redactor versions in SQL: which redactor processed each row, and rewriting the rows of an older one.

What is a secret is decided elsewhere. A row and its mark change in one transaction, so a process that is
killed half-way leaves each row either unchanged or done. The salts of hashes are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from holdfast.core.agent_log.records import map_record
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Change, Redaction, Rewritten
from holdfast.stores.codec import identity_hash, map_document, map_session, subject_hash
from holdfast.stores.sql.database import Bindings, SqlDatabase

_Map: TypeAlias = Callable[[str, Callable[[str], str]], str]


class Redactions:
    """The column `redactor` of every table that has one, and the secrets in `facts`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def secret(self, name: str, fresh: bytes) -> bytes:
        fact = self._database.row(_FACT, {"name": name})
        if fact is None:
            self._add_secret(name, fresh)
            fact = self._database.row(_FACT, {"name": name})
        return _secret_of(fact[0]) if fact else fresh

    def redaction(self, redactor: str) -> Redaction:
        rows = self._database.rows(_COUNT, {"redactor": redactor})
        return Redaction(sum(row[0] for row in rows), sum(row[1] for row in rows))

    def rewrite(self, redactor: str, change: Change, rows: int, characters: int) -> Rewritten:
        row_count = changes = 0
        for table, number in self._stale(redactor, rows):
            if characters <= 0:
                break
            session, *texts = self._database.rows(table.read, {"row": number})[0]
            session_change = partial(change, session)
            mapped = [kind(text, session_change) for kind, text in zip(table.maps, texts, strict=True)]
            bindings = {f"text{place}": text for place, text in enumerate(mapped)}
            derived = table.derived(*mapped)
            self._database.write(table.write, {**bindings, **derived, "row": number, "redactor": redactor})
            characters -= sum(map(len, texts))
            row_count += 1
            changes += mapped != texts
        return Rewritten(row_count, changes)

    def fact(self, name: str) -> str:
        row = self._database.row(_FACT, {"name": name})
        return str(row[0]) if row else ""

    def put_fact(self, name: str, fact: str) -> None:
        self._database.write(_PUT_FACT if fact else _DROP_FACT, {"name": name, "value": fact})

    def _stale(self, redactor: str, limit: int) -> Iterator[tuple[_Table, int]]:
        for table in _TABLES:
            stale_rows = self._database.rows(table.stale, {"redactor": redactor, "limit": limit})
            yield from ((table, int(number)) for (number,) in stale_rows)
            limit -= len(stale_rows)

    def _add_secret(self, name: str, fresh: bytes) -> None:
        bindings: Bindings = {"name": name, "value": fresh}
        if self._database.is_writing:
            self._database.write(PUT_FIRST, bindings)
            return
        with self._database.writing():
            self._database.write(PUT_FIRST, bindings)


def _secret_of(value: str | bytes) -> bytes:
    """A secret as it was stored: where a fact is always a text, in hexadecimal digits."""
    return bytes.fromhex(value) if isinstance(value, str) else bytes(value)


def _nothing(*_: str) -> Bindings:
    return {}


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with texts: how its stale rows are found, how one is read, and how it is written back."""

    stale: str
    read: str
    write: str
    maps: tuple[_Map, ...]
    """What `read` gives behind the session's key, one after the other: plain text, or JSON of some kind."""
    derived: Callable[..., Bindings] = _nothing
    """What is written beside them that is made of these texts."""


def _plain(text: str, change: Callable[[str], str]) -> str:
    return change(text)


def _what_a_memory_says(text: str, _tags: str) -> Bindings:
    return {"identity": identity_hash(text), "subject": subject_hash(text)}


_FACT = """
select value
  from facts
 where name = :name
"""

PUT_FIRST = """
insert into facts (name, value)
values (:name, :value)
on conflict (name) do nothing
"""

_PUT_FACT = """
insert into facts (name, value)
values (:name, :value)
on conflict (name) do update
   set value = excluded.value
"""

_DROP_FACT = """
delete from facts
 where name = :name
"""

_WITH_TEXTS = (
    *("sessions", "messages", "session_checkpoints", "receipts", "memories", "documents"),
    *("file_edits", "shared_versions"),
)

# An index knows what is less and what is greater, not what is different. That there is neither costs nothing.
_COUNT = " union all ".join(
    f"""
select (select count(*) from {table}),
       (select count(*) from {table} where redactor < :redactor)
       + (select count(*) from {table} where redactor > :redactor)
"""  # noqa: S608 - the names are ours
    for table in _WITH_TEXTS
)

_SESSIONS = _Table(
    stale="""
select rowid
  from sessions
 where redactor < :redactor
    or redactor > :redactor
 limit :limit
""",
    read="""
select key, metadata
  from sessions
 where rowid = :row
""",
    write="""
update sessions
   set metadata = :text0,
       redactor = :redactor
 where rowid = :row
""",
    maps=(map_session,),
)

_READ_MESSAGE = """
select session_key, data
  from messages
 where rowid = :row
"""
_WRITE_MESSAGE = """
update messages
   set data     = :text0,
       redactor = :redactor
 where rowid = :row
"""

_MESSAGES = _Table(
    stale="""
select rowid
  from messages
 where (redactor < :redactor or redactor > :redactor)
   and origin <> 'record'
 limit :limit
""",
    read=_READ_MESSAGE,
    write=_WRITE_MESSAGE,
    maps=(map_document,),
)

_LOGS = _Table(
    stale="""
select rowid
  from messages
 where (redactor < :redactor or redactor > :redactor)
   and origin = 'record'
 limit :limit
""",
    read=_READ_MESSAGE,
    write=_WRITE_MESSAGE,
    maps=(map_record,),
)

_CHECKPOINTS = _Table(
    stale="""
select rowid
  from session_checkpoints
 where redactor < :redactor
    or redactor > :redactor
 limit :limit
""",
    read="""
select session_key, digest, words, coalesce(memory_queries, '[]'), coalesce(recent_remembers, '[]'), outline
  from session_checkpoints
 where rowid = :row
""",
    write="""
update session_checkpoints
   set digest           = :text0,
       words            = :text1,
       memory_queries   = :text2,
       recent_remembers = :text3,
       outline          = :text4,
       redactor         = :redactor
 where rowid = :row
""",
    maps=(_plain, _plain, map_document, map_document, map_document),
)

_RECEIPTS = _Table(
    stale="""
select rowid
  from receipts
 where redactor < :redactor
    or redactor > :redactor
 limit :limit
""",
    read="""
select session_key, text, items
  from receipts
 where rowid = :row
""",
    write="""
update receipts
   set text     = :text0,
       items    = :text1,
       redactor = :redactor
 where rowid = :row
""",
    maps=(_plain, map_document),
)

_MEMORIES = _Table(
    stale="""
select rowid
  from memories
 where redactor < :redactor
    or redactor > :redactor
 limit :limit
""",
    read="""
select session_key, text, tags
  from memories
 where rowid = :row
""",
    write="""
update memories
   set text     = :text0,
       tags     = :text1,
       identity = :identity,
       subject  = :subject,
       redactor = :redactor
 where rowid = :row
""",
    maps=(_plain, map_document),
    derived=_what_a_memory_says,
)

WRITE_DOCUMENT = """
delete from vectors
 where document = :row
   and document in (select number from documents where text <> :text0);
update documents
   set vectored = case when text = :text0 then vectored else 0 end,
       text     = :text0,
       source   = :text1,
       redactor = :redactor
 where number = :row
"""

# The document of a checkpoint or a memory has no session of its own; its tags must be those of the other's.
_DOCUMENTS = _Table(
    stale="""
select number
  from documents
 where redactor < :redactor
    or redactor > :redactor
 limit :limit
""",
    read="""
select coalesce(nullif(documents.session_key, ''), session_checkpoints.session_key, memories.session_key, ''),
       documents.text,
       documents.source
  from documents
  left join session_checkpoints
    on session_checkpoints.id = documents.id
  left join memories
    on memories.id = documents.id
 where number = :row
""",
    write=WRITE_DOCUMENT,
    maps=(_plain, _plain),
)

_FILE_EDITS = _Table(
    stale="""
select number
  from file_edits
 where redactor < :redactor
    or redactor > :redactor
 limit :limit
""",
    read="""
select session_key, asked, reason
  from file_edits
 where number = :row
""",
    write="""
update file_edits
   set asked    = :text0,
       reason   = :text1,
       redactor = :redactor
 where number = :row
""",
    maps=(_plain, _plain),
)

# Only what is stored here: a version that came from a hub is never sent again.
_SHARED_VERSIONS = _Table(
    stale="""
select number
  from shared_versions
 where redactor < :redactor
    or redactor > :redactor
 limit :limit
""",
    read="""
select '', body
  from shared_versions
 where number = :row
""",
    write="""
update shared_versions
   set body     = :text0,
       redactor = :redactor
 where number = :row
""",
    maps=(map_document,),
)

_TABLES = (
    *(_SESSIONS, _CHECKPOINTS, _RECEIPTS, _MEMORIES, _DOCUMENTS, _FILE_EDITS, _SHARED_VERSIONS),
    *(_MESSAGES, _LOGS),
)
