"""When to save a ledger automatically, and when a ledger is too old to lead a brief.

A save that the user or the agent asks for is always done.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.events.durations import DAY_MS, MINUTE_MS
from holdfast.core.events.event import Action, CompactionImminent, Event, SessionEnded, Source
from holdfast.core.session.session import Session
from holdfast.core.text.strings import elapsed

QUICK_MS: Final = 30 * MINUTE_MS
GRACE_MS: Final = 5 * MINUTE_MS
"""A session may go on briefly after its ledger was saved; that does not make the ledger stale."""
OLD_MS: Final = 7 * DAY_MS


def calls_for_saving(events: tuple[Event, ...]) -> bool:
    """Whether an event announces that the context window ends, so that the ledger is to be saved."""
    return any(
        isinstance(event, CompactionImminent)
        or (isinstance(event, SessionEnded) and event.reason == Source.CLEAR)
        for event in events
    )


def not_worth_it(session: Session, at: int) -> str:
    """Why a session needs no ledger; empty if it needs one."""
    if at - session.started_at < QUICK_MS:
        return "a task of less than 30 minutes"
    changed = {touch.path for touch in session.trail.files if touch.action is not Action.READ}
    return "" if len(changed) > 1 else "a change of at most one file"


def staleness(saved_at: int, worked_until: int, now: int) -> str:
    """Why a ledger is stale; empty for a fresh one."""
    if worked_until - saved_at > GRACE_MS:
        return f"the session worked on for {elapsed(worked_until - saved_at)} after it was saved"
    return f"it is {elapsed(now - saved_at)} old" if now - saved_at > OLD_MS else ""
