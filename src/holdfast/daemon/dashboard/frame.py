"""The frame of every page, small parts that several pages share, and the assets: stylesheet, script, icon.

An asset has an address with a hash of its content. So a browser loads each once and caches it, and loads it
again after an upgrade. None is a secret.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from hashlib import blake2s
from importlib.resources import files
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode

from holdfast.core.text.strings import elapsed, shortened
from holdfast.daemon.dashboard.html import NOTHING, Child, Html, el, joined
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import from_iso

Row: TypeAlias = Mapping[str, Any]
"""What a page shows of one thing, redacted."""
PAGES: Final = (
    ("/", "Now"),
    ("/briefs", "Briefs"),
    ("/memory", "Memory"),
    ("/continuity", "Continuity"),
    ("/review", "Review"),
    ("/health", "Health"),
)
THEMES: Final = ("light", "dark")
UUID_CHARS: Final = 36
FULL: Final = 85
HIGH: Final = 60


@dataclass(frozen=True, slots=True)
class PageContext:
    """What a page needs beside its rows: the time, the theme, and a hash of the state that it shows."""

    now: int
    theme: str = ""
    version: str = ""
    seen: str = ""
    alerts: tuple[str, ...] = ()
    """What a person must fix before anything is stored again; shown on every page."""

    def ago(self, at: str | None) -> Html:
        """How long ago that was, with the exact time as a tooltip."""
        if not at:
            return NOTHING
        return el("time", f"{elapsed(self.now - from_iso(at))} ago", datetime=at, title=at)


def page(view: PageContext, path: str, title: str, *body: Child) -> Html:
    """A whole page."""
    theme = view.theme if view.theme in THEMES else None
    return joined(
        (
            Html("<!doctype html>"),
            el(
                "html",
                _head(title),
                el("body", _top(path), _alerts(view), _main(title, *body), _foot(view), _toasts()),
                lang="en",
                data_theme=theme,
                data_seen=view.seen,
            ),
        )
    )


def _head(title: str) -> Html:
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("title", f"{title} · Holdfast"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("link", rel="icon", href=asset_address("icon.svg"), type="image/svg+xml"),
        el("link", rel="stylesheet", href=asset_address("style.css")),
        el("script", type="module", src=asset_address("app.js")),
    )


def _top(path: str) -> Html:
    links = [
        el("li", el("a", name, href=href, aria_current="page" if href == path else None))
        for href, name in PAGES
    ]
    return joined(
        (
            el("a", "Skip to the content", class_="skip", href="#main"),
            el(
                "header",
                el("a", _anchor(), "Holdfast", class_="brand", href="/"),
                el("nav", el("ul", links), aria_label="Pages"),
                el("button", "Light or dark", type="button", id="theme", class_="quiet"),
                class_="top",
            ),
        )
    )


def _anchor() -> Html:
    """The logo: a frond on its rock."""
    drawn = el(
        "path",
        d="M10 17V7m0 4C7 11 6 8 6 5m4 9c3 0 4-3 4-6M5 17h10",
        fill="none",
        stroke="currentColor",
        stroke_width="1.6",
        stroke_linecap="round",
    )
    return el("svg", drawn, viewBox="0 0 20 20", width="20", height="20", aria_hidden="true", class_="sign")


def _alerts(view: PageContext) -> Html:
    return joined(el("p", with_code(alert), class_="alert", role="alert") for alert in view.alerts)


def _main(title: str, *body: Child) -> Html:
    return el("main", el("h1", title), *body, id="main", tabindex="-1")


def _foot(view: PageContext) -> Html:
    notice = el(
        "p",
        "Everything here is on this machine. ",
        el("span", "live", id="pulse", class_="pulse", role="status"),
    )
    return el("footer", notice, el("p", f"Holdfast {view.version}"))


def _toasts() -> Html:
    """Where the script shows the results of actions.

    It is there from the start: a screen reader announces only regions that it knows, and adding it on load
    would lay out the page twice.
    """
    return el("div", id="toasts", role="status")


# ---------------------------------------------------------------- parts


def empty(what: str, then: Child) -> Html:
    """A placeholder for an empty list: what is missing, and what to do."""
    return el("div", el("p", el("strong", what)), el("p", then), class_="empty")


def code(text: str) -> Html:
    """Something to type."""
    return el("code", text)


def section(title: str, *body: Child, id: str | None = None, live: bool = False) -> Html:
    """A part of a page under its own heading; a live one is refreshed as things change."""
    return el(
        "section", el("h2", title), *body, id=id, aria_label=title, data_live=live or None, class_="card"
    )


def many(number: int, noun: str) -> str:
    """A number with its noun in the singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def badge(text: str, kind: str = "") -> Html:
    """A small label."""
    return el("span", text, class_=f"badge {kind}".strip())


def phase_badge(row: Mapping[str, Any]) -> Html:
    """A session's phase; `imported` for an imported one."""
    return badge("imported" if row["imported"] else row["phase"], row["phase"])


def gauge(row: Mapping[str, Any]) -> Html:
    """How full a session's window is."""
    tokens, capacity, percent = row["tokens"], row["capacity"], row["percent"]
    kind = "full" if percent >= FULL else "high" if percent >= HIGH else "fine"
    bar = el(
        "meter",
        f"{percent} %",
        min=0,
        max=100,
        low=HIGH,
        high=FULL,
        optimum=0,
        value=min(percent, 100),
        aria_label="Context window",
    )
    unknown = "not counted since the compaction" if row["windows"] > 1 else "not counted yet"
    label = f"{percent} % · {tokens // 1000:,}k of {capacity // 1000:,}k tokens" if tokens else unknown
    return el("div", bar, el("span", label, class_="figure"), class_=f"gauge {kind}")


def session_link(key: str, label: str | None = None) -> Html:
    """A link to a session's page."""
    return el("a", label or short(key), href=session_path(key), title=key)


def session_path(key: str, **query: str) -> str:
    """The address of a session's page."""
    query_string = f"?{urlencode(query)}" if query else ""
    return f"/sessions/{quote(key, safe='')}{query_string}"


def short(key: str) -> str:
    """A key shortened so that a person can still tell it from others."""
    return key[:8] if len(key) == UUID_CHARS else shortened(key, 20)


def table(
    label: str,
    names: Sequence[str],
    body: Sequence[Html],
    numbers: Collection[str] = (),
    spare: Collection[str] = (),
) -> Html:
    """A table that scrolls by itself where the screen is narrow.

    `numbers` are the columns with numbers, `spare` those that a narrow screen does without.
    """
    head = [el("th", name, scope="col", class_=_column(name, numbers, spare)) for name in names]
    made = el("table", el("thead", el("tr", head)), el("tbody", body))
    return el("div", made, class_="wide", tabindex="0", role="group", aria_label=label)


def _column(name: str, numbers: Collection[str], spare: Collection[str]) -> str | None:
    return "number" if name in numbers else "spare" if name in spare else None


def with_code(text: str) -> Html:
    """A sentence with the parts between backticks as code."""
    return joined(code(part) if at % 2 else part for at, part in enumerate(_TO_TYPE.split(text)))


_TO_TYPE: Final = re.compile("`([^`]+)`")


def pre(text: str) -> Html:
    """A preformatted text; it can be focused and scrolled by keyboard."""
    return el("pre", text, tabindex="0")


def diff(text: str) -> Html:
    """A unified diff, each line marked by what happened to it."""
    return el("pre", [_diff_line(line) for line in text.splitlines()], class_="diff", tabindex="0")


def _diff_line(line: str) -> Html:
    if line.startswith(("+++", "---", "@@")):
        return el("span", f"{line}\n", class_="where")
    if line.startswith("+"):
        return el("ins", f"{line}\n")
    return el("del", f"{line}\n") if line.startswith("-") else el("span", f"{line}\n")


def more(path: str, cursor: str | None, **query: str) -> Html:
    """A link to the next page of a list."""
    if not cursor:
        return NOTHING
    query_string = urlencode({**{name: value for name, value in query.items() if value}, "cursor": cursor})
    return el(
        "p", el("a", "Earlier", href=f"{path}?{query_string}", rel="next", class_="button"), class_="more"
    )


ASSET_TYPES: Final = {
    "style.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
CACHED: Final = "private, max-age=31536000, immutable"
REVALIDATED: Final = "private, no-cache"


def asset_address(name: str) -> str:
    """The address of an asset."""
    return f"/static/{name}?{asset_hash(name)}"


@cache
def asset_hash(name: str) -> str:
    """A short hash of an asset's content."""
    return blake2s(asset_content(name), digest_size=6).hexdigest()


@cache
def asset_content(name: str) -> bytes:
    """The bytes of an asset."""
    return files("holdfast.daemon.dashboard").joinpath("static", name).read_bytes()
