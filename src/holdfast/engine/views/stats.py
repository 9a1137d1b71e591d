"""Statistics: what Holdfast kept, gave back and cost in the last days.

Counted from what is stored; what was pruned or forgotten is not in it. What is not known is None, never 0.
The caller computes which part of each brief was used (`engine.evaluation.usage`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from holdfast.core.brief.brief_input import Reason
from holdfast.core.brief.compose import Receipt
from holdfast.core.events.durations import DAY_MS
from holdfast.core.session.score import BriefUse
from holdfast.core.session.session import Phase, Session, is_imported
from holdfast.engine.engine import Engine
from holdfast.engine.models import days_until
from holdfast.engine.upkeep.hook_times import hook_times
from holdfast.engine.views.serialisation import Row
from holdfast.stores.base import EVERYWHERE, START
from holdfast.stores.codec import to_iso

DAYS: Final = 30
RECEIPTS_MOST: Final = 5_000
SESSIONS_MOST: Final = 5_000
MEMORIES_MOST: Final = 10_000
CHARS_PER_TOKEN: Final = 4
NO_BRIEFS: Final = frozenset({Reason.SUMMARY, Reason.RECALL})
"""Receipts of what is no brief: the input of a harness's summary, and memories with a prompt."""
AFTER_COMPACTION: Final = frozenset({Reason.COMPACT, Reason.LATE})


def since(now: int, days: int) -> int:
    """The beginning of the day (UTC) with which so many days up to now begin."""
    return (now // DAY_MS - days + 1) * DAY_MS


def briefs_since(engine: Engine, at: int) -> list[Receipt]:
    """The briefs that were given since then, the newest first."""
    receipts = engine.store.receipts("", RECEIPTS_MOST)
    return [one for one in receipts if one.created_at >= at and one.reason not in NO_BRIEFS]


def stats(engine: Engine, days: int, uses: Mapping[str, BriefUse]) -> Row:
    """The statistics of the last days; `uses` has the use of each brief by the id of its receipt."""
    now = engine.clock()
    begin = since(now, days)
    sessions = [one for one in engine.store.sessions(SESSIONS_MOST) if one.last_event_at >= begin]
    briefs = briefs_since(engine, begin)
    return {
        "days": days,
        "since": to_iso(begin),
        "sessions": {**_sessions(sessions), "stored": engine.store.counts().sessions},
        "compactions": _compactions(sessions, briefs),
        "crashes": crashes(sessions, briefs),
        "briefs": _briefs(briefs),
        "use": _use(briefs, uses),
        "memories": _memories(engine, begin),
        "cost": _cost(engine, briefs, now, days),
        "by_day": _by_day(sessions, briefs, now, days),
    }


def _sessions(sessions: Sequence[Session]) -> Row:
    return {
        "count": len(sessions),
        "imported": sum(map(is_imported, sessions)),
        "by_harness": dict(Counter(session.harness for session in sessions)),
    }


def _compactions(sessions: Sequence[Session], briefs: Iterable[Receipt]) -> Row:
    """Windows that began with a compaction, and how many of them began with a brief; and those imported."""
    windows = {one.key: one.window for one in sessions if not is_imported(one)}
    briefed = {(one.session, one.window) for one in briefs if one.reason in AFTER_COMPACTION}
    return {
        "seen": max(sum(windows.values()), len(briefed)),
        "survived": len(briefed),
        "imported": sum(one.window for one in sessions if is_imported(one)),
    }


def crashes(sessions: Iterable[Session], briefs: Iterable[Receipt]) -> Row:
    """Sessions whose harness went away without an end, and how many of them another one continued.

    A brief that only names a session at work beside the new one continues nothing.
    """
    crashed = {one.key for one in sessions if one.phase is Phase.ORPHANED}
    continued = {
        one.predecessor
        for one in briefs
        if one.predecessor != one.session and one.reason is not Reason.PARALLEL
    }
    return {"seen": len(crashed), "survived": len(crashed & continued)}


def _briefs(briefs: Sequence[Receipt]) -> Row:
    return {
        "count": len(briefs),
        "by_reason": dict(Counter(str(one.reason) for one in briefs)),
        "characters": sum(len(one.text) for one in briefs),
    }


def _use(briefs: Sequence[Receipt], uses: Mapping[str, BriefUse]) -> Row:
    """The share of the names and files of briefs that agents used, of those briefs of which it is known."""
    rows = [
        {
            "id": one.id,
            "session_key": one.session,
            "created_at": to_iso(one.created_at),
            "names": use.names if use else None,
            "used": use.used if use else None,
        }
        for one in briefs
        for use in (uses.get(one.id),)
    ]
    known = [use for one in briefs if (use := uses.get(one.id)) and use.used is not None and use.names]
    names, used = sum(use.names for use in known), sum(use.used or 0 for use in known)
    return {
        "names": names,
        "used": used,
        "share": round(used / names, 4) if names else None,
        "briefs_known": len(known),
        "briefs_unknown": len(briefs) - len(known),
        "by_brief": rows,
    }


def _memories(engine: Engine, begin: int) -> Row:
    memories = engine.store.page_of_memories(EVERYWHERE, START, MEMORIES_MOST)
    current = [memory for memory in memories if not memory.superseded_by]
    return {
        "count": len(current),
        "added": sum(memory.created_at >= begin for memory in current),
        "recalled": sum(memory.found for memory in current),
    }


def _cost(engine: Engine, briefs: Iterable[Receipt], now: int, days: int) -> Row:
    """What it took: time of hook events, and tokens of briefs (estimated) and of models (as they say)."""
    times = hook_times(engine.store, now, days)
    spent = days_until(engine.store, now, days)
    return {
        "hook_events": times.events or None,
        "hook_ms_p50": times.percentile(0.5),
        "hook_ms_p95": times.percentile(0.95),
        "hook_ms_total": times.total if times.events else None,
        "brief_tokens": sum(len(one.text) for one in briefs) // CHARS_PER_TOKEN,
        "model_questions": sum(use.asked for day in spent for use in day.models.values()),
        "model_tokens": sum(day.tokens for day in spent),
        "model_cents": round(sum(day.cents for day in spent), 2),
    }


def _by_day(sessions: Iterable[Session], briefs: Iterable[Receipt], now: int, days: int) -> list[Row]:
    """Sessions by their last event and briefs of each day (UTC), the oldest day first."""
    sessions_by_date = Counter(_date(one.last_event_at) for one in sessions)
    briefs_by_date = Counter(_date(one.created_at) for one in briefs)
    dates = [_date(now - number * DAY_MS) for number in reversed(range(days))]
    return [
        {"date": date, "sessions": sessions_by_date[date], "briefs": briefs_by_date[date]} for date in dates
    ]


def _date(at: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)).date().isoformat()
