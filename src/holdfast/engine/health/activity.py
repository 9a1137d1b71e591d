"""Activity: the last capture and brief of each harness, and transcripts that still wait to be read.

Part of `doctor`; for information only, because an unused harness has no activity.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from holdfast.core.session.session import Session
from holdfast.core.text.strings import elapsed
from holdfast.engine.health.doctor import Finding, fine
from holdfast.engine.recording.transcripts import Readable, find
from holdfast.harnesses.base import Harness
from holdfast.stores.base import Store

SESSIONS: Final = 500
"""How far back is looked."""
LOOKED_INTO: Final = 50
"""How many live sessions are checked for unread transcripts."""
READ_BYTES: Final = 1 << 16


def check_activity(store: Store, harness: Harness, now: int) -> Finding:
    """When a session of this harness was last active, and when one last got a brief."""
    check = f"activity of {harness.name}"
    own = {session.key: session for session in store.sessions(SESSIONS) if session.harness == harness.name}
    if not own:
        return fine(check, "no session was heard of yet")
    last_seen = max(session.last_event_at for session in own.values())
    briefed = [receipt.created_at for receipt in store.receipts("", SESSIONS) if receipt.session in own]
    brief_age = f"last brief {elapsed(now - max(briefed))} ago" if briefed else "no brief yet"
    return fine(check, f"last capture {elapsed(now - last_seen)} ago, {brief_age}; {len(own):,} sessions")


def check_cursors(store: Store, every: Iterable[Harness], user_home: Path) -> Finding:
    """Whether the transcripts of live sessions were read to their end."""
    by_name = {harness.name: harness for harness in every}
    live = [session for session in store.live_sessions() if session.harness in by_name][:LOOKED_INTO]
    behind = [session for session in live if _waits(store, session, by_name[session.harness], user_home)]
    if not behind:
        return fine("cursors", f"the transcripts of all {len(live)} live sessions were read to their end")
    keys = ", ".join(session.key for session in behind[:3])
    detail = f"{len(behind)} of {len(live)} live sessions have more to read: {keys}"
    return fine("cursors", f"{detail}; the next hook event, or `holdfast brief`, reads it")


def _waits(store: Store, session: Session, harness: Harness, user_home: Path) -> bool:
    access = find(session.transcript, harness.transcript_roots(user_home, {}))
    if not isinstance(access, Readable):
        return False
    batch = harness.read_transcript(access.path, session.key, store.cursor(str(access.path)), READ_BYTES)
    return bool(batch.events)
