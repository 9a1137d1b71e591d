"""What routes depend on: the executor that does their work, and the page of a list that is asked for.

The executor has a thread with its own connection to the store, so that no hook ever waits for a page, and
another one for requests that read everything, so that no page waits for those. Permanent deletions go to the
worker, which does them between two hook events.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Annotated, Final, Generic, TypeVar

from fastapi import Depends, HTTPException, Query, Request
from pydantic import BaseModel, Field

from holdfast.daemon.access import Keys
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.engine.engine import Engine
from holdfast.engine.redaction.redactor import redact_as_seen
from holdfast.engine.views.serialisation import redacted_value
from holdfast.stores.base import START, PageMark, RowHead

Result = TypeVar("Result")
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

    async def do(self, work: Callable[[Engine], Result]) -> Result:
        """The result of work that uses the engine; TimeoutError if it takes too long."""
        self.dispatcher.last_used_at = time.monotonic()
        async with asyncio.timeout(ANSWER_TIME):
            return await self._pages.do(work)

    async def read_through(self, work: Callable[[Engine, Callable[[], bool]], Result]) -> Result:
        """The same for work that reads everything: in a thread of its own, so that no page waits for it.

        The work gets a function that says whether the client still waits, and may stop with a TimeoutError.
        """
        self.dispatcher.last_used_at = time.monotonic()
        until = time.monotonic() + ANSWER_TIME
        async with asyncio.timeout(ANSWER_TIME):
            return await self._archive.do(lambda engine: work(engine, lambda: time.monotonic() < until))

    async def look(self, limit: int) -> list[RowHead]:
        """The latest rows of each kind; unlike `do`, this does not keep the daemon from stopping as idle."""
        return await self._pages.do(lambda engine: engine.store.heads(limit))

    async def do_between_hook_events(self, work: Callable[[Engine], Result]) -> Result:
        """The same as `do`, by the daemon's worker."""
        return await self.dispatcher.do(Urgency.CONTROL, lambda: work(self.dispatcher.engine))

    def redacted(self, value: Result) -> Result:
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

    async def do(self, work: Callable[[Engine], Result]) -> Result:
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


T = TypeVar("T")
Row = TypeVar("Row")
LIMIT_MOST: Final = 200
_Limit = Annotated[int, Query(ge=1, le=LIMIT_MOST, description="At most so many.")]
_Cursor = Annotated[str, Query(max_length=2_000, description="The `next` of the page before.")]


class Page(BaseModel, Generic[T]):
    """Some of a list, the newest first."""

    items: list[T]
    next: str | None = Field(default=None, description="Where the next page begins; null on the last one.")


class Paging:
    """Which page is asked for."""

    def __init__(self, limit: _Limit = 10, cursor: _Cursor = "") -> None:
        self.limit = limit
        self.behind = mark_of(cursor) if cursor else START

    @property
    def rows_to_fetch(self) -> int:
        """How many rows to fetch: one more than is shown, which says whether there is another page."""
        return self.limit + 1

    def page(
        self, rows: Sequence[T], mark: Callable[[T], PageMark], row: Callable[[T], Row]
    ) -> dict[str, object]:
        """The page made of up to `rows_to_fetch` rows."""
        visible = rows[: self.limit]
        more = len(rows) > self.limit and visible
        return {
            "items": [row(item) for item in visible],
            "next": cursor_of(mark(visible[-1])) if more else None,
        }

    def page_of(
        self, rows: Iterable[T], mark: Callable[[T], PageMark], row: Callable[[T], Row]
    ) -> dict[str, object]:
        """The page of a list that is in memory as a whole."""

        def place(item: T) -> tuple[int, str]:
            return mark(item).at, mark(item).id

        chosen = [item for item in rows if place(item) < (self.behind.at, self.behind.id)]
        chosen.sort(key=place, reverse=True)
        return self.page(chosen[: self.rows_to_fetch], mark, row)


Paged = Annotated[Paging, Depends()]


def cursor_of(mark: PageMark) -> str:
    """A mark encoded as a cursor."""
    encoded = json.dumps([mark.at, mark.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(encoded.encode()).decode().rstrip("=")


def mark_of(cursor: str) -> PageMark:
    """The mark that a cursor encodes; 422 for a malformed one."""
    try:
        decoded = json.loads(
            base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
        at, id = decoded
        is_mark = type(at) is int and 0 <= at <= START.at and isinstance(id, str)
        id.encode()
    except (ValueError, TypeError, AttributeError):
        is_mark, at, id = False, 0, ""
    if not is_mark:
        raise HTTPException(422, "the cursor is not one that this API returned")
    return PageMark(at, id)
