"""A person before the dashboard: a furnished daemon, a real browser, and pages in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from holdfast.core.redaction.redact import NO_LISTS
from holdfast.daemon.local import client
from holdfast.engine.redaction.redactor import mark_of
from tests.browser.install import chromium
from tests.daemon.api.served import Furnished, furnish, write_continuity
from tests.daemon.conftest import Lodging
from tests.daemon.dashboard.visitors import (
    put_brief_of_everything,
    put_edits,
    put_failures,
    put_hostile,
    put_imported,
    put_passages,
    put_shared,
    write_handoff,
)

NEWEST: Final = mark_of(NO_LISTS)
CONTINUITY: Final = """# Continuity

## Goal

- Sell things

## Confirmed working

- The cart adds up

## Files, decisions, environment

- Never touch the ledger table
- We decided to round each line
"""
Page = Any
"""A page of Playwright's, which is installed for these tests alone."""


@dataclass
class Visit:
    """A page that somebody looks at, and what the browser complained of."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)

    def hook_event(self, said: Any) -> None:  # noqa: ANN401
        """Note what the browser says of an error."""
        if said.type == "error":
            self.complaints.append(said.text)

    def go(self, path: str) -> Page:
        """The page at that path, with everything on it loaded."""
        self.page.goto(self.base + path)
        self.page.locator("#pulse.on").wait_for()
        return self.page


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    """A home with something in it, and its daemon."""
    lodging = Lodging(tmp_path_factory.mktemp("browser"))
    try:
        found = furnish(lodging)
        write_continuity(lodging.home, found.project, CONTINUITY)
        put_imported(found)
        put_hostile(found)
        put_edits(found, 70)
        put_failures(found)
        put_shared(found)
        put_brief_of_everything(found)
        write_handoff(found)
        lodging.start()
        put_passages(found, 5)
        yield found
    finally:
        lodging.end()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's chromium, without a window."""
    if os.environ.get("HOLDFAST_ALL_CLIENTS") != "1":
        pytest.importorskip("playwright.sync_api", reason="`make test-browser` installs Playwright")
        if not chromium():
            pytest.skip("there is no chromium; `apt install chromium`")
    from playwright.sync_api import sync_playwright  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visits(browser: Any, site: Furnished) -> Iterator[Callable[..., Visit]]:  # noqa: ANN401
    """Makes visits: each in a browser of its own that came by a link, if it is not to stay outside."""
    contexts: list[Any] = []

    def visit(*, inside: bool = True, **settings: object) -> Visit:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings})
        contexts.append(context)
        url = str(client.ask(site.lodging.home, "link")["url"])
        made = Visit(context.new_page(), url.partition("/open")[0])
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        made.page.on("console", made.hook_event)
        if inside:
            made.page.goto(url)
            made.page.wait_for_url(f"{made.base}/")
        return made

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture
def visit(visits: Callable[..., Visit]) -> Visit:
    return visits()
