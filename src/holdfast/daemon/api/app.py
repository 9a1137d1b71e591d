"""The API as a FastAPI application: all routes, redacted answers, one shape of errors, its description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import APIKeyCookie, HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Lifespan

from holdfast import __version__
from holdfast.daemon.access import COOKIE, App, Message, Receive, Send
from holdfast.daemon.api import events, health, memories, project_files, reviews, sessions, why
from holdfast.daemon.api.dependencies import Executor
from holdfast.errors import (
    ConfigError,
    HarnessUnknown,
    HoldfastError,
    NotThere,
    PathRefused,
    StoreError,
    StoreLocked,
)

ROUTERS: Final = {
    "checkpoints": sessions.checkpoints_router,
    "sessions": sessions.router,
    "briefs": sessions.briefs_router,
    "memories": memories.router,
    "project_files": project_files.router,
    "why": why.router,
    "reviews": reviews.router,
    "health": health.router,
    "live": events.live_router,
    "hooks": events.hooks_router,
}
"""The routes by subject, with which their operation ids begin."""
ABOUT: Final = """What Holdfast keeps, and what can be done with it.

Every request carries `Authorization: Bearer TOKEN`; `holdfast token show` prints the token. The one for
reading alone may ask for everything and change nothing. Lists are given page by page, the newest first: the
`next` of a page is the `cursor` of the one behind it. Times are ISO 8601 in UTC. Every text went through the
redactor, once when it was kept and once more when it is given.
"""


def make_api(executor: Executor, lifespan: Lifespan[FastAPI]) -> FastAPI:
    """The API as it is served; the executor does the work."""
    app = described(_redacting(executor), lifespan)
    app.state.executor = executor
    tell_problems(app)
    app.add_middleware(_Counting, executor=executor)
    return app


def described(
    answer: type[JSONResponse] = JSONResponse, lifespan: Lifespan[FastAPI] | None = None
) -> FastAPI:
    """The application with every route of the API, enough to generate its description."""
    app = FastAPI(
        title="Holdfast",
        version=__version__,
        description=ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=RESPONSES,
        default_response_class=answer,
        lifespan=lifespan,
        redirect_slashes=False,
        dependencies=[Security(_bearer), Security(_cookie)],
    )
    for subject, router in ROUTERS.items():
        app.include_router(router, prefix="/api", generate_unique_id_function=_operation_ids(subject))
    return app


# For the description only: the guard decides who is let in.
_bearer: Final = HTTPBearer(auto_error=False, description="`holdfast token show` prints it.")
_cookie: Final = APIKeyCookie(name=COOKIE, auto_error=False, description="`holdfast dashboard` gives it.")


def _redacting(executor: Executor) -> type[JSONResponse]:
    """The response class that redacts every text once more."""

    class Redacted(JSONResponse):
        def render(self, content: Any) -> bytes:  # noqa: ANN401 - whatever JSON can say
            return super().render(executor.redacted(content))

    return Redacted


class _Counting:
    """Counts answers by method, route and status."""

    def __init__(self, app: App, executor: Executor) -> None:
        self._app = app
        self._executor = executor

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = str(getattr(scope.get("route"), "path", "none"))
                if scope["path"].startswith("/api/") and not route.startswith("/api/"):
                    route = f"/api{route}"
                self._executor.answered[scope["method"], route, message["status"]] += 1
            await send(message)

        await self._app(scope, receive, counted if scope["type"] == "http" else send)


def _operation_ids(subject: str) -> Callable[[APIRoute], str]:
    """Name an operation by its subject and its route, such as `checkpoints_of_project`."""
    return lambda route: f"{subject}_{route.name}"


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
    app.add_exception_handler(HTTPException, answer_http_error)
    app.add_exception_handler(RequestValidationError, _of_request)
    app.add_exception_handler(TimeoutError, _of_time)


async def _of_holdfast(request: Request, error: Exception) -> Response:
    status = next(status for kind, status in _STATUSES if isinstance(error, kind))
    problem = error if isinstance(error, HoldfastError) else HoldfastError(str(error))
    return _answer(request, status, problem.message, problem.hint)


async def answer_http_error(request: Request, error: Exception) -> Response:
    """The answer to a program whose request cannot be answered otherwise."""
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
