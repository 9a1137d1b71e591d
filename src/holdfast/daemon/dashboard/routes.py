"""Where each page of the dashboard is, and what is looked up for it.

All that a page shows went through the office's redactor here, before any HTML is made of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from holdfast import __version__
from holdfast.core.evaluation.scores import compared
from holdfast.daemon.api.checkpoints import diff_row
from holdfast.daemon.api.executor import Executor
from holdfast.daemon.api.live import HEADS, print_of
from holdfast.daemon.api.paging import Paging
from holdfast.daemon.dashboard import assets, queries
from holdfast.daemon.dashboard.brief import brief_page, briefs_page
from holdfast.daemon.dashboard.continuity import continuity_page
from holdfast.daemon.dashboard.frame import View, empty, page
from holdfast.daemon.dashboard.health import State, health_page
from holdfast.daemon.dashboard.html import Html
from holdfast.daemon.dashboard.memory import memory_page
from holdfast.daemon.dashboard.now import kept_page, now_page
from holdfast.daemon.dashboard.review import review_page
from holdfast.daemon.dashboard.session import session_page
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError, NotThere


def routes() -> list[Route]:
    """Every page, and what pages are made with."""
    pages = (
        ("/", _now),
        ("/sessions/{key:path}/kept", _kept),
        ("/sessions/{key:path}", _session),
        ("/briefs", _briefs),
        ("/briefs/{id}", _brief),
        ("/memory", _memory),
        ("/continuity", _continuity),
        ("/review", _review),
        ("/health", _health),
    )
    return [
        *(Route(path, _shown(made), methods=["GET"]) for path, made in pages),
        Route("/static/{name}", _static, methods=["GET"]),
    ]


class PageRequest:
    """A request for a page: what is in it, and where its answer is worked out."""

    def __init__(self, request: Request) -> None:
        self.executor: Executor = request.app.state.executor
        self.query = request.query_params
        self.path = request.path_params
        self.theme = request.cookies.get("theme", "")
        self.home = self.executor.dispatcher.home
        self.project = self.query.get("project", "")[:200]
        self.redacted = self.executor.redacted
        self.seen = ""
        self.alerts = tuple(self.redacted([one.notice for one in self.executor.dispatcher.unreadable()]))

    def paging(self, limit: int) -> Paging:
        """The page of a list that is asked for."""
        return Paging(limit, self.query.get("cursor", "")[:2_000])

    async def worked_out(self, made: Callable[[PageRequest, Engine], Html]) -> Html:
        """The page, made in the office; one for which everything is read keeps no other page waiting."""
        if self.query.get("deep") or self.query.get("audit"):
            return await self.executor.read_through(lambda engine, _: self._made(made, engine))
        return await self.executor.do(lambda engine: self._made(made, engine))

    def view(self) -> View:
        """What every page needs."""
        return View(self.executor.dispatcher.engine.clock(), self.theme, __version__, self.seen, self.alerts)

    def _made(self, made: Callable[[PageRequest, Engine], Html], engine: Engine) -> Html:
        # Before anything else is looked up: what changes meanwhile counts as not seen.
        self.seen = print_of(engine.store.heads(HEADS))
        return made(self, engine)


def _shown(made: Callable[[PageRequest, Engine], Html]) -> Callable[[Request], Awaitable[Response]]:
    """The page, or one that says why there is none; made in the office, so that no letter waits for it."""

    async def answered(request: Request) -> Response:
        asked = PageRequest(request)
        try:
            return HTMLResponse(await asked.worked_out(made))
        except HoldfastError as error:
            told = asked.redacted([error.message, error.hint])
            status = 404 if isinstance(error, NotThere) else 409
            return HTMLResponse(page(asked.view(), "", "Not to be had", empty(told[0], told[1])), status)

    return answered


def _now(asked: PageRequest, engine: Engine) -> Html:
    live, recent = asked.redacted(queries.sessions(engine, asked.paging(15)))
    return now_page(asked.view(), live, recent)


def _kept(asked: PageRequest, engine: Engine) -> Html:
    key = asked.path["key"]
    return kept_page(asked.view(), key, asked.redacted(queries.kept(engine, key)))


def _session(asked: PageRequest, engine: Engine) -> Html:
    key, point = asked.path["key"], asked.query.get("point", "")[:500]
    older, newer = (engine.store.checkpoint(asked.query.get(name, "")[:200]) for name in ("older", "newer"))
    found = queries.one_session(engine, key, point)
    row, checkpoints, chosen = asked.redacted((found.row, found.checkpoints, found.point))
    changed = asked.redacted(diff_row(older, newer)) if older and newer else None
    story = queries.redacted_story(found.story, asked.redacted)
    return session_page(asked.view(), row, story, checkpoints, chosen, changed)


def _briefs(asked: PageRequest, engine: Engine) -> Html:
    return briefs_page(asked.view(), asked.redacted(queries.briefs(engine, asked.paging(20))))


def _brief(asked: PageRequest, engine: Engine) -> Html:
    row, summary = asked.redacted(queries.one_brief(engine, asked.path["id"]))
    return brief_page(asked.view(), row, summary)


def _memory(asked: PageRequest, engine: Engine) -> Html:
    words = asked.query.get("q", "")[:500].strip()
    found = queries.memories(engine, words, asked.paging(20))
    doubts = queries.doubts(engine) if asked.query.get("audit") else None
    return memory_page(asked.view(), words, asked.redacted(found), asked.redacted(doubts))


def _continuity(asked: PageRequest, engine: Engine) -> Html:
    projects, chosen, texts = queries.continuity(engine, asked.home, asked.project)
    told = queries.redacted_texts(texts, asked.redacted)
    return continuity_page(asked.view(), asked.redacted(projects), chosen, told)


def _review(asked: PageRequest, engine: Engine) -> Html:
    projects, chosen, rows = queries.candidates(engine, asked.home, asked.project)
    return review_page(asked.view(), asked.redacted(projects), chosen, asked.redacted(rows))


def _health(asked: PageRequest, engine: Engine) -> Html:
    deep = bool(asked.query.get("deep"))
    found = queries.health(engine, asked.home, deep=deep)
    findings, survival = asked.redacted((found.findings, found.survival))
    return health_page(asked.view(), State(findings, deep, found.metrics, survival, compared(found.scores)))


async def _static(request: Request) -> Response:
    name = str(request.path_params["name"])
    if name not in assets.TYPES:
        return Response(status_code=404)
    # Under another mark, an older page asks for what is not there any more: it gets today's, for now.
    kept = assets.KEPT if request.url.query == assets.mark(name) else assets.ASKED_AGAIN
    return Response(assets.content(name), media_type=assets.TYPES[name], headers={"cache-control": kept})
