"""What a page of the dashboard takes, from a store with a hundred thousand checkpoints: time and bytes.

The server's time is that of one request over a connection that is open, median of several, and the least that
its processor worked for one of them; the browser's is its own first contentful paint, median and least, with
styles and script at hand, as on every page but the first. There are two floors: a bare page without a server,
which is what this browser takes for one word, and a page that says that there is no such session: the frame
alone. All pages are painted in turn in every round, so that whatever else the machine does hits them
alike; on one that has other work to do the least say more, and what a page takes over the bare one most.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from benchmarks.hook import holdfast, running_daemon
from holdfast.core.brief.compose import Item
from holdfast.core.events.event import (
    Action,
    AssistantText,
    Compacted,
    CompactionSign,
    Event,
    Origin,
    ToolCalled,
    ToolReturned,
    Usage,
)
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import NO_LISTS
from holdfast.core.session.session import Phase, Policy, Process, Session, advance, begin
from holdfast.engine.liveness import start_of
from holdfast.engine.privacy.rewrite import FILES
from holdfast.engine.redaction.redactor import mark_of
from holdfast.engine.repository.git import identity
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store
from tests.browser.install import chromium
from tests.stores.contract import checkpoint, document, memory, prompt, receipt

PER_SESSION: Final = 50
PROJECTS: Final = 40
LIVE: Final = 30
MEMORIES: Final = 5_000
EVENTS: Final = 60
LONG: Final = 3_000
"""Events of the session whose page is shown."""
HOUR_MS: Final = 3_600_000
ROUNDS: Final = 15
BARE: Final = "a bare page, no server"
BARE_PAGE: Final = "data:text/html,<!doctype html><title>bare</title><p>hello"
MARK: Final = mark_of(NO_LISTS)
DIGEST: Final = "## Session Checkpoint\n" + "".join(
    f"- Made the parser of step {n} faster in `src/parser_{n}.py`, and kept the lexer as it was.\n"
    for n in range(25)
)


@dataclass(frozen=True, slots=True)
class Took:
    """One page: milliseconds of the server, milliseconds to the first paint, and bytes of the page."""

    page: str
    first: float
    server: float
    processor: float
    """0 where the system does not say how long a process has worked."""
    paint: float | None
    """None without a browser, as the next."""
    paint_least: float | None
    kilobytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoints", type=int, default=100_000, help="how many are kept")
    parser.add_argument("--quick", action="store_true", help="a thousand, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        place = Path(folder).resolve()
        home = place / "home"
        home.mkdir(mode=0o700)
        paths = fill(home, place, 1_000 if options.quick else options.checkpoints)
        with running_daemon(home) as pid:
            took = measured(home, paths, pid)
    if options.json:
        print(json.dumps([asdict(one) for one in took], indent=2))
    else:
        show(took)


# ---------------------------------------------------------------- what is kept


def fill(home: Path, place: Path, count: int) -> dict[str, str]:
    """Sessions of many projects with all that is kept of them; the pages to be looked at."""
    now = time.time_ns() // 1_000_000
    projects = [directory(place / f"project-{number}") for number in range(PROJECTS)]
    store = open_store(home / "store.db", home / "backups", now)
    with closing(store), store.writing():
        for number in range(count // PER_SESSION):
            at = now - (number + 1) * HOUR_MS // 20
            put_session(store, f"session-{number}", projects[number % PROJECTS], at, is_live=number < LIVE)
        put_long(store, "long", projects[0], now - HOUR_MS)
        for number in range(min(MEMORIES, count // 10)):
            put_memory(store, number, projects[number % PROJECTS], now - number * 1_000)
        # As after a daemon's first minutes: all is as today's redactor wants it, and nothing is owed.
        store.put_fact(FILES, MARK)
    chosen = projects[0].project_id
    return {
        "nothing there (floor)": "/sessions/none",
        "Home": "/",
        "Sessions": "/sessions",
        "Sessions, filtered": "/sessions?harness=claude-code&since=7",
        "Search": "/search?q=parser+lexer",
        "Search, decisions": "/search?q=parser+lexer&kind=decision",
        "Session": "/sessions/long",
        "Session, compared": "/sessions/long?point=long-49&older=long-1&newer=long-49",
        "What would be kept": "/sessions/session-0/kept",
        "Briefs": "/briefs",
        "Brief": "/briefs/long-brief",
        "Memory": "/memory",
        "Memory, searched": "/memory?q=staging+port",
        "Memory, junk": "/memory?audit=1",
        "Continuity": f"/continuity?project={chosen}",
        "Review": f"/review?project={chosen}",
        "Health": "/health",
    }


def directory(path: Path) -> Project:
    path.mkdir()
    return identity(str(path))


def put_session(store: Store, key: str, project: Project, at: int, *, is_live: bool) -> None:
    session = put_events(store, key, project, at, EVENTS)
    us = Process(os.getpid(), start_of(os.getpid()))
    store.put_session(
        replace(session, process=us) if is_live else replace(session, phase=Phase.ENDED, ended_at=at), MARK
    )
    put_rest(store, session, at)


def put_long(store: Store, key: str, project: Project, at: int) -> None:
    """The session whose page is looked at: as much as a long day leaves."""
    session = put_events(store, key, project, at - LONG * 10_000, LONG)
    store.put_session(replace(session, phase=Phase.ENDED, ended_at=at), MARK)
    put_rest(store, session, at)


def put_events(store: Store, key: str, project: Project, at: int, count: int) -> Session:
    session = begin(key, "claude-code", project, at)
    for event in happened(key, at, count):
        store.add_event(event, MARK)
        session, _ = advance(session, event, Policy())
    return session


def happened(key: str, at: int, count: int) -> Iterator[Event]:
    """Work as a harness tells it: prompts, statements, tools, counts, and now and then a compaction."""
    for number in range(count):
        record, when = f"{key}-r{number}", at + number * 10_000
        common: dict[str, Any] = {"session": key, "at": when, "origin": Origin.TOOL}
        match number % 10:
            case 0:
                yield prompt(
                    record,
                    session=key,
                    at=when,
                    text=f"Make step {number} of the parser faster, not the lexer.",
                )
            case 1 | 5:
                yield AssistantText(
                    record=record, text=f"I will keep step {number} in src/parser_{number}.py.", **common
                )
            case 2 | 4 | 6:
                subject = f"pytest tests/test_step_{number}.py"
                yield ToolCalled(
                    record=record, call=record, tool="Bash", action=Action.RUN, subject=subject, **common
                )
            case 3 | 7:
                told = "1 failed, 11 passed"
                yield ToolReturned(
                    record=record, call=f"{key}-r{number - 1}", ok=number % 20 != 3, text=told, **common
                )
            case 9 if number % 600 == 599:
                yield Compacted(
                    record=record,
                    sign=CompactionSign.BOUNDARY,
                    summary="What was done so far. " * 40,
                    **common,
                )
            case _:
                yield Usage(record=record, input=2_000 + 250 * (number % 600), output=400, **common)


def put_rest(store: Store, session: Session, at: int) -> None:
    """The checkpoints and the briefs of a session."""
    project = session.project
    for number in range(PER_SESSION):
        taken = checkpoint(
            f"{session.key}-{number}",
            session=session.key,
            created_at=at - (PER_SESSION - number) * 60_000,
            digest=f"{DIGEST}- step {number}\n",
        )
        placed = replace(
            taken, project_id=project.project_id, project=project.path, project_normalized=project.normalized
        )
        store.add_checkpoint(placed, MARK)
    items = tuple(
        Item("Files in play", f"src/parser_{n}.py", at, session.key, "file", rendered=n < 30)
        for n in range(60)
    )
    store.add_receipt(
        receipt(f"{session.key}-brief", session=session.key, created_at=at, text=DIGEST, items=items), MARK
    )


def put_memory(store: Store, number: int, project: Project, at: int) -> None:
    text = f"The staging port of service {number} is {8_000 + number}, drained by worker {number % 7}."
    kept = memory(f"memory-{number}", text=text, created_at=at)
    store.put_memory(replace(kept, project_id=project.project_id), MARK)
    store.add_document(document(kept.id, text, kind="memory", at=at, project_id=project.project_id), MARK)


# ---------------------------------------------------------------- what it takes


def measured(home: Path, paths: dict[str, str], pid: int) -> list[Took]:
    port = int((home / "http" / "port").read_text().split()[1])
    token = (home / "http" / "token").read_text().strip()
    paints = painted(home, paths)
    found = [Took(BARE, 0, 0, 0, *paints[BARE], 0)] if paints else []
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        for page, path in paths.items():
            asked = [request(connection, path, token, pid) for _ in range(ROUNDS)]
            times, worked, sizes = zip(*asked, strict=True)
            server, (paint, least) = statistics.median(times[1:]), paints.get(page, (None, None))
            found.append(Took(page, times[0], server, min(worked), paint, least, sizes[-1] / 1024))
    return found


def request(connection: HTTPConnection, path: str, token: str, pid: int) -> tuple[float, float, int]:
    """Milliseconds to the whole answer, those that the server's processor worked, and the answer's bytes."""
    began, before = time.perf_counter(), worked_ms(pid)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    body = connection.getresponse().read()
    return (time.perf_counter() - began) * 1000, worked_ms(pid) - before, len(body)


def worked_ms(pid: int) -> float:
    """How many milliseconds all threads of a process have worked."""
    told = (path.read_text().split()[0] for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(map(int, told)) / 1e6


def painted(home: Path, paths: dict[str, str]) -> dict[str, tuple[float, float]]:
    """Milliseconds to the first contentful paint of each page, median and least, where there is a browser."""
    try:
        from playwright.sync_api import sync_playwright  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
    except ImportError:
        return {}
    if not chromium():
        return {}
    seen: dict[str, list[float]] = {page: [] for page in (BARE, *paths)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        # A tab of its own: to come from a strange page costs the next one a new process.
        view, bare = browser.new_page(), browser.new_page()
        link = holdfast(home, "dashboard", "--print").split()[0]
        view.goto(link)
        base = link.partition("/open")[0]
        view.wait_for_url(f"{base}/")
        for _ in range(ROUNDS):
            bare.bring_to_front()
            seen[BARE].append(paint(bare, BARE_PAGE))
            view.bring_to_front()
            for page, path in paths.items():
                seen[page].append(paint(view, f"{base}{path}"))
        browser.close()
    return {page: (statistics.median(times[1:]), min(times[1:])) for page, times in seen.items()}


def paint(view: Any, url: str) -> float:  # noqa: ANN401 - a page of Playwright, which is only there by `make test-browser`
    view.goto(url)
    asked = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    while (taken := view.evaluate(asked)) is None:
        view.wait_for_timeout(10)
    return float(taken)


def show(took: Sequence[Took]) -> None:
    heads = ("first ms", "server", "cpu", "paint ms", "least", "over bare", "kB")
    print(f"{'page':24}" + "".join(f"{head:>10}" for head in heads))
    bare = took[0].paint if took else None
    for one in took:
        over = None if one.paint is None or bare is None else one.paint - bare
        figures = (one.first, one.server, one.processor, one.paint, one.paint_least, over, one.kilobytes)
        told = ("–" if figure is None else f"{figure:.1f}" for figure in figures)
        print(f"{one.page:24}" + "".join(f"{each:>10}" for each in told))
    if bare is None:
        print("note: without a browser nothing is painted; `make test-browser` installs one", file=sys.stderr)


if __name__ == "__main__":
    main()
