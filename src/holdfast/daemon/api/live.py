"""Live changes as server-sent events: which sessions, checkpoints, briefs and memories are new or changed.

What changed is seen in the store itself, a look a second as long as anybody listens, so that what another
process writes is seen too. An event names what changed; what it says now is asked for where that is told.

A page is older than the ear that it opens, and a connection breaks off: whoever says what it has seen, by the
print of a look, is told where that is not what is there now.
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
from holdfast.stores.base import Head

router = APIRouter(tags=["live"])
EVERY: Final = 1.0
HEADS: Final = 50
QUIET_BEATS: Final = 15
"""After so many looks without news a comment is sent, so that a connection that is dead is noticed."""
LISTENERS_MOST: Final = 16
PRINT_CHARS: Final = 16
_SEEN: Final = "The `id` of the last event that was heard, or what a page says that it has seen."


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
    # Looked at before the answer begins: whatever happens after that is told.
    heads = await executor.look(HEADS)
    missed = (last_event_id or seen) not in {"", print_of(heads)}
    return StreamingResponse(_events(executor, heads, missed=missed), media_type="text/event-stream")


def print_of(heads: Sequence[Head]) -> str:
    """By what a look is told from another that showed something else."""
    return hashlib.sha256(repr(heads).encode()).hexdigest()[:PRINT_CHARS]


async def _events(executor: Executor, heads: Sequence[Head], *, missed: bool) -> AsyncIterator[bytes]:
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


def _id(heads: Sequence[Head]) -> bytes:
    return f"id: {print_of(heads)}\n".encode()


def _event(head: Head) -> bytes:
    data = json.dumps({name: value for name, value in asdict(head).items() if name != "kind"})
    return f"event: {head.kind}\ndata: {data}\n\n".encode()
