"""Housekeeping: the loop of periodic tasks, which decides when the daemon stops; the watch on transcripts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from functools import partial
from importlib import import_module
from pathlib import Path

import holdfast
from holdfast import environment
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.engine.liveness import have_store_checked
from holdfast.engine.upkeep.maintain import DEBOUNCE_MS
from holdfast.errors import StoreCorrupt
from holdfast.lazy_dataclass import dataclass

BEAT = 1.0
ORPHANS_EVERY = 15.0
PRUNE_EVERY = 3_600.0
EMBED_EVERY = 60.0
LONGEST_WAIT = 60.0
"""The longest wait before a task that keeps failing is tried again."""
LOG_EVERY = 3_600.0
BACKGROUND_TIME = 0.5
"""How many seconds of a beat each background task may take."""


@dataclass(frozen=True, slots=True)
class _Trouble:
    """A task that failed: its error, when it is tried again, and when the error was last logged."""

    what: str
    wait: float
    again_at: float
    logged_at: float


class Housekeeping:
    """Runs the periodic tasks until told to stop."""

    def __init__(
        self, home: Path, dispatcher: Dispatcher, watch: Watch, stop: asyncio.Event, log: logging.Logger
    ) -> None:
        self._home = home
        self._dispatcher = dispatcher
        self._watch = watch
        self._stop = stop
        self._log = log
        self._needed_at = time.monotonic()
        self._troubles = dict[str, _Trouble]()
        self.handing_over = False
        self._installed = ""
        """The other version that was installed at the last look."""
        self._is_store_checked = False

    async def keep(self) -> None:
        """Run all tasks that are due, once in each beat, until told to stop."""
        orphans_at = prune_at = embed_at = 0.0
        is_renewed = False
        while not self._stop.is_set():
            is_renewed = is_renewed or bool(await self.attempt("renew what setup wrote", self._renew))
            await self.attempt("look after sessions", self._beat)
            if time.monotonic() >= orphans_at:
                orphans_at = time.monotonic() + ORPHANS_EVERY
                await self.attempt("close orphaned sessions", self._dispatcher.finalise_orphans)
                # Transcripts that were too long to read while a hook waited are read now.
                await self.attempt("read transcripts", self._dispatcher.catch_up)
                await self.attempt("note how much is kept", self._dispatcher.note_held)
                await self.attempt("drop unused models", self._dispatcher.drop_unused_models)
            await self.attempt("move the store's log", self._dispatcher.move_log)
            await self.attempt("back up the store", self._dispatcher.back_up)
            # Before anything is pruned: the texts stay searchable longer than the session is stored.
            await self.attempt("index", partial(self._steps, self._dispatcher.index))
            if time.monotonic() >= prune_at:
                prune_at = time.monotonic() + PRUNE_EVERY
                await self.attempt("prune", self._dispatcher.prune)
                await self.attempt("prune records", partial(self._steps, self._dispatcher.prune_records))
            await self.attempt("rewrite", partial(self._steps, self._dispatcher.rewrite))
            await self.attempt("derive imported work", partial(self._steps, self._dispatcher.derive_import))
            if time.monotonic() >= embed_at and not await self.attempt("embed", self._embed):
                embed_at = time.monotonic() + EMBED_EVERY
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), BEAT)

    async def attempt(self, chore: str, work: Callable[[], Awaitable[object]]) -> object:
        """Run one task, so that its failure stops no other; its result, or None.

        A failed task is tried again at the next beat, and less often the longer it fails.
        """
        trouble = self._troubles.get(chore)
        if trouble and time.monotonic() < trouble.again_at:
            return None
        try:
            result = await work()
        except Exception as error:  # Boundary of a task: what fails now is tried again later.
            self._note_trouble(chore, trouble, error)
            if isinstance(error, StoreCorrupt):
                await self._leave_damaged_store()
            return None
        if self._troubles.pop(chore, None):
            self._log.info("housekeeping works again: %s", chore)
        self._dispatcher.troubles.pop(chore, None)
        return result

    def _note_trouble(self, chore: str, before: _Trouble | None, error: Exception) -> None:
        wait = min(before.wait * 2, LONGEST_WAIT) if before else BEAT
        now = time.monotonic()
        what = f"{type(error).__name__}: {error}"
        # Repeating the same error would fill the log and rotate other entries out of it.
        known = before is not None and before.what == what and now < before.logged_at + LOG_EVERY
        if not known:
            self._log.error("housekeeping failed: %s", chore, exc_info=error)
        logged_at = before.logged_at if before and known else now
        self._troubles[chore] = _Trouble(what, wait, now + wait, logged_at)
        self._dispatcher.troubles[chore] = type(error).__name__

    async def _renew(self) -> bool:
        """After an update, bring what setup wrote up to date; true once there is nothing to do."""
        if environment.is_outdated(self._home):
            # All harnesses are loaded for it, once after each update.
            renewal = import_module("holdfast.engine.health.renewal")
            done = await asyncio.to_thread(renewal.renew, self._home, os.environ, Path.home())
            self._log.info("renewed what setup wrote: %s", ", ".join(map(str, done.changed)) or "nothing")
            for problem in done.problems:
                self._log.warning("not renewed: %s (%s)", problem.message, problem.hint)
        return True

    async def _embed(self) -> bool:
        return await self._steps(self._dispatcher.embed)

    async def _beat(self) -> None:
        if not (self._home / "run" / "endpoint").exists():
            self._leave("the home is gone")
            return
        await self.attempt("look at the settings", self._dispatcher.look_at_settings)
        await self.attempt("take in the spool", self._dispatcher.drain)
        await self.attempt(
            "take due checkpoints", partial(self._dispatcher.take_due_checkpoints, DEBOUNCE_MS)
        )
        await self.attempt("have checkpoints written", self._dispatcher.rewrite_checkpoints)
        await self.attempt("share", self._dispatcher.share)
        live = await self._dispatcher.live_transcripts()
        self._watch.follow({Path(transcript) for transcript in live.values() if transcript})
        if live:
            self._needed_at = time.monotonic()
        if self._dispatcher.is_store_elsewhere():
            self.handing_over = True
            self._leave("the settings name another store")
            return
        unneeded = time.monotonic() - max(self._needed_at, self._dispatcher.last_used_at)
        if is_idle(unneeded, self._dispatcher.idle_exit_minutes()):
            self._leave("nobody needed it for long enough")
        elif is_outdated(holdfast.__version__, installed := installed_version()):
            # At the second look: an installer may still be writing at the first one.
            self.handing_over = installed == self._installed
            self._installed = installed
            if self.handing_over:
                self._leave(f"it hands over to version {installed}")

    async def _steps(self, step: Callable[[], Awaitable[bool]]) -> bool:
        """Run a task step by step, so that urgent jobs run in between; whether there is more to do."""
        until = time.monotonic() + BACKGROUND_TIME
        while not self._stop.is_set() and time.monotonic() < until:
            if not await step():
                return False
        return True

    async def _leave_damaged_store(self) -> None:
        """Stop if the whole store is damaged, not only a row; the next daemon sets it aside.

        This daemon cannot do so: other threads still have the file open.
        """
        if not self._is_store_checked and await self._dispatcher.is_store_damaged():
            have_store_checked(self._home)
            self._leave("the store is damaged")
        self._is_store_checked = True

    def _leave(self, reason: str) -> None:
        self._log.info("the daemon stops: %s", reason)
        self._stop.set()


def is_idle(unneeded_seconds: float, idle_exit_minutes: int) -> bool:
    """Whether the daemon was unneeded for as long as the settings say; with 0 minutes it never stops."""
    return idle_exit_minutes > 0 and unneeded_seconds >= idle_exit_minutes * 60


def is_outdated(running: str, installed: str) -> bool:
    """Whether another version was installed since this one was started; false if that is unknown."""
    return installed not in ("", running)


def installed_version() -> str:
    """The version installed now, which may be newer than the running one; empty if unknown."""
    try:
        text = Path(holdfast.__file__).read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(r'__version__\s*(?::\s*\S+\s*)?=\s*"([^"]+)"', text)
    return match.group(1) if match else ""


POLL_MS = 1_000


class Watch:
    """Follows transcripts; `run` calls back with those that may have changed.

    If a database holds many sessions, a change to it counts for all of them.
    """

    def __init__(self, changed: Callable[[Collection[Path]], Awaitable[None]], log: logging.Logger) -> None:
        self._changed = changed
        self._log = log
        self._paths: set[Path] = set()
        self._moved = asyncio.Event()

    def follow(self, paths: set[Path]) -> None:
        """Follow exactly these from now on."""
        if paths != self._paths:
            self._paths = paths
            self._moved.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Watch until told to stop."""
        while not stop.is_set():
            self._moved.clear()
            directories = {file.parent for file in map(_file_of, self._paths) if file.parent.is_dir()}
            if directories:
                await self._watch(directories, stop)
            else:
                await _either(self._moved, stop)

    async def _watch(self, directories: set[Path], stop: asyncio.Event) -> None:
        halted = asyncio.Event()
        watching = asyncio.create_task(self._forward(directories, halted))
        await _either(self._moved, stop)
        halted.set()
        await watching

    async def _forward(self, directories: set[Path], halted: asyncio.Event) -> None:
        # Heavy (it brings its own event loop glue), and needed only once there is a session to follow.
        watchfiles = import_module("watchfiles")

        for polling in (False, True):
            changes: AsyncIterator[set[tuple[int, str]]] = watchfiles.awatch(
                *directories,
                recursive=False,
                stop_event=halted,
                force_polling=polling,
                poll_delay_ms=POLL_MS,
            )
            try:
                async for change in changes:
                    # A database writes to the log beside it first.
                    files = {Path(name.removesuffix("-wal")) for _, name in change}
                    if changed := {path for path in self._paths if _file_of(path) in files}:
                        await self._changed(changed)
            except OSError as error:
                self._log.warning("cannot watch %d directories (%s)", len(directories), error)
            else:
                return


def _file_of(transcript: Path) -> Path:
    """The file that holds a transcript; the path of a session in a database continues after the file."""
    return transcript.parent if transcript.parent.is_file() else transcript


async def _either(first: asyncio.Event, second: asyncio.Event) -> None:
    waits = [asyncio.create_task(first.wait()), asyncio.create_task(second.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
