"""Hook times: how long hook events waited for the daemon's answer, counted by day.

The daemon notes them now and then, so a few are lost if it is killed. The start of the hook's own process is
not in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final

import msgspec

from holdfast.core.events.durations import DAY_MS
from holdfast.stores.base import Store

_FACT: Final = "hook_times/{}"
BOUNDS: Final = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000)
"""Upper bounds in milliseconds of the ranges that are counted; longer times are in one more."""


class HookTimes(msgspec.Struct, frozen=True):
    """How many hook events were answered within each bound, and the sum of their times in milliseconds."""

    counts: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)
    total: int = 0

    @property
    def events(self) -> int:
        """How many hook events there were."""
        return sum(self.counts)

    def percentile(self, share: float) -> int | None:
        """The bound within which this share was answered; None if none was, or if it took longer than all."""
        least = share * self.events
        reached = zip(BOUNDS, accumulate(self.counts), strict=False)
        return next((bound for bound, count in reached if count >= least), None) if self.events else None

    def __add__(self, other: HookTimes) -> HookTimes:
        counts = tuple(one + more for one, more in zip(self.counts, other.counts, strict=True))
        return HookTimes(counts, self.total + other.total)


def times_of(milliseconds: Iterable[float]) -> HookTimes:
    """These times, counted."""
    counts, total = [0] * (len(BOUNDS) + 1), 0.0
    for time in milliseconds:
        place = next((place for place, bound in enumerate(BOUNDS) if time <= bound), len(BOUNDS))
        counts[place] += 1
        total += time
    return HookTimes(tuple(counts), round(total))


def note_hook_times(store: Store, at: int, milliseconds: Iterable[float]) -> None:
    """Add these times to those of their day."""
    with store.writing():
        added = _of_day(store, at) + times_of(milliseconds)
        store.put_fact(_FACT.format(_date(at)), msgspec.json.encode(added).decode())


def hook_times(store: Store, at: int, days: int) -> HookTimes:
    """The times of the last days up to that time together."""
    return sum((_of_day(store, at - number * DAY_MS) for number in range(days)), HookTimes())


def _of_day(store: Store, at: int) -> HookTimes:
    noted = store.fact(_FACT.format(_date(at)))
    times = msgspec.json.decode(noted, type=HookTimes) if noted else HookTimes()
    # Another version may have counted in other ranges.
    return times if len(times.counts) == len(BOUNDS) + 1 else HookTimes()


def _date(at: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)).date().isoformat()
