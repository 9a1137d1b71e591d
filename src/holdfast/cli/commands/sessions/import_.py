"""Import: say which old sessions there are, ask, and make what was said in them findable."""

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
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.engine.engine import Engine
from holdfast.engine.recording.import_reading import ImportableSession, side_by_side
from holdfast.engine.recording.importing import Choice, Survey, survey, take_in
from holdfast.errors import HoldfastError
from holdfast.harnesses.base import Reader
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import to_iso
from holdfast.stores.sqlite import open_store

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
    the harness has purged its transcripts. They are over, and no new session continues them. Nothing is
    imported twice, and an import that was cut off goes on where it was. Transcripts are only read.
    """
    readers = [harnesses.reader(name) for name in names or harnesses.readable()]
    choice = Choice(
        since=moment(since, access.now()) if since else 0,
        project_id=access.project_at(project).project_id if project else "",
    )
    taken = None
    with _desk() as engine:
        with working("looking"):
            found = survey(engine, _candidates(engine, readers, source), choice)
        if found.found and not dry_run:
            _agree(found, beforehand=yes)
            with side_by_side(_workers(found)) as reading, _bar(found.size) as done:
                taken = take_in(engine, found.found, _room(engine), done, reading)
    if as_json:
        give_json({**_told(found), "imported": asdict(taken) if taken else None})
    elif taken is None:
        _show(found)
    else:
        amount = f"{taken.passages:,} passages, {taken.characters / MB:.1f} MB of text"
        give(f"imported: {_counted(taken.sessions)}, {amount}")
        if silent := len(found.found) - taken.no_room - taken.sessions:
            why = "in which nothing is said since `records.retention_days` ago"
            say(f"left out: {_counted(silent)} {why}")
        if taken.no_room:
            say(f"left out: {_counted(taken.no_room)} for which there is no room; see `records.max_mb`")
        _tell_of_former(found)
        if taken.passages:
            say("`holdfast recall` finds them; `holdfast forget` removes them again")


@contextmanager
def _desk() -> Generator[Engine]:
    """An engine over the home's store, which is made where there is none."""
    where = access.home()
    open_store(where / "store.db", where / "backups", access.now()).close()
    with access.opened_desk() as engine:
        yield engine


def _workers(found: Survey) -> int:
    """How many processes read: to start them for little takes longer than to do it."""
    return min(WORKERS_MOST, len(found.found), os.cpu_count() or 1) if found.size > WORTH_SHARING else 1


def _room(engine: Engine) -> int:
    """How much more may be kept of what sessions said."""
    settings = config.load(access.home(), None, None, os.environ).config
    return max(0, settings.records.max_mb * MB - engine.store.records_kept().bytes)


def _candidates(
    engine: Engine, readers: Sequence[Reader], source: Path | None
) -> Iterator[tuple[Reader, Path]]:
    for reader in readers:
        for root in (source,) if source else reader.transcript_roots(engine.user_home, os.environ):
            yield from ((reader, path) for path in reader.transcripts(root))


def _agree(found: Survey, *, beforehand: bool) -> None:
    if beforehand:
        return
    if not sys.stdin.isatty():
        raise HoldfastError(
            "import asks before it brings anything in, and nobody is there to answer",
            "look with `--dry-run`, then add `--yes`",
        )
    _show(found)
    if not click.confirm("Import them?", err=True):
        raise HoldfastError("nothing was imported")


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


def _rows(found: Survey) -> list[_Row]:
    def whose(one: ImportableSession) -> tuple[str, str]:
        return one.harness.name, one.project.root

    ordered = sorted(found.found, key=whose)
    return [_row(harness, root, list(some)) for (harness, root), some in groupby(ordered, key=whose)]


def _row(harness: str, project: str, some: list[ImportableSession]) -> _Row:
    first, last = min(one.started_at for one in some), max(one.changed_at for one in some)
    return _Row(harness, project, len(some), sum(one.size for one in some), to_iso(first), to_iso(last))


def _tell_of_former(found: Survey) -> None:
    """Say which sessions were not given to the repository that is at their path now."""
    for id, root in dict.fromkeys(
        (one.project.project_id, one.project.root) for one in found.found if one.left
    ):
        say(
            f"another repository is at `{root}` now: sessions from before it began are kept as project {id}; "
            f"if it is the same, run `holdfast project bind {id}` there"
        )


def _show(found: Survey) -> None:
    rows = _rows(found)
    if rows:
        give_table(
            ("harness", "project", "sessions", "MB", "from", "to"),
            [
                (
                    row.harness,
                    row.project or "(not known)",
                    str(row.sessions),
                    f"{row.bytes / MB:.1f}",
                    row.first[:10],
                    row.last[:10],
                )
                for row in rows
            ],
        )
        span = f"{min(row.first for row in rows)[:10]} to {max(row.last for row in rows)[:10]}"
        say(f"found: {_counted(len(found.found))}, {found.size / MB:.1f} MB, {span}")
        _tell_of_former(found)
    else:
        say("there is nothing to import; `--source DIR` looks elsewhere")
    for reason, count in found.left_out.items():
        say(f"left out: {_counted(count)} {reason}")


def _told(found: Survey) -> dict[str, object]:
    return {
        "sessions": len(found.found),
        "bytes": found.size,
        "found": [asdict(row) for row in _rows(found)],
        "left_out": {reason.name.lower(): count for reason, count in found.left_out.items()},
    }


def _counted(sessions: int) -> str:
    return f"{sessions:,} session{'' if sessions == 1 else 's'}"
