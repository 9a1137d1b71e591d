"""The API as a FastAPI application: all routes, redacted answers, and the OpenAPI description."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Security
from fastapi.routing import APIRoute
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.responses import JSONResponse
from starlette.types import Lifespan

from holdfast import __version__
from holdfast.daemon.access.guard import COOKIE, App, Message, Receive, Send
from holdfast.daemon.api import (
    briefs,
    checkpoints,
    health,
    hooks,
    live,
    memories,
    project_files,
    reviews,
    sessions,
)
from holdfast.daemon.api.executor import Executor
from holdfast.daemon.api.problems import RESPONSES, tell_problems

ROUTERS: Final = (checkpoints, sessions, briefs, memories, project_files, reviews, health, live, hooks)
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
        generate_unique_id_function=_name_of,
        lifespan=lifespan,
        redirect_slashes=False,
        dependencies=[Security(_bearer), Security(_cookie)],
    )
    for module in ROUTERS:
        app.include_router(module.router, prefix="/api")
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


def _name_of(route: APIRoute) -> str:
    """The operation id, such as `checkpoints_of_project`."""
    module = str(route.endpoint.__module__).rsplit(".", 1)[-1]
    return f"{module}_{route.name}"
