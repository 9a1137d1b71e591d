"""The frame of every page, small parts that several pages share, and the assets: stylesheet, script, icon.

An asset has an address with a hash of its content. So a browser loads each once and caches it, and loads it
again after an upgrade. None is a secret.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from hashlib import blake2s
from pathlib import Path, PurePath
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode

from holdfast.core.text.strings import ago, shortened
from holdfast.daemon.dashboard.html import NOTHING, Child, Html, el, joined
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import from_iso

Row: TypeAlias = Mapping[str, Any]
"""What a page shows of one thing, redacted."""
PAGES: Final = (
    ("/", "Home"),
    ("/sessions", "Sessions"),
    ("/briefs", "Briefs"),
    ("/files", "Files"),
    ("/memory", "Memory"),
    ("/continuity", "Continuity"),
    ("/review", "Review"),
    ("/team", "Team"),
    ("/stats", "Stats"),
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
    zone: tzinfo | None = None
    """The browser's time zone; None until it is known, which stands for this machine's."""
    user_home: str = ""
    words: str = ""
    """What is in the search field."""

    def ago(self, at: str | None) -> Html:
        """How long ago that was, with the exact time as a tooltip."""
        if not at:
            return NOTHING
        moment = from_iso(at)
        return el("time", ago(self.now - moment), datetime=at, title=self.exact(moment))

    def clock(self, at: str | None) -> Html:
        """The local time of day, with the date if that was on another day."""
        if not at:
            return NOTHING
        moment = from_iso(at)
        return el("time", self.short_time(moment), datetime=at, title=self.exact(moment))

    def short_time(self, at: int) -> str:
        """`14:05`, or `3 Mar 14:05` if it was on another day."""
        then, today = self.local(at), self.local(self.now)
        if then.date() == today.date():
            return f"{then:%H:%M}"
        year = "" if then.year == today.year else f" {then.year}"
        return f"{then.day} {then:%b}{year} {then:%H:%M}"

    def time_of_day(self, at: int) -> str:
        """`14:05:09`."""
        return f"{self.local(at):%H:%M:%S}"

    def exact(self, at: int) -> str:
        """The whole local time, to the second."""
        return f"{self.local(at):%Y-%m-%d %H:%M:%S %Z}"

    def local(self, at: int) -> datetime:
        """A time in the zone of the person who looks at the page."""
        return datetime.fromtimestamp(at / 1000, UTC).astimezone(self.zone)

    def path(self, path: str) -> str:
        """A path as it is usually written: the user's own home as `~`."""
        own = self.user_home.rstrip("/")
        is_below = bool(own) and (path == own or path.startswith(f"{own}/"))
        return f"~{path[len(own) :]}" if is_below else path

    def with_home(self, text: str) -> str:
        """A text with the user's own home in its paths as `~`."""
        own = self.user_home.rstrip("/")
        return text.replace(f"{own}/", "~/") if own else text


def page(view: PageContext, path: str, title: str, *body: Child) -> Html:
    """A whole page."""
    theme = view.theme if view.theme in THEMES else None
    return joined(
        (
            Html("<!doctype html>"),
            el(
                "html",
                _head(title),
                el(
                    "body", _top(path, view.words), _alerts(view), _main(title, *body), _foot(view), _toasts()
                ),
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


def _top(path: str, words: str) -> Html:
    links = [
        el("li", el("a", name, href=href, aria_current="page" if href == path else None))
        for href, name in PAGES
    ]
    bar = el(
        "div",
        el("a", _anchor(), "Holdfast", class_="brand", href="/"),
        el("nav", el("ul", links), aria_label="Pages"),
        _search(path, words),
        el("button", _half_moon(), type="button", id="theme", class_="quiet", aria_label="Light or dark"),
        class_="bar",
    )
    skip = el("a", "Skip to the content", class_="skip", href="#main")
    return joined((skip, el("header", bar, class_="top")))


SEARCH_PATH: Final = "/search"


def _search(path: str, words: str) -> Html:
    """The search field of every page; on the page of results it searches as one types."""
    field = el(
        "input",
        type="search",
        name="q",
        id="search",
        value=words if path == SEARCH_PATH else None,
        autocomplete="off",
        spellcheck="false",
        placeholder="Search everything",
        aria_label="Search everything",
        aria_keyshortcuts="/",
        data_search="results" if path == SEARCH_PATH else None,
    )
    key = el("kbd", "/", aria_hidden="true")
    return el("form", field, key, method="get", action=SEARCH_PATH, role="search", class_="find")


def _half_moon() -> Html:
    drawn = (el("circle", cx=10, cy=10, r=7), el("path", d="M10 3a7 7 0 0 1 0 14z"))
    return el("svg", drawn, viewBox="0 0 20 20", width="18", height="18", aria_hidden="true")


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
    return el("main", el("h1", with_code(title)), *body, id="main", tabindex="-1")


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


def empty(what: Child, then: Child) -> Html:
    """A placeholder for an empty list: what is missing, and what to do."""
    return el("div", el("p", el("strong", what)), el("p", then), class_="empty")


def code(text: str) -> Html:
    """Something to type."""
    return el("code", text)


def section(title: str, *body: Child, id: str | None = None, live: bool = False) -> Html:
    """A part of a page under its own heading; a live one is refreshed as things change."""
    return el(
        "section", el("h2", title), *body, id=id, aria_label=title, data_live=live or None, class_="part"
    )


def many(number: int, noun: str) -> str:
    """A number with its noun in the singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def badge(text: str, kind: str = "") -> Html:
    """A small label."""
    return el("span", text, class_=f"badge {kind}".strip())


def phase_badge(row: Mapping[str, Any]) -> Html:
    """A session's phase; `imported` for an imported one."""
    phase = str(row["phase"])
    return badge("imported" if row["imported"] else _PHASES.get(phase, phase), phase)


_PHASES: Final = {"orphaned": "crashed"}


def gauge(row: Mapping[str, Any]) -> Html:
    """How full a session's window is."""
    tokens, capacity, percent = row["tokens"], row["capacity"], row["percent"]
    kind = "full" if percent >= FULL else "high" if percent >= HIGH else "fine"
    bar = el(
        "meter",
        f"{percent}%",
        min=0,
        max=100,
        low=HIGH,
        high=FULL,
        optimum=0,
        value=min(percent, 100),
        aria_label="Context window",
    )
    unknown = "not counted since the compaction" if row["windows"] > 1 else "not counted yet"
    label = f"{percent}% · {tokens // 1000:,}k of {capacity // 1000:,}k tokens" if tokens else unknown
    return el("div", bar, el("span", label, class_="figure"), class_=f"gauge {kind}")


def name_of(row: Mapping[str, Any]) -> str:
    """A session's title or, if nothing is known of its work, the directory that it works in."""
    return str(row["title"]) or PurePath(str(row["project"])).name or short(str(row["session_key"]))


def project_name(view: PageContext, path: str) -> Html:
    """The last part of a project's path, with the whole of it as a tooltip."""
    return el("span", short_project(path), title=view.path(path), class_="project")


def short_project(path: str) -> str:
    """The last part of a path; of a worktree inside its repository, which may be called `3`, both names."""
    of_repository = _WORKTREE.search(path)
    return "/".join(of_repository.groups()) if of_repository else PurePath(path).name or path


_WORKTREE: Final = re.compile(r"([^/]+)/\.worktrees/(?:.+/)?([^/]+)/?\Z")


def dotted(*parts: Child) -> Html:
    """Short facts in a row, with a dot between them; empty ones are left out."""
    shown = [part for part in parts if part not in ("", None)]
    return el("span", [(" · " if at else "", part) for at, part in enumerate(shown)], class_="dotted")


def tabs(label: str, links: Sequence[tuple[str, str, bool]]) -> Html:
    """Links to the same page with another filter: address, name, and whether it is the current one."""
    listed = [
        el("li", el("a", name, href=href, aria_current="true" if is_current else None))
        for href, name, is_current in links
    ]
    return el("ul", listed, class_="tabs", aria_label=label)


def select(name: str, label: str, options: Sequence[tuple[str, str]], chosen: str) -> Html:
    """A field to choose one of some values, which submits its form."""
    listed = [el("option", text, value=value, selected=value == chosen) for value, text in options]
    return el("select", listed, name=name, aria_label=label, data_submit=True)


def session_link(key: str, label: str | None = None) -> Html:
    """A link to a session's page."""
    return el("a", label or short(key), href=session_path(key), title=key)


def session_path(key: str, **query: str) -> str:
    """The address of a session's page."""
    query_string = f"?{urlencode(query)}" if query else ""
    return f"/sessions/{quote(key, safe='')}{query_string}"


def copyable(key: str, shown: str = "") -> Html:
    """An id, shortened, with a button that copies the whole of it."""
    button = el(
        "button", "Copy", type="button", data_copy=key, class_="quiet small", aria_label="Copy the id"
    )
    return el("span", el("code", shown or short(key), title=key), button, class_="id")


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
    kinds = (("number", name in numbers), ("spare", name in spare))
    return " ".join(kind for kind, applies in kinds if applies) or None


def with_code(text: str) -> Html:
    """A sentence with the parts between backticks as code."""
    return joined(code(part) if at % 2 else part for at, part in enumerate(_TO_TYPE.split(text)))


_TO_TYPE: Final = re.compile("`([^`]+)`")


def pre(text: str) -> Html:
    """A preformatted text; it can be focused and scrolled by keyboard."""
    return el("pre", text, tabindex="0")


def diff(text: str) -> Html:
    """A unified diff without its header, each line marked by what happened to it."""
    lines = text.splitlines()
    is_headed = len(lines) > 1 and lines[0].startswith("---") and lines[1].startswith("+++")
    shown = [_diff_line(line) for line in lines[2 if is_headed else 0 :]]
    return el("pre", shown, class_="diff", tabindex="0")


def _diff_line(line: str) -> Html:
    if line.startswith("@@"):
        return el("span", "⋯\n", class_="where")
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
    return Path(__file__).with_name("static").joinpath(name).read_bytes()
