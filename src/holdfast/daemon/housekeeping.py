"""Housekeeping: the loop that does what time alone calls for, and knows when to go.

Due checkpoints, the spool, orphaned sessions, pruning; and the end of the daemon when nobody needs it, its
home is gone, or a newer version was installed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from pathlib import Path

import holdfast
from holdfast.daemon.reception import Reception
from holdfast.daemon.watch import Watch
from holdfast.engine.maintain import DEBOUNCE_MS

BEAT = 1.0
ORPHANS_EVERY = 15.0
PRUNE_EVERY = 3_600.0


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
        orphans_at = prune_at = 0.0
        while not self._stop.is_set():
            try:
                await self._beat()
                if time.monotonic() >= orphans_at:
                    orphans_at = time.monotonic() + ORPHANS_EVERY
                    await self._reception.finalise_orphans()
                if time.monotonic() >= prune_at:
                    prune_at = time.monotonic() + PRUNE_EVERY
                    await self._reception.prune()
            except Exception:  # A door: what fails now is tried again at the next beat.
                self._log.exception("housekeeping failed")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), BEAT)

    async def _beat(self) -> None:
        if not (self._home / "run" / "door").exists():
            self._log.info("the home is gone, or another daemon has it")
            self._stop.set()
            return
        await self._reception.drain()
        await self._reception.flush(DEBOUNCE_MS)
        live = await self._reception.live_sessions()
        self._watch.follow({Path(session.transcript) for session in live if session.transcript})
        if live:
            self._needed_at = time.monotonic()
        self._leave_if_unneeded()

    def _leave_if_unneeded(self) -> None:
        needed_at = max(self._needed_at, self._reception.last_letter_at)
        if time.monotonic() - needed_at > self._reception.idle_exit_minutes() * 60:
            self._log.info("idle for long enough")
            self._stop.set()
        elif (version := installed_version()) and version != holdfast.__version__:
            self._log.info("handing over to version %s", version)
            self.handing_over = True
            self._stop.set()


def installed_version() -> str:
    """The version installed now, which may be newer than the one that runs; empty if it cannot be told."""
    try:
        text = Path(holdfast.__file__).read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r'__version__\s*(?::\s*\S+\s*)?=\s*"([^"]+)"', text)
    return found.group(1) if found else ""
