"""Sharing: whether each hub has what it should have, from what was noted; no network is used."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.core.text.strings import ago, elapsed
from holdfast.engine.engine import Engine
from holdfast.engine.health.doctor import CheckResult, fine, wrong
from holdfast.engine.sharing.report import HubNotes, noted_hubs
from holdfast.engine.sharing.status import OVERDUE_MS


def check_sharing(engine: Engine) -> Iterator[CheckResult]:
    """One finding for each hub that was used or failed."""
    now = engine.clock()
    for name, notes in noted_hubs(engine.store).items():
        yield _check(f"hub {name}", notes, _waiting_since(engine), now)


def _check(check: str, notes: HubNotes, waiting_since: int, now: int) -> CheckResult:
    if notes.problem:
        since = f"nothing has been shared for {elapsed(now - notes.failing_since)}"
        return wrong(check, f"{since}: {notes.problem}", notes.hint or "`holdfast hub status` shows more")
    if waiting_since and not notes.is_read_only and now - max(waiting_since, notes.tried_at) > OVERDUE_MS:
        return wrong(
            check,
            f"changes have waited for {elapsed(now - waiting_since)}, and nobody tried to send them",
            "`holdfast hub push` sends them now; `holdfast restart` has the daemon do so by itself",
        )
    if notes.is_read_only:
        return fine(check, f"you may read, so nothing is sent; pulled {_when(notes.pulled_at, now)}")
    waiting = "" if not waiting_since else f"; changes have waited for {elapsed(now - waiting_since)}"
    return fine(check, f"pushed {_when(notes.pushed_at, now)}, pulled {_when(notes.pulled_at, now)}{waiting}")


def _waiting_since(engine: Engine) -> int:
    """When the oldest change happened that was not sent yet; 0 if none waits."""
    times = [each.at or engine.clock() for each in engine.store.announcements(0, 1)]
    return times[0] if times else 0


def _when(at: int, now: int) -> str:
    return ago(now - at) if at else "never"
