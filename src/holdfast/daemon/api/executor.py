"""The executor: does the engine's work for HTTP requests, apart from hook events.

It has a thread with its own connection to the store, so that no hook ever waits for a page, and another one
for requests that read everything, so that no page waits for those. Permanent deletions go to the worker,
which does them between two hook events.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Request

from holdfast.daemon.access.keys import Keys
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.engine.engine import Engine
from holdfast.engine.redaction.redactor import redact_as_seen
from holdfast.engine.views.serialisation import redacted_value
from holdfast.stores.base import RowHead

T = TypeVar("T")
ANSWER_TIME: Final = 20.0
"""Seconds after which the client is told to come back; the work is still finished."""


class Executor:
    """Does the engine's work for HTTP requests."""

    def __init__(self, dispatcher: Dispatcher, keys: Keys, stop: asyncio.Event, log: logging.Logger) -> None:
        self.dispatcher = dispatcher
        self.keys = keys
        self.stop = stop
        self.log = log
        self.answered = Counter[tuple[str, str, int]]()
        """The number of answers by method, route and status."""
        self.listeners = 0
        """The number of open event streams."""
        self._pages = _EngineThread(dispatcher)
        self._archive = _EngineThread(dispatcher)

    async def do(self, work: Callable[[Engine], T]) -> T:
        """The result of work that uses the engine; TimeoutError if it takes too long."""
        self.dispatcher.last_hook_at = time.monotonic()
        return await asyncio.wait_for(self._pages.do(work), ANSWER_TIME)

    async def read_through(self, work: Callable[[Engine, Callable[[], bool]], T]) -> T:
        """The same for work that reads everything: in a thread of its own, so that no page waits for it.

        The work gets a function that says whether the client still waits, and may stop with a TimeoutError.
        """
        self.dispatcher.last_hook_at = time.monotonic()
        until = time.monotonic() + ANSWER_TIME
        done = self._archive.do(lambda engine: work(engine, lambda: time.monotonic() < until))
        return await asyncio.wait_for(done, ANSWER_TIME)

    async def look(self, limit: int) -> list[RowHead]:
        """The latest rows of each kind; unlike `do`, this does not keep the daemon from stopping as idle."""
        return await self._pages.do(lambda engine: engine.store.heads(limit))

    async def do_between_hook_events(self, work: Callable[[Engine], T]) -> T:
        """The same as `do`, by the daemon's worker."""
        return await self.dispatcher.do(Urgency.CONTROL, lambda: work(self.dispatcher.engine))

    def redacted(self, value: T) -> T:
        """The value with every text redacted, as it may be served."""
        lists = self.dispatcher.lists()
        return redacted_value(value, lambda text: redact_as_seen(text, lists=lists))

    async def close(self) -> None:
        """Close the connections to the store and end the threads."""
        await self._pages.close()
        await self._archive.close()


class _EngineThread:
    """A thread with its own engine and connection to the store, opened when first needed."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._open = ExitStack()
        self._engine: Engine | None = None
        self._worker = Worker(asyncio.get_running_loop())

    async def do(self, work: Callable[[Engine], T]) -> T:
        return await self._worker.do(Urgency.CONTROL, lambda: work(self._own_engine()))

    async def close(self) -> None:
        await self._worker.do(Urgency.HOUSEKEEPING, self._open.close)
        await asyncio.to_thread(self._worker.stop)

    def _own_engine(self) -> Engine:
        if self._engine is None:
            self._engine = self._open.enter_context(self._dispatcher.own_engine())
        return self._engine


def _executor_of(request: Request) -> Executor:
    executor: Executor = request.app.state.executor
    return executor


ExecutorDep = Annotated[Executor, Depends(_executor_of)]
