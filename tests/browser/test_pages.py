"""Every page in a real browser: whole, calm, for every eye and every screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.browser.install import axe
from tests.daemon.api.served import Furnished

PAGES = (
    "/",
    "/sessions",
    "/search?q=fact",
    "/passages/memory-1?q=fact",
    "/checkpoints/c3",
    "/nowhere",
    "/sessions/s1?point=c2&older=c1&newer=c3",
    "/sessions/s-other/kept",
    "/briefs",
    "/briefs/b1",
    "/files",
    "/memory",
    "/memory?audit=1",
    "/continuity",
    "/review",
    "/health",
)
MISSING = "/nowhere"
"""An address that nothing is at: the browser itself complains of its status."""
CLIPPED = """[...document.querySelectorAll(".top a, .top button, .top input")]
    .filter((one) => one.className !== "skip")
    .map((one) => one.getBoundingClientRect())
    .filter((box) => box.left < 0 || box.right > innerWidth).map((box) => box.right)"""
LEFT_EDGES = """Math.abs(document.querySelector(".brand").getBoundingClientRect().left
    - document.querySelector("h1").getBoundingClientRect().left)"""
SERIOUS = ("serious", "critical")


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visits: Callable[..., Visit], scheme: str, path: str) -> None:
    if not axe().is_file():
        pytest.skip("axe was not fetched; `make test-browser` does it")
    # Only the test's own script needs a way past the policy.
    visit = visits(color_scheme=scheme, bypass_csp=True)
    page = visit.go(path)
    page.add_script_tag(path=str(axe()))
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in SERIOUS] == []


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_complained_of_and_nothing_comes_from_elsewhere(visit: Visit, path: str) -> None:
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    visit.go(path)
    assert [one for one in visit.complaints if path != MISSING or "404" not in one] == []
    assert [url for url in asked if not url.startswith(visit.base)] == []


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", [360, 400, 768, 1440])
def test_a_page_is_as_wide_as_the_screen(visits: Callable[..., Visit], width: int, path: str) -> None:
    page = visits(viewport={"width": width, "height": 800}).go(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Nothing of the header is clipped, and it begins where the content begins.
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(LEFT_EDGES) < 1


@pytest.mark.parametrize("path", PAGES)
def test_nothing_jumps_while_it_loads(visit: Visit, path: str) -> None:
    watch = """() => { window.jumped = 0; new PerformanceObserver((list) => {
        for (const one of list.getEntries()) window.jumped += one.value;
    }).observe({ type: "layout-shift", buffered: true }); }"""
    visit.page.add_init_script(f"({watch})()")
    page = visit.go(path)
    assert page.evaluate("window.jumped") < 0.01


def test_dark_and_light_follow_the_system_and_the_person(visits: Callable[..., Visit]) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = visits(color_scheme="light"), visits(color_scheme="dark")
    day, night = light.go("/").evaluate(colour), dark.go("/").evaluate(colour)
    assert day != night
    page = light.page
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(colour) == night
    # The server knows it too: no flash when the next page comes.
    assert light.go("/memory").evaluate(colour) == night
    assert 'data-theme="dark"' in page.content()


def test_without_javascript_a_page_can_be_read(visits: Callable[..., Visit], site: Furnished) -> None:
    page = visits(java_script_enabled=False).page
    page.goto(page.url)
    assert "s-other" in page.content()


def test_by_keyboard_one_skips_to_the_content(visit: Visit) -> None:
    page = visit.go("/briefs")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
