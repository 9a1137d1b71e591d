"""A progress bar on stderr, for work that may take longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE: Final = 1.0
"""Seconds after which the bar appears."""


@contextmanager
def progress_bar() -> Generator[Callable[[str, float], None]]:
    """What is yielded takes a step and how far it is, from 0 to 1; without a terminal it does nothing."""
    if not sys.stderr.isatty():
        yield lambda _stage, _part: None
        return
    with ExitStack() as until_over:
        bars: list[Progress] = []
        appears_at = time.monotonic() + PATIENCE

        def show(stage: str, part: float) -> None:
            if not bars and time.monotonic() < appears_at:
                return
            if not bars:
                bars.append(until_over.enter_context(_bars()))
                bars[0].add_task(stage, total=1.0)
            bars[0].update(bars[0].task_ids[0], description=stage, completed=part)

        yield show


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
