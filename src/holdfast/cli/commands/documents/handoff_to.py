"""Gives a handoff to another harness: prints a text to paste, or starts the harness with it.

How a harness is started is defined in its own package.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NoReturn

import click

from holdfast import harnesses
from holdfast.cli.printing import give, say
from holdfast.core.documents.handoff import pickup_prompt
from holdfast.engine.documents.handoff import HandoffFile
from holdfast.errors import HoldfastError
from holdfast.harnesses.base import Opening
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Receiver:
    """The harness that a handoff goes to; `program` is where it is, empty if it is not to be started."""

    name: str
    title: str
    program: str = ""


def to_options(function: Callable[..., None]) -> Callable[..., None]:
    """--to and --start, given to the command as the `receiver` that they mean."""

    @wraps(function)
    def with_receiver(*, to: str, start: bool, **others: object) -> None:
        if start and others.get("as_json"):
            raise click.UsageError("--start and --json do not go together.")
        function(receiver=_receiver(to, start=start), **others)

    starts = click.option("--start", is_flag=True, help="Start the harness of --to with it, here.")
    prints = click.option(
        "--to", default="", metavar="HARNESS", help="Print what to paste into that harness."
    )
    return prints(starts(with_receiver))


def _receiver(to: str, *, start: bool) -> Receiver | None:
    """The harness that the options name; None if none. Errors are raised before anything is written."""
    if not to:
        if start:
            raise click.UsageError("--start needs --to HARNESS.")
        return None
    reader = harnesses.reader(to)
    if not start:
        return Receiver(reader.name, reader.title)
    harness = harnesses.get(to)
    program = shutil.which(harness.program)
    if program is None:
        raise HoldfastError(
            f"`{harness.program}` is not on your search path",
            f"install {harness.title}, or leave out `--start` and paste what is printed",
        )
    return Receiver(reader.name, reader.title, program)


def give_to(chosen: Receiver, file: HandoffFile, directory: Path | None) -> None:
    """Print what to paste, or become that harness."""
    text = pickup_prompt(file.text, file.name, str(file.path), chosen.title)
    if not chosen.program:
        give(text)
        return
    opening = harnesses.get(chosen.name).opening(text)
    say(f"handoff {file.path}: starting {chosen.title}")
    _become(chosen.program, opening, directory)


def _become(program: str, opening: Opening, directory: Path | None) -> NoReturn:
    """Replace this process by the program, in the project, without the surrounding session's variables."""
    words = opening.at_terminal if sys.stdin.isatty() and sys.stdout.isatty() else opening.alone
    sessions = {
        name
        for harness in map(harnesses.get, harnesses.names())
        for name in harness.carried
        if name.endswith("SESSION_ID")
    }
    environment = {name: value for name, value in os.environ.items() if name not in sessions}
    os.chdir(directory or Path.cwd())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(program, words, environment)  # noqa: S606 - the program that was named, found on the user's path
