"""Forgetting in memory: all that is kept of some sessions goes, but for hashes of their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from holdfast.core.brief import Receipt
from holdfast.core.checkpoint import Checkpoint
from holdfast.core.events import BriefSeen
from holdfast.core.memory import Memory
from holdfast.core.passages import PassageKind
from holdfast.core.session import Session
from holdfast.core.wordings import Fingerprint, Wordings
from holdfast.stores.base import Document, names_one_of
from holdfast.stores.codec import (
    clean,
    decode_event,
    decode_items,
    decode_session,
    decode_texts,
    encode_event,
    encode_items,
    encode_session,
    encode_texts,
    hashed,
    kind_of,
)
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
from holdfast.stores.forgettable import EVERYTHING, Dropped, ForgottenWording, memory_name, project_name
from holdfast.stores.memory.tables import Keeper, Line, Row, Tables, drop, drop_memories


class Forgetting(Keeper):
    """The way out of all tables."""

    def keys(self) -> list[str]:
        tables = self._tables
        return sorted({key for _, _, row in tables.rows() if (key := tables.session_of(row))})

    def keys_of_project(self, project_id: str) -> list[str]:
        tables, id = self._tables, clean(project_id)
        sessions = {each.key for each in tables.sessions.values() if each.project.project_id == id}
        checkpoints = {each.session for each in tables.checkpoints.values() if each.project_id == id}
        documents = {each.session for each in tables.documents.values() if each.project_id == id}
        memories = {each.session for each in tables.memories.values() if each.project_id == id}
        return sorted((sessions | checkpoints | documents | memories) - {""})

    def keys_before(self, before: int) -> list[str]:
        left = [(each.session, each.created_at) for each in self._tables.checkpoints.values()]
        left += [(each.session, each.created_at) for each in self._tables.receipts.values()]
        memories = self._tables.memories.values()
        left += [(each.session, each.created_at) for each in memories if each.session]
        left += [(each.session, each.at) for each in self._tables.documents.values() if each.session]
        # A session that was pruned is as old as the last that is left of it.
        last = dict(sorted(left, key=itemgetter(1)))
        last |= {session.key: session.last_event_at for session in self._tables.sessions.values()}
        return sorted(key for key, at in last.items() if at < before)

    def forget(self, keys: Sequence[str], at: int) -> Dropped:
        tables, chosen = self._writable(), set(map(clean, keys))
        _forget_sources(tables, chosen, at)
        _forget_what_was_told(tables, chosen)
        memories = drop_memories(tables, lambda each: each.session in chosen)
        documents = drop(tables.documents, lambda each: tables.session_of(each) in chosen)
        checkpoints = drop(tables.checkpoints, lambda each: each.session in chosen)
        receipts = drop(tables.receipts, lambda each: {each.session, each.predecessor} & chosen)
        events = drop(tables.events, lambda each: each.session in chosen)
        events += drop(tables.lines, lambda each: each.session in chosen)
        sessions = drop(tables.sessions, lambda each: each.key in chosen)
        drop(tables.scores, lambda each: each.session in chosen)
        tables.recalls = {told: when for told, when in tables.recalls.items() if told[0] not in chosen}
        for key in chosen:
            tables.unindexed.pop(key, None)
        drop(tables.lineage, lambda each: {each.child, each.parent} & chosen)
        return Dropped(sessions, events, checkpoints, receipts, documents, memories)

    def forget_project(self, project_id: str, at: int) -> Dropped:
        tables, id = self._writable(), clean(project_id)
        _note(tables, {hashed(project_name(id)): at})
        memories = drop_memories(tables, lambda each: each.project_id == id)
        documents = drop(tables.documents, lambda each: each.project_id == id and each.kind != "memory")
        return Dropped(documents=documents, memories=memories)

    def forget_all(self, at: int) -> Dropped:
        dropped, tables = self.forget(self.keys(), at), self._writable()
        memories = dropped.memories + drop_memories(tables, lambda _: True)
        sources = {hashed(source): (at, cursor) for source, cursor in tables.cursors.items()}
        _note(tables, {hashed(EVERYTHING): at})
        self._tables = Tables(
            forgotten=tables.forgotten | sources,
            forgotten_wordings=tables.forgotten_wordings,
        )
        return replace(dropped, documents=dropped.documents + len(tables.documents), memories=memories)

    def forgotten_at(self, key: str) -> int:
        return self._tables.forgotten.get(hashed(key), (0, ""))[0]

    def scrub(self) -> None:
        """A dictionary leaves no trace."""

    def forget_memory(self, id: str, at: int) -> Dropped:
        tables = self._writable()
        _note(tables, {hashed(memory_name(id)): at})
        tables.memory_wordings.pop(id, None)
        return Dropped(memories=drop_memories(tables, lambda each: each.id == id))

    def erase(self, wordings: Wordings, at: int) -> Dropped:
        tables = self._writable()
        copies = [each.id for each in tables.memories.values() if wordings.is_one(each.text)]
        memories = sum(self.forget_memory(id, at).memories for id in copies)
        mentions = _erase_passages(tables, wordings)
        for table, id, row in list(tables.rows()):
            after = erased(row, wordings)
            if after != row:
                getattr(tables, table)[id] = after
                mentions += 1
                if isinstance(after, Document):
                    tables.bare[after.id] = None
        reasons = {wordings.removed(reason) for reason in tables.skipped}
        mentions += len(set(tables.skipped) - reasons)
        counted = [(wordings.removed(reason), times) for reason, times in tables.skipped.items()]
        tables.skipped = {reason: sum(n for each, n in counted if each == reason) for reason, _ in counted}
        return Dropped(memories=memories, mentions=mentions)

    def forgotten_names(self) -> dict[bytes, int]:
        return {name: at for name, (at, cursor) in self._tables.forgotten.items() if not cursor}

    def note_forgotten(self, names: Mapping[bytes, int]) -> None:
        _note(self._writable(), names)

    def forgotten_wordings(self) -> list[ForgottenWording]:
        return list(self._tables.forgotten_wordings.values())

    def put_forgotten_wordings(self, wordings: Iterable[ForgottenWording]) -> None:
        known = self._writable().forgotten_wordings
        for each in wordings:
            before = known.get(each.fingerprint)
            known[each.fingerprint] = before.merged(each) if before else each

    def memory_wordings(self, id: str) -> list[Fingerprint]:
        return list(self._tables.memory_wordings.get(id, ()))

    def add_memory_wordings(self, id: str, wordings: Iterable[Fingerprint]) -> None:
        known = self._writable().memory_wordings
        known[id] = tuple(dict.fromkeys((*known.get(id, ()), *wordings)))

    def memory_ids(self) -> list[str]:
        return sorted(self._tables.memories)

    def project_ids(self) -> list[str]:
        tables = self._tables
        documents = {each.project_id for each in tables.documents.values()}
        return sorted(documents | {each.project_id for each in tables.memories.values()})


def _erase_passages(tables: Tables, wordings: Wordings) -> int:
    changed = 0
    passages = [each for each in tables.documents.values() if each.kind == PassageKind.RECORD]
    for session in dict.fromkeys(each.session for each in passages):
        own = sorted((each for each in passages if each.session == session), key=lambda each: each.place)
        for before, text in zip(own, erased_passages([each.text for each in own], wordings), strict=True):
            if text != before.text:
                tables.documents[before.id] = replace(before, text=text, vector=())
                tables.bare[before.id] = None
                changed += 1
    return changed


def _note(tables: Tables, names: Mapping[bytes, int]) -> None:
    for name, at in names.items():
        before, cursor = tables.forgotten.get(name, (0, ""))
        tables.forgotten[name] = (max(at, before), cursor)


def erased(row: Row, wordings: Wordings) -> Row:
    """A row without these wordings."""
    match row:
        case Session():
            return decode_session(erased_session(encode_session(row), wordings))
        case Checkpoint():
            return replace(
                row,
                digest=wordings.removed_from_digest(row.digest),
                words=erased_text(row.words, wordings),
                memory_queries=decode_texts(erased_queries(encode_texts(row.memory_queries), wordings)),
                recent_remembers=_erased_texts(row.recent_remembers, wordings),
                outline=row.outline.mapped(lambda text: erased_text(text, wordings)),
            )
        case Receipt():
            items = decode_items(erased_document(encode_items(row.items), wordings))
            return replace(row, text=wordings.removed(row.text), items=items)
        case Document():
            text = erased_found(row.kind, row.text, wordings)
            vector = row.vector if text == row.text else ()
            return replace(row, text=text, source=wordings.removed(row.source), vector=vector)
        case Memory():
            return replace(row, text=wordings.removed(row.text), tags=_erased_texts(row.tags, wordings))
        case Line():
            return replace(row, record=replace(row.record, line=erased_record(row.record.line, wordings)))
        case _:
            data = erased_event(kind_of(row), encode_event(row), wordings)
            return decode_event(kind_of(row), data) or row


def _erased_texts(texts: tuple[str, ...], wordings: Wordings) -> tuple[str, ...]:
    return decode_texts(erased_texts(encode_texts(texts), wordings))


def _forget_sources(tables: Tables, chosen: set[str], at: int) -> None:
    own = {each.transcript for each in tables.sessions.values() if each.key in chosen}
    for source in [each for each in tables.cursors if each in own or names_one_of(each, chosen)]:
        tables.forgotten[hashed(source)] = (at, tables.cursors.pop(source))
    tables.forgotten |= {hashed(key): (at, "") for key in chosen}


def _forget_what_was_told(tables: Tables, chosen: set[str]) -> None:
    """Where another session was given a brief that told of these, its transcript showed that brief."""
    told = {each.session for each in tables.receipts.values() if each.predecessor in chosen}
    for name, event in tables.events.items():
        if isinstance(event, BriefSeen) and event.session in told:
            tables.events[name] = replace(event, text="")
