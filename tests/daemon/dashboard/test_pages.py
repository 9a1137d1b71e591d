"""The pages of the dashboard as the daemon writes them: what they show, what they never show, how large."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

import pytest

from holdfast.core.events.event import Origin
from holdfast.core.work.lines import SECTION_TITLES
from holdfast.daemon.dashboard.frame import PageContext
from holdfast.daemon.dashboard.sessions import work_state
from tests.daemon.api.served import NEWEST, SECRET, Caller, Furnished, write_continuity
from tests.daemon.conftest import Lodging, wait_until
from tests.stores.contract import checkpoint, memory, prompt, session

PAGES = (
    "/",
    "/sessions",
    "/search",
    "/briefs",
    "/files",
    "/files?path=src/cart.py:3",
    "/memory",
    "/memory?audit=1",
    "/continuity",
    "/review",
    "/team",
    "/stats",
    "/health",
)
DETAILS = (
    "/sessions/s1",
    "/sessions/s1?point=r1&older=c1&newer=c3",
    "/sessions/s-other/kept",
    "/sessions/odd%2Fkey%3A1",
    "/checkpoints/c1",
    "/briefs/b1",
    "/memory?q=fact",
    "/search?q=fact",
    "/search?q=fact&kind=memory&since=7",
    "/passages/memory-1?q=fact",
)
LARGEST = 100_000
VIEW = PageContext(1_767_268_860_000)
DAY_MS = 86_400_000


def read(caller: Caller, path: str, status: int = 200) -> str:
    answer = caller.ask(path)
    assert answer.status == status, (path, answer.body[:300])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.body.decode()


@pytest.mark.parametrize("path", [*PAGES, *DETAILS])
def test_every_page_is_whole_small_and_without_anything_inline(caller: Caller, path: str) -> None:
    page = read(caller, path)
    assert page.startswith("<!doctype html><html")
    assert page.endswith("</html>")
    assert page.count("<h1>") == 1
    assert len(page.encode()) < LARGEST
    assert "<style" not in page
    assert ' style="' not in page
    assert page.count("<script") == 1
    assert "//" not in page.replace("http://www.w3.org", "").partition("<body>")[0]


def test_a_page_with_very_much_on_it_is_small_too(caller: Caller, furnished: Furnished) -> None:
    at, project = furnished.at, furnished.project
    key = str(uuid5(NAMESPACE_URL, "full"))
    with furnished.store() as store, store.writing():
        store.put_session(session(key, project=project, last_event_at=at), NEWEST)
        for number in range(300):
            id, text = str(uuid5(NAMESPACE_URL, f"{number}")), f"Make step {number} faster. " * 200
            store.add_event(prompt(id, session=key, at=at + number * 60_000, text=text), NEWEST)
            if number < 60:
                taken = checkpoint(f"c{id}", session=key, created_at=at + number * 60_000, digest=text)
                store.add_checkpoint(taken, NEWEST)
            kept = memory(f"m{id}", text=f"Fact {number}, found by nobody", created_at=at - 60 * DAY_MS)
            store.put_memory(replace(kept, project_id=project.project_id), NEWEST)
    chosen = f"/sessions/{key}?point=c{uuid5(NAMESPACE_URL, '9')}"
    for path in (f"/sessions/{key}", chosen, "/memory?audit=1"):
        assert len(read(caller, path).encode()) < LARGEST, path
    assert "more come up as these are dealt with" in read(caller, "/memory?audit=1")


@pytest.mark.parametrize("path", [*PAGES, *DETAILS])
def test_no_page_shows_a_secret_that_the_store_holds(caller: Caller, path: str) -> None:
    assert SECRET not in read(caller, path)


def test_home_tells_apart_what_was_today_and_this_week(caller: Caller, furnished: Furnished) -> None:
    figure = re.search(
        r"Compactions survived</dt><dd><strong>(\d+)</strong><span[^>]*>(\d+) this", read(caller, "/")
    )
    assert figure
    days = {VIEW.local(at).date() for at in (furnished.at, round(time.time() * 1000))}
    # Soon after midnight some of it was yesterday.
    assert int(figure[1]) == 5 if len(days) == 1 else int(figure[1]) <= 5
    assert figure[2] == "5"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", ["Live", "elsewhere", "not counted yet", "What a compaction now would keep"]),
        ("/", ["Compactions survived", "5 this week", "Survived a compaction"]),
        ("/sessions", ["All projects", "claude-code", "Mend the sums of the cart"]),
        ("/search", ["Type some words.", "holdfast recall WORDS"]),
        ("/search?q=fact+3", ["Memory", "<mark>Fact</mark>", "results, the best first"]),
        ("/search?q=xyzzy", ["Nothing fits."]),
        ("/passages/memory-1?q=fact", ["<mark>Fact</mark> 1.", "Back to the results"]),
        ("/checkpoints/c3", ["The whole checkpoint", "<del>-## Step 2", "<ins>+## Step 3"]),
        ("/", ["Mend the sums of the cart in the shop, for orders…"]),
        (
            "/sessions/s-other",
            [
                "<h1>Mend the sums of the cart in the shop, for orders…</h1>",
                "Work state",
                "<dt>Done</dt>",
                "The cart adds up in <code>cart.py</code>.",
                "<dt>Questions</dt>",
                "Should vouchers be rounded too?",
            ],
        ),
        ("/sessions/s2", ["Session s2", "Work state"]),
        ("/sessions/s1", ["Timeline", "Compare", "as time passed", "Prompts", "Failures", "<code>ls</code>"]),
        ("/sessions/s1", ["Briefs it was given", "after a compaction"]),
        ("/sessions/s1?point=r3", ["Detail", 'class="command">ls</pre>', "no"]),
        ("/sessions/s1?point=r1", ["prompt", "REDACTED"]),
        ("/sessions/s1?point=c2", ["## Step 2"]),
        ("/sessions/s1?older=c1&newer=c3", ["Difference", "<del>-## Step 1", "<ins>+## Step 3"]),
        ("/sessions/s-other/kept", ["Of <a ", ">Mend the sums of the cart in the shop, for orders…</a>"]),
        ("/briefs", ["after a compaction", "1 of 2"]),
        ("/briefs/b1", ["As the agent got it", "1 item said", "1 item left out", "over budget", "What was"]),
        ("/files", ["No session is known to have changed a file here.", "holdfast import"]),
        ("/files?path=src/cart.py", ["<h1>src/cart.py</h1>", "No session is known to have changed"]),
        ("/memory", ["Fact 4.", "Pin", "Forget", "Edit"]),
        ("/memory?q=fact", ["Fact 0."]),
        ("/continuity", ["Shared by all worktrees", "This worktree", "Ledger"]),
        ("/review", ["Look for candidates", "Nothing waits for a decision.", "Nothing is kept without you"]),
        ("/health", ["1 problem", "holdfast setup", "claude-code", "Checkpoints that are kept", "recovered"]),
    ],
)
def test_each_page_tells_what_it_is_for(caller: Caller, path: str, words: list[str]) -> None:
    page = read(caller, path)
    assert [word for word in words if word not in page] == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", ["Nothing is kept yet.", "holdfast setup", "holdfast import"]),
        ("/sessions", ["No session was seen yet.", "holdfast setup", "holdfast import"]),
        ("/briefs", ["No brief was given yet.", "holdfast brief"]),
        ("/memory", ["Nothing is remembered yet.", "holdfast remember TEXT"]),
        ("/continuity", ["No project is known yet.", "holdfast continuity save"]),
        ("/review", ["No project is known yet."]),
        ("/memory?q=port", ["No memory fits.", "Fewer or other words"]),
        ("/health", ["Nothing was captured yet.", "holdfast setup"]),
    ],
)
def test_an_empty_page_says_what_to_do(bare: Caller, path: str, words: list[str]) -> None:
    page = read(bare, path)
    assert [word for word in words if word not in page] == []


def test_hostile_text_is_only_text(caller: Caller, furnished: Furnished) -> None:
    hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\u200b gone"
    with furnished.store() as store, store.writing():
        told = session("hostile", project=furnished.project, last_event_at=furnished.at, model=hostile)
        store.put_session(told, NEWEST)
        store.add_event(
            prompt("h1", session="hostile", at=furnished.at, text=hostile, origin=Origin.HUMAN), NEWEST
        )
    page = read(caller, "/sessions/hostile?point=h1")
    assert "<img" not in page
    assert page.count("<script") == 1
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize("path", ["/sessions/nobody", "/briefs/nobody", "/sessions/nobody/kept"])
def test_what_is_not_there_is_said_on_a_page(caller: Caller, path: str) -> None:
    page = read(caller, path, 404)
    assert "nobody</code>" in page
    assert "`" not in page


def test_a_text_with_a_secret_in_it_cannot_be_put_back_without_it(
    caller: Caller, furnished: Furnished
) -> None:
    path = write_continuity(furnished.lodging.home, furnished.project, f"## Goal\n\n- Use {SECRET}\n")
    page = read(caller, f"/continuity?project={quote(furnished.project.project_id)}")
    assert "readonly" in page
    base = f"/api/projects/{furnished.project.project_id}/continuity"
    shown = caller.get(base)["layers"][0]
    put = caller.ask(f"{base}/project", "PUT", {"text": shown["text"], "print": shown["print"]})
    assert (put.status, "secret" in put.json["error"]) == (409, True)
    assert SECRET in path.read_text()
    path.unlink()


def test_a_list_goes_on_behind_its_first_page(caller: Caller, furnished: Furnished) -> None:
    with furnished.store() as store, store.writing():
        for number in range(50):
            told = session(
                f"more-{number:02}", project=furnished.project, last_event_at=furnished.at - number
            )
            store.put_session(told, NEWEST)
    first = read(caller, "/sessions")
    assert 'rel="next"' in first
    href = first.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0]
    second = read(caller, href.replace("&amp;", "&"))
    assert "<table" in second
    assert second.count("<tr>") < first.count("<tr>")


def test_goal_and_next_steps_stand_in_their_order_and_results_the_newest_first() -> None:
    work = {
        section.value: [{"text": f"{section} {nth}", "at": None, "source": ""} for nth in ("one", "two")]
        for section in SECTION_TITLES
    }
    shown = re.findall(r"(goal|next|done|decisions) (one|two)", str(work_state(VIEW, {"work": work})))
    assert [number for section, number in shown if section in ("goal", "next")] == ["one", "two"] * 2
    assert [number for section, number in shown if section in ("done", "decisions")] == ["two", "one"] * 2


@pytest.mark.parametrize(
    ("query", "is_any"),
    [("harness=claude-code", True), ("harness=codex", False), ("since=1", True), ("project=none", False)],
)
def test_sessions_are_filtered(caller: Caller, query: str, *, is_any: bool) -> None:
    listed = read(caller, f"/sessions?{query}")
    assert ('<td class="main">' in listed) == is_any
    assert ("No session fits." in listed) != is_any


def test_an_unknown_address_is_a_page_for_a_person_and_json_for_a_program(caller: Caller) -> None:
    page = caller.ask("/nowhere", Accept="text/html")
    assert (page.status, b"<h1>Not found</h1>" in page.body) == (404, True)
    for path, accept in (("/nowhere", "application/json"), ("/api/nowhere", "text/html")):
        assert caller.ask(path, Accept=accept).json["error"] == "Not Found"
    broken = caller.ask("/briefs?cursor=broken", Accept="text/html")
    assert (broken.status, b"The cursor is not one" in broken.body) == (422, True)


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [
        ("style.css", "text/css", 200),
        ("app.js", "text/javascript", 200),
        ("icon.svg", "image/svg+xml", 200),
        ("..%2Froutes.py", "", 404),
        ("routes.py", "", 404),
    ],
)
def test_pages_are_made_with_three_files(caller: Caller, name: str, kind: str, status: int) -> None:
    answer = caller.ask(f"/static/{name}")
    assert answer.status == status
    assert answer.headers.get("content-type", "").startswith(kind)
    assert len(answer.body) < LARGEST // 4
    assert b"http://" not in answer.body.replace(b"http://www.w3.org", b"")


@pytest.mark.parametrize("name", ["style.css", "app.js", "icon.svg"])
def test_a_browser_keeps_them_under_the_address_that_a_page_names(caller: Caller, name: str) -> None:
    found = re.search(rf'"(/static/{re.escape(name)}\?[0-9a-f]+)"', read(caller, "/memory"))
    assert found
    assert "immutable" in caller.ask(found[1]).headers["cache-control"]
    for other in ("", "?older"):
        assert "no-cache" in caller.ask(f"/static/{name}{other}").headers["cache-control"]


def test_a_search_shows_the_best_and_says_that_there_are_others(caller: Caller) -> None:
    texts = [f"The lantern of room {number} is number {number + 100}" for number in range(21)]
    ids = [caller.ask("/api/memories", "POST", {"text": text}).json["id"] for text in texts]
    found = read(caller, "/memory?q=lantern")
    assert found.count('class="memory"') == 20
    assert "The best 20 are shown" in found
    caller.ask(f"/api/memories/{ids[0]}", "DELETE")
    assert "The best 20" not in read(caller, "/memory?q=lantern")
    for id in ids[1:]:
        assert caller.ask(f"/api/memories/{id}", "DELETE").status < 300


def test_pages_and_health_name_settings_that_cannot_be_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    lodging = Lodging(tmp_path_factory.mktemp("alert"))
    settings = lodging.home / "config.toml"
    marker = lodging.home / "run" / "stopped"
    pages = ("/", "/briefs", "/memory", "/continuity", "/review", "/health", "/sessions/none")
    try:
        lodging.start()
        caller = Caller(lodging)
        assert b'role="alert"' not in caller.ask("/").body
        settings.write_text("[capture]\nexclude = 'x'\n")
        for page in pages:
            body = caller.ask(page).body.decode()
            assert 'role="alert"' in body
            assert "line 2: <code>capture.exclude</code> must be a list" in body
        health = caller.get("/api/health")
        finding = next(one for one in health["findings"] if one["check"] == "config")
        assert (health["ok"], finding["ok"], finding["fix"]) == (False, False, "correct or remove it")
        refused = caller.ask("/api/memories", "POST", {"text": "the port is 8080", "scope": "user"})
        assert refused.status == 409
        assert "nothing is captured, stored or shared" in refused.json["error"]
        wait_until(marker.exists)
        settings.write_text("[capture]\nexclude = ['x']\n")
        wait_until(lambda: not marker.exists())
        assert b'role="alert"' not in caller.ask("/").body
    finally:
        lodging.end()
