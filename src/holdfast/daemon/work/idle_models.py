"""Models that are loaded on first use, and dropped when nothing has used them for a while.

The token counter takes 44 MB and is needed when a window is about to reach a threshold: a few times a day.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class IdleModel(Generic[T]):
    """Gives a model, loaded again if it was dropped."""

    def __init__(self, load: Callable[[], T], clock: Callable[[], float]) -> None:
        self._load = load
        self._clock = clock
        self._used_at = 0.0
        self._loaded: tuple[T] | None = None

    def __call__(self) -> T:
        """The model, which counts as used now."""
        self._used_at = self._clock()
        loaded = self._loaded or (self._load(),)
        self._loaded = loaded
        return loaded[0]

    def drop_unused(self, seconds: float) -> bool:
        """Drop the model if it was not used for so long; whether it was dropped."""
        if self._loaded is None or self._clock() - self._used_at < seconds:
            return False
        self._loaded = None
        return True


def return_memory() -> None:
    """Return memory that was freed to the system; glibc keeps it otherwise."""
    import ctypes  # for the few times a day that this is called, not for the daemon's whole life

    gc.collect()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)
