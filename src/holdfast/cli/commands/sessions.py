"""Lists of sessions and checkpoints, the newest first, and the work state of one session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli import daemon_requests
from holdfast.cli.daemon_requests import ProjectChoice, current_view
from holdfast.cli.groups import Entry, ListingGroup
from holdfast.cli.options import (
    check_harness,
    command,
    json_option,
    limit_option,
    moment,
    project_option,
)
from holdfast.cli.printing import (
    WIDEST,
    aligned,
    folded,
    give,
    give_ends,
    give_json,
    give_table,
    line_width,
    quoted,
    say,
    short_path,
    working,
)
from holdfast.core.session.reason_words import reason_words, trigger_words
from holdfast.core.text.strings import ago, one_line, quantity, shortened

EVERYTHING: Final = 100_000
"""More sessions than any store holds."""
NO_TITLE: Final = "(no title)"
ID_CHARS: Final = 8
PATH_MOST: Final = 28
PATH_LEAST: Final = 12
"""The range of characters in which a project's path is shown, to fit the terminal."""
PROMPT_CHARS: Final = 150
COMMAND_CHARS: Final = 64
LINES_MOST: Final = 12
"""How many lines of a list `show` prints; `--json` has all."""


@command(
    "holdfast sessions",
    "holdfast sessions --project . --since 7d",
    "holdfast sessions --search 'queue retries' --json",
    "holdfast sessions --machine laptop",
    "holdfast sessions --scores --limit 100",
)
@project_option("Only of this project: its directory, also a former one, or its id.")
@click.option("--harness", default="", metavar="HARNESS", help="Only of this harness.")
@click.option("--since", default="", metavar="7d|DATE", help="Only those with an event since then.")
@click.option("--search", default="", metavar="WORDS", help="Only those that say all of these words.")
@click.option("--machine", default="", metavar="NAME", help="Only those from this machine.")
@click.option("--person", default="", metavar="NAME", help="Only those of this person.")
@limit_option(20)
@click.option("--all", "everything", is_flag=True, help="However many there are.")
@click.option("--scores", "with_scores", is_flag=True, help="How each went on from what was before it.")
@json_option()
def sessions(  # noqa: PLR0913 - each is an option
    *,
    project: Path | None,
    harness: str,
    since: str,
    search: str,
    machine: str,
    person: str,
    limit: int,
    everything: bool,
    with_scores: bool,
    as_json: bool,
) -> None:
    """List the sessions that were seen.

    The latest first, each with its title and an id that other commands take: `holdfast show ID`. Those of
    your other machines are among them, with the name of the machine, where they are shared through a hub.

    With `--scores`: how much of its brief each session used; what it rediscovered, because a tool or a person
    had to bring back what was known before; how much was new; and how often it used what it recalled. Below,
    sessions that were given a brief beside those that were not.
    """
    check_harness(harness)
    limit = EVERYTHING if everything else limit
    if with_scores:
        _give_scores(limit, as_json=as_json)
        return
    rows = current_view(
        "sessions",
        ProjectChoice(project) if project else None,
        limit=limit + 1,
        harness=harness,
        since=moment(since, daemon_requests.now()) if since else 0,
        search=search,
        machine=machine,
        person=person,
    )
    if as_json:
        give_json(rows[:limit])
    elif rows:
        print_sessions(rows[:limit])
        if len(rows) > limit:
            say(f"there are more than {quantity(limit, 'session')}; `--all` lists them all")
    elif project or harness or since or search or machine or person:
        say("there are no such sessions; `holdfast sessions` lists all")
    else:
        say("no session was seen yet; `holdfast setup` connects a harness")


def _give_scores(limit: int, *, as_json: bool) -> None:
    from holdfast.cli.access import current_engine
    from holdfast.cli.commands.evaluation.mechanisms import SessionName, give_scores, give_scores_as_json
    from holdfast.core.session.session import title_of
    from holdfast.engine.evaluation.scoring import scores_of
    from holdfast.engine.ids import short_id
    from holdfast.stores.base import RowKind

    with current_engine() as engine:
        chosen = engine.store.sessions(limit)
        with working("scoring"):
            scores = list(scores_of(engine, chosen))
        names = {
            one.key: SessionName(short_id(engine.store, RowKind.SESSION, one.key), title_of(one))
            for one in chosen
        }
        (give_scores_as_json if as_json else give_scores)(scores, names)


def print_sessions(rows: Sequence[Mapping[str, Any]]) -> None:
    """Two lines for each session in a terminal, where one would be too long; a table anywhere else."""
    now, width = daemon_requests.now(), line_width()
    ages = [ago(now - _moment(row["last_event_at"])) for row in rows]
    is_shared = any(_where(row) for row in rows)
    if width is None:
        columns = (
            "title",
            "session",
            "harness",
            "project",
            "prompts",
            "windows",
            "full",
            "state",
            *(("where",) if is_shared else ()),
            "last event",
        )
        cells = [
            (row["title"] or NO_TITLE, *_facts(row), *((_where(row),) if is_shared else ()), age)
            for row, age in zip(rows, ages, strict=True)
        ]
        give_table(columns, cells, numbers=("prompts", "windows", "full"))
        return
    width = min(width, WIDEST)
    for row, age, line in zip(rows, ages, fact_lines(rows, width - 2), strict=True):
        give_ends(row["title"] or NO_TITLE, age, width)
        give(f"  {line}")


def fact_lines(rows: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    """The second line of each session; where it would be too wide, the project's path is shortened."""
    usual = [row for row in rows if len(row["short_id"]) <= ID_CHARS] or rows
    lines = aligned([_terminal_facts(row, PATH_MOST) for row in usual], numbers=(3, 4))
    path_chars = PATH_MOST
    if (excess := max(map(len, lines)) - width) > 0:
        longest = max(len(short_path(row["project"], PATH_MOST)) for row in usual)
        path_chars = max(longest - excess, PATH_LEAST)
        lines = aligned([_terminal_facts(row, path_chars) for row in usual], numbers=(3, 4))
    line_of = dict(zip((row["session_key"] for row in usual), lines, strict=True))
    # A few ids that need more characters do not narrow the columns of all others.
    return [
        line_of.get(row["session_key"]) or "  ".join(filter(None, _terminal_facts(row, PATH_LEAST)))
        for row in rows
    ]


def _terminal_facts(row: Mapping[str, Any], path_chars: int) -> tuple[str, ...]:
    windows = quantity(row["windows"], "window") if row["windows"] > 1 else ""
    is_live = row["phase"] == "live" and not row["imported"]
    full = f", {row['percent']}% full" if is_live and row["tokens"] else ""
    return (
        row["short_id"],
        row["harness"],
        short_path(row["project"], path_chars),
        quantity(row["prompt_count"], "prompt"),
        windows,
        f"{'imported' if row['imported'] else row['phase']}{full}",
        _where(row),
    )


def _where(row: Mapping[str, Any]) -> str:
    """The person and machine of a session from elsewhere; empty for one of this machine."""
    # A daemon of an earlier version says neither.
    return f"{row['person']} on {row['machine']}" if row.get("machine") else ""


def _facts(row: Mapping[str, Any]) -> tuple[str, str, str, str, str, str, str]:
    return (
        row["short_id"],
        row["harness"],
        short_path(row["project"]),
        str(row["prompt_count"]),
        str(row["windows"]),
        f"{row['percent']}%" if row["tokens"] else "",
        "imported" if row["imported"] else row["phase"],
    )


@command("holdfast show", "holdfast show 3f2a", "holdfast show 3f2a --json")
@click.argument("key", metavar="[SESSION]", required=False, default="")
@project_option()
@json_option()
def show(*, key: str, project: Path | None, as_json: bool) -> None:
    """Show what was done in a session, and where it stands.

    Its goal, the user's rules, what is done, in progress and next, decisions, failures, open questions, and
    where the work is; what was asked, the files and commands, its checkpoints, and the briefs that it was
    given and gave. By its id or how that begins; without one, the latest session of the project.
    """
    view = current_view("session_details", ProjectChoice(project), key=key)
    if as_json:
        give_json(view)
    else:
        _print_session(view)


def _print_session(view: Mapping[str, Any]) -> None:
    width = line_width()
    for line in _heading(view):
        give(folded(line, width))
    for title, lines in _parts(view):
        give(f"\n{title}")
        for line in lines:
            give(f"- {folded(one_line(line), width - 2 if width else None, '  ')}")
    if view["note"]:
        say(f"note: {view['note']}")
    if view["handover"] and view["handover"]["no_answer"]:
        say(f"note: no model wrote its handover: {view['handover']['no_answer']}")


def _heading(view: Mapping[str, Any]) -> Iterator[str]:
    """What the session is, in a few lines."""
    now = daemon_requests.now()
    started, last = _moment(view["started_at"]), _moment(view["last_event_at"])
    state = "imported" if view["imported"] else view["phase"]
    yield view["title"] or NO_TITLE
    facts = (view["short_id"], view["harness"], short_path(view["project"]), state, _where(view))
    yield " · ".join(filter(None, facts))
    windows = f", {view['windows']} windows" if view["windows"] > 1 else ""
    full = f", {view['percent']}% full" if view["tokens"] else ""
    yield (
        f"started {_local(started)}, last event {ago(now - last)}; "
        f"{quantity(view['prompt_count'], 'prompt')}{windows}{full}"
    )
    if view["shared_name"]:
        yield f"project {view['shared_name']} for other machines"
    if view["parent"]:
        yield f"continues {view['parent'][:ID_CHARS]} ({reason_words(view['lineage'])})"


def _parts(view: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The headings, each with its lines."""
    if not view["sections"]:
        yield "Work", ["nothing is known of it"]
    yield from ((section.capitalize(), lines) for section, lines in view["sections"].items())
    now = daemon_requests.now()
    prompts, changed = view["prompts"], [row for row in view["files"] if row["changed"]]
    parts = {
        _of("Prompts", prompts, view["prompt_count"]): [
            f"{shortened(row['text'], PROMPT_CHARS)}{_age(row, now)}" for row in prompts
        ],
        _of("Files", changed, len(changed), most=LINES_MOST): [
            _file_line(row) for row in changed[-LINES_MOST:]
        ],
        _of("Commands", view["commands"], len(view["commands"]), most=LINES_MOST): [
            _command_line(row) for row in view["commands"][-LINES_MOST:]
        ],
        _of("Checkpoints", view["checkpoints"], len(view["checkpoints"]), most=LINES_MOST): [
            f"{row['short_id']} {trigger_words(row['trigger'])}{_age(row, now, 'created_at')}: {row['gist']}"
            for row in view["checkpoints"][:LINES_MOST]
        ],
        "Briefs that it was given": [_brief_line(row, now, "predecessor") for row in view["briefs_received"]],
        "Briefs that it gave": [_brief_line(row, now, "session_key") for row in view["briefs_given"]],
    }
    yield from ((title, lines) for title, lines in parts.items() if lines)


def _of(title: str, rows: Sequence[object], known: int, most: int = 0) -> str:
    """The title of a list, with how many there are if it shows fewer."""
    shown = min(len(rows), most or len(rows))
    return f"{title} (the last {shown} of {known})" if shown < known else title


def _file_line(row: Mapping[str, Any]) -> str:
    renamed = f" to {short_path(row['renamed_to'])}" if row["renamed_to"] else ""
    times = f" ({row['times']} times)" if row["times"] > 1 else ""
    return f"{row['action']} {row['path']}{renamed}{times}"


def _command_line(row: Mapping[str, Any]) -> str:
    outcome = {True: "ok", False: "failed", None: "not finished"}[row["ok"]]
    reason = f": {row['reason']}" if row["reason"] and row["ok"] is False else ""
    return f"{outcome}: {shortened(row['command'], COMMAND_CHARS)}{reason}"


def _brief_line(row: Mapping[str, Any], now: int, other: str) -> str:
    title = row["predecessor_title"] if other == "predecessor" else row["title"]
    preposition = "from" if other == "predecessor" else "to"
    own = row["predecessor"] == row["session_key"]
    whose = (
        " about its own work"
        if own
        else f" {preposition} {row[other][:ID_CHARS]}{quoted(title)}"
        if row[other]
        else ""
    )
    facts = f"{row['short_id']} {reason_words(row['reason'])}{_age(row, now, 'created_at')}"
    return f"{facts}{whose}, {row['size']:,} characters"


def _age(row: Mapping[str, Any], now: int, field: str = "at") -> str:
    return f" ({ago(now - _moment(row[field]))})" if row[field] else ""


def _local(at: int) -> str:
    return datetime.fromtimestamp(at / 1000).astimezone().strftime("%d %b %Y %H:%M")


def _moment(iso: str) -> int:
    """Milliseconds since 1970."""
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


@command(
    "holdfast checkpoints",
    "holdfast checkpoints --all --limit 3 --json",
    "holdfast checkpoints --search 'migration index'",
    "holdfast checkpoints take --digest 'Parser done; next: the writer'",
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
    """The list, and why a model wrote no handover for the latest for which one was asked in vain."""
    print_checkpoint_list(rows)
    if failed := [row for row in rows if row["no_answer"]]:
        latest, age = failed[0], ago(daemon_requests.now() - failed[0]["at"])
        say(f"note: no model wrote the checkpoint of {latest['session']}, {age}: {latest['no_answer']}")


def print_checkpoint_list(rows: Sequence[Mapping[str, Any]]) -> None:
    """Two lines for each checkpoint in a terminal; a table anywhere else."""
    now, width = daemon_requests.now(), line_width()
    if width is None:
        cells = [
            (
                *(
                    row["title"] or NO_TITLE,
                    row["id"],
                    row["session"],
                    trigger_words(row["trigger"]),
                    str(row["prompts"]),
                ),
                *(ago(now - row["at"]), short_path(row["project"]), row["digest"]),
            )
            for row in rows
        ]
        columns = ("title", "checkpoint", "session", "trigger", "prompts", "age", "project", "digest")
        give_table(columns, cells, numbers=("prompts",))
        return
    facts = [
        (
            row["id"],
            trigger_words(row["trigger"]),
            quantity(row["prompts"], "prompt"),
            row["session"],
            short_path(row["project"]),
        )
        for row in rows
    ]
    for row, line in zip(rows, aligned(facts, numbers=(2,)), strict=True):
        own_words = "" if row["digest"].startswith("#") else row["digest"]
        title = row["title"] or own_words or NO_TITLE
        give_ends(title, ago(now - row["at"]), min(width, WIDEST))
        give(f"  {line}")
