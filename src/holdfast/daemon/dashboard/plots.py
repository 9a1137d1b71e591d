"""Plots in SVG, each with its numbers as text for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.daemon.dashboard.html import Html, el
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
