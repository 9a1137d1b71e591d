"""Logs: the end of the daemon's log, and what is added to it while one watches."""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path
from typing import TextIO

import click

from holdfast.cli import access
from holdfast.cli.options import command
from holdfast.cli.printing import give, say

PAUSE = 0.25


@command("holdfast logs -n 20", "holdfast logs -f")
@click.option(
    "-n",
    "--lines",
    default=50,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="N",
    help="How many lines.",
)
@click.option("-f", "--follow", is_flag=True, help="Go on printing what is added, until Ctrl-C.")
def logs(*, lines: int, follow: bool) -> None:
    """Print the end of the daemon's log."""
    log = access.home() / "logs" / "daemon.log"
    if log.is_symlink() or not log.is_file():
        say(f"there is no log yet at {log}")
        return
    tail: int | None = lines
    while True:
        with log.open(encoding="utf-8", errors="replace") as file:
            for line in deque(file, maxlen=tail):
                give(line.rstrip("\n"))
            if not follow:
                return
            _print_until_rotated(log, file)
        tail = None


def _print_until_rotated(log: Path, file: TextIO) -> None:
    while True:
        # Asked first: what was written before the log was rotated is still printed.
        rotated = not _is_still(log, file)
        for line in file:
            give(line.rstrip("\n"))
        if rotated:
            return
        time.sleep(PAUSE)


def _is_still(log: Path, file: TextIO) -> bool:
    try:
        return os.path.samestat(log.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return True  # in the moment between the old log and the new one
