"""Lists of sessions and checkpoints, the newest first, and the work state of one session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from holdfast.cli import daemon_requests
from holdfast.cli.daemon_requests import ProjectChoice, current_view
from holdfast.cli.groups import Entry, ListingGroup
from holdfast.cli.options import command, json_option, limit_option, project_option
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.core.text.strings import elapsed


@command("holdfast sessions", "holdfast sessions --limit 3 --json", "holdfast sessions --scores --limit 100")
@limit_option(20)
@click.option("--scores", "with_scores", is_flag=True, help="How each went on from what was before it.")
@json_option()
def sessions(*, limit: int, with_scores: bool, as_json: bool) -> None:
    """List the sessions that were seen.

    With `--scores`: how much of its brief each session used; what it rediscovered, because a tool or a person
    had to bring back what was known before; how much was new; and how often it used what it recalled. Below,
    sessions that were given a brief beside those that were not.
    """
    if with_scores:
        _give_scores(limit, as_json=as_json)
        return
    rows = current_view("sessions", None, limit=limit)
    if as_json:
        give_json(rows)
    elif rows:
        _print_sessions(rows)
    else:
        say("no session was seen yet; `holdfast setup` connects a harness")


def _give_scores(limit: int, *, as_json: bool) -> None:
    from holdfast.cli.access import current_engine
    from holdfast.cli.commands.eval_mechanisms import give_scores, give_scores_as_json
    from holdfast.engine.evaluation.scoring import scores_of

    with current_engine() as engine:
        with working("scoring"):
            scores = list(scores_of(engine, engine.store.sessions(limit)))
        (give_scores_as_json if as_json else give_scores)(scores)


def _print_sessions(rows: Sequence[Mapping[str, Any]]) -> None:
    now = daemon_requests.now()
    give_table(
        (
            *("session", "title", "harness", "phase", "prompts", "windows", "full", "last event"),
            *("continues", "project"),
        ),
        [
            (
                row["session_key"],
                row["title"],
                row["harness"],
                "imported" if row["imported"] else row["phase"],
                str(row["prompt_count"]),
                str(row["windows"]),
                f"{row['percent']}%" if row["tokens"] else "",
                f"{elapsed(now - _moment(row['last_event_at']))} ago",
                f"{row['parent'][:8]} ({row['lineage']})" if row["parent"] else "",
                row["project"],
            )
            for row in rows
        ],
    )


@command("holdfast show", "holdfast show 3f2a", "holdfast show 3f2a --json")
@click.argument("key", metavar="[SESSION]", required=False, default="")
@project_option()
@json_option()
def show(*, key: str, project: Path | None, as_json: bool) -> None:
    """Show what was done in a session, and where it stands.

    Its goal, the user's rules, what is done, in progress and next, decisions, failures, open questions, and
    where the work is. By its key or how that begins; without one, the latest session of the project.
    """
    view = current_view("session_details" if as_json else "session_lines", ProjectChoice(project), key=key)
    if as_json:
        give_json(view)
        return
    age = elapsed(daemon_requests.now() - view["at"])
    say(f"{view['session']} ({view['harness']}, {view['project']}), last event {age} ago")
    give("\n\n".join((view["title"] or "(no title)", *_section_texts(view["sections"]))))
    if not view["sections"]:
        say("nothing is known of its work")
    if view["no_answer"]:
        say(f"note: no model wrote its handover: {view['no_answer']}")


def _section_texts(sections: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for title, lines in sections:
        yield "\n".join((title, *(f"- {line}" for line in lines)))


def _moment(iso: str) -> int:
    """Milliseconds since 1970."""
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


@command(
    "holdfast checkpoints",
    "holdfast checkpoints --all --limit 3 --json",
    "holdfast checkpoints --search 'migration index'",
    "holdfast checkpoints take --digest 'Parser done; next: the writer, tests first.'",
)
@click.option("--session", default="", metavar="KEY", help="Of this session only.")
@project_option()
@click.option("--all", "everywhere", is_flag=True, help="Of every project.")
@click.option("--search", default="", metavar="WORDS", help="Only those that hold any of the words.")
@limit_option(10)
@json_option("Print one JSON document, digests and all.")
def list_checkpoints(
    *, session: str, project: Path | None, everywhere: bool, search: str, limit: int, as_json: bool
) -> None:
    """List checkpoints, the newest first."""
    view = "checkpoints" if as_json else "checkpoint_lines"
    place = None if session or everywhere else ProjectChoice(project)
    rows = current_view(view, place, session=session, search=search, limit=limit)
    if as_json:
        give_json(rows)
    elif rows:
        _print_checkpoints(rows)
    else:
        say("there are no such checkpoints; `--all` looks in every project")


checkpoints = ListingGroup(
    list_checkpoints, {"take": Entry("checkpoint", "take", "Take a checkpoint of a session now.")}
)


def _print_checkpoints(rows: Sequence[Mapping[str, Any]]) -> None:
    now = daemon_requests.now()
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
    if failed := [row for row in rows if row["no_answer"]]:
        latest = failed[0]
        age, session = elapsed(now - latest["at"]), latest["session"][:8]
        say(f"note: no model wrote the checkpoint of {session}, {age} ago: {latest['no_answer']}")
