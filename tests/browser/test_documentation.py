"""The built documentation site in a real browser: it fits, loads nothing from elsewhere, and can be searched.

The recording that the README and the site show is looked at here too.
"""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from scripts.build_site import SITE

RECORDING: Final = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "terminal.svg"
PAGES: Final = (
    "index",
    "start",
    "harnesses/index",
    "recipes",
    "concepts",
    "brief",
    "reference/cli",
    "security",
)
Page = Any
"""A page of Playwright's, which is installed for these tests alone."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the site is served."""
    if not (SITE / "index.html").is_file():
        pytest.skip("`make docs` builds the site")
    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass
class Reading:
    """A page that somebody reads, and what the browser complained of or looked for elsewhere."""

    page: Page
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def read(browser: Any, address: str) -> Iterator[Callable[..., Reading]]:  # noqa: ANN401
    """Opens a page of the site on a screen of that width and scheme."""
    contexts: list[Any] = []

    def opened(path: str, width: int = 1440, scheme: str = "light") -> Reading:
        screen = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=screen, color_scheme=scheme))
        reading = Reading(contexts[-1].new_page())
        complain = reading.complaints.append
        reading.page.on("pageerror", lambda error: complain(str(error)))
        reading.page.on("requestfailed", lambda sent: complain(sent.url))
        reading.page.on("request", lambda sent: sent.url.startswith((address, "data:")) or complain(sent.url))
        reading.page.goto(f"{address}/{path}.html")
        return reading

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 400])
def test_pages_fit_the_screen_and_load_nothing_from_elsewhere(
    read: Callable[..., Reading], width: int, scheme: str
) -> None:
    for name in PAGES:
        reading = read(name, width, scheme)
        assert reading.page.locator("h1").first.is_visible()
        assert reading.page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert not reading.complaints, name
        reading.page.close()


def test_search_finds_how_to_keep_a_project_out(read: Callable[..., Reading]) -> None:
    reading = read("index")
    reading.page.wait_for_load_state("networkidle")
    reading.page.keyboard.press("Control+k")
    reading.page.locator("input:focus").fill("exclude")
    reading.page.get_by_text("How do I keep a project, or a secret, out?").first.click()
    reading.page.wait_for_url("**/recipes.html*")
    assert not reading.complaints


class TestTheRecording:
    @pytest.fixture
    def recording(self, browser: Any) -> Iterator[Callable[..., Page]]:  # noqa: ANN401
        contexts: list[Any] = []

        def opened(**settings: str) -> Page:
            contexts.append(browser.new_context(**settings))
            page = contexts[-1].new_page()
            page.goto(RECORDING.as_uri())
            return page

        yield opened
        for context in contexts:
            context.close()

    def test_its_lines_appear_one_after_the_other(self, recording: Callable[..., Page]) -> None:
        page = recording()
        seek = "at => document.getAnimations().forEach(each => { each.pause(); each.currentTime = at })"
        visible = (
            "[...document.querySelectorAll('text')].filter(e => getComputedStyle(e).opacity == 1).length"
        )
        counts = []
        for at_ms in (0, 4_000, 8_000, 12_000):
            page.evaluate(seek, at_ms)
            counts.append(page.evaluate(visible))
        assert counts == sorted(set(counts))

    def test_where_motion_is_not_wanted_it_shows_its_last_screen(
        self, recording: Callable[..., Page]
    ) -> None:
        page = recording(reduced_motion="reduce")
        assert page.evaluate("document.getAnimations().length") == 0
        assert page.get_by_text("Claude Code, with Holdfast", exact=True).is_visible()
        assert not page.get_by_text("Claude Code, without Holdfast", exact=True).is_visible()
