"""What the commands have in common: how one is declared, and the options that mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import click

from holdfast.errors import HoldfastError

Option: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]


def command(
    example: str, *more: str, passes_on: bool = False
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command; its docstring is the help, with the examples below.

    One that passes words on to another program leaves all behind its first argument to that.
    """
    # After \b click leaves the lines as they are.
    lines = "\n".join(f"  {line}" for line in (example, *more))
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False} if passes_on else {}
    return click.command(epilog=f"\b\nExamples:\n{lines}", context_settings=settings)


def json_option(says: str = "Print one JSON document.") -> Option:
    """`--json`, given as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=says)


def project_option() -> Option:
    """`--project DIR`, given as a path or None."""
    says = "The project's directory; without it, the one you are in."
    return click.option("--project", type=click.Path(path_type=Path), metavar="DIR", help=says)


def limit_option(default: int) -> Option:
    """`--limit N`."""
    says = "At most so many."
    least_one = click.IntRange(min=1)
    return click.option("--limit", default=default, show_default=True, type=least_one, metavar="N", help=says)


def moment(date: str) -> int:
    """A date that a person typed, as milliseconds since 1970; without a time it is its first moment here."""
    try:
        return round(datetime.fromisoformat(date).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        raise HoldfastError(f"`{date}` is no date", "write it like 2026-01-31 or 2026-01-31T18:30") from None
