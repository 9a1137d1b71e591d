"""The watch: notices that a transcript which a letter named has grown.

Directories of live sessions' transcripts, not whole homes. Where the system cannot watch, it polls.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import import_module
from pathlib import Path

POLL_MS = 1_000


class Watch:
    """Knows which transcripts to follow; `run` calls back with each that changed."""

    def __init__(self, changed: Callable[[Path], Awaitable[None]], log: logging.Logger) -> None:
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
            directories = {path.parent for path in self._paths if path.parent.is_dir()}
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
        # Heavy (it brings its own event loop glue), and needed only once a session is there to follow.
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
                    for path in {Path(name) for _, name in change} & self._paths:
                        await self._changed(path)
            except OSError as error:
                self._log.warning("cannot watch %d directories (%s)", len(directories), error)
            else:
                return


async def _either(one: asyncio.Event, other: asyncio.Event) -> None:
    waits = [asyncio.create_task(one.wait()), asyncio.create_task(other.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
