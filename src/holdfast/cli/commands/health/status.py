"""Status: the overview of what is connected, live and stored, problems first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli import daemon_requests
from holdfast.cli.daemon_requests import ProjectChoice, daemon_problem, environment, stored_view
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_folded, give_json, give_styled, short_path, working
from holdfast.cli.warning import where_stopped
from holdfast.core.session.reason_words import reason_words, trigger_words
from holdfast.core.text.strings import ago, elapsed, many, one_line
from holdfast.engine.liveness import rejected_hook_events, spooled_hook_events
from holdfast.errors import HoldfastError
from holdfast.stores.store_files import set_aside_stores

_LABEL_WIDTH: Final = 12
_STATES: Final = {
    "connected": "",
    "blocked": "waits for you: see above",
    "broken": "does not work: see above",
    "not connected": "not connected: `holdfast setup` connects it",
}
_EMPTY: Final[Mapping[str, Any]] = {
    "problems": [],
    "harnesses": [],
    "live": [],
    "last_checkpoint": None,
    "last_brief": None,
    "store": None,
    "hubs": [],
    "machine": None,
    "person": None,
    "project": None,
}


@command("holdfast status", "holdfast status --json")
@json_option(
    "Print one JSON document: {ok, problems, harnesses, live, last_checkpoint, last_brief, store, hubs, "
    "machine, person, project, running, home, spooled, rejected, stopped, set_aside}, and what a running "
    "daemon says of itself."
)
def status(*, as_json: bool) -> None:
    """Show how things stand: problems first.

    Then the harnesses that are connected, the sessions that are live now and how full their windows are, the
    last checkpoint and the last brief, the size of the store, how sharing with each hub stands, the name by
    which other machines know this project, this machine, and the daemon. Nothing is started or changed.
    The exit status is 0 if there is no problem, otherwise 1; `holdfast doctor` looks closer.
    """
    where = daemon_requests.home()
    with working("asking the daemon"):
        answer = daemon_requests.daemon_status(where)
    view = _overview(where)
    detail, fix = daemon_problem(where, answer)
    if detail:
        problem = {"check": "daemon", "ok": False, "detail": detail, "fix": fix, "mend": None}
        view["problems"] = [*view["problems"], problem]
    if as_json:
        give_json(_as_json(where, answer, view))
    else:
        _print(where, answer, view)
    click.get_current_context().exit(1 if view["problems"] else 0)


def _overview(where: Path) -> dict[str, Any]:
    """The overview; of a store that cannot be read, nothing but that."""
    try:
        return dict(stored_view("overview", ProjectChoice(None), environment=environment()))
    except HoldfastError as error:
        # Settings and the store are slow to load, and nobody waits for them while the daemon answers.
        from holdfast.engine.home_store import lost

        damage = lost(where)
        is_told = damage in error.message  # an empty text always is
        detail = error.message if is_told else f"{error.message}: {damage}"
        problem = {"check": "store", "ok": False, "detail": detail, "fix": error.hint, "mend": None}
        return {**_EMPTY, "problems": [problem]}


def _as_json(where: Path, answer: Mapping[str, Any] | None, view: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ok": not view["problems"],
        **view,
        "running": answer is not None,
        "home": str(where),
        **(answer or {}),
        "spooled": spooled_hook_events(where),
        "rejected": rejected_hook_events(where),
        "stopped": where_stopped(),
        "set_aside": [str(store.path) for store in set_aside_stores(where / "store.db")],
    }


def _print(where: Path, answer: Mapping[str, Any] | None, view: Mapping[str, Any]) -> None:
    problems: Sequence[Mapping[str, Any]] = view["problems"]
    if problems:
        give_styled(f"{many(len(problems), 'problem')}; `holdfast doctor` looks closer", "red")
    else:
        give_styled("no problem", "green")
    for problem in problems:
        give_folded("FAIL", "red", f"{problem['check']}: {one_line(problem['detail'])}")
        give_folded("    ", "", f"fix: {one_line(problem['fix'])}")
    give("")
    now = daemon_requests.now()
    lines = {
        "Harnesses": list(_harnesses(view["harnesses"], now)),
        "Live now": list(_live(view["live"], now)),
        "Checkpoint": list(_checkpoint(view["last_checkpoint"], now)),
        "Brief": list(_brief(view["last_brief"], now)),
        "Store": list(_store(view["store"])),
        "Hub": [f"{row['name']}: {row['detail']}" for row in view.get("hubs", ())],
        "Project": list(_project(view["project"])),
        "Machine": list(_machine(view["machine"], view["person"])),
        "Daemon": list(_daemon(where, answer, now)),
    }
    for label, texts in lines.items():
        for number, text in enumerate(texts):
            give_folded(f"{label if not number else '':{_LABEL_WIDTH}}", "bold", text)


def _harnesses(rows: Sequence[Mapping[str, Any]], now: int) -> Iterator[str]:
    for row in rows:
        if row["state"] == "not installed":
            continue
        known = "no session yet"
        if row["sessions"]:
            known = f"{many(row['sessions'], 'session')}, last event {_age(row['last_event_at'], now)}"
        yield f"{row['title']}: {_STATES[row['state']] or known}"
    missing = [row["title"] for row in rows if row["state"] == "not installed"]
    if missing:
        yield f"not installed: {', '.join(missing)}"


def _live(rows: Sequence[Mapping[str, Any]], now: int) -> Iterator[str]:
    if not rows:
        yield "no session"
    for row in rows:
        full = f"{row['percent']}% full" if row["tokens"] else "pressure unknown"
        title = f"{row['title'] or 'untitled'} ({row['short_id']})"
        yield f"{title} · {short_path(row['project'])} · {full} · {_age(row['last_event_at'], now)}"


def _checkpoint(row: Mapping[str, Any] | None, now: int) -> Iterator[str]:
    if row is None:
        yield "none yet"
        return
    yield f"{_age(row['created_at'], now)} ({trigger_words(row['trigger'])}): {row['title'] or 'untitled'}"


def _brief(row: Mapping[str, Any] | None, now: int) -> Iterator[str]:
    if row is None:
        yield "none was given yet"
        return
    reason = reason_words(row["reason"])
    yield f"{_age(row['created_at'], now)}, {reason}: {row['title'] or 'untitled'}"


def _store(row: Mapping[str, Any] | None) -> Iterator[str]:
    if row is None:
        yield "cannot be read"
        return
    parts = (
        many(row["sessions"], "session"),
        many(row["checkpoints"], "checkpoint"),
        many(row["memories"], "memory", "memories"),
    )
    yield f"{row['bytes'] / 1e6:,.1f} MB: {', '.join(parts)}"


def _project(row: Mapping[str, Any] | None) -> Iterator[str]:
    if row is None:
        return
    former = f" (was {', '.join(row['former_shared_names'])})" if row["former_shared_names"] else ""
    name = row["shared_name"]
    yield f"{name}{former}" if name else "known on this machine only: it has no remote"


def _machine(row: Mapping[str, Any] | None, person: str | None) -> Iterator[str]:
    if row is not None:
        yield f"{row['name']}, used by {person}"


def _daemon(where: Path, answer: Mapping[str, Any] | None, now: int) -> Iterator[str]:
    if answer is not None:
        age = elapsed(now - answer["started_at"]) if answer["started_at"] else "a moment"
        yield f"running for {age}, process {answer['pid']}, version {answer['version']}"
    elif daemon_problem(where, answer)[0]:
        yield "does not answer"
    else:
        yield "not running; the next hook or `holdfast up` starts it"
    if waiting := spooled_hook_events(where):
        yield f"{many(waiting, 'hook event')} waiting for it in the spool"
    yield f"home {short_path(str(where))}"


def _age(at: str, now: int) -> str:
    moment = round(datetime.fromisoformat(at).timestamp() * 1000)
    return ago(now - moment)
