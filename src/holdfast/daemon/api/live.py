"""Live changes as server-sent events: which sessions, checkpoints, briefs and memories are new or changed.

The store itself is polled once a second while a client listens, so that changes by another process are seen
too. An event names what changed; the client fetches the new content by its own route.

Changes may happen between the rendering of a page and its connection, or while a connection is broken. So a
client says what it has seen, as a hash of the latest rows, and gets an event `missed` if that is out of date.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from typing import Annotated, Final

from fastapi import APIRouter, Header, HTTPException, Query
from starlette.responses import StreamingResponse

from holdfast.daemon.api.executor import Executor, ExecutorDep
from holdfast.stores.base import RowHead

router = APIRouter(tags=["live"])
EVERY: Final = 1.0
HEADS: Final = 50
QUIET_BEATS: Final = 15
"""After so many polls without news a comment is sent, so that a dead connection is noticed."""
LISTENERS_MOST: Final = 16
PRINT_CHARS: Final = 16
_SEEN: Final = "The `id` of the last event received, or the state that a page was made from."


@router.get(
    "/live",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def live(
    executor: ExecutorDep,
    seen: Annotated[str, Query(description=_SEEN, max_length=PRINT_CHARS)] = "",
    last_event_id: Annotated[str, Header(description="The same, as browsers send it.")] = "",
) -> StreamingResponse:
    """What is new, as it comes: events `session`, `checkpoint`, `brief`, `memory`, each with its id.

    An event `missed` comes first where something changed since what was seen.
    """
    if executor.listeners >= LISTENERS_MOST:
        raise HTTPException(429, "too many listen already", {"retry-after": "60"})
    # Read before the answer begins: every later change is reported.
    heads = await executor.look(HEADS)
    missed = (last_event_id or seen) not in {"", print_of(heads)}
    return StreamingResponse(_events(executor, heads, missed=missed), media_type="text/event-stream")


def print_of(heads: Sequence[RowHead]) -> str:
    """A hash of the latest rows, which differs when any of them changed."""
    return hashlib.sha256(repr(heads).encode()).hexdigest()[:PRINT_CHARS]


async def _events(executor: Executor, heads: Sequence[RowHead], *, missed: bool) -> AsyncIterator[bytes]:
    executor.listeners += 1
    try:
        yield b"retry: 3000\n: listening\n" + _id(heads) + b"\n"
        if missed:
            yield b"event: missed\ndata: {}\n\n"
        quiet = 0
        while not executor.stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(executor.stop.wait(), EVERY)
            known, heads = frozenset(heads), await executor.look(HEADS)
            news = [head for head in reversed(heads) if head not in known]
            quiet = 0 if news else quiet + 1
            if news:
                yield b"".join(map(_event, news)) + _id(heads) + b"\n"
            elif quiet % QUIET_BEATS == 0:
                yield b": nothing new\n\n"
    finally:
        executor.listeners -= 1


def _id(heads: Sequence[RowHead]) -> bytes:
    return f"id: {print_of(heads)}\n".encode()


def _event(head: RowHead) -> bytes:
    data = json.dumps({name: value for name, value in asdict(head).items() if name != "kind"})
    return f"event: {head.kind}\ndata: {data}\n\n".encode()
