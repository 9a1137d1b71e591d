"""The office: where what is asked over HTTP is done, apart from the letters.

It has a thread of its own with its own way to the store, so that no hook ever waits for a page, and another
for what reads everything, so that no page waits for that. What removes something for good goes to the worker,
which does it between two letters.
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
from holdfast.engine.views.serialisation import given
from holdfast.stores.base import Head

T = TypeVar("T")
ANSWER_TIME: Final = 20.0
"""Seconds after which whoever asked is told to come back; what was begun is finished."""


class Executor:
    """Does the engine's work for whoever asks over HTTP."""

    def __init__(self, dispatcher: Dispatcher, keys: Keys, stop: asyncio.Event, log: logging.Logger) -> None:
        self.dispatcher = dispatcher
        self.keys = keys
        self.stop = stop
        self.log = log
        self.answered = Counter[tuple[str, str, int]]()
        """How often each method and route was answered with which status."""
        self.listeners = 0
        """How many listen to what is new."""
        self._pages = _EngineThread(dispatcher)
        self._archive = _EngineThread(dispatcher)

    async def do(self, work: Callable[[Engine], T]) -> T:
        """The result of work that uses the engine; TimeoutError if it takes too long."""
        self.dispatcher.last_hook_at = time.monotonic()
        return await asyncio.wait_for(self._pages.do(work), ANSWER_TIME)

    async def read_through(self, work: Callable[[Engine, Callable[[], bool]], T]) -> T:
        """The same for what reads everything: in a room of its own, so that no page waits for it.

        The work is told whether anybody still waits, and may stop with a TimeoutError when nobody does.
        """
        self.dispatcher.last_hook_at = time.monotonic()
        until = time.monotonic() + ANSWER_TIME
        done = self._archive.do(lambda engine: work(engine, lambda: time.monotonic() < until))
        return await asyncio.wait_for(done, ANSWER_TIME)

    async def look(self, limit: int) -> list[Head]:
        """The latest of each kind; that somebody listens is no reason for the daemon to stay."""
        return await self._pages.do(lambda engine: engine.store.heads(limit))

    async def do_between_hook_events(self, work: Callable[[Engine], T]) -> T:
        """The same where the daemon's own worker does it."""
        return await self.dispatcher.do(Urgency.CONTROL, lambda: work(self.dispatcher.engine))

    def redacted(self, value: T) -> T:
        """The value as it may be given away."""
        lists = self.dispatcher.lists()
        return given(value, lambda text: redact_as_seen(text, lists=lists))

    async def close(self) -> None:
        """Let go of the store, and end the threads."""
        await self._pages.close()
        await self._archive.close()


class _EngineThread:
    """A thread with its own way to the store, opened when it is first needed."""

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
