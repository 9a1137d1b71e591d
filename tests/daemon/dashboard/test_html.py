"""HTML as values: no text becomes markup, and nothing in it stays hidden."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text.untrusted import printable
from holdfast.daemon.dashboard.frame import (
    PageContext,
    diff,
    gauge,
    many,
    page,
    session_path,
    short,
    short_project,
    with_code,
)
from holdfast.daemon.dashboard.html import Child, Html, el, joined, verbatim
from holdfast.daemon.dashboard.plots import LEFT, RIGHT, Bar, days, rows, scale, timeline
from holdfast.engine.views.timeline import FailedCall, Moment, TimelineView, TokenCount, WorkDone

ANY = st.text(st.characters(exclude_categories=["Cs"]))


class Read(HTMLParser):
    """What a browser would make of a text: the tags, their attributes, and what is read."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("made", "markup"),
    [
        (el("p"), "<p></p>"),
        (el("p", "a < b & c"), "<p>a &lt; b &amp; c</p>"),
        (el("p", el("b", "x"), " ", 3, None, ["y", el("br")]), "<p><b>x</b> 3y<br></p>"),
        (el("a", "x", href='/"onload=1', class_="q"), '<a href="/&quot;onload=1" class="q">x</a>'),
        (el("input", checked=True, disabled=False, value=None, data_live=1), '<input checked data-live="1">'),
        (el("textarea", verbatim("\n<x>")), "<textarea>\n\n&lt;x&gt;</textarea>"),
        (with_code("run `a b` or `c"), "run <code>a b</code> or `c"),
        (with_code("run `<x>`"), "run <code>&lt;x&gt;</code>"),
    ],
)
def test_elements_are_written_so(made: Html, markup: str) -> None:
    assert made == markup


@given(text=ANY, more=ANY)
def test_a_text_is_read_as_it_can_be_seen_and_never_as_markup(text: str, more: str) -> None:
    read = Read(el("p", text, title=more))
    assert read.tags == ["p"]
    assert read.text.replace("\r", "\n") == printable(text)
    assert read.attributes == [("title", printable(more))]


@given(text=ANY)
def test_nor_is_one_in_a_diff_or_a_sentence_with_code(text: str) -> None:
    assert set(Read(diff(text)).tags) <= {"pre", "span", "ins", "del"}
    assert set(Read(with_code(text)).tags) <= {"code"}


def test_what_turns_text_around_or_is_hidden_is_gone() -> None:
    assert joined(["a\u202eb\u200bc\x1b[31md"]) == "abcd"


@given(key=ANY.filter(bool))
def test_any_key_makes_one_step_of_a_path(key: str) -> None:
    path = session_path(key, point=key)
    assert path.partition("?")[0].count("/") == 2
    assert path.isascii()
    assert len(short(key)) <= 36


def test_a_page_has_its_parts_and_nothing_inline() -> None:
    read = Read(page(PageContext(0, "dark", "1.0"), "/memory", "Memory", el("p", "here")))
    assert {"html", "header", "nav", "main", "h1", "footer"} <= set(read.tags)
    assert ("aria-current", "page") in read.attributes
    assert ("data-theme", "dark") in read.attributes
    assert ("id", "toasts") in read.attributes, "what the script adds to while it loads is laid out twice"
    assert not {"style", "onclick"} & {name for name, _ in read.attributes}


def test_a_theme_that_nobody_offers_is_none() -> None:
    assert "data-theme" not in page(PageContext(0, '"><script>'), "/", "Now")


@pytest.mark.parametrize(
    ("percent", "kind"), [(0, "fine"), (59, "fine"), (60, "high"), (84, "high"), (85, "full"), (140, "full")]
)
def test_a_gauge_says_how_full_it_is(percent: int, kind: str) -> None:
    tokens = 1_000 * percent or 1_000
    made = gauge({"tokens": tokens, "capacity": 100_000, "percent": percent, "windows": 1})
    assert f'class="gauge {kind}"' in made
    assert f"{percent}%" in made


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 windows"), (1, "1 window"), (2, "2 windows"), (1_200, "1,200 windows")]
)
def test_one_is_not_reported_as_many(number: int, said: str) -> None:
    assert many(number, "window") == said


@pytest.mark.parametrize(
    ("windows", "said"), [(1, "not counted yet"), (2, "not counted since the compaction")]
)
def test_a_gauge_says_why_it_is_empty(windows: int, said: str) -> None:
    assert said in gauge({"tokens": 0, "capacity": 100_000, "percent": 0, "windows": windows})


@given(times=st.lists(st.integers(0, 10**13), min_size=1), asked=st.integers(0, 10**13))
def test_every_time_has_its_place_in_order_and_in_the_picture(times: list[int], asked: int) -> None:
    place = scale(times)
    places = [place(at) for at in sorted(times)]
    assert places == sorted(places)
    assert LEFT <= place(asked) <= RIGHT


def test_a_pause_is_drawn_short() -> None:
    minute, night = 60_000, 36_000_000
    place = scale([0, minute, minute + night, 2 * minute + night])
    before, pause, after = place(minute) - place(0), place(minute + night) - place(minute), place(0)
    assert pause <= 2.1 * before
    assert after == LEFT


STORY = TimelineView(
    (
        Moment(0, "p<1>", "prompt", "Fix <it>"),
        Moment(5, "c1", "checkpoint", "checkpoint (periodic)"),
        Moment(6, "x1", "compaction", "the context was compacted"),
        Moment(7, "b1", "brief", "brief (compact)"),
    ),
    (WorkDone(1, ok=True), WorkDone(2, ok=False), WorkDone(3, ok=None)),
    (TokenCount(1, 50), TokenCount(4, 300)),
    0,
    (FailedCall(2, "f1", "pytest", "1 failed"),),
)


def clock(at: int) -> str:
    return f"at {at}"


def to_the_second(at: int) -> str:
    return f"second {at}"


def test_the_axis_says_the_time_of_what_is_drawn_above_it() -> None:
    hour = 3_600_000
    story = TimelineView(tuple(Moment(n * 60_000, f"p{n}", "prompt", "") for n in (0, 1, 2)), (), (), 0)
    late = replace(story, moments=(*story.moments, Moment(9 * hour, "p9", "prompt", "")))
    texts = re.findall(r'class="label">(at \d+)<', timeline(late, 100, "", str, clock, to_the_second))
    assert texts == ["at 0", "at 60000", "at 120000", f"at {9 * hour}"]


def test_the_axis_of_a_few_minutes_says_no_time_twice() -> None:
    story = TimelineView(tuple(Moment(n * 20_000, f"p{n}", "prompt", "") for n in range(5)), (), (), 0)
    drawn = timeline(story, 100, "", str, lambda at: f"minute {at // 60_000}", to_the_second)
    texts = re.findall(r'class="label">((?:minute|second) \d+)<', drawn)
    assert texts == ["second 0", "second 20000", "second 40000", "second 60000", "second 80000"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/srv/shop", "shop"),
        ("/srv/shop/", "shop"),
        ("/srv/cli/.worktrees/3", "cli/3"),
        ("/srv/cli/.worktrees/dev/ent-108", "cli/ent-108"),
        ("/srv/worktrees/3", "3"),
        ("/", "/"),
    ],
)
def test_a_project_is_called_so_that_it_can_be_recognised(path: str, name: str) -> None:
    assert short_project(path) == name


def test_what_can_be_opened_is_a_link_with_a_name() -> None:
    read = Read(timeline(STORY, 100, "c1", lambda id: f"?point={id}", clock, to_the_second))
    links = [value for name, value in read.attributes if name == "href"]
    assert links == ["?point=f1", "?point=x1", "?point=p<1>", "?point=c1", "?point=b1"]
    labels = [value for name, value in read.attributes if name == "aria-label"]
    assert "prompt, at 0: Fix <it>" in labels
    assert "failure, at 2: pytest: 1 failed" in labels
    assert ("aria-current", "true") in read.attributes


def test_what_was_done_is_a_bar_for_each_stretch_and_what_failed_another() -> None:
    shapes = dict(
        re.findall(
            r'<path d="([^"]*)" class="(done|failed)">', timeline(STORY, 100, "", str, clock, to_the_second)
        )
    )
    assert {kind: shape.count("M") for shape, kind in shapes.items()} == {"done": 2, "failed": 1}


@pytest.mark.parametrize(
    "story", [STORY, TimelineView((), (), (), 0), TimelineView((), (WorkDone(1, ok=True),), (), 0)]
)
def test_any_story_can_be_drawn(story: TimelineView) -> None:
    assert Read(timeline(story, 100, "", str, clock, to_the_second)).tags[0] == "svg"


@pytest.mark.parametrize("bars", [[], [Bar("a", 0, "none")], [Bar("a", 3, "3"), Bar("b", 9, "9")]])
def test_bars_say_their_values(bars: list[Bar]) -> None:
    for made in (days(bars, "Days"), rows(bars, "Rows")):
        assert all(bar.caption in made for bar in bars)


def test_children_may_be_nested() -> None:
    nested: Child = ["a", ["b", [el("i", "c")]]]
    assert joined([nested]) == "ab<i>c</i>"
