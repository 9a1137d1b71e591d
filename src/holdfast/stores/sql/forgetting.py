"""Forgetting in SQL: delete sessions, and erase forgotten wordings.

Forgotten wordings are taken out of every row, and known as hashes from then on.

What to forget is decided elsewhere. Hashes of names stay, so that a source which is read again does not count
as new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import msgspec

from holdfast.core.agent_log.records import map_record
from holdfast.core.evidence.lineage import disinherited
from holdfast.core.evidence.trail import Trail, fast_replace
from holdfast.core.memory.memory import asked_to_remember, read
from holdfast.core.memory.passages import LENGTH, SPEAKER
from holdfast.core.memory.wordings import FORGOTTEN, Fingerprint, Wordings
from holdfast.core.session.session import Session
from holdfast.core.sharing.items import SharedKind
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import names_one_of
from holdfast.stores.codec import (
    decode_name,
    decode_session,
    decode_texts,
    encode_session,
    encode_texts,
    hashed,
    identity_hash,
    map_document,
    map_session,
    subject_hash,
)
from holdfast.stores.forgettable import EVERYTHING, Dropped, ForgottenWording, memory_name, project_name
from holdfast.stores.sql.database import CHECKPOINT_AT, Bindings, SqlDatabase
from holdfast.stores.sql.shared import SharedRows


class Forgetting:
    """The table `forgotten`, and deletion from all the others."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def keys(self) -> list[str]:
        # What is left of a session may be what others inherited from it.
        inherited = (key for _, metadata in self._database.rows(_HEIRS) for key in _inherited(metadata))
        return sorted({*self._keys(_KEYS, {}), *inherited})

    def keys_of_project(self, project_id: str) -> list[str]:
        return self._keys(_KEYS_OF_PROJECT, {"project_id": project_id})

    def keys_before(self, before: int) -> list[str]:
        return self._keys(_KEYS_BEFORE, {"before": before})

    def heirs(self, keys: Sequence[str]) -> list[str]:
        return [heir.key for heir, _ in self._disinherited(frozenset(keys))]

    def forget(self, keys: Sequence[str], at: int) -> Dropped:
        chosen: Bindings = {"keys": encode_texts(tuple(keys))}
        transcripts = {str(transcript) for (transcript,) in self._database.rows(_TRANSCRIPTS, chosen)}
        session_keys = set(keys)
        self._forget_sources(lambda source: source in transcripts or names_one_of(source, session_keys), at)
        for key in session_keys:
            self._note(key, at, "")
        heirs = list(self._disinherited(frozenset(keys)))
        for heir, trail in heirs:
            metadata = encode_session(fast_replace(heir, trail=trail))
            self._database.write(_PUT_METADATA, {"key": heir.key, "metadata": metadata})
        # What they were given and gave told of what they inherited.
        with_heirs: Bindings = {"keys": encode_texts((*keys, *(heir.key for heir, _ in heirs)))}
        self._forget_briefs(with_heirs)
        self._database.write(_FORGET_LINEAGE, chosen)
        return Dropped(
            memories=self._database.write(_FORGET_MEMORIES, chosen),
            documents=self._database.write(_FORGET_DOCUMENTS, chosen),
            checkpoints=self._database.write(_FORGET_CHECKPOINTS, chosen),
            receipts=self._database.write(_FORGET_RECEIPTS, with_heirs),
            events=self._database.write(_FORGET_EVENTS, chosen),
            edits=self._database.write(_FORGET_EDITS, chosen),
            sessions=self._database.write(_FORGET_SESSIONS, chosen),
        )

    def forget_project(self, project_id: str, at: int) -> Dropped:
        self._note(project_name(project_id), at, "")
        self._take_back(_OWN_DOCUMENTS_OF_PROJECT, {"project_id": project_id})
        self._database.write(_EMPTY_SHARED_OF_PROJECT, {"project_id": project_id})
        return Dropped(
            documents=self._database.write(_FORGET_DOCUMENTS_OF_PROJECT, {"project_id": project_id}),
            memories=self._database.write(_FORGET_MEMORIES_OF_PROJECT, {"project_id": project_id}),
        )

    def forget_all(self, at: int) -> Dropped:
        self._forget_sources(lambda _: True, at)
        self._note(EVERYTHING, at, "")
        self._take_back(_OWN_DOCUMENTS, {})
        dropped = self.forget(self.keys(), at)
        memories = dropped.memories + self._database.write("delete from memories", {})
        documents = dropped.documents + self._database.write("delete from documents", {})
        self._database.write(_FORGET_THE_REST, {})
        return replace(dropped, documents=documents, memories=memories)

    def forgotten_at(self, key: str) -> int:
        row = self._database.row(_FORGOTTEN, {"name": hashed(key)})
        return int(row[0]) if row else 0

    def _disinherited(self, keys: frozenset[str]) -> Iterator[tuple[Session, Trail]]:
        """The sessions that inherited work from one of these, each with its trail without that work."""
        for key, metadata in self._database.rows(_HEIRS):
            heir = decode_session(metadata)
            trail = disinherited(heir.trail, keys)
            if key not in keys and trail != heir.trail:
                yield heir, trail

    def _forget_sources(self, chosen: Callable[[str], bool], at: int) -> None:
        """Keep how far a source was read under a name that tells nothing."""
        for source, cursor in self._database.rows("select source, cursor from cursors"):
            if chosen(source):
                self._note(source, at, cursor)
                self._database.write("delete from cursors where source = :source", {"source": source})

    def _forget_briefs(self, chosen: Bindings) -> None:
        """Empty the briefs about these sessions that the transcripts of others showed."""
        for row, data in self._database.rows(_BRIEFS_SEEN, chosen):
            self._database.write(_PUT_DATA, {"row": row, "data": _without_text(data)})

    def _take_back(self, sql: str, bindings: Bindings) -> None:
        """Announce the removal of documents that hubs have: their files go with the project."""
        shared = SharedRows(self._database)
        for kind, id, project_id in self._database.rows(sql, bindings):
            shared.announce(decode_name(SharedKind, kind), str(id), str(project_id), 0)

    def _note(self, name: str, at: int, cursor: str) -> None:
        self._database.write(_NOTE, {"name": hashed(name), "at": at, "cursor": cursor})

    def _keys(self, sql: str, bindings: Bindings) -> list[str]:
        return [str(key) for (key,) in self._database.rows(sql, bindings)]


def _inherited(metadata: str) -> tuple[str, ...]:
    """The keys of the sessions whose work a session inherited."""
    return tuple(decode_session(metadata).trail.inherits)


def _without_text(data: str) -> str:
    fields: dict[str, object] = msgspec.json.decode(data)
    return msgspec.json.encode({**fields, "text": ""}).decode()


_NOTE = """
insert into forgotten (name, at, cursor)
values (:name, :at, :cursor)
on conflict (name) do update
   set at     = excluded.at,
       cursor = excluded.cursor
"""

_FORGOTTEN = """
select at
  from forgotten
 where name = :name
"""

_HEIRS = """
select key, metadata
  from sessions
 where instr(metadata, '"inherits":["') > 0
"""

_PUT_METADATA = """
update sessions
   set metadata = :metadata
 where key = :key
"""

_KEYS = """
select key from sessions
 union
select session_key from session_checkpoints
 union
select session_key from receipts
 union
select session_key from documents where session_key <> ''
 union
select session_key from memories where session_key <> ''
 union
select session_key from file_edits
 order by 1
"""

_KEYS_OF_PROJECT = """
select key from sessions where project_id = :project_id
 union
select session_key from session_checkpoints where project_id = :project_id
 union
select session_key from documents where project_id = :project_id and session_key <> ''
 union
select session_key from memories where project_id = :project_id and session_key <> ''
 union
select session_key from file_edits where project_id = :project_id
 order by 1
"""

# A session that was pruned is as old as the last that is left of it.
_KEYS_BEFORE = f"""
with left_behind as (
       select session_key as key, {CHECKPOINT_AT} as at
         from session_checkpoints
        union all
       select session_key, created_at
         from receipts
        union all
       select session_key, created_at
         from memories
        where session_key <> ''
        union all
       select session_key, at
         from documents
        where session_key <> ''
        union all
       select session_key, at
         from file_edits
     )
select key
  from sessions
 where updated_at < :before
 union
select key
  from left_behind
 where key not in (select key from sessions)
 group by key
having max(at) < :before
 order by 1
"""  # noqa: S608 - both parts are ours

_TRANSCRIPTS = """
select transcript
  from sessions
 where key in (select value from json_each(:keys))
   and transcript <> ''
"""

_BRIEFS_SEEN = """
select rowid, data
  from messages
 where type = 'brief_seen'
   and session_key in (
       select session_key
         from receipts
        where predecessor in (select value from json_each(:keys))
       )
"""

_PUT_DATA = """
update messages
   set data = :data
 where rowid = :row
"""

_FORGET_LINEAGE = """
delete from lineage
 where child in (select value from json_each(:keys))
    or parent in (select value from json_each(:keys))
"""

_FORGET_DOCUMENTS = """
delete from documents
 where session_key in (select value from json_each(:keys))
    or (kind = 'checkpoint' and id in (
       select id
         from session_checkpoints
        where session_key in (select value from json_each(:keys))
       ))
"""

# Their documents go with them.
_FORGET_MEMORIES = """
delete from memories
 where session_key in (select value from json_each(:keys))
"""

_FORGET_CHECKPOINTS = """
delete from session_checkpoints
 where session_key in (select value from json_each(:keys))
"""

_FORGET_RECEIPTS = """
delete from receipts
 where session_key in (select value from json_each(:keys))
    or predecessor in (select value from json_each(:keys))
"""

_FORGET_EVENTS = """
delete from messages
 where session_key in (select value from json_each(:keys))
"""

_FORGET_EDITS = """
delete from file_edits
 where session_key in (select value from json_each(:keys))
"""

_FORGET_SESSIONS = """
delete from sessions
 where key in (select value from json_each(:keys))
"""

_FORGET_DOCUMENTS_OF_PROJECT = """
delete from documents
 where project_id = :project_id
   and kind <> 'memory'
"""

_FORGET_MEMORIES_OF_PROJECT = """
delete from memories
 where project_id = :project_id
"""

# A continuity is announced by its project's shared name, which also stands for the project: that is gone.
_OWN_DOCUMENTS = """
select distinct kind, case when kind = 'continuity' then project else item_id end, project
  from shared_versions
 where is_mine = 1
   and is_removed = 0
   and kind in ('handoff', 'continuity')
"""

_OF_PROJECT = """
   and project in (select name from shared_names where project_id = :project_id)
   and project not in (select name from shared_names where project_id <> :project_id)
"""

_OWN_DOCUMENTS_OF_PROJECT = f"{_OWN_DOCUMENTS}{_OF_PROJECT}"

_EMPTY_SHARED_OF_PROJECT = f"""
update shared_versions
   set body = ''
 where body <> ''
{_OF_PROJECT}
"""  # noqa: S608 - both parts are ours

_FORGET_THE_REST = """
delete from lineage;
delete from imported_work;
delete from skipped;
delete from facts;
delete from sites;
delete from shared_names;
delete from announced_kinds;
update shared_versions set body = '';
"""


ROWS_AT_ONCE: Final = 200
BLOCK_BYTES: Final = 10
"""How long one block's hash is, among those of a wording."""

_Eraser: TypeAlias = Callable[[Sequence[str], Wordings], tuple[str, ...]]


class Erasing:
    """The tables `forgotten_wordings` and `memory_wordings`, and every text in the others."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def forget_memory(self, id: str, at: int) -> Dropped:
        self._database.write(_NOTE_WORDING, {"name": hashed(memory_name(id)), "at": at})
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
            self._database.write(_NOTE_WORDING, {"name": name, "at": at})

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
                self._database.write(COUNT_SKIPPED, {"reason": after, "times": times})
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


_NOTE_WORDING = """
insert into forgotten (name, at, cursor)
values (:name, :at, '')
on conflict (name) do update
   set at = case when excluded.at > forgotten.at then excluded.at else forgotten.at end
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
   set at        = case
                     when excluded.at > forgotten_wordings.at then excluded.at
                     else forgotten_wordings.at
                   end,
       lifted_at = case
                     when excluded.lifted_at > forgotten_wordings.lifted_at then excluded.lifted_at
                     else forgotten_wordings.lifted_at
                   end
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

COUNT_SKIPPED = """
insert into skipped (reason, times)
values (:reason, :times)
on conflict (reason) do update
   set times = skipped.times + excluded.times
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

WRITE_DOCUMENT = """
delete from vectors
 where document = :row;
update documents
   set vectored = 0,
       text     = :text0,
       source   = :text1
 where number = :row
"""

_DOCUMENTS = _Table(
    read="""
select number, kind, text, source
  from documents
 where number > :after_row
 order by number
 limit :limit
""",
    write=WRITE_DOCUMENT,
    erased=lambda texts, wordings: (
        erased_found(texts[0], texts[1], wordings),
        wordings.removed(texts[2]),
    ),
)

_FILE_EDITS = _Table(
    read="""
select number, asked, reason
  from file_edits
 where number > :after_row
 order by number
 limit :limit
""",
    write="update file_edits set asked = :text0, reason = :text1 where number = :row",
    erased=lambda texts, wordings: (erased_text(texts[0], wordings), erased_text(texts[1], wordings)),
)

_SHARED_VERSIONS = _Table(
    read="""
select number, body
  from shared_versions
 where number > :after_row
 order by number
 limit :limit
""",
    write="update shared_versions set body = :text0 where number = :row",
    erased=lambda texts, wordings: (erased_document(texts[0], wordings),),
)

_TABLES = (
    *(_SESSIONS, _MESSAGES, _CHECKPOINTS, _RECEIPTS, _MEMORIES, _DOCUMENTS, _FILE_EDITS),
    _SHARED_VERSIONS,
)


_QUERIES = "pending_queries"
_LISTED = (_QUERIES, "pending_remembers")
_ASKED = f"/remember {FORGOTTEN}"


def erased_text(text: str, wordings: Wordings) -> str:
    """A text; a request to remember a forgotten wording is erased however short the wording is."""
    if asked_to_remember(text) and wordings.is_one(read(text).text):
        return _ASKED
    return wordings.removed(text)


def erased_document(data: str, wordings: Wordings) -> str:
    """JSON with texts in it."""
    return map_document(data, lambda text: erased_text(text, wordings))


def erased_event(kind: str, data: str, wordings: Wordings) -> str:
    """An event; a remembered wording in it is erased however short it is."""
    if kind == "remembered":
        return map_document(data, lambda text: FORGOTTEN if wordings.is_one(text) else wordings.removed(text))
    return erased_document(data, wordings)


def erased_record(data: str, wordings: Wordings) -> str:
    """A line of a log in Holdfast's store."""
    return map_record(data, lambda text: erased_text(text, wordings))


def erased_session(data: str, wordings: Wordings) -> str:
    """A session's state; forgotten wordings are also removed from its lists of what to remember."""
    changed = map_session(data, lambda text: erased_text(text, wordings))
    fields: dict[str, Any] = msgspec.json.decode(changed)
    listed = {name: list[str](fields.get(name, ())) for name in _LISTED}
    queries = [wordings.removed_from_query(query) for query in listed[_QUERIES]]
    remaining = {name: _remaining(rows, wordings) for name, rows in {**listed, _QUERIES: queries}.items()}
    return changed if remaining == listed else msgspec.json.encode({**fields, **remaining}).decode()


def erased_queries(data: str, wordings: Wordings) -> str:
    """A list of queries without forgotten wordings."""
    texts = decode_texts(data)
    remaining = tuple(_remaining([wordings.removed_from_query(text) for text in texts], wordings))
    return data if remaining == texts else encode_texts(remaining)


def erased_texts(data: str, wordings: Wordings) -> str:
    """A list of texts without forgotten wordings."""
    texts = decode_texts(data)
    remaining = tuple(_remaining([wordings.removed(text) for text in texts], wordings))
    return data if remaining == texts else encode_texts(remaining)


def erased_found(kind: str, text: str, wordings: Wordings) -> str:
    """A document's text: a memory is one wording, a digest is a list, a passage may begin or end anywhere."""
    if kind == "memory":
        return wordings.removed(text)
    label, spoken = _labelled(wordings.removed_from_digest(text))
    return label + wordings.removed_from_passage(spoken)


def erased_passages(texts: Sequence[str], wordings: Wordings) -> list[str]:
    """The passages of one session, in order: a text that is too long for one continues in the next."""
    labels, spoken = zip(*map(_labelled, texts), strict=True) if texts else ((), ())
    gaps = [_gap(text) for text in texts]
    erased = wordings.removed_across([part + gap for part, gap in zip(spoken, gaps, strict=True)])
    return [label + part.removesuffix(gap) for label, part, gap in zip(labels, erased, gaps, strict=True)]


def _gap(passage: str) -> str:
    """What followed a passage: white space, unless a very long word was cut there."""
    cut = len(passage) == LENGTH and " " not in _labelled(passage)[1]
    return "" if cut else " "


def _labelled(passage: str) -> tuple[str, str]:
    """The speaker's label at the beginning of a passage, if any, and the rest of it."""
    label = SPEAKER.match(passage)
    return (label[0], passage[label.end() :]) if label else ("", passage)


def _remaining(texts: list[str] | tuple[str, ...], wordings: Wordings) -> list[str]:
    return [text for text in texts if text != FORGOTTEN and not wordings.is_one(text)]
