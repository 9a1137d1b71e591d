"""Live changes as server-sent events: which sessions, checkpoints, briefs and memories are new or changed.

What changed is seen in the store itself, a look a second as long as anybody listens, so that what another
process writes is seen too. An event names what changed; what it says now is asked for where that is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Final

from fastapi import APIRouter, HTTPException
from starlette.responses import StreamingResponse

from holdfast.daemon.api.office import InOffice, Office
from holdfast.stores.base import Head

router = APIRouter(tags=["live"])
EVERY: Final = 1.0
HEADS: Final = 50
QUIET_BEATS: Final = 15
"""After so many looks without news a comment is sent, so that a connection that is dead is noticed."""
LISTENERS_MOST: Final = 16


@router.get(
    "/live",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def live(office: InOffice) -> StreamingResponse:
    """What is new, as it comes: events `session`, `checkpoint`, `brief`, `memory`, each with its id."""
    if office.listeners >= LISTENERS_MOST:
        raise HTTPException(429, "too many listen already", {"retry-after": "60"})
    return StreamingResponse(_events(office), media_type="text/event-stream")


async def _events(office: Office) -> AsyncIterator[bytes]:
    office.listeners += 1
    try:
        seen = frozenset(await office.look(HEADS))
        yield b"retry: 3000\n: listening\n\n"
        quiet = 0
        while not office.stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(office.stop.wait(), EVERY)
            now = await office.look(HEADS)
            news = [head for head in reversed(now) if head not in seen]
            seen = frozenset(now)
            quiet = 0 if news else quiet + 1
            if news:
                yield b"".join(map(_event, news))
            elif quiet % QUIET_BEATS == 0:
                yield b": nothing new\n\n"
    finally:
        office.listeners -= 1


def _event(head: Head) -> bytes:
    told = json.dumps({name: value for name, value in asdict(head).items() if name != "kind"})
    return f"event: {head.kind}\ndata: {told}\n\n".encode()
