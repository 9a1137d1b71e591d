"""Limits: how often who may ask for what, by the token they come with and the route they take.

Each has a store of turns that fills up again as time passes. Whoever has none left is told when to come back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """So many turns a second, and at most so many saved up."""

    per_second: float
    burst: int


LOOKING: Final = Rate(30, 300)
CHANGING: Final = Rate(5, 60)
SEARCHING: Final = Rate(10, 60)
LETTERS: Final = Rate(100, 1_000)
_BY_PREFIX: Final = (
    ("/api/hooks", LETTERS),
    ("/mcp", LETTERS),
    ("/api/memories/search", SEARCHING),
    ("/api/audit", Rate(1, 10)),
)
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
KEPT: Final = 1_000
"""Of more routes than this the first is forgotten: there are not so many that lead anywhere."""


class Limits:
    """How many turns each has left."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` tells seconds, from any moment on."""
        self._clock = clock
        self._left: dict[tuple[str, str], tuple[float, float]] = {}

    def wait(self, holder: str, method: str, path: str) -> int:
        """In how many seconds the holder may ask this; 0 for now, which takes a turn."""
        route, rate = _route(method, path)
        now = self._clock()
        left, since = self._left.pop((holder, route), (float(rate.burst), now))
        left = min(float(rate.burst), left + (now - since) * rate.per_second)
        wait = 0 if left >= 1 else math.ceil((1 - left) / rate.per_second)
        self._left[holder, route] = (left if wait else left - 1, now)
        if len(self._left) > KEPT:
            self._left.pop(next(iter(self._left)))
        return wait


def _route(method: str, path: str) -> tuple[str, Rate]:
    """By what a request is counted, and how often it may come."""
    for prefix, rate in _BY_PREFIX:
        if path == prefix or path.startswith(f"{prefix}/"):
            return prefix, rate
    place = "/".join(path.split("/", 3)[:3])
    return (place, LOOKING) if method in SAFE else (f"change {place}", CHANGING)
