"""What the commands have in common: how one is declared, and the options that mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import click

Option: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]


def command(example: str, *more: str) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command; its docstring is the help, with the examples below."""
    # After \b click leaves the lines as they are.
    lines = "\n".join(f"  {line}" for line in (example, *more))
    return click.command(epilog=f"\b\nExamples:\n{lines}")


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
