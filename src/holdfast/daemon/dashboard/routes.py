"""The dashboard's routes: for each page, the rows to fetch and the function that renders them; and the login.

Everything that a page shows is redacted here, before it becomes HTML.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import tzinfo
from typing import Final
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from holdfast import __version__
from holdfast.core.evaluation.scores import compare_by_start
from holdfast.core.memory.ranking import query_words
from holdfast.daemon.access import COOKIE, COOKIE_DAYS
from holdfast.daemon.api.dependencies import Executor, Paging
from holdfast.daemon.api.events import HEADS_MOST, state_hash
from holdfast.daemon.dashboard import brief_queries, frame, queries
from holdfast.daemon.dashboard.briefs import brief_page, briefs_page
from holdfast.daemon.dashboard.continuity import HANDOFFS_PATH, continuity_page, handoff_page, review_page
from holdfast.daemon.dashboard.files import file_page, files_page
from holdfast.daemon.dashboard.frame import PageContext, empty, page, with_code
from holdfast.daemon.dashboard.health import Findings, State, health_page
from holdfast.daemon.dashboard.home import days_of_week, home_page, sessions_page
from holdfast.daemon.dashboard.html import Html, el
from holdfast.daemon.dashboard.memory import memory_page
from holdfast.daemon.dashboard.queries import ListFilter
from holdfast.daemon.dashboard.search import passage_page, search_page
from holdfast.daemon.dashboard.sessions import checkpoint_page, compaction_page, session_page
from holdfast.daemon.dashboard.stats import DAYS_MOST, STATS_PATH, stats_page
from holdfast.daemon.dashboard.team import TEAM_PATH, team_page
from holdfast.engine.engine import Engine
from holdfast.engine.views import stats
from holdfast.errors import HoldfastError, NotThere

MOST_DIGITS: Final = 4
MOST_LINE_DIGITS: Final = 7


def routes() -> list[Route]:
    """Every page, and the assets."""
    pages = (
        ("/", _home),
        ("/search", _search),
        ("/passages/{id}", _passage),
        ("/sessions", _sessions),
        ("/sessions/{key:path}/kept", _would_keep),
        ("/sessions/{key:path}", _session),
        ("/checkpoints/{id}", _checkpoint),
        ("/briefs", _briefs),
        ("/briefs/{id}", _brief),
        ("/files", _files),
        ("/memory", _memory),
        ("/continuity", _continuity),
        ("/review", _review),
        (HANDOFFS_PATH, _handoff),
        (TEAM_PATH, _team),
        (STATS_PATH, _stats),
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
        self.words = self.query.get("q", "")[:500].strip()
        self.filter = ListFilter(
            self.project,
            self.query.get("harness", "")[:100],
            self.number("since"),
            self.query.get("kind", "")[:20],
            self.query.get("session", "")[:500],
            self.query.get("person", "")[:200],
            self.query.get("machine", "")[:100],
        )
        self.zone = _zone(unquote(request.cookies.get("zone", "")[:100]))
        self.reads_everything = bool(
            request.url.path == STATS_PATH or self.query.get("deep") or self.query.get("audit")
        )
        self.seen = ""
        self.alerts = tuple(
            self.redacted([problem.notice for problem in self.executor.dispatcher.unreadable()])
        )

    def paging(self, limit: int) -> Paging:
        """The page of a list that is asked for."""
        return Paging(limit, self.query.get("cursor", "")[:2_000])

    async def worked_out(self, made: Callable[[PageRequest, Engine], Html]) -> Html:
        """The page, made by the executor; one that reads everything holds up no other page."""
        if self.reads_everything:
            return await self.executor.read_through(lambda engine, _: self._made(made, engine))
        return await self.executor.do(lambda engine: self._made(made, engine))

    def view(self) -> PageContext:
        """What every page needs."""
        engine = self.executor.dispatcher.engine
        return PageContext(
            engine.clock(),
            self.theme,
            __version__,
            self.seen,
            self.alerts,
            self.zone,
            str(engine.user_home),
            self.words,
        )

    def number(self, name: str) -> int:
        """The number that is asked for by this name; 0 without one."""
        text = self.query.get(name, "")
        return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else 0

    def _made(self, made: Callable[[PageRequest, Engine], Html], engine: Engine) -> Html:
        # Before anything else is fetched: a change meanwhile counts as not seen.
        self.seen = state_hash(engine.store.heads(HEADS_MOST))
        return made(self, engine)


def _zone(name: str) -> tzinfo | None:
    """The time zone of that name; None, which stands for this machine's, if there is no such."""
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError):
        return None


def _answering(made: Callable[[PageRequest, Engine], Html]) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a page; an error becomes a page that says why. The executor makes both."""

    async def answer(request: Request) -> Response:
        page_request = PageRequest(request)
        try:
            return HTMLResponse(await page_request.worked_out(made))
        except HoldfastError as error:
            status = 404 if isinstance(error, NotThere) else 409
            return _problem(page_request, status, error.message, error.hint)
        except TimeoutError:
            return _problem(
                page_request, 503, "It takes longer than anybody should wait.", "Try again later."
            )
        except HTTPException as error:
            return _problem(page_request, error.status_code, str(error.detail), "")

    return answer


_TITLES: Final = {404: "Not found", 503: "Not now"}


def _problem(request: PageRequest, status: int, message: str, hint: str) -> Response:
    """A page that says why there is no other, and where to go on."""
    texts = request.redacted([message, hint])
    ways = el("p", el("a", "Home", href="/"), " · ", el("a", "Sessions", href="/sessions"))
    shown = empty(with_code(f"{texts[0][:1].upper()}{texts[0][1:]}"), with_code(texts[1]))
    return HTMLResponse(page(request.view(), "", _TITLES.get(status, "Not to be had"), shown, ways), status)


def unknown_address(request: Request) -> Response | None:
    """The page for an address that nothing is at; None for a program, which gets its usual answer."""
    path = request.url.path
    is_person = "text/html" in request.headers.get("accept", "") and request.method == "GET"
    if path.startswith(("/api/", "/mcp", "/static/")) or not is_person:
        return None
    return _problem(PageRequest(request), 404, "There is no page at this address.", f"`{path[:200]}`")


def _home(request: PageRequest, engine: Engine) -> Html:
    view = request.view()
    facts = queries.home(engine, request.home, days_of_week(view))
    live, recent, feed, problems = request.redacted((facts.live, facts.recent, facts.feed, facts.problems))
    return home_page(view, replace(facts, live=live, recent=recent, feed=feed, problems=problems))


def _sessions(request: PageRequest, engine: Engine) -> Html:
    listed = queries.sessions(engine, request.filter, request.paging(40))
    projects, harnesses = queries.projects_and_harnesses(engine)
    return sessions_page(
        request.view(), request.redacted(listed), request.redacted(projects), harnesses, request.filter.row
    )


def _search(request: PageRequest, engine: Engine) -> Html:
    results = queries.results(engine, request.words, request.filter) if request.words else None
    projects, harnesses = queries.projects_and_harnesses(engine)
    return search_page(
        request.view(),
        query_words(request.words),
        request.redacted(results),
        request.redacted(projects),
        harnesses,
        request.filter.row,
    )


def _passage(request: PageRequest, engine: Engine) -> Html:
    id = request.path["id"]
    rows = request.redacted(queries.passages(engine, id))
    return passage_page(request.view(), query_words(request.words), rows, id)


def _would_keep(request: PageRequest, engine: Engine) -> Html:
    row = request.redacted(queries.would_keep(engine, request.path["key"]))
    return compaction_page(request.view(), row)


def _session(request: PageRequest, engine: Engine) -> Html:
    key, point = request.path["key"], request.query.get("point", "")[:500]
    compared = request.query.get("older", "")[:200], request.query.get("newer", "")[:200]
    facts = queries.one_session(engine, key, point, compared)
    row, checkpoints, chosen, changed, files = request.redacted(
        (facts.row, facts.checkpoints, facts.point, facts.changed, facts.files)
    )
    timeline_view = queries.redacted_timeline(facts.timeline_view, request.redacted)
    shown = replace(
        facts,
        row=row,
        timeline_view=timeline_view,
        checkpoints=checkpoints,
        point=chosen,
        changed=changed,
        files=files,
    )
    return session_page(request.view(), shown)


def _checkpoint(request: PageRequest, engine: Engine) -> Html:
    row, changed = request.redacted(queries.one_checkpoint(engine, request.path["id"]))
    return checkpoint_page(request.view(), row, changed)


def _briefs(request: PageRequest, engine: Engine) -> Html:
    return briefs_page(request.view(), request.redacted(brief_queries.briefs(engine, request.paging(30))))


def _brief(request: PageRequest, engine: Engine) -> Html:
    row, lines, summary = request.redacted(brief_queries.one_brief(engine, request.path["id"]))
    return brief_page(request.view(), row, lines, summary)


def _files(request: PageRequest, engine: Engine) -> Html:
    path, _, line = request.query.get("path", "")[:4_096].rpartition(":")
    if not (path and line.isdecimal() and len(line) <= MOST_LINE_DIGITS):
        path, line = request.query.get("path", "")[:4_096], request.query.get("line", "")
        line = line if line.isdecimal() and len(line) <= MOST_LINE_DIGITS else "0"
    if path:
        answer = request.redacted(queries.file_answer(engine, request.project, path, int(line)))
        return file_page(request.view(), request.project, answer)
    projects, chosen, files, left_out = queries.files(engine, request.project, request.words)
    return files_page(request.view(), request.redacted(projects), chosen, request.redacted(files), left_out)


def _memory(request: PageRequest, engine: Engine) -> Html:
    matches = queries.memories(engine, request.words, request.paging(20))
    doubts = queries.doubts(engine) if request.query.get("audit") else None
    return memory_page(
        request.view(), query_words(request.words), request.redacted(matches), request.redacted(doubts)
    )


def _continuity(request: PageRequest, engine: Engine) -> Html:
    projects, chosen, texts = queries.continuity(engine, request.home, request.project)
    redacted = queries.redacted_texts(texts, request.redacted)
    return continuity_page(request.view(), request.redacted(projects), chosen, redacted)


def _handoff(request: PageRequest, engine: Engine) -> Html:
    name = request.query.get("name", "")[:300]
    return handoff_page(request.view(), request.redacted(queries.one_handoff(engine, request.project, name)))


def _review(request: PageRequest, engine: Engine) -> Html:
    projects, chosen, rows = queries.candidates(engine, request.home, request.project)
    return review_page(request.view(), request.redacted(projects), chosen, request.redacted(rows))


def _health(request: PageRequest, engine: Engine) -> Html:
    deep = bool(request.query.get("deep"))
    facts = queries.health(engine, request.home, deep=deep)
    problems, passed, absent, survival = request.redacted(
        (facts.problems, facts.passed, facts.absent, facts.survival)
    )
    findings = Findings(facts.verdict, problems, passed, absent, deep)
    return health_page(
        request.view(), State(findings, facts.metrics, survival, compare_by_start(facts.scores))
    )


def _stats(request: PageRequest, engine: Engine) -> Html:
    days = min(request.number("days"), DAYS_MOST) or stats.DAYS
    row, briefs = queries.stats(engine, days)
    return stats_page(request.view(), row, request.redacted(briefs))


def _team(request: PageRequest, engine: Engine) -> Html:
    chosen = request.filter.row
    listed = queries.team(engine, request.filter)
    projects, _ = queries.projects_and_harnesses(engine)
    fields = {name: chosen[name] for name in ("person", "machine", "project")}
    return team_page(request.view(), request.redacted(listed), request.redacted(projects), fields)


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
<meta http-equiv="refresh" content="0;url=%s"><meta name="color-scheme" content="light dark">
<link rel="icon" href="/static/icon.svg"></head>
<body><p><a href="%s">Go on to the dashboard</a></p></body></html>
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
    first = TEAM_PATH if request.query_params.get("page") == TEAM_PATH.strip("/") else "/"
    answer = HTMLResponse(_OPEN % (first, first))
    answer.set_cookie(
        COOKIE,
        cookie,
        max_age=COOKIE_DAYS * _DAY,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer
