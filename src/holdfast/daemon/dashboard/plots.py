"""Plots in SVG, each with its numbers as text for screen readers: bars, and the timeline of a session."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from holdfast.daemon.dashboard.html import Html, el
from holdfast.engine.views.timeline import FailedCall, Moment, TimelineView, TokenCount, WorkDone
from holdfast.lazy_dataclass import dataclass

WIDTH: Final = 960
BAR_HEIGHT: Final = 120


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its label, its length, and its value as text."""

    label: str
    value: float
    caption: str
    kind: str = ""


def days(bars: Sequence[Bar], title: str) -> Html:
    """Bars side by side, one for each day."""
    most = max((bar.value for bar in bars), default=0) or 1
    step = WIDTH / max(len(bars), 1)
    drawn = [
        el(
            "rect",
            el("title", f"{bar.label}: {bar.caption}"),
            x=round(number * step + 1, 1),
            y=round(BAR_HEIGHT - bar.value / most * (BAR_HEIGHT - 8), 1),
            width=round(max(step - 2, 1), 1),
            height=round(bar.value / most * (BAR_HEIGHT - 8), 1),
            rx=2,
            class_=f"bar {bar.kind}".strip(),
        )
        for number, bar in enumerate(bars)
    ]
    return picture(title, BAR_HEIGHT, drawn)


def days_axis(bars: Sequence[Bar]) -> Html:
    """The first and the last day below the bars, and how many the longest stands for."""
    most = max(bars, key=lambda bar: bar.value, default=None)
    labels = [bars[0].label, f"most: {most.caption}", bars[-1].label] if most else []
    return el("p", [el("span", label) for label in labels], class_="axis note")


SPARK_WIDTH: Final = 84
SPARK_HEIGHT: Final = 20


def sparkline(bars: Sequence[Bar], title: str) -> Html:
    """Small bars side by side, the last one in the strongest colour; a flat line stands for zero."""
    most = max((bar.value for bar in bars), default=0) or 1
    step = SPARK_WIDTH / max(len(bars), 1)
    drawn = [
        el(
            "rect",
            x=round(number * step, 1),
            y=round(SPARK_HEIGHT - _spark_height(bar.value / most), 1),
            width=round(step - 2, 1),
            height=round(_spark_height(bar.value / most), 1),
            class_="last" if number == len(bars) - 1 else None,
        )
        for number, bar in enumerate(bars)
    ]
    described = ", ".join(f"{bar.label} {bar.caption}" for bar in bars)
    return el(
        "svg",
        el("title", f"{title}: {described}"),
        drawn,
        viewBox=f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}",
        role="img",
        aria_label=f"{title}: {described}",
        class_="sparkline",
    )


def _spark_height(share: float) -> float:
    return 1 + share * (SPARK_HEIGHT - 1)


def rows(bars: Sequence[Bar], title: str) -> Html:
    """Bars one below the other, as a list that says their values; each is at most 1 long."""
    lines = [
        el(
            "li",
            el("span", bar.label, class_="name"),
            el(
                "svg",
                el("rect", width=_share(bar.value), height=10, class_=f"bar {bar.kind}".strip()),
                viewBox="0 0 100 10",
                preserveAspectRatio="none",
                aria_hidden="true",
                class_="row",
            ),
            el("span", bar.caption, class_="figure"),
        )
        for bar in bars
    ]
    return el("ul", lines, class_="bars", aria_label=title)


def picture(title: str, height: int, drawn: Sequence[Html], description: str = "") -> Html:
    """A drawing with a name."""
    return el(
        "svg",
        el("title", title),
        el("desc", description) if description else None,
        drawn,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=title,
        class_="plot",
        preserveAspectRatio="none",
    )


def _share(value: float) -> float:
    return round(100 * max(0.0, min(value, 1.0)), 1)


LEFT: Final = 96
RIGHT: Final = WIDTH - 16
TOP: Final = 10
LANES: Final = {"prompt": 24, "work": 66, "pressure": 158, "checkpoint": 186, "brief": 212}
HEIGHT: Final = 254
FOOT: Final = 24
"""The space below the lanes, for the times."""
TICK_DISTANCE: Final = 110
FINE_MS: Final = 3_600_000
"""A session that is shorter has the seconds at its axis if a minute would be there twice."""
COMPACTION: Final = "compaction"
TIP_CHARS: Final = 90
BUCKETS: Final = 140
CURVE_MOST: Final = 300
WORK_HIGH: Final = 30
PRESSURE_HIGH: Final = 68
IDLE_MS: Final = 120_000
"""A longer pause is drawn as long as this."""
_NAMES: Final = (
    ("prompt", "Prompts"),
    ("work", "Tool work"),
    ("pressure", "Pressure"),
    ("checkpoint", "Checkpoints"),
    ("brief", "Briefs"),
)


def timeline(
    view: TimelineView,
    capacity: int,
    chosen: str,
    link: Callable[[str], str],
    clock: Callable[[int], str],
    fine_clock: Callable[[int], str],
) -> Html:
    """The picture; what can be opened is a link. The clocks write the reader's time, one to the second."""
    times = [
        *(entry.at for entry in view.moments),
        *(entry.at for entry in view.work),
        *(entry.at for entry in view.counts),
    ]
    place = scale(times)
    description = f"{len(view.moments)} moments that can be opened, {len(view.work)} calls of tools"
    return el(
        "svg",
        el("title", "What happened in this session"),
        el("desc", description),
        _axis(times, place, clock, fine_clock),
        [_lane(name, label) for name, label in _NAMES],
        _work(view.work, place),
        _pressure(view.counts, capacity, place),
        [_failed(entry, chosen, place, link, clock) for entry in view.failures],
        # What is drawn later is pointed at first: a compaction reaches over all lanes.
        [
            _moment(entry, chosen, place, link, clock)
            for entry in sorted(view.moments, key=lambda entry: entry.kind != COMPACTION)
        ],
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="group",
        aria_label="Timeline",
        class_="timeline",
    )


def scale(times: Iterable[int]) -> Callable[[int], float]:
    """Where a time is drawn, given all that are; pauses are cut short."""
    known = sorted(set(times))
    places = [0]
    for before, after in pairwise(known):
        places.append(places[-1] + min(after - before, IDLE_MS))
    length = places[-1] or 1

    def place(at: int) -> float:
        number = max(0, bisect_right(known, at) - 1)
        return round(LEFT + (RIGHT - LEFT) * (places[number] if known else 0) / length, 1)

    return place


def _lane(name: str, label: str) -> Html:
    y = LANES[name]
    line = el("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="lane")
    return el("g", line, el("text", label, x=0, y=y + 4, class_="label"))


def _axis(
    times: Sequence[int],
    place: Callable[[int], float],
    clock: Callable[[int], str],
    fine_clock: Callable[[int], str],
) -> list[Html]:
    """Times at even distances; since pauses are cut short, each says the time of what is drawn above it."""
    ticks: list[tuple[float, int]] = []
    for at in sorted(set(times)):
        x = place(at)
        if not ticks or x - ticks[-1][0] >= TICK_DISTANCE:
            ticks.append((x, at))
    labels = [clock(at) for _, at in ticks]
    if len(set(labels)) < len(labels):
        is_short = ticks[-1][1] - ticks[0][1] < FINE_MS
        labels = [
            fine_clock(at) if is_short or labels.count(label) > 1 else label
            for label, (_, at) in zip(labels, ticks, strict=True)
        ]
    return [
        el(
            "g",
            el("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - FOOT, class_="tick"),
            el("text", label, x=x, y=HEIGHT - 6, text_anchor=_anchor(x), class_="label"),
        )
        for (x, _), label in zip(ticks, labels, strict=True)
    ]


def _anchor(x: float) -> str:
    return "start" if x < LEFT + TICK_DISTANCE / 2 else "end" if x > RIGHT - TICK_DISTANCE / 2 else "middle"


def _failed(
    failed: FailedCall,
    chosen: str,
    place: Callable[[int], float],
    link: Callable[[str], str],
    clock: Callable[[int], str],
) -> Html:
    x, y = place(failed.at), LANES["work"] + 8
    return el(
        "a",
        el("path", d=f"M{x - 4} {y - 4}l8 8m0-8l-8 8"),
        el("rect", x=x - 6, y=y - 6, width=12, height=12, class_="reach"),
        href=link(failed.id),
        class_="moment failure",
        aria_label=f"failure, {clock(failed.at)}: {failed.subject[:TIP_CHARS]}: {failed.error[:TIP_CHARS]}",
        aria_current="true" if failed.id == chosen else None,
    )


def _work(work: Sequence[WorkDone], place: Callable[[int], float]) -> Html:
    """The number of tool calls by interval, with failed ones on top."""
    step = (RIGHT - LEFT) / BUCKETS
    done, failed = [0] * (BUCKETS + 1), [0] * (BUCKETS + 1)
    for call in work:
        bucket = int((place(call.at) - LEFT) / step)
        (failed if call.ok is False else done)[bucket] += 1
    most = max((a + b for a, b in zip(done, failed, strict=True)), default=0) or 1
    fine, wrong = "", ""
    for number, (well, badly) in enumerate(zip(done, failed, strict=True)):
        x, high, low = LEFT + number * step, well / most * WORK_HIGH, badly / most * WORK_HIGH
        fine += _bar(x, LANES["work"] - high, step, high) if well else ""
        wrong += _bar(x, LANES["work"] - high - low, step, low) if badly else ""
    # All bars of a kind are one shape: otherwise a browser would lay out hundreds of elements.
    return el("g", el("path", d=fine, class_="done"), el("path", d=wrong, class_="failed"))


def _bar(x: float, y: float, width: float, height: float) -> str:
    wide = round(width - 1, 1)
    return f"M{round(x, 1)} {round(y, 1)}h{wide}v{round(height, 1)}h-{wide}z"


def _pressure(counts: Sequence[TokenCount], capacity: int, place: Callable[[int], float]) -> Html | None:
    if not counts:
        return None
    every = max(1, len(counts) // CURVE_MOST)
    chosen = [*counts[::every], counts[-1]]
    floor = LANES["pressure"]
    points = [
        (place(count.at), floor - min(count.tokens / capacity, 1.0) * PRESSURE_HIGH) for count in chosen
    ]
    line = " ".join(f"{x},{round(y, 1)}" for x, y in points)
    area = f"{points[0][0]},{floor} {line} {points[-1][0]},{floor}"
    top = floor - PRESSURE_HIGH
    return el(
        "g",
        el("line", x1=LEFT, x2=RIGHT, y1=top, y2=top, class_="limit"),
        el("polygon", points=area, class_="area"),
        el("polyline", points=line, class_="curve"),
    )


def _moment(
    moment: Moment,
    chosen: str,
    place: Callable[[int], float],
    link: Callable[[str], str],
    clock: Callable[[int], str],
) -> Html:
    # The script shows the label when the link is pointed at or focused.
    return el(
        "a",
        _sign(moment.kind, place(moment.at)),
        href=link(moment.id),
        class_=f"moment {moment.kind}",
        aria_label=f"{moment.kind}, {clock(moment.at)}: {moment.title}",
        aria_current="true" if moment.id == chosen else None,
    )


def _sign(kind: str, x: float) -> Html:
    if kind == COMPACTION:
        return el(
            "g",
            el("line", x1=x, x2=x, y1=8, y2=HEIGHT - FOOT - 8),
            el("rect", x=x - 5, y=4, width=10, height=HEIGHT - FOOT - 8, class_="reach"),
        )
    y = LANES.get(kind, LANES["prompt"])
    if kind == "checkpoint":
        return el("rect", x=x - 5, y=y - 5, width=10, height=10, rx=2)
    if kind == "brief":
        return el("path", d=f"M{x} {y - 7}l6 7-6 7-6-7z")
    return el("circle", cx=x, cy=y, r=5)
