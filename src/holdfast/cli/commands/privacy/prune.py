"""Prune: remove what has served its time, or say what would go."""

from __future__ import annotations

import os

import click

from holdfast import config
from holdfast.cli import access
from holdfast.cli.options import command
from holdfast.cli.printing import give, working
from holdfast.engine.upkeep.maintain import prune_all, would_prune


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
    # What is pending is too young to go, and a daemon that was started to take it in would prune as well.
    with access.stored_engine() as engine, working("pruning"):
        pruned = (would_prune if dry_run else prune_all)(engine, days, settings.records)
    verb = "would be removed" if dry_run else "removed"
    counts = f"{pruned.checkpoints} checkpoints, {pruned.sessions} sessions and {pruned.passages} passages"
    give(f"{counts} {verb}")
