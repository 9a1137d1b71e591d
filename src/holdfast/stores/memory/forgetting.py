"""Forgetting in memory: all that is kept of some sessions goes, but for hashes of their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from holdfast.core.events import BriefSeen
from holdfast.stores.base import Dropped, names_one_of
from holdfast.stores.codec import clean, hashed
from holdfast.stores.memory.tables import Keeper, Tables, drop, drop_memories


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

    def forget_documents(self, project_id: str) -> int:
        id = clean(project_id)
        chosen = self._writable().documents
        return drop(chosen, lambda each: each.project_id == id and each.kind != "memory")

    def forget_memories(self, project_id: str) -> int:
        return drop_memories(self._writable(), lambda each: each.project_id == clean(project_id))

    def forget_all(self, at: int) -> Dropped:
        dropped, tables = self.forget(self.keys(), at), self._writable()
        memories = dropped.memories + drop_memories(tables, lambda _: True)
        sources = {hashed(source): (at, cursor) for source, cursor in tables.cursors.items()}
        self._tables = Tables(forgotten=tables.forgotten | sources)
        return replace(dropped, documents=dropped.documents + len(tables.documents), memories=memories)

    def forgotten_at(self, key: str) -> int:
        return self._tables.forgotten.get(hashed(key), (0, ""))[0]

    def scrub(self) -> None:
        """A dictionary leaves no trace."""


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
