"""The contracts of the models: what each kind is asked, and what it answers.

A model that cannot answer says so; that it was asked is never the reason why something else fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

Vector: TypeAlias = tuple[float, ...]
"""Where a text points, at length one; empty where it says nothing that the model knows."""


class Embedder(Protocol):
    """Compares texts by what they mean. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Which model it is. Vectors can be compared only with those of the same name."""
        ...

    @property
    def dimensions(self) -> int:
        """How long its vectors are."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Where each text points; two that mean the same have a dot product near one."""
        ...

    def nearness(self, words: Sequence[str], texts: Sequence[str]) -> list[float]:
        """How much of these words each text says, in the same words or in like ones, from 0 to 1.

        Finer than a vector, which is the average of all that a text says, and made from the text itself: so
        it is for the few texts that a search has found.
        """
        ...
