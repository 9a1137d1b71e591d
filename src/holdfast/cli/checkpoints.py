"""Checkpoints: those that were taken, the newest first."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli import access
from holdfast.cli.options import command, json_option, limit_option, project_option
from holdfast.cli.printing import give_json, give_table, say
from holdfast.core.checkpoint import Checkpoint, gist
from holdfast.core.defang import printable
from holdfast.core.redact import redact
from holdfast.core.text import elapsed, one_line, shortened
from holdfast.engine.rows import checkpoint_row, given
from holdfast.stores.base import Within

SEARCHED = 100_000
"""More than any store keeps: a search chooses first and limits afterwards."""


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
    with access.opened_desk() as desk:
        if session:
            key = access.session_named(desk.store, session).key
            found = desk.store.checkpoints_of_session(key, SEARCHED)
        elif everywhere:
            found = desk.store.checkpoints(SEARCHED)
        else:
            found = desk.store.checkpoints_of_project(access.project_at(project).project_id, SEARCHED)
        if words := search.split():
            within = Within(tuple({each.project_id for each in found}), kinds=("checkpoint", "digest"))
            hits = {hit.id for hit in desk.store.search(words, within, SEARCHED)}
            found = [each for each in found if each.id in hits]
    found = found[:limit]
    if as_json:
        give_json(given([checkpoint_row(each) for each in found], redact))
    elif found:
        _print(found)
    else:
        say("there are no such checkpoints; `--all` looks in every project")


def _print(found: list[Checkpoint]) -> None:
    now = access.now()
    give_table(
        ("age", "trigger", "session", "prompts", "project", "digest"),
        [
            (
                elapsed(now - each.created_at),
                each.trigger,
                each.session[:8],
                str(each.prompt_count),
                each.project,
                # What is hidden goes first: it could stand in the middle of a secret.
                shortened(one_line(redact(printable(gist(each.words or each.digest)))), 80),
            )
            for each in found
        ],
    )
