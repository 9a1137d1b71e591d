"""Estimates: how far the estimated size of a request is from what the harness then counted.

For every request but the first of a window: the last count plus what came in since, counted here, against the
count of the request itself. What a transcript does not hold (images, what the harness adds) cannot be
estimated; it is part of the error.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence

from holdfast.core.events.event import (
    MAIN,
    Compacted,
    Event,
    Origin,
    Prompt,
    SessionEnded,
    ToolReturned,
    Usage,
)
from holdfast.core.session.pressure import KnownModel, factor_of, family_of
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Count

WITHIN = 0.1
TELLING = 300
"""Counted tokens that must have come in for a request to say anything about the factor."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One request: its estimated and its true size, and how much of it was new."""

    harness: str
    family: str
    foretold: int
    counted: int
    new_foretold: int
    """By the counter, without the factor."""
    new_counted: int

    @property
    def error(self) -> float:
        """The relative error; positive if the estimate was too large."""
        return self.foretold / self.counted - 1


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of estimates of one kind, as shares of the true counts."""

    requests: int
    within: float
    """The share of requests that were off by at most a tenth."""
    median: float
    mean: float
    """The mean of the absolute errors."""
    p90: float
    factor: float | None
    """How many tokens the model counted for each counted here, over requests with enough new text."""


def estimates(
    harness: str, events: Sequence[Event], models: Iterable[KnownModel], count: Count
) -> Iterator[Estimate]:
    """The estimated and true size of each request of a session."""
    models, last_size, last = tuple(models), 0, ""
    fresh: list[Prompt | ToolReturned] = []
    for event in events:
        if event.agent != MAIN:
            continue
        match event:
            case Usage() if event.record == last:
                # The same request again, with more of its answer.
                last_size = max(last_size, event.sent + event.output)
            case Usage() if event.sent:
                if last_size:
                    yield _estimate(harness, event, last_size, count(_texts(fresh)), models)
                last_size, last, fresh = event.sent + event.output, event.record, []
            case Compacted() | SessionEnded():
                last_size, fresh = 0, []
            case Prompt(origin=Origin.HUMAN) | ToolReturned():
                fresh.append(event)
            case _:
                pass


def _estimate(
    harness: str, usage: Usage, last_size: int, new: int, models: tuple[KnownModel, ...]
) -> Estimate:
    return Estimate(
        harness=harness,
        family=family_of(usage.model, models),
        foretold=last_size + int(new * factor_of(usage.model, models)),
        counted=usage.sent,
        new_foretold=new,
        new_counted=usage.sent - last_size,
    )


def errors(of: Sequence[Estimate]) -> Errors:
    """The errors of these estimates; there is at least one."""
    off = sorted(abs(one.error) for one in of)
    telling = [one for one in of if one.new_foretold >= TELLING and one.new_counted > 0]
    counted_here, counted_by_model = (
        sum(one.new_foretold for one in telling),
        sum(one.new_counted for one in telling),
    )
    return Errors(
        requests=len(of),
        within=sum(error <= WITHIN for error in off) / len(off),
        median=statistics.median(one.error for one in of),
        mean=statistics.fmean(off),
        p90=off[int(len(off) * 0.9)] if len(off) > 1 else off[0],
        factor=counted_by_model / counted_here if counted_here else None,
    )


def _texts(fresh: Iterable[Prompt | ToolReturned]) -> Iterator[str]:
    """The texts that came in; the stored part of a cut output is repeated to make up for the rest."""
    for event in fresh:
        whole = event.size if isinstance(event, ToolReturned) else 0
        times = whole / len(event.text) if whole and event.text else 1.0
        yield from [event.text] * int(times)
        yield event.text[: int(len(event.text) * (times % 1))]
