"""Records in memory: which sessions are to be indexed, what is kept of what they said, and their scores."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.core.events import Event
from holdfast.core.session_score import SessionScore
from holdfast.stores.base import Document
from holdfast.stores.codec import clean
from holdfast.stores.memory.tables import Keeper, drop
from holdfast.stores.recorded import RECORDS, RecordsKept


class Records(Keeper):
    """Passages of sessions, and scores."""

    def unindexed(self, before: int, limit: int) -> list[str]:
        waiting = sorted(self._tables.unindexed.items(), key=lambda each: each[1])
        return [key for key, since in waiting if since < before][:limit]

    def mark_indexed(self, session: str) -> None:
        self._writable().unindexed.pop(clean(session), None)

    def events_from(self, session: str, record: str, limit: int) -> list[Event]:
        own = [event for event in self._tables.events.values() if event.session == clean(session)]
        places = (place for place, event in enumerate(own) if event.record == clean(record))
        start = next(places, 0)
        return own[start : start + limit]

    def drop_records(self, session: str, place: int) -> int:
        return drop(
            self._writable().documents,
            lambda each: each.session == clean(session) and each.kind == "record" and each.place >= place,
        )

    def records_kept(self) -> RecordsKept:
        kept = self._kept()
        since = min((each.at for each in kept), default=0)
        return RecordsKept(len(kept), sum(map(_bytes, kept)), since)

    def prune_records(self, before: int, most_bytes: int, limit: int) -> int:
        oldest_first = sorted(self._kept(), key=lambda each: each.at)
        bytes_kept = sum(map(_bytes, oldest_first))
        gone = set[str]()
        for each in oldest_first:
            if len(gone) == limit or (each.at >= before and bytes_kept <= most_bytes):
                break
            gone.add(each.id)
            bytes_kept -= _bytes(each)
        return drop(self._writable().documents, lambda each: each.id in gone)

    def add_recalls(self, session: str, ids: Sequence[str], at: int) -> None:
        for id in ids:
            self._writable().recalls.setdefault((clean(session), clean(id)), at)

    def recalls(self, session: str) -> list[tuple[str, int]]:
        told = [(id, at) for (key, id), at in self._tables.recalls.items() if key == clean(session)]
        return sorted(told, key=lambda each: (each[1], each[0]))

    def put_score(self, score: SessionScore) -> None:
        self._writable().scores[clean(score.session)] = clean(score)

    def scores(self, limit: int) -> list[SessionScore]:
        latest_first = sorted(self._tables.scores.values(), key=lambda each: (-each.scored_at, each.session))
        return latest_first[:limit]

    def _kept(self) -> list[Document]:
        return [each for each in self._tables.documents.values() if each.kind in RECORDS]


def _bytes(document: Document) -> int:
    return len(document.text.encode())
