"""Every page in a real browser: whole, calm, for every eye and every screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.browser.install import axe
from tests.daemon.api.served import Furnished
from tests.daemon.dashboard.visitors import FAILING_KEY, HOSTILE_KEY, IMPORTED_KEY, SHARED_KEY
from tests.daemon.dashboard.visitors import HANDOFF as HANDOFF_NAME

HANDOFF = "/handoffs"
PAGES = (
    "/",
    "/sessions",
    "/search?q=fact",
    "/search?q=wombat+parser",
    "/passages/memory-1?q=fact",
    "/checkpoints/c3",
    "/nowhere",
    "/sessions/s1?point=c2&older=c1&newer=c3",
    "/sessions/s-other/kept",
    "/briefs",
    "/briefs/b1",
    "/briefs/everything",
    f"/sessions/{FAILING_KEY}",
    "/search?q=wombat",
    "/files",
    "/files?q=part+01",
    "/files?path=src/part_000.py",
    "/memory",
    "/memory?q=fact",
    "/memory?audit=1",
    "/continuity",
    "/review",
    HANDOFF,
    "/team",
    f"/sessions/{SHARED_KEY}",
    "/stats",
    "/health",
    "/health?deep=1",
    f"/sessions/{IMPORTED_KEY}",
    f"/sessions/{HOSTILE_KEY}?point=hostile-1",
)


def at(path: str, site: Furnished) -> str:
    """The address of a page, also of one whose project is only known now."""
    project = site.project.project_id
    if path == HANDOFF:
        return f"{HANDOFF}?project={project}&name={HANDOFF_NAME}"
    return f"{path}&project={project}" if path.startswith("/files?") else path


MISSING = "/nowhere"
"""An address that nothing is at: the browser itself complains of its status."""
CLIPPED = """[...document.querySelectorAll(".top a, .top button, .top input")]
    .filter((one) => one.className !== "skip")
    .map((one) => one.getBoundingClientRect())
    .filter((box) => box.left < 0 || box.right > innerWidth).map((box) => box.right)"""
ONE_LINE_FROM = 1_000
LINE_PX = 60
LEFT_EDGES = """Math.abs(document.querySelector(".brand").getBoundingClientRect().left
    - document.querySelector("h1").getBoundingClientRect().left)"""
FOLLOW_FOCUS = """() => {
    window.reached = new Set();
    window.unmarked = [];
    document.addEventListener("focusin", ({ target }) => {
        window.reached.add(target);
        const style = getComputedStyle(target);
        if (target !== document.body && style.outlineStyle === "none" && !target.closest("svg, main:focus"))
            window.unmarked.push(target.outerHTML.slice(0, 120));
    });
}"""
CAN_BE_USED = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary, pre")]
    .filter((one) => one.checkVisibility() && !one.disabled && !["hidden", "radio"].includes(one.type))"""


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", [400, 1440])
def test_axe_finds_nothing(visits: Callable[..., Visit], width: int, path: str, site: Furnished) -> None:
    if not axe().is_file():
        pytest.skip("axe was not fetched; `make test-browser` does it")
    # Only the test's own script needs a way past the policy. Colours that are on their way have no contrast.
    visit = visits(viewport={"width": width, "height": 900}, bypass_csp=True, reduced_motion="reduce")
    page = visit.go(at(path, site))
    page.add_script_tag(path=str(axe()))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run()")["violations"]
        assert [(scheme, one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


@pytest.mark.parametrize("path", PAGES)
def test_everything_is_reached_by_the_tab_key_and_shows_it(visit: Visit, path: str, site: Furnished) -> None:
    page = visit.go(at(path, site))
    page.evaluate(f"({FOLLOW_FOCUS})()")
    for _ in range(page.evaluate(f"{CAN_BE_USED}.length") + 8):
        page.keyboard.press("Tab")
    unreached = f"{CAN_BE_USED}.filter((one) => !window.reached.has(one)).map((one) => one.outerHTML)"
    assert page.evaluate(unreached) == []
    assert page.evaluate("window.unmarked") == []


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_complained_of_and_nothing_comes_from_elsewhere(
    visit: Visit, path: str, site: Furnished
) -> None:
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    visit.go(at(path, site))
    assert visit.page.title() != "owned"
    assert [one for one in visit.complaints if path != MISSING or "404" not in one] == []
    assert [url for url in asked if not url.startswith(visit.base)] == []


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", [360, 400, 768, 1100, 1440])
def test_a_page_is_as_wide_as_the_screen(
    visits: Callable[..., Visit], width: int, path: str, site: Furnished
) -> None:
    page = visits(viewport={"width": width, "height": 800}).go(at(path, site))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Nothing of the header is clipped, and it begins where the content begins.
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(LEFT_EDGES) < 1
    assert page.locator("header").bounding_box()["width"] == width
    assert width < ONE_LINE_FROM or page.locator("header").bounding_box()["height"] < LINE_PX


@pytest.mark.parametrize("path", PAGES)
def test_nothing_jumps_while_it_loads(visit: Visit, path: str, site: Furnished) -> None:
    watch = """() => { window.jumped = 0; new PerformanceObserver((list) => {
        for (const one of list.getEntries()) window.jumped += one.value;
    }).observe({ type: "layout-shift", buffered: true }); }"""
    visit.page.add_init_script(f"({watch})()")
    page = visit.go(at(path, site))
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
