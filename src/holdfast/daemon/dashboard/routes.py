"""The dashboard's routes: for each page, the rows to fetch and the function that renders them; and the login.

Everything that a page shows is redacted here, before it becomes HTML.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from holdfast import __version__
from holdfast.core.evaluation.scores import compare_by_start
from holdfast.daemon.access import COOKIE, COOKIE_DAYS
from holdfast.daemon.api.dependencies import Executor, Paging
from holdfast.daemon.api.events import HEADS_MOST, state_hash
from holdfast.daemon.api.sessions import diff_row
from holdfast.daemon.dashboard import frame, queries
from holdfast.daemon.dashboard.continuity import continuity_page, review_page
from holdfast.daemon.dashboard.frame import PageContext, empty, page
from holdfast.daemon.dashboard.health import State, health_page
from holdfast.daemon.dashboard.html import Html
from holdfast.daemon.dashboard.memory import memory_page
from holdfast.daemon.dashboard.sessions import (
    brief_page,
    briefs_page,
    compaction_page,
    now_page,
    session_page,
)
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError, NotThere


def routes() -> list[Route]:
    """Every page, and the assets."""
    pages = (
        ("/", _now),
        ("/sessions/{key:path}/kept", _would_keep),
        ("/sessions/{key:path}", _session),
        ("/briefs", _briefs),
        ("/briefs/{id}", _brief),
        ("/memory", _memory),
        ("/continuity", _continuity),
        ("/review", _review),
        ("/health", _health),
    )
    return [
        *(Route(path, _answering(made), methods=["GET"]) for path, made in pages),
        Route("/static/{name}", _static, methods=["GET"]),
    ]


class PageRequest:
    """A request for a page: its parameters, and the executor that makes the page."""

    def __init__(self, request: Request) -> None:
        self.executor: Executor = request.app.state.executor
        self.query = request.query_params
        self.path = request.path_params
        self.theme = request.cookies.get("theme", "")
        self.home = self.executor.dispatcher.home
        self.project = self.query.get("project", "")[:200]
        self.redacted = self.executor.redacted
        self.seen = ""
        self.alerts = tuple(
            self.redacted([problem.notice for problem in self.executor.dispatcher.unreadable()])
        )

    def paging(self, limit: int) -> Paging:
        """The page of a list that is asked for."""
        return Paging(limit, self.query.get("cursor", "")[:2_000])

    async def worked_out(self, made: Callable[[PageRequest, Engine], Html]) -> Html:
        """The page, made by the executor; one that reads everything holds up no other page."""
        if self.query.get("deep") or self.query.get("audit"):
            return await self.executor.read_through(lambda engine, _: self._made(made, engine))
        return await self.executor.do(lambda engine: self._made(made, engine))

    def view(self) -> PageContext:
        """What every page needs."""
        return PageContext(
            self.executor.dispatcher.engine.clock(), self.theme, __version__, self.seen, self.alerts
        )

    def _made(self, made: Callable[[PageRequest, Engine], Html], engine: Engine) -> Html:
        # Before anything else is fetched: a change meanwhile counts as not seen.
        self.seen = state_hash(engine.store.heads(HEADS_MOST))
        return made(self, engine)


def _answering(made: Callable[[PageRequest, Engine], Html]) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a page; an error becomes a page that says why. The executor makes both."""

    async def answer(request: Request) -> Response:
        page_request = PageRequest(request)
        try:
            return HTMLResponse(await page_request.worked_out(made))
        except HoldfastError as error:
            texts = page_request.redacted([error.message, error.hint])
            status = 404 if isinstance(error, NotThere) else 409
            return HTMLResponse(
                page(page_request.view(), "", "Not to be had", empty(texts[0], texts[1])), status
            )

    return answer


def _now(request: PageRequest, engine: Engine) -> Html:
    live, recent = request.redacted(queries.sessions(engine, request.paging(15)))
    return now_page(request.view(), live, recent)


def _would_keep(request: PageRequest, engine: Engine) -> Html:
    key = request.path["key"]
    return compaction_page(request.view(), key, request.redacted(queries.would_keep(engine, key)))


def _session(request: PageRequest, engine: Engine) -> Html:
    key, point = request.path["key"], request.query.get("point", "")[:500]
    older, newer = (engine.store.checkpoint(request.query.get(name, "")[:200]) for name in ("older", "newer"))
    session = queries.one_session(engine, key, point)
    row, checkpoints, chosen = request.redacted((session.row, session.checkpoints, session.point))
    changed = request.redacted(diff_row(older, newer)) if older and newer else None
    timeline_view = queries.redacted_timeline(session.timeline_view, request.redacted)
    return session_page(request.view(), row, timeline_view, checkpoints, chosen, changed)


def _briefs(request: PageRequest, engine: Engine) -> Html:
    return briefs_page(request.view(), request.redacted(queries.briefs(engine, request.paging(20))))


def _brief(request: PageRequest, engine: Engine) -> Html:
    row, summary = request.redacted(queries.one_brief(engine, request.path["id"]))
    return brief_page(request.view(), row, summary)


def _memory(request: PageRequest, engine: Engine) -> Html:
    words = request.query.get("q", "")[:500].strip()
    matches = queries.memories(engine, words, request.paging(20))
    doubts = queries.doubts(engine) if request.query.get("audit") else None
    return memory_page(request.view(), words, request.redacted(matches), request.redacted(doubts))


def _continuity(request: PageRequest, engine: Engine) -> Html:
    projects, chosen, texts = queries.continuity(engine, request.home, request.project)
    redacted = queries.redacted_texts(texts, request.redacted)
    return continuity_page(request.view(), request.redacted(projects), chosen, redacted)


def _review(request: PageRequest, engine: Engine) -> Html:
    projects, chosen, rows = queries.candidates(engine, request.home, request.project)
    return review_page(request.view(), request.redacted(projects), chosen, request.redacted(rows))


def _health(request: PageRequest, engine: Engine) -> Html:
    deep = bool(request.query.get("deep"))
    facts = queries.health(engine, request.home, deep=deep)
    findings, survival = request.redacted((facts.findings, facts.survival))
    return health_page(
        request.view(),
        State(facts.verdict, findings, deep, facts.metrics, survival, compare_by_start(facts.scores)),
    )


async def _static(request: Request) -> Response:
    name = str(request.path_params["name"])
    if name not in frame.ASSET_TYPES:
        return Response(status_code=404)
    # With another hash, an older page asks for a former version: it gets the current one, uncached.
    cache_control = frame.CACHED if request.url.query == frame.asset_hash(name) else frame.REVALIDATED
    return Response(
        frame.asset_content(name),
        media_type=frame.ASSET_TYPES[name],
        headers={"cache-control": cache_control},
    )


_DAY: Final = 86_400
# The page refreshes instead of redirecting: after a redirect a browser would not send the new cookie if
# another site opened the link.
_OPEN: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast</title>
<meta http-equiv="refresh" content="0;url=/"><meta name="color-scheme" content="light dark">
<link rel="icon" href="/static/icon.svg"></head>
<body><p><a href="/">Go on to the dashboard</a></p></body></html>
"""
_SPENT: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holdfast</title>
<meta name="color-scheme" content="light dark"></head>
<body><main><h1>This link was used, or is too old</h1>
<p>Run <code>holdfast dashboard</code> again: it makes a new one.</p></main></body></html>
"""


async def login(request: Request) -> HTMLResponse:
    """Give the browser that follows a link its cookie, once."""
    executor: Executor = request.app.state.executor
    cookie = executor.keys.spend(request.query_params.get("key", ""))
    if not cookie:
        return HTMLResponse(_SPENT, 403)
    answer = HTMLResponse(_OPEN)
    answer.set_cookie(
        COOKIE,
        cookie,
        max_age=COOKIE_DAYS * _DAY,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer
