"""When a ledger is worth saving unasked, and how old one may be to lead.

What a person or an agent asks for is always done; this is for what happens by itself.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.events.durations import DAY_MS, MINUTE_MS
from holdfast.core.events.event import Action, CompactionImminent, Event, SessionEnded, Source
from holdfast.core.session.session import Session
from holdfast.core.text.strings import elapsed

QUICK_MS: Final = 30 * MINUTE_MS
GRACE_MS: Final = 5 * MINUTE_MS
"""A session may end in a few words after its ledger was saved; that makes no ledger stale."""
OLD_MS: Final = 7 * DAY_MS


def calls_for_saving(events: tuple[Event, ...]) -> bool:
    """Whether something happened before which a ledger is saved: the window is about to go."""
    return any(
        isinstance(event, CompactionImminent)
        or (isinstance(event, SessionEnded) and event.reason == Source.CLEAR)
        for event in events
    )


def not_worth_it(session: Session, at: int) -> str:
    """Why a session needs no ledger; empty if it does."""
    if at - session.started_at < QUICK_MS:
        return "a task of less than 30 minutes"
    changed = {touch.path for touch in session.trail.files if touch.action is not Action.READ}
    return "" if len(changed) > 1 else "a change of at most one file"


def staleness(saved_at: int, worked_until: int, now: int) -> str:
    """Why a ledger is stale; empty for a fresh one."""
    if worked_until - saved_at > GRACE_MS:
        return f"the session worked on for {elapsed(worked_until - saved_at)} after it was saved"
    return f"it is {elapsed(now - saved_at)} old" if now - saved_at > OLD_MS else ""
