"""Remember: keep what a person says, one text or many lines of JSON; ids are printed once it is on disk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

import click
import msgspec

from holdfast.cli import access
from holdfast.cli.options import command, json_option, project_option
from holdfast.cli.printing import give, give_json, say
from holdfast.cli.views.memory_rows import give_outcome, outcome_row
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import MemoryScope
from holdfast.engine import index
from holdfast.engine.engine import Engine
from holdfast.engine.memory.remember import MemoryOutcome, MemoryRequest, note, remember_all
from holdfast.engine.memory.remember import remember as keep
from holdfast.engine.recording.memorize import wording_of
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

LINES_AT_ONCE: Final = 500
"""The number of lines in one transaction: whatever was printed is stored, even if a later line fails."""
VECTORS_AT_ONCE: Final = 2_000
FEW: Final = 250
"""Up to so many memories get their vectors at the next recall instead."""
SOURCE: Final = "cli"


@command(
    "holdfast remember 'The staging database is on port 5433'",
    "holdfast remember 'critical: never push to main' --scope user",
    "holdfast remember '[deploy, ops]: Releases go out on Tuesdays' --importance 0.8",
    "holdfast remember --jsonl - < memories.jsonl",
)
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("--tag", "tags", multiple=True, metavar="T", help="Tag it; may be given several times.")
@click.option("--importance", type=click.FloatRange(0, 1), metavar="0..1", help="How much it matters; 0.5.")
@click.option("--pin", is_flag=True, help="Do not let it fade.")
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in MemoryScope]),
    default=MemoryScope.PROJECT.value,
    show_default=True,
    help="Where it holds: in this project, in this worktree of it, or wherever you work.",
)
@click.option("--session", default="", metavar="KEY", help="The session that it was said in.")
@click.option("--to-file", is_flag=True, help="Write it to the project's memory/ file of today instead.")
@click.option("--jsonl", type=click.File("rb"), metavar="FILE", help="Many: one JSON text or object a line.")
@project_option()
@json_option()
def remember(  # noqa: PLR0913 - each is an option
    *,
    words: tuple[str, ...],
    tags: tuple[str, ...],
    importance: float | None,
    pin: bool,
    scope: str,
    session: str,
    to_file: bool,
    jsonl: Iterable[bytes] | None,
    project: Path | None,
    as_json: bool,
) -> None:
    """Keep something until it is forgotten, word for word but for secrets.

    Prints its id. `critical: …` pins it and `[tag, tag]: …` tags it. Said twice it is one memory; a newer
    value for the same subject supersedes the older, which `recall --all` still finds. A line of --jsonl is a
    JSON text, or an object with "text" and, if you like, "tags", "importance", "pinned" and "scope".
    """
    request = MemoryRequest(_text_of(words), tags, importance, pin, MemoryScope(scope))
    if bool(words) == (jsonl is not None):
        raise click.UsageError("Say what to remember, or give --jsonl; not both.")
    with access.writable_engine() as engine:
        place = access.register_project(engine, project)
        key = access.session_named(engine.store, session).key if session else access.surrounding_session()
        if jsonl is not None:
            _many(_Run(engine, place, request, key), jsonl, as_json=as_json)
        elif to_file:
            path = note(engine, place, request)
            give_json({"file": path}) if as_json else give(path)
        else:
            outcome = keep(engine, place, request, source=SOURCE, session=key)
            give_json(outcome_row(outcome)) if as_json else give_outcome(outcome)


def _text_of(words: tuple[str, ...]) -> str:
    """What was typed after the command; `-` is what comes from stdin."""
    text = " ".join(words)
    try:
        text = sys.stdin.buffer.read().decode() if words == ("-",) else text
        text.encode()
    except UnicodeError:
        raise _no_text("the text") from None
    return text


def _no_text(what: str) -> HoldfastError:
    return HoldfastError(f"{what} is not valid UTF-8", "convert it first, for instance with `iconv`")


# ---------------------------------------------------------------- many at once


@dataclass(frozen=True, slots=True)
class _Run:
    """What all lines share: where they go, and what holds for those that do not say it themselves."""

    engine: Engine
    project: Project
    usual: MemoryRequest
    session: str


@dataclass(frozen=True, slots=True)
class _Line:
    """One memory as a line of JSON may say it."""

    text: str
    tags: tuple[str, ...] = ()
    importance: float | None = None
    pinned: bool = False
    scope: MemoryScope | None = None


def _many(run: _Run, lines: Iterable[bytes], *, as_json: bool) -> None:
    """Store line after line; what was stored before a bad line is printed, and stays."""
    outcomes: list[MemoryOutcome] = []
    try:
        with _counter() as advance:
            for batch in _remember_batches(run, lines):
                outcomes += batch
                advance(len(batch))
                if not as_json:
                    click.echo("\n".join(each.memory.id for each in batch))
            _give_vectors(run.engine, len(outcomes))
    finally:
        if as_json:
            give_json([each.memory.id for each in outcomes])
    say(f"{len(outcomes):,} kept, {sum(each.again for each in outcomes):,} of them known before")


def _remember_batches(run: _Run, lines: Iterable[bytes]) -> Iterator[list[MemoryOutcome]]:
    requests = _requests(run.usual, lines)
    while True:
        batch: list[MemoryRequest] = []
        try:
            batch.extend(islice(requests, LINES_AT_ONCE))
        except HoldfastError:
            if batch:
                yield _remember_all(run, batch)
            raise
        if not batch:
            return
        yield _remember_all(run, batch)


def _remember_all(run: _Run, requests: list[MemoryRequest]) -> list[MemoryOutcome]:
    return remember_all(run.engine, run.project, requests, source=SOURCE, session=run.session)


def _requests(usual: MemoryRequest, lines: Iterable[bytes]) -> Iterator[MemoryRequest]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _request(usual, line, number)


def _request(usual: MemoryRequest, line: bytes, number: int) -> MemoryRequest:
    try:
        said = msgspec.json.decode(line, type=_Line | str)
    except UnicodeDecodeError:
        raise _no_text(f"line {number}") from None
    except msgspec.DecodeError as error:
        hint = 'write it like {"text": "…", "tags": ["…"]}, or as a JSON text; the lines before it are kept'
        raise HoldfastError(f"line {number} cannot be used: {error}", hint) from None
    return _checked(usual, _Line(said) if isinstance(said, str) else said, number)


def _checked(usual: MemoryRequest, line: _Line, number: int) -> MemoryRequest:
    wish = MemoryRequest(
        line.text,
        (*usual.tags, *line.tags),
        usual.importance if line.importance is None else line.importance,
        usual.pinned or line.pinned,
        line.scope or usual.scope,
    )
    try:
        wording_of(wish)
    except HoldfastError as error:
        raise HoldfastError(f"line {number}: {error.message}", "the lines before it are kept") from None
    return wish


def _give_vectors(engine: Engine, count: int) -> None:
    embedder = engine.embedder() if count > FEW else None
    while embedder is not None and index.embed_missing(engine, embedder, VECTORS_AT_ONCE):
        pass


@contextmanager
def _counter() -> Generator[Callable[[int], None]]:
    """A count on a terminal; what is yielded moves it on."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} remembered"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("remembering", total=None)
        yield lambda more: progress.advance(task, more)
