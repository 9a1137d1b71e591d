"""The worker: one thread that does all of the engine's work, the most urgent first.

The event loop stays free to accept hook events while a long transcript is read. Only this thread uses the
store.
"""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from dataclasses import field
from enum import IntEnum
from typing import Any, TypeVar

from holdfast.lazy_dataclass import dataclass

T = TypeVar("T")


class Urgency(IntEnum):
    """How urgent a job is, by what waits for it: a harness, a person, or nothing."""

    HOOK_EVENT = 0
    CONTROL = 1
    SPOOL = 2
    TRANSCRIPT = 3
    HOUSEKEEPING = 4


@dataclass(order=True)
class _Job:
    urgency: int
    number: int
    work: Callable[[], Any] | None = field(compare=False)
    done: asyncio.Future[Any] | None = field(compare=False)


class Worker:
    """Owns the thread; `do` hands it a job and waits for the result."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self.begun = 0
        """How many jobs were begun; identifies the current job."""
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
        self._thread.start()

    async def do(self, urgency: Urgency, work: Callable[[], T]) -> T:
        """The result of the work, done in its turn; its exceptions are raised here.

        After `stop` nothing is done any more, and the caller is cancelled.
        """
        if self._is_stopped:
            raise asyncio.CancelledError
        done: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(_Job(urgency, next(self._numbers), work, done))
        return await done

    def stop(self) -> None:
        """Finish what is queued, then end the thread."""
        self._is_stopped = True
        self._jobs.put(_Job(max(Urgency) + 1, next(self._numbers), None, None))
        self._thread.join()

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job.work is None or job.done is None:
                return
            self.begun += 1
            try:
                result = job.work()
            except BaseException as error:
                self._tell(job.done, _fail, error)
            else:
                self._tell(job.done, _finish, result)

    def _tell(
        self, done: asyncio.Future[Any], how: Callable[[asyncio.Future[Any], Any], None], what: object
    ) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(how, done, what)


def _finish(done: asyncio.Future[Any], result: object) -> None:
    if not done.cancelled():
        done.set_result(result)


def _fail(done: asyncio.Future[Any], error: BaseException) -> None:
    if not done.cancelled():
        done.set_exception(error)
