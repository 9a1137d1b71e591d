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
from functools import partial
from pathlib import Path

import holdfast
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.watch import Watch
from holdfast.engine.liveness.home import have_store_checked
from holdfast.engine.upkeep.maintain import DEBOUNCE_MS
from holdfast.errors import StoreCorrupt
from holdfast.lazy_dataclass import dataclass

BEAT = 1.0
ORPHANS_EVERY = 15.0
PRUNE_EVERY = 3_600.0
EMBED_EVERY = 60.0
LONGEST_WAIT = 60.0
"""How long a chore that fails again and again is left alone, at most."""
LOG_EVERY = 3_600.0
BACKGROUND_TIME = 0.5
"""How much of a beat may go into what nobody waits for."""


@dataclass(frozen=True, slots=True)
class _Trouble:
    """A chore that failed: what was raised, when it is tried again, and when that was last logged."""

    what: str
    wait: float
    again_at: float
    logged_at: float


class Housekeeping:
    """Keeps house until told to stop."""

    def __init__(
        self, home: Path, dispatcher: Dispatcher, watch: Watch, stop: asyncio.Event, log: logging.Logger
    ) -> None:
        self._home = home
        self._reception = dispatcher
        self._watch = watch
        self._stop = stop
        self._log = log
        self._needed_at = time.monotonic()
        self._troubles = dict[str, _Trouble]()
        self.handing_over = False
        self._is_store_checked = False

    async def keep(self) -> None:
        """One beat after the other."""
        orphans_at = prune_at = embed_at = 0.0
        while not self._stop.is_set():
            await self.attempt("look after sessions", self._beat)
            if time.monotonic() >= orphans_at:
                orphans_at = time.monotonic() + ORPHANS_EVERY
                await self.attempt("close orphaned sessions", self._reception.finalise_orphans)
                # What was too long to read while a hook waited is read now.
                await self.attempt("read transcripts", self._reception.catch_up)
                await self.attempt("note how much is kept", self._reception.note_held)
            await self.attempt("back up the store", self._reception.back_up)
            # Before anything is pruned: what was said is to be found longer than the session is kept.
            await self.attempt("index", partial(self._steps, self._reception.index))
            if time.monotonic() >= prune_at:
                prune_at = time.monotonic() + PRUNE_EVERY
                await self.attempt("prune", self._reception.prune)
                await self.attempt("prune records", partial(self._steps, self._reception.prune_records))
            await self.attempt("rewrite", partial(self._steps, self._reception.rewrite))
            if time.monotonic() >= embed_at and not await self.attempt("embed", self._embed):
                embed_at = time.monotonic() + EMBED_EVERY
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), BEAT)

    async def attempt(self, chore: str, work: Callable[[], Awaitable[object]]) -> object:
        """Do one chore, so that one that fails keeps no other from being done; what it gives back, or None.

        One that failed is tried again at the next beat, and less often the longer it fails.
        """
        trouble = self._troubles.get(chore)
        if trouble and time.monotonic() < trouble.again_at:
            return None
        try:
            result = await work()
        except Exception as error:  # A door: what fails now is tried again later.
            self._note_trouble(chore, trouble, error)
            if isinstance(error, StoreCorrupt):
                await self._leave_damaged_store()
            return None
        if self._troubles.pop(chore, None):
            self._log.info("housekeeping works again: %s", chore)
        self._reception.troubles.pop(chore, None)
        return result

    def _note_trouble(self, chore: str, before: _Trouble | None, error: Exception) -> None:
        wait = min(before.wait * 2, LONGEST_WAIT) if before else BEAT
        now = time.monotonic()
        what = f"{type(error).__name__}: {error}"
        # The same again and again fills the log, and pushes out of it what else there was to know.
        known = before is not None and before.what == what and now < before.logged_at + LOG_EVERY
        if not known:
            self._log.error("housekeeping failed: %s", chore, exc_info=error)
        logged_at = before.logged_at if before and known else now
        self._troubles[chore] = _Trouble(what, wait, now + wait, logged_at)
        self._reception.troubles[chore] = type(error).__name__

    async def _embed(self) -> bool:
        return await self._steps(self._reception.embed)

    async def _beat(self) -> None:
        if not (self._home / "run" / "door").exists():
            self._leave("the home is gone")
            return
        await self.attempt("look at the settings", self._reception.look_at_settings)
        await self.attempt("take in the spool", self._reception.drain)
        await self.attempt("take due checkpoints", partial(self._reception.flush, DEBOUNCE_MS))
        await self.attempt("have checkpoints written", self._reception.write_better)
        live = await self._reception.live_sessions()
        self._watch.follow({Path(session.transcript) for session in live if session.transcript})
        if live:
            self._needed_at = time.monotonic()
        unneeded = time.monotonic() - max(self._needed_at, self._reception.last_hook_at)
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

    async def _leave_damaged_store(self) -> None:
        """Stop if the whole store is damaged, not a row in it alone; the next daemon sets it aside.

        Here others have the file open still.
        """
        if not self._is_store_checked and await self._reception.is_store_damaged():
            have_store_checked(self._home)
            self._leave("the store is damaged")
        self._is_store_checked = True

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
