"""Events over HTTP: hook events that harnesses send, and live changes as server-sent events.

For live changes the store itself is polled once a second while a client listens, so that changes by another
process are seen too. An event names what changed; the client fetches the new content by its own route.

Changes may happen between the rendering of a page and its connection, or while a connection is broken. So a
client says what it has seen, as a hash of the latest rows, and gets an event `missed` if that is out of date.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from typing import Annotated, Final

from fastapi import APIRouter, Header, HTTPException, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from holdfast import harnesses
from holdfast.daemon.api.dependencies import Executor, ExecutorDep
from holdfast.daemon.local import wire
from holdfast.engine.hook_events import without_foreign_paths
from holdfast.stores.base import RowHead

hooks_router = APIRouter(tags=["hooks"])
_BODY: Final = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
_ANSWERS: Final[dict[int | str, dict[str, object]]] = {
    200: {
        "content": {"application/json": {"schema": {"type": "object"}}},
        "description": "What the harness is told.",
    },
    204: {"description": "It is told nothing."},
}


@hooks_router.post(
    "/hooks/{event}", responses=_ANSWERS, openapi_extra={"requestBody": _BODY}, response_class=Response
)
async def receive_hook_event(
    executor: ExecutorDep,
    request: Request,
    event: Annotated[str, Path(max_length=100, pattern=r"^[\w-]+$", description="As the harness names it.")],
    harness: Annotated[str, Query(max_length=100, description="Which harness sends it.")],
    x_holdfast_event_id: Annotated[
        str,
        Header(
            max_length=200,
            pattern=r"^[\w.:-]*$",
            description="Its id: the same id again is the same hook event.",
        ),
    ] = "",
) -> Response:
    """Record one hook event. It names its session by id; a path in it is opened only if already known."""
    known = harnesses.get(harness).name
    raw = await request.body()
    body = await executor.do_between_hook_events(lambda engine: without_foreign_paths(engine, event, raw))
    if body is None:
        raise HTTPException(422, "the body is not a JSON object")
    fields = {
        "id": x_holdfast_event_id or str(uuid.uuid4()),
        "harness": known,
        "at": str(time.time_ns() // 1_000_000),
    }
    answer = await executor.dispatcher.answer(wire.Request("hook-event", fields, body))
    return Response(answer, media_type="application/json") if answer else Response(status_code=204)


live_router = APIRouter(tags=["live"])
EVERY: Final = 1.0
HEADS_MOST: Final = 50
QUIET_BEATS: Final = 15
"""After so many polls without news a comment is sent, so that a dead connection is noticed."""
LISTENERS_MOST: Final = 16
HASH_CHARS: Final = 16
_SEEN: Final = "The `id` of the last event received, or the state that a page was made from."


@live_router.get(
    "/live",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def live(
    executor: ExecutorDep,
    seen: Annotated[str, Query(description=_SEEN, max_length=HASH_CHARS)] = "",
    last_event_id: Annotated[str, Header(description="The same, as browsers send it.")] = "",
) -> StreamingResponse:
    """What is new, as it comes: events `session`, `checkpoint`, `brief`, `memory`, each with its id.

    An event `missed` comes first where something changed since what was seen.
    """
    if executor.listeners >= LISTENERS_MOST:
        raise HTTPException(429, "too many listen already", {"retry-after": "60"})
    # Read before the answer begins: every later change is reported.
    heads = await executor.look(HEADS_MOST)
    missed = (last_event_id or seen) not in {"", state_hash(heads)}
    return StreamingResponse(_events(executor, heads, missed=missed), media_type="text/event-stream")


def state_hash(heads: Sequence[RowHead]) -> str:
    """A hash of the latest rows, which differs when any of them changed."""
    return hashlib.sha256(repr(heads).encode()).hexdigest()[:HASH_CHARS]


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
            known, heads = frozenset(heads), await executor.look(HEADS_MOST)
            news = [head for head in reversed(heads) if head not in known]
            quiet = 0 if news else quiet + 1
            if news:
                yield b"".join(map(_event, news)) + _id(heads) + b"\n"
            elif quiet % QUIET_BEATS == 0:
                yield b": nothing new\n\n"
    finally:
        executor.listeners -= 1


def _id(heads: Sequence[RowHead]) -> bytes:
    return f"id: {state_hash(heads)}\n".encode()


def _event(head: RowHead) -> bytes:
    data = json.dumps({name: value for name, value in asdict(head).items() if name != "kind"})
    return f"event: {head.kind}\ndata: {data}\n\n".encode()
