"""Hook events over HTTP, for harnesses that send them so; answered as a hook would be."""

from __future__ import annotations

import time
import uuid
from typing import Annotated, Final

from fastapi import APIRouter, Header, HTTPException, Path, Query, Request
from starlette.responses import Response

from holdfast import harnesses
from holdfast.daemon.api.executor import ExecutorDep
from holdfast.daemon.local import wire
from holdfast.engine.hook_events import without_foreign_paths

router = APIRouter(tags=["hooks"])
_BODY: Final = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
_ANSWERS: Final[dict[int | str, dict[str, object]]] = {
    200: {
        "content": {"application/json": {"schema": {"type": "object"}}},
        "description": "What the harness is told.",
    },
    204: {"description": "It is told nothing."},
}


@router.post(
    "/hooks/{event}", responses=_ANSWERS, openapi_extra={"requestBody": _BODY}, response_class=Response
)
async def receive_hook_event(
    executor: ExecutorDep,
    request: Request,
    event: Annotated[str, Path(max_length=100, pattern=r"^[\w-]+$", description="As the harness names it.")],
    harness: Annotated[str, Query(max_length=100, description="Which harness sends it.")],
    x_holdfast_letter: Annotated[
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
        "id": x_holdfast_letter or str(uuid.uuid4()),
        "harness": known,
        "at": str(time.time_ns() // 1_000_000),
    }
    answer = await executor.dispatcher.answer(wire.Request("letter", fields, body))
    return Response(answer, media_type="application/json") if answer else Response(status_code=204)
