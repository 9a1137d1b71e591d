"""Housekeeping: the loop that does what time alone calls for, and knows when to go.

Due checkpoints, the spool, orphaned sessions, pruning; what an older redactor wrote, and what is to be found
again; and the end of the daemon when nobody needs it, its home is gone, or a newer version was installed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import holdfast
from holdfast.daemon.reception import Reception
from holdfast.daemon.watch import Watch
from holdfast.engine.maintain import DEBOUNCE_MS

BEAT = 1.0
ORPHANS_EVERY = 15.0
PRUNE_EVERY = 3_600.0
EMBED_EVERY = 60.0
BACKGROUND_TIME = 0.5
"""How much of a beat may go into what nobody waits for."""


class House:
    """Keeps house until told to stop."""

    def __init__(
        self, home: Path, reception: Reception, watch: Watch, stop: asyncio.Event, log: logging.Logger
    ) -> None:
        self._home = home
        self._reception = reception
        self._watch = watch
        self._stop = stop
        self._log = log
        self._needed_at = time.monotonic()
        self.handing_over = False

    async def keep(self) -> None:
        """One beat after the other."""
        orphans_at = prune_at = embed_at = 0.0
        while not self._stop.is_set():
            try:
                await self._beat()
                if time.monotonic() >= orphans_at:
                    orphans_at = time.monotonic() + ORPHANS_EVERY
                    await self._reception.finalise_orphans()
                    # What was too long to read while a hook waited is read now.
                    await self._reception.catch_up()
                # Before anything is pruned: what was said is to be found longer than the session is kept.
                await self._steps(self._reception.index)
                if time.monotonic() >= prune_at:
                    prune_at = time.monotonic() + PRUNE_EVERY
                    await self._reception.prune()
                    await self._steps(self._reception.prune_records)
                await self._steps(self._reception.rewrite)
                if time.monotonic() >= embed_at and not await self._steps(self._reception.embed):
                    embed_at = time.monotonic() + EMBED_EVERY
            except Exception:  # A door: what fails now is tried again at the next beat.
                self._log.exception("housekeeping failed")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), BEAT)

    async def _beat(self) -> None:
        if not (self._home / "run" / "door").exists():
            self._leave("the home is gone")
            return
        await self._reception.drain()
        await self._reception.flush(DEBOUNCE_MS)
        await self._reception.write_better()
        live = await self._reception.live_sessions()
        self._watch.follow({Path(session.transcript) for session in live if session.transcript})
        if live:
            self._needed_at = time.monotonic()
        unneeded = time.monotonic() - max(self._needed_at, self._reception.last_letter_at)
        if is_idle(unneeded, self._reception.idle_exit_minutes()):
            self._leave("nobody needed it for long enough")
        elif is_outdated(holdfast.__version__, installed := installed_version()):
            self.handing_over = True
            self._leave(f"it hands over to version {installed}")

    async def _steps(self, step: Callable[[], Awaitable[bool]]) -> bool:
        """Step by step, so that whoever waits is served between two of them; whether there is more to do."""
        until = time.monotonic() + BACKGROUND_TIME
        while not self._stop.is_set() and time.monotonic() < until:
            if not await step():
                return False
        return True

    def _leave(self, reason: str) -> None:
        self._log.info("the daemon stops: %s", reason)
        self._stop.set()


def is_idle(unneeded_seconds: float, idle_exit_minutes: int) -> bool:
    """Whether nobody needed the daemon for as long as the settings say; with 0 it always stays."""
    return idle_exit_minutes > 0 and unneeded_seconds >= idle_exit_minutes * 60


def is_outdated(running: str, installed: str) -> bool:
    """Whether another version was installed since this one was started; an unknown one is no reason to go."""
    return installed not in ("", running)


def installed_version() -> str:
    """The version installed now, which may be newer than the one that runs; empty if it cannot be told."""
    try:
        text = Path(holdfast.__file__).read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r'__version__\s*(?::\s*\S+\s*)?=\s*"([^"]+)"', text)
    return found.group(1) if found else ""
