"""Prune: remove what has served its time, or say what would go."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, cast

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.options import command
from holdfast.cli.printing import give, working
from holdfast.engine.maintain import prune as prune_store
from holdfast.engine.maintain import prune_records
from holdfast.stores.base import Store

ALL_AT_ONCE = 1 << 40


@command("holdfast prune --dry-run", "holdfast prune --days 3")
@click.option("--days", type=click.IntRange(min=0), metavar="N", help="Keep so many days; else as set.")
@click.option("--dry-run", is_flag=True, help="Only say how much would go.")
def prune(*, days: int | None, dry_run: bool) -> None:
    """Remove what has served its time.

    The daemon does this by itself every hour. The newest checkpoint of each session is kept for 90 days, and
    what was said in a session as long as `records.retention_days` and `records.max_mb` say.
    """
    settings = config.load(access.home(), None, None, os.environ).config
    config.require_protection(settings)  # How long things are to be kept stands in the same files.
    days = settings.continuity.retention_days if days is None else days
    with access.opened_desk() as desk, working("pruning"):
        rehearsal = replace(desk, store=cast("Store", _Undoing(desk.store)))
        pruned = prune_store(rehearsal if dry_run else desk, days)
        if dry_run:
            passages = prune_records(rehearsal, settings.records, ALL_AT_ONCE)
        else:
            passages = sum(iter(lambda: prune_records(desk, settings.records), 0))
    verb = "would be removed" if dry_run else "removed"
    give(f"{pruned.checkpoints} checkpoints, {pruned.sessions} sessions and {passages} passages {verb}")


class _Undo(Exception):
    """The way out of a transaction that is not to be kept."""


class _Undoing:
    """A store that does what it is told and then undoes it, so that a rehearsal counts by the same rules."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @contextmanager
    def writing(self) -> Generator[None]:
        with suppress(_Undo), self._store.writing():
            yield
            raise _Undo

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - everything else is the store's own
        return getattr(self._store, name)
