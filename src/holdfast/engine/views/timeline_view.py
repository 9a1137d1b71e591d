"""Timeline view: a session's prompts, tool calls, token counts, checkpoints, compactions and briefs.

Only times, and a title where an entry can be opened. `timeline` has the details.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.events.event import (
    MAIN,
    Compacted,
    Event,
    Origin,
    Prompt,
    Replied,
    ToolCalled,
    ToolReturned,
    Usage,
)
from holdfast.engine.engine import Engine
from holdfast.engine.views import timeline
from holdfast.engine.views.timeline import Point
from holdfast.lazy_dataclass import dataclass

EVENTS_MOST: Final = 5_000
OPENED_MOST: Final = 120
"""How many entries of a kind can be opened from the picture; there is no room for more."""
SHORT: Final = 60


@dataclass(frozen=True, slots=True)
class Moment:
    """An entry that can be opened."""

    at: int
    id: str
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Done:
    """A tool call, and whether it succeeded; None if unknown."""

    at: int
    ok: bool | None


@dataclass(frozen=True, slots=True)
class Counted:
    """How many tokens the window held."""

    at: int
    tokens: int


@dataclass(frozen=True, slots=True)
class TimelineView:
    """The whole timeline, oldest first."""

    moments: tuple[Moment, ...]
    work: tuple[Done, ...]
    counts: tuple[Counted, ...]
    left_out: int
    """How many earlier events it leaves out."""


def story(engine: Engine, session: str) -> TimelineView:
    """The timeline view of a session, or of its last part."""
    events = engine.store.events(session, EVENTS_MOST + 1)
    shown_events = events[-EVENTS_MOST:]
    points = [
        *_opened([timeline.of_event(one) for one in shown_events if _is_prompt(one)]),
        *_opened(_compactions(shown_events)),
        *_opened(
            [timeline.of_checkpoint(one) for one in engine.store.checkpoints_of_session(session, OPENED_MOST)]
        ),
        *_opened([timeline.of_receipt(one) for one in engine.store.receipts(session, OPENED_MOST)]),
    ]
    return TimelineView(
        tuple(sorted(points, key=lambda point: (point.at, point.id))),
        tuple(_work(shown_events)),
        tuple(
            Counted(one.at, one.sent + one.output)
            for one in shown_events
            if isinstance(one, Usage) and one.agent == MAIN
        ),
        max(0, len(events) - EVENTS_MOST),
    )


def _is_prompt(event: Event) -> bool:
    return isinstance(event, Prompt | Replied) and event.origin is Origin.HUMAN and event.agent == MAIN


def _compactions(events: list[Event]) -> list[Point]:
    """One point for each compaction, whose several signs come within seconds of each other."""
    points: list[Point] = []
    for event in events:
        if isinstance(event, Compacted) and (not points or event.at - points[-1].at > _SAME_MS):
            points.append(timeline.of_event(event))
    return points


def _work(events: list[Event]) -> list[Done]:
    outcomes = {one.call: one.ok for one in events if isinstance(one, ToolReturned)}
    return [Done(one.at, outcomes.get(one.call)) for one in events if isinstance(one, ToolCalled)]


def _opened(points: list[Point]) -> list[Moment]:
    latest = sorted(points, key=lambda point: (point.at, point.id))[-OPENED_MOST:]
    return [Moment(one.at, one.id, one.kind, one.title[:SHORT]) for one in latest]


_SAME_MS: Final = 120_000
