"""The watch: notices that a transcript named by a hook event has grown.

It watches the directories of live sessions' transcripts, not whole homes. Where that is impossible, it polls.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from importlib import import_module
from pathlib import Path

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
