"""Pages in memory: what is kept, read behind a mark, and counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from holdfast.core.brief import Receipt
from holdfast.core.checkpoint import Checkpoint
from holdfast.core.events import Event
from holdfast.core.memory import Memory
from holdfast.core.session import Phase, Session
from holdfast.core.session_score import SessionScore
from holdfast.core.world import Project
from holdfast.stores.base import START, Captured, Counts, Head, Mark, Taken, Within
from holdfast.stores.codec import clean, to_iso
from holdfast.stores.memory.found import Found

T = TypeVar("T")


class Pages(Found):
    """All tables that somebody may look through."""

    def checkpoint(self, id: str) -> Checkpoint | None:
        return self._tables.checkpoints.get(clean(id))

    def receipt(self, id: str) -> Receipt | None:
        return self._tables.receipts.get(clean(id))

    def page_of_checkpoints(self, behind: Mark, limit: int) -> list[Checkpoint]:
        return _page(self._tables.checkpoints.values(), _taken, behind, limit)

    def page_of_project(self, project_id: str, behind: Mark, limit: int) -> list[Checkpoint]:
        own = (each for each in self._tables.checkpoints.values() if each.project_id == clean(project_id))
        return _page(own, _taken, behind, limit)

    def page_of_session(self, session: str, behind: Mark, limit: int) -> list[Checkpoint]:
        own = (each for each in self._tables.checkpoints.values() if each.session == clean(session))
        return _page(own, _taken, behind, limit)

    def page_of_sessions(self, project_id: str, behind: Mark, limit: int) -> list[Session]:
        every = self._tables.sessions.values()
        own = [each for each in every if not project_id or each.project.project_id == clean(project_id)]
        return _page(own, _heard, behind, limit)

    def page_of_events(self, session: str, behind: Mark, limit: int) -> list[Event]:
        own = [each for each in self._tables.events.values() if each.session == clean(session)]
        return _page(own, lambda each: Mark(each.at, each.record), behind, limit)

    def page_of_receipts(self, session: str, behind: Mark, limit: int) -> list[Receipt]:
        every = self._tables.receipts.values()
        own = [each for each in every if not session or each.session == clean(session)]
        return _page(own, lambda each: Mark(each.created_at, each.id), behind, limit)

    def page_of_memories(self, within: Within, behind: Mark, limit: int) -> list[Memory]:
        return _page(self._newest_memories(within), _said, behind, limit)

    def page_of_scores(self, behind: Mark, limit: int) -> list[SessionScore]:
        every = self._tables.scores.values()
        return _page(every, lambda each: Mark(each.scored_at, each.session), behind, limit)

    def projects(self) -> list[Project]:
        latest = _page(self._tables.sessions.values(), _heard, START, len(self._tables.sessions))
        by_id = {each.project.project_id: each.project for each in reversed(latest)}
        return [by_id[id] for id in sorted(by_id)]

    def project_at(self, path: str) -> str:
        every = self.page_of_checkpoints(START, len(self._tables.checkpoints))
        return next((each.project_id for each in every if each.project_normalized == clean(path)), "")

    def heads(self, limit: int) -> list[Head]:
        tables = self._tables
        sessions = _page(tables.sessions.values(), _heard, START, limit)
        taken = self.page_of_checkpoints(START, limit)
        given = self.page_of_receipts("", START, limit)
        said = _page(tables.memories.values(), _said, START, limit)
        return [
            *(Head("session", each.key, each.key, each.last_event_at) for each in sessions),
            *(Head("checkpoint", each.id, each.session, each.created_at) for each in taken),
            *(Head("brief", each.id, each.session, each.created_at) for each in given),
            *(Head("memory", each.id, each.session, each.created_at) for each in said),
        ]

    def counts(self) -> Counts:
        tables = self._tables
        live = sum(each.phase is Phase.LIVE for each in tables.sessions.values())
        events = len(tables.events) + len(tables.lines)
        others = (tables.checkpoints, tables.receipts, tables.memories, tables.documents)
        return Counts(len(tables.sessions), live, events, *(len(table) for table in others))

    def captured(self) -> list[Captured]:
        of_harness = defaultdict[str, list[Session]](list)
        for session in self._tables.sessions.values():
            of_harness[session.harness].append(session)
        return [
            Captured(
                harness,
                len(own),
                sum(each.phase is Phase.LIVE for each in own),
                max(each.last_event_at for each in own),
            )
            for harness, own in sorted(of_harness.items())
        ]

    def taken_since(self, at: int) -> list[Taken]:
        every = self._tables.checkpoints.values()
        of_day = Counter(to_iso(each.created_at)[:10] for each in every if each.created_at >= at)
        return [Taken(day, count) for day, count in sorted(of_day.items())]


def _taken(checkpoint: Checkpoint) -> Mark:
    return Mark(checkpoint.created_at, checkpoint.id)


def _heard(session: Session) -> Mark:
    return Mark(session.last_event_at, session.key)


def _said(memory: Memory) -> Mark:
    return Mark(memory.created_at, memory.id)


def _page(rows: Iterable[T], mark: Callable[[T], Mark], behind: Mark, limit: int) -> list[T]:
    def place(row: T) -> tuple[int, str]:
        return mark(row).at, mark(row).id

    chosen = [row for row in rows if place(row) < (behind.at, clean(behind.id))]
    return sorted(chosen, key=place, reverse=True)[:limit]
