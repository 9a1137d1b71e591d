"""What commands share: how one is declared, and options that mean the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from holdfast.cli.groups import Commands
from holdfast.errors import HoldfastError

Option: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]

_SPAN: Final = re.compile(r"(?P<count>\d{1,6})(?P<unit>[mhdw])")
_UNITS: Final = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def command(
    example: str,
    *more: str,
    passes_on: bool = False,
    list_harnesses: Callable[[], Iterable[str]] | None = None,
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command; its docstring is the help, with the examples below.

    With `passes_on`, everything after the first argument is passed to another program. `list_harnesses` names
    those that the command is for, if it is not for all of them.
    """
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False} if passes_on else {}
    return click.command(
        cls=Command,
        epilog=_examples(example, *more),
        context_settings=settings,
        list_harnesses=list_harnesses,
    )


class Command(click.Command):
    """Names the harnesses below its examples, if one of these has a harness in it."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401 - they are passed on as they are
        list_harnesses: Callable[[], Iterable[str]] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*arguments, **options)
        self._list_harnesses = list_harnesses

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if "HARNESS" in (self.epilog or ""):
            # With the harnesses comes half of the package, which only the help needs.
            from holdfast.harnesses import readable

            known = (self._list_harnesses or readable)()
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(f"HARNESS is one of: {', '.join(known)}.")


def group(
    example: str, *more: str, name: str | None = None, says: str | None = None
) -> Callable[[Callable[..., None]], click.Group]:
    """Make a function a group of commands; its docstring, or another text, is the help, with the examples."""
    return click.group(name, cls=Commands, help=says, epilog=_examples(example, *more))


def _examples(*lines: str) -> str:
    # After \b click leaves the lines as they are.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def json_option(says: str = "Print one JSON document.") -> Option:
    """`--json`, given as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=says)


HERE: Final = "The project's directory, also a former one, or its id; without it, where you are."


def project_option(says: str = HERE) -> Option:
    """`--project DIR|ID`, given as a path or None."""
    return click.option("--project", type=click.Path(path_type=Path), metavar="DIR|ID", help=says)


def limit_option(default: int) -> Option:
    """`--limit N`."""
    says = "At most so many."
    least_one = click.IntRange(min=1)
    return click.option("--limit", default=default, show_default=True, type=least_one, metavar="N", help=says)


def moment(text: str, now: int) -> int:
    """The time that a text means, in milliseconds since 1970: a span before now, or a date (at midnight)."""
    span = _SPAN.fullmatch(text.strip().lower())
    if span:
        return now - int(span["count"]) * _UNITS[span["unit"]]
    try:
        return round(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        hint = "write it like 2026-01-31 or 2026-01-31T18:30, or so long ago like 7d or 12h"
        raise HoldfastError(f"`{text}` is no date", hint) from None


inherit_option = click.option(
    "--inherit",
    "take",
    is_flag=True,
    help="Take over the sessions that another program keeps here; its own stay as they are.",
)


def check_harness(name: str) -> None:
    """Refuse a name that no harness has; an empty one means all of them."""
    if name:
        # Only this option needs to know which harnesses there are.
        from holdfast import harnesses

        harnesses.reader(name)
