"""Recall and expand: what was said before, two lines for each finding, and the whole text of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli import daemon_requests
from holdfast.cli.daemon_requests import ProjectChoice, environment, stored_view
from holdfast.cli.options import (
    check_harness,
    command,
    json_option,
    limit_option,
    moment,
    project_option,
)
from holdfast.cli.printing import give, give_json, give_marked, line_width, say
from holdfast.core.memory.excerpt import excerpt, matching_spans
from holdfast.core.memory.ranking import query_words
from holdfast.core.text.strings import ago, shortened
from holdfast.core.text.untrusted import printable
from holdfast.errors import HoldfastError

KINDS: Final = ("memory", "file", "checkpoint", "digest", "record", "handoff")
ID_CHARS: Final = 8
TITLE_LEAST: Final = 20
"""So much of a title is shown, however narrow the terminal is."""
UNLIMITED: Final = 1_000
"""The width where lines go to a pipe, whose reader wants them whole."""


@command(
    "holdfast recall 'which port does staging use'",
    "holdfast recall parse_hook --kind memory --since 7d --json",
    "holdfast recall 'old decision' --all --all-projects --limit 20",
    "holdfast recall retries --harness HARNESS --project DIR --since 2026-01-31",
)
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only these kinds.")
@click.option("--harness", default="", metavar="HARNESS", help="Only of sessions of this harness.")
@click.option("--person", default="", metavar="NAME", help="Only what this person said or shared.")
@click.option("--machine", default="", metavar="NAME", help="Only what is from this machine.")
@click.option("--since", default="", metavar="7d|DATE", help="Only what was said since then.")
@click.option("--all", "everything", is_flag=True, help="Also what a newer memory supersedes.")
@click.option("--all-projects", is_flag=True, help="Of every project; else of this one and your own.")
@click.option(
    "--surfacing",
    is_flag=True,
    help="With --json, an object: the hits, and as `querySurfacing` what is under review or the team's.",
)
@limit_option(10)
@project_option()
@json_option(
    "Print one JSON document: a list of {id, kind, score, text, at, age, source, person, machine, "
    "machine_id, session_key, worded, title}; what is not worded is merely near in meaning."
)
def recall(  # noqa: PLR0913 - each is an option
    *,
    words: tuple[str, ...],
    kinds: tuple[str, ...],
    harness: str,
    person: str,
    machine: str,
    since: str,
    everything: bool,
    all_projects: bool,
    surfacing: bool,
    limit: int,
    project: Path | None,
    as_json: bool,
) -> None:
    """Find what was remembered, written down or said before.

    Memories, memory files, checkpoints, digests and what past sessions said, by their words and by what they
    mean. For each, its id, the title of its session, where it comes from, its age and score (1 is the most),
    and the sentence that has most of the words. What is far weaker than the best is left out. `holdfast
    expand ID` shows the whole of one. What your team shared in this project is among them, with its author.
    """
    check_harness(harness)
    text = " ".join(words)
    query = {
        "text": text,
        "limit": limit,
        "kinds": kinds,
        "since": moment(since, daemon_requests.now()) if since else 0,
        "all_projects": all_projects,
        "include_superseded": everything,
        "harness": harness,
        "person": person,
        "machine": machine,
    }
    view = "findings" if as_json else "finding_lines"
    rows = stored_view(view, ProjectChoice(project), environment=environment(), query=query)
    if as_json:
        give_json({"hits": rows, "querySurfacing": _surfaced(project, text)} if surfacing else rows)
    elif rows:
        if not any(row["worded"] for row in rows):
            say("nothing says any of these words; this is nearest in meaning:")
        _print(rows, query_words(text))
    else:
        more = "try other words" if all_projects else "`--all-projects` looks in every project"
        say(f"nothing was found; {more}")


def _surfaced(project: Path | None, text: str) -> dict[str, Any]:
    from holdfast.cli import access
    from holdfast.cli.commands.documents.continuity import surfaced_as_json

    place = access.project_at(project)
    with access.stored_engine() as engine:
        return surfaced_as_json(engine, place, text)


def _print(rows: Sequence[Mapping[str, Any]], words: Sequence[str]) -> None:
    now, width = daemon_requests.now(), line_width()
    indent = " " * (ID_CHARS + 2)
    for row in rows:
        age = ago(now - row["at"]) if row["at"] else ""
        about = " · ".join(part for part in (_source(row), age, f"{row['score']:.2f}") if part)
        room = (width or UNLIMITED) - len(indent)
        title = shortened(row["title"], max(room - len(about) - 3, TITLE_LEAST)) if row["title"] else ""
        head = f"{title} · {about}" if title else about
        give(f"{row['id'][:ID_CHARS]:{ID_CHARS}}  {shortened(head, room)}")
        sentence = excerpt(printable(row["text"]), words, room)
        give_marked(indent, sentence, matching_spans(sentence, words))


def _source(row: Mapping[str, Any]) -> str:
    """Where a hit comes from; what was said in a session is the usual case, and goes without its kind."""
    kind, source = row["kind"], row["source"]
    return source if kind in source or kind == "record" else f"{kind}, {source}"


@command("holdfast expand 1f2e3d4c", "holdfast expand 1f2e3d4c --json")
@click.argument("id", metavar="ID")
@click.option("--all-projects", is_flag=True, help="Of whichever project.")
@project_option()
@json_option()
def expand(*, id: str, all_projects: bool, project: Path | None, as_json: bool) -> None:
    """Show the whole text of what `recall` found, by its id or how that begins."""
    from holdfast.cli import access
    from holdfast.cli.commands.memory import text_row
    from holdfast.core.redaction.redact import redact
    from holdfast.engine.memory import recall as recalling

    place = access.project_at(project)
    with access.stored_engine() as engine:
        finding = recalling.expand(engine, place, id, all_projects=all_projects)
    if finding is None:
        raise HoldfastError(
            f"nothing here has the id `{id}`",
            "`holdfast recall` shows ids; `--all-projects` also finds what is of another project",
        )
    if as_json:
        give_json(text_row(finding))
        return
    age = f", {ago(access.now() - finding.at)}" if finding.at else ""
    say(redact(f"{finding.kind} {finding.id}: {finding.source}{age}"))
    give(redact(finding.text))
