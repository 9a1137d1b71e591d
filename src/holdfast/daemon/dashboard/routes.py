"""Where each page of the dashboard is, and what is looked up for it.

All that a page shows went through the office's redactor here, before any HTML is made of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from holdfast import __version__
from holdfast.core.scores import compared
from holdfast.daemon.api.checkpoints import diff_row
from holdfast.daemon.api.office import Office
from holdfast.daemon.api.paging import Paging
from holdfast.daemon.dashboard import looked_up
from holdfast.daemon.dashboard.brief import brief_page, briefs_page
from holdfast.daemon.dashboard.continuity import continuity_page
from holdfast.daemon.dashboard.frame import View, empty, page
from holdfast.daemon.dashboard.health import State, health_page
from holdfast.daemon.dashboard.html import Html
from holdfast.daemon.dashboard.memory import memory_page
from holdfast.daemon.dashboard.now import kept_page, now_page
from holdfast.daemon.dashboard.review import review_page
from holdfast.daemon.dashboard.session import session_page
from holdfast.errors import HoldfastError, NotThere

STATIC: Final = {
    "style.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


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


class Asked:
    """A request for a page: what is in it, and where its answer is worked out."""

    def __init__(self, request: Request) -> None:
        self.office: Office = request.app.state.office
        self.query = request.query_params
        self.path = request.path_params
        self.theme = request.cookies.get("theme", "")

    def paging(self, limit: int) -> Paging:
        """The page of a list that is asked for."""
        return Paging(limit, self.query.get("cursor", "")[:2_000])

    def view(self) -> View:
        """What every page needs."""
        return View(self.office.reception.desk.clock(), self.theme, __version__)


def _shown(made: Callable[[Asked], Awaitable[Html]]) -> Callable[[Request], Awaitable[Response]]:
    """The page, or one that says why there is none."""

    async def answered(request: Request) -> Response:
        asked = Asked(request)
        try:
            return HTMLResponse(await made(asked))
        except HoldfastError as error:
            told = asked.office.redacted([error.message, error.hint])
            status = 404 if isinstance(error, NotThere) else 409
            return HTMLResponse(page(asked.view(), "", "Not to be had", empty(told[0], told[1])), status)

    return answered


async def _now(asked: Asked) -> Html:
    paging = asked.paging(15)
    live, recent = await asked.office.do(lambda desk: looked_up.sessions(desk, paging))
    return now_page(asked.view(), asked.office.redacted(live), asked.office.redacted(recent))


async def _kept(asked: Asked) -> Html:
    key = asked.path["key"]
    text = await asked.office.do(lambda desk: looked_up.kept(desk, key))
    return kept_page(asked.view(), key, asked.office.redacted(text))


async def _session(asked: Asked) -> Html:
    key, point = asked.path["key"], asked.query.get("point", "")[:500]
    older, newer = asked.query.get("older", "")[:200], asked.query.get("newer", "")[:200]

    found = await asked.office.do(lambda desk: looked_up.one_session(desk, key, point))
    row, checkpoints, chosen = asked.office.redacted((found.row, found.checkpoints, found.point))
    pair = await asked.office.do(lambda desk: (desk.store.checkpoint(older), desk.store.checkpoint(newer)))
    changed = asked.office.redacted(diff_row(pair[0], pair[1])) if pair[0] and pair[1] else None
    story = looked_up.redacted_story(found.story, asked.office.redacted)
    return session_page(asked.view(), row, story, checkpoints, chosen, changed)


async def _briefs(asked: Asked) -> Html:
    paging = asked.paging(20)
    listed = await asked.office.do(lambda desk: looked_up.briefs(desk, paging))
    return briefs_page(asked.view(), asked.office.redacted(listed))


async def _brief(asked: Asked) -> Html:
    id = asked.path["id"]
    row, summary = asked.office.redacted(await asked.office.do(lambda desk: looked_up.one_brief(desk, id)))
    return brief_page(asked.view(), row, summary)


async def _memory(asked: Asked) -> Html:
    paging, words = asked.paging(20), asked.query.get("q", "")[:500].strip()
    found = await asked.office.do(lambda desk: looked_up.memories(desk, words, paging))
    doubts = await asked.office.do(looked_up.doubts) if asked.query.get("audit") else None
    return memory_page(asked.view(), words, asked.office.redacted(found), asked.office.redacted(doubts))


async def _continuity(asked: Asked) -> Html:
    home, wanted = asked.office.reception.home, asked.query.get("project", "")[:200]
    projects, chosen, texts = await asked.office.do(lambda desk: looked_up.continuity(desk, home, wanted))
    told = looked_up.redacted_texts(texts, asked.office.redacted)
    return continuity_page(asked.view(), asked.office.redacted(projects), chosen, told)


async def _review(asked: Asked) -> Html:
    home, wanted = asked.office.reception.home, asked.query.get("project", "")[:200]
    projects, chosen, rows = await asked.office.do(lambda desk: looked_up.candidates(desk, home, wanted))
    return review_page(asked.view(), asked.office.redacted(projects), chosen, asked.office.redacted(rows))


async def _health(asked: Asked) -> Html:
    home, deep = asked.office.reception.home, bool(asked.query.get("deep"))
    found = await asked.office.do(lambda desk: looked_up.health(desk, home, deep=deep))
    findings, survival = asked.office.redacted((found.findings, found.survival))
    state = State(findings, deep, found.figures, survival, compared(found.scores))
    return health_page(asked.view(), state)


async def _static(request: Request) -> Response:
    name = str(request.path_params["name"])
    if name not in STATIC:
        return Response(status_code=404)
    # The same for everybody and no secret; asked for again only to hear that nothing changed.
    headers = {"cache-control": "private, max-age=60"}
    return Response(_content(name), media_type=STATIC[name], headers=headers)


@cache
def _content(name: str) -> bytes:
    return files("holdfast.daemon.dashboard").joinpath("static", name).read_bytes()
