"""Problems: errors as a program gets them, with a status, a sentence and a hint."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from holdfast.errors import (
    ConfigError,
    HarnessUnknown,
    HoldfastError,
    NotThere,
    PathRefused,
    StoreError,
    StoreLocked,
)


class Problem(BaseModel):
    """Why there is no other answer."""

    error: str
    hint: str = ""


def _responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": MEANINGS[status]} for status in statuses}


MEANINGS: Final = {
    400: "It cannot be done as asked.",
    401: "There is no key, or a wrong one.",
    403: "This key, or this place, may not ask that.",
    404: "What was named is not there.",
    409: "Something else stands in the way.",
    413: "The body is too long.",
    421: "The server is called by a name that is not its own.",
    422: "What was asked cannot be read.",
    429: "Too many requests; `Retry-After` says when to come back.",
    503: "It takes too long, or somebody else is writing; come back.",
}
RESPONSES: Final = _responses(400, 401, 403, 404, 409, 413, 421, 422, 429, 503)
"""What any route may answer instead."""
_STATUSES: Final = (
    (NotThere, 404),
    (HarnessUnknown, 404),
    (PathRefused, 409),
    (ConfigError, 409),
    (StoreLocked, 503),
    (StoreError, 503),
    (HoldfastError, 400),
)


_ASK: Final = "`/api/openapi.json` says what can be asked"


def tell_problems(app: FastAPI) -> None:
    """Answer every error in the same shape."""
    app.add_exception_handler(HoldfastError, _of_holdfast)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_request)
    app.add_exception_handler(TimeoutError, _of_time)


async def _of_holdfast(request: Request, error: Exception) -> Response:
    status = next(status for kind, status in _STATUSES if isinstance(error, kind))
    problem = error if isinstance(error, HoldfastError) else HoldfastError(str(error))
    return _answer(request, status, problem.message, problem.hint)


async def _of_http(request: Request, error: Exception) -> Response:
    status, message = (
        (error.status_code, str(error.detail)) if isinstance(error, HTTPException) else (500, "")
    )
    headers = dict(getattr(error, "headers", None) or {})
    answer = _answer(request, status, message, _ASK if status in (404, 405) else "")
    answer.headers.update(headers)
    return answer


async def _of_request(request: Request, error: Exception) -> Response:
    errors = error.errors() if isinstance(error, RequestValidationError) else ()
    message = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in errors)
    return _answer(request, 422, message, _ASK)


async def _of_time(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _answer(request, 503, "it takes longer than anybody should wait", "ask again later")


def _answer(request: Request, status: int, error: str, hint: str) -> Response:
    body = request.app.state.executor.redacted({"error": error, "hint": hint})
    headers = {"retry-after": "5"} if status == 503 else {}
    return JSONResponse(body, status, headers)
