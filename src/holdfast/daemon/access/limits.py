"""Rate limits by key and route.

Each pair has a token bucket that refills over time. A request that finds it empty is told when to come back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """The size of a bucket, and how fast it refills."""

    per_second: float
    burst: int


LOOKING: Final = Rate(30, 300)
CHANGING: Final = Rate(5, 60)
SEARCHING: Final = Rate(10, 60)
HOOK_EVENTS: Final = Rate(100, 1_000)
_BY_PREFIX: Final = (
    ("/api/hooks", HOOK_EVENTS),
    ("/mcp", HOOK_EVENTS),
    ("/api/memories/search", SEARCHING),
    ("/api/audit", Rate(1, 10)),
)
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
KEPT: Final = 1_000
"""The most buckets that are held; beyond that the oldest is dropped."""


class Limits:
    """The buckets of all keys and routes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` returns seconds from any starting point."""
        self._clock = clock
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}

    def wait(self, holder: str, method: str, path: str) -> int:
        """In how many seconds the holder may ask this; 0 for now, which counts as a request."""
        route, rate = _route(method, path)
        now = self._clock()
        tokens, since = self._buckets.pop((holder, route), (float(rate.burst), now))
        tokens = min(float(rate.burst), tokens + (now - since) * rate.per_second)
        wait = 0 if tokens >= 1 else math.ceil((1 - tokens) / rate.per_second)
        self._buckets[holder, route] = (tokens if wait else tokens - 1, now)
        if len(self._buckets) > KEPT:
            self._buckets.pop(next(iter(self._buckets)))
        return wait


def _route(method: str, path: str) -> tuple[str, Rate]:
    """The name under which a request is counted, and its rate."""
    for prefix, rate in _BY_PREFIX:
        if path == prefix or path.startswith(f"{prefix}/"):
            return prefix, rate
    place = "/".join(path.split("/", 3)[:3])
    return (place, LOOKING) if method in SAFE else (f"change {place}", CHANGING)
