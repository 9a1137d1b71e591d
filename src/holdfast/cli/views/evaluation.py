"""How an evaluation is shown: means with their errors, and a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from holdfast.core.evaluation.survival import Mean

_T = TypeVar("_T")


def with_progress(things: Sequence[_T], doing: str) -> Iterable[_T]:
    """The same things, with a progress bar on a terminal."""
    if not sys.stderr.isatty():
        return things
    from rich.console import Console
    from rich.progress import track

    return track(things, f"{doing} …", console=Console(stderr=True), transient=True)


def flat(measures: Mapping[str, Mean]) -> dict[str, float | None]:
    """Each mean under its name, its standard error and count beside it."""
    numbers: dict[str, float | None] = {}
    for name, of in measures.items():
        numbers[name] = None if of.value is None else round(of.value, 4)
        numbers[f"{name}_se"] = None if of.error is None else round(of.error, 4)
        numbers[f"{name}_n"] = of.n
    return numbers


def cell(of: Mean, usual: int | None = None) -> str:
    """A mean for a table, with how many it is over where that is fewer than usual."""
    if of.value is None:
        return "–"
    error = "" if of.error is None else f" ± {of.error:.2f}"
    fewer = f" ({of.n})" if usual is not None and of.n != usual else ""
    return f"{of.value:.2f}{error}{fewer}"
