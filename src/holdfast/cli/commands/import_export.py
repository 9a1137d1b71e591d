"""Sessions in and out: import those of harnesses, inherit those of another program, export one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click

from holdfast import config, harnesses
from holdfast.cli import access
from holdfast.cli.options import command, json_option, moment
from holdfast.cli.printing import give, give_json, give_table, home_path, line_width, say, short_path, working
from holdfast.core.events.world import Project
from holdfast.core.text.strings import many
from holdfast.core.text.untrusted import printable
from holdfast.engine.agent_log.transfer import export as lines_of
from holdfast.engine.agent_log.transfer import inherit_all, not_inherited, own_key
from holdfast.engine.engine import Engine
from holdfast.engine.home_store import open_home_store
from holdfast.engine.ids import only_id
from holdfast.engine.recording.importing import (
    ImportableSession,
    ImportChoice,
    LeftOut,
    Survey,
    side_by_side,
    survey,
    take_in,
)
from holdfast.errors import Declined, HarnessUnknown, HoldfastError
from holdfast.files import atomic
from holdfast.harnesses.base import FoundLog, Reader
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import RowKind
from holdfast.stores.codec import to_iso

MB = 1_000_000
WORTH_SHARING = 8 * MB
WORKERS_MOST = 4


@command(
    "holdfast import --dry-run",
    "holdfast import --project . --since 2026-01-31",
    "holdfast import HARNESS --source ~/old-laptop --yes",
)
@click.argument("names", metavar="[HARNESS]...", nargs=-1)
@click.option(
    "--source",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    metavar="DIR",
    help="Look for transcripts below this directory; without it, where each harness keeps them.",
)
@click.option(
    "--project", type=click.Path(path_type=Path), metavar="DIR", help="Only this project's sessions."
)
@click.option("--since", metavar="7d|DATE", help="Only sessions that were at work since then.")
@click.option("--dry-run", is_flag=True, help="Only say what there is.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@json_option()
def import_(
    *,
    names: tuple[str, ...],
    source: Path | None,
    project: Path | None,
    since: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Bring in the sessions that harnesses kept before Holdfast came.

    What was said in them, redacted and in short, can be found with `holdfast recall` from then on, also when
    the harness has purged its transcripts. `holdfast show`, `why` and `handoff` work with them, too. Nothing
    is imported twice, and an import that was cut off goes on where it was. Transcripts are only read.
    """
    readers = [harnesses.reader(name) for name in names or harnesses.readable()]
    choice = ImportChoice(
        since=moment(since, access.now()) if since else 0,
        project_id=access.project_at(project).project_id if project else "",
    )
    imported = None
    with _engine() as engine:
        with working("looking"):
            listing = survey(engine, _candidates(engine, readers, source), choice)
        if listing.sessions and not dry_run:
            _agree(listing, beforehand=yes)
            with side_by_side(_workers(listing)) as reading, _bar(listing.size) as done:
                imported = take_in(engine, listing.sessions, _space_left(engine), done, reading)
    if as_json:
        give_json({**_survey_json(listing), "imported": asdict(imported) if imported else None})
    elif imported is None:
        _show(listing)
    else:
        count = "1 passage" if imported.passages == 1 else f"{imported.passages:,} passages"
        amount = f"{count}, {imported.characters / MB:.1f} MB of text"
        give(f"imported: {_session_count(imported.sessions)}, {amount}")
        if silent := len(listing.sessions) - imported.no_room - imported.sessions:
            say(f"left out: {_session_count(silent)} in which nothing was said {_retention_period()}")
        if imported.no_room:
            count = _session_count(imported.no_room)
            say(f"left out: {count} for which there is no room; see `records.max_mb`")
        _tell_of_former(listing)
        _tell_left_out(listing)
        if imported.passages:
            say("`holdfast recall` and `why` search them, `show` shows one, `forget` removes them again")


@contextmanager
def _engine() -> Generator[Engine]:
    """An engine over the home's store, which is made if there is none."""
    where = access.home()
    open_home_store(where, access.now()).close()
    with access.current_engine() as engine:
        yield engine


def _workers(listing: Survey) -> int:
    """How many processes read: one for a small import, where starting more would take longer."""
    return (
        min(WORKERS_MOST, len(listing.sessions), os.cpu_count() or 1) if listing.size > WORTH_SHARING else 1
    )


def _space_left(engine: Engine) -> int:
    """How many more bytes of session text may be stored."""
    settings = config.load(access.home(), None, None, os.environ).config
    return max(0, settings.records.max_mb * MB - engine.store.records_kept().bytes)


def _retention_period() -> str:
    days = config.load(access.home(), None, None, os.environ).config.records.retention_days
    return f"in the last {many(days, 'day')} (`records.retention_days`)"


def _candidates(
    engine: Engine, readers: Sequence[Reader], source: Path | None
) -> Iterator[tuple[Reader, Path]]:
    for reader in readers:
        for root in (source,) if source else reader.transcript_roots(engine.user_home, os.environ):
            yield from ((reader, path) for path in reader.transcripts(root))


def _agree(listing: Survey, *, beforehand: bool) -> None:
    if beforehand:
        return
    if not sys.stdin.isatty():
        raise HoldfastError(
            "import asks before it brings anything in, and nobody is there to answer",
            "look with `--dry-run`, then add `--yes`",
        )
    _show(listing)
    if not click.confirm("Import them?", err=True):
        raise Declined("nothing was imported")


@contextmanager
def _bar(size: int) -> Generator[Callable[[int], None]]:
    """A bar on a terminal; what is yielded moves it by so many bytes."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("importing", total=size)
        yield lambda read: progress.advance(bar, read)


# ---------------------------------------------------------------- what there is


@dataclass(frozen=True, slots=True)
class _Row:
    """The sessions of one harness in one project."""

    harness: str
    project: str
    sessions: int
    bytes: int
    first: str
    last: str


def _rows(listing: Survey) -> list[_Row]:
    def whose(session: ImportableSession) -> tuple[str, str]:
        return session.harness.name, session.project.root

    ordered = sorted(listing.sessions, key=whose)
    return [_row(harness, root, list(some)) for (harness, root), some in groupby(ordered, key=whose)]


def _row(harness: str, project: str, some: list[ImportableSession]) -> _Row:
    first, last = min(session.started_at for session in some), max(session.changed_at for session in some)
    return _Row(
        harness, project, len(some), sum(session.size for session in some), to_iso(first), to_iso(last)
    )


def _tell_of_former(listing: Survey) -> None:
    """Name the sessions that do not belong to the repository that is at their path now."""
    roots = dict[str, set[str]]()
    for session in listing.sessions:
        if session.left:
            roots.setdefault(session.project.project_id, set()).add(session.project.root)
    for id, places in roots.items():
        # The main worktree has the shortest path, as a rule.
        root = min(places, key=lambda place: (len(place), place))
        others = f" and in {many(len(places) - 1, 'worktree')} of it" if len(places) > 1 else ""
        say(
            f"another repository is at `{home_path(root)}`{others} now: sessions from before it "
            f"began are kept as project {id}; if it is the same, run `holdfast project bind {id}` there"
        )


def _show(listing: Survey) -> None:
    rows = _rows(listing)
    if rows:
        # A terminal shows the end of a long path in one line; a pipe gets all of it.
        path = short_path if line_width() else home_path
        give_table(
            ("harness", "project", "sessions", "MB", "from", "to"),
            [
                (
                    row.harness,
                    path(row.project) or "(not known)",
                    str(row.sessions),
                    f"{row.bytes / MB:.1f}",
                    row.first[:10],
                    row.last[:10],
                )
                for row in rows
            ],
            numbers=("sessions", "MB"),
        )
        span = f"{min(row.first for row in rows)[:10]} to {max(row.last for row in rows)[:10]}"
        say(f"found: {_session_count(len(listing.sessions))}, {listing.size / MB:.1f} MB, {span}")
        _tell_of_former(listing)
    else:
        say("there is nothing to import; `--source DIR` looks elsewhere")
    _tell_left_out(listing)


def _tell_left_out(listing: Survey) -> None:
    for reason, count in listing.left_out.items():
        why = f"in which nothing was said {_retention_period()}" if reason is LeftOut.OLD else reason
        say(f"left out: {_session_count(count)} {why}")


def _survey_json(listing: Survey) -> dict[str, object]:
    return {
        "sessions": len(listing.sessions),
        "bytes": listing.size,
        "found": [asdict(row) for row in _rows(listing)],
        "left_out": {reason.name.lower(): count for reason, count in listing.left_out.items()},
    }


def _session_count(sessions: int) -> str:
    return f"{sessions:,} session{'' if sessions == 1 else 's'}"


SETTING = "session.inherit.enabled"


def inherit_or_offer(*, take: bool) -> None:
    """Take over new sessions if that is wanted; else name them, unless the settings say no."""
    project = access.project_at(None)
    loaded = config.load(access.home(), Path(project.root), project.project_id, os.environ)
    if take or loaded.config.session.inherit.enabled:
        _take(project, loaded.config.session.default_key)
    elif SETTING not in loaded.sources:
        with access.stored_engine() as engine:
            logs = not_inherited(engine, project, os.environ)
        if logs:
            _offer(logs)


def _take(project: Project, default_key: str) -> None:
    with working("taking sessions over"), access.writable_engine() as engine:
        inherited, skipped = inherit_all(engine, project, os.environ)
        goes_on = bool(engine.store.log(own_key(default_key), "", 1))
    title = harnesses.log_reader().title
    if inherited:
        records = sum(log.records for log in inherited)
        count = _sessions(len(inherited))
        say(f"\n{title}: {count} taken over, {records:,} records; its own stay as they are")
        if goes_on:
            say(f"`{default_key}`: your agent's first `load()` goes on with it as `{own_key(default_key)}`")
    if skipped:
        say(
            f"{title}: {_sessions(len(skipped))} left out, empty, unreadable or of a project that is excluded"
        )


def _offer(logs: Sequence[FoundLog]) -> None:
    reader, newest = harnesses.log_reader(), logs[0]
    where = f"the newest of {to_iso(newest.updated_at)[:10]} in `{newest.path}`"
    say(f"\n{reader.title}: {_sessions(len(logs))} that your own agent could go on with, {where}")
    say("`holdfast up --inherit` takes them over, and leaves them where they are as they are;")
    say(f"so does `{SETTING} = true` in your settings, and with `false` this is not said again")
    say(f"`holdfast import {reader.name}` makes what was said in them findable instead")


def _sessions(count: int) -> str:
    return f"{count:,} session{'s' if count > 1 else ''}"


@command("holdfast export FORMAT holdfast:main:main --to session.jsonl")
@click.argument("harness", metavar="FORMAT")
@click.argument("session")
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Else to stdout.")
def export(*, harness: str, session: str, to: Path | None) -> None:
    """Write a session of your own agent in the format of a harness.

    SESSION is its key or how that begins, FORMAT the harness in whose format logs are kept. Every record is
    written as it was kept; readers pass over those that they do not know, such as a checkpoint.
    """
    reader = harnesses.log_reader()
    if harness != reader.name:
        raise HarnessUnknown(f"nothing can be exported for `{harness}`", f"one of: {reader.name}")
    with access.stored_engine() as engine:
        text = "".join(
            f"{line}\n" for line in lines_of(engine, only_id(engine.store, RowKind.SESSION, session))
        )
    if to is None:
        # Byte for byte, but on a terminal nothing that it would obey.
        click.echo(printable(text) if sys.stdout.isatty() else text, nl=False)
    else:
        atomic.write(to, text.encode())
        say(f"{to} holds {text.count(chr(10))} records")
