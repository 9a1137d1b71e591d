"""Checkpoints: those that were taken, the newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from holdfast.cli import running
from holdfast.cli.daemon_view import Place, current_view
from holdfast.cli.options import command, json_option, limit_option, project_option
from holdfast.cli.printing import give_json, give_table, say
from holdfast.core.text.strings import elapsed


@command(
    "holdfast checkpoints",
    "holdfast checkpoints --all --limit 3 --json",
    "holdfast checkpoints --search 'migration index'",
)
@click.option("--session", default="", metavar="KEY", help="Of this session only.")
@project_option()
@click.option("--all", "everywhere", is_flag=True, help="Of every project.")
@click.option("--search", default="", metavar="WORDS", help="Only those that hold any of the words.")
@limit_option(10)
@json_option("Print one JSON document, digests and all.")
def checkpoints(
    *, session: str, project: Path | None, everywhere: bool, search: str, limit: int, as_json: bool
) -> None:
    """List checkpoints, the newest first."""
    view = "checkpoints" if as_json else "checkpoint_lines"
    place = None if session or everywhere else Place(project)
    rows = current_view(view, place, session=session, search=search, limit=limit)
    if as_json:
        give_json(rows)
    elif rows:
        _print(rows)
    else:
        say("there are no such checkpoints; `--all` looks in every project")


def _print(rows: Sequence[Mapping[str, Any]]) -> None:
    now = running.now()
    give_table(
        ("age", "trigger", "session", "prompts", "project", "digest"),
        [
            (
                elapsed(now - row["at"]),
                row["trigger"],
                row["session"][:8],
                str(row["prompts"]),
                row["project"],
                row["digest"],
            )
            for row in rows
        ],
    )
