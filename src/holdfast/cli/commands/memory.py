"""Memories: `remember` stores them, `memories` lists, shows, changes, pins and forgets them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, cast

import click
import msgspec

from holdfast.cli import access
from holdfast.cli.commands.privacy import carry_out
from holdfast.cli.options import command, group, json_option, limit_option, project_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Label, Memory, MemoryScope, strength
from holdfast.core.redaction.redact import redact
from holdfast.core.text.strings import elapsed, one_line, quantity, shortened
from holdfast.core.text.untrusted import printable
from holdfast.engine import index
from holdfast.engine.engine import Engine
from holdfast.engine.ids import session_named
from holdfast.engine.memory import remember as remembering
from holdfast.engine.memory.recall import RecalledText
from holdfast.engine.memory.remember import MemoryOutcome, MemoryRequest, note, remember_all
from holdfast.engine.memory.remember import remember as keep
from holdfast.engine.privacy.forget import OneMemory
from holdfast.engine.recording.memorize import wording_of
from holdfast.engine.sharing import team_memories
from holdfast.engine.views import serialisation
from holdfast.engine.views.serialisation import Row, redacted_value
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
    "holdfast remember '[deploy, ops]: We release on Tuesdays' --importance 0.8",
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
@click.option("--team", is_flag=True, help="Share it with your team, where the settings allow that.")
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
    team: bool,
    to_file: bool,
    jsonl: Iterable[bytes] | None,
    project: Path | None,
    as_json: bool,
) -> None:
    """Keep something until you forget it, without its secrets.

    Prints its id. `critical: …` pins it and `[tag, tag]: …` tags it. Said twice it is one memory; a newer
    value for the same subject supersedes the older, which `recall --all` still finds. A line of --jsonl is a
    JSON text, or an object with "text" and, if you like, "tags", "importance", "pinned" and "scope".
    """
    request = MemoryRequest(_text_of(words), tags, importance, pin, MemoryScope(scope))
    if bool(words) == (jsonl is not None):
        raise click.UsageError("Say what to remember, or give --jsonl; not both.")
    if team and (jsonl is not None or to_file):
        raise click.UsageError("--team is for one memory: it goes with neither --jsonl nor --to-file.")
    with access.writable_engine() as engine:
        place = access.register_project(engine, project)
        key = session_named(engine.store, session).key if session else access.surrounding_session()
        if jsonl is not None:
            _many(_Run(engine, place, request, key), jsonl, as_json=as_json)
        elif to_file:
            path = note(engine, place, request)
            give_json({"file": path}) if as_json else give(path)
        else:
            outcome = keep(engine, place, request, source=SOURCE, session=key)
            if team:
                _share(engine, place, outcome.memory)
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
        request = msgspec.json.decode(line, type=_Line | str)
    except UnicodeDecodeError:
        raise _no_text(f"line {number}") from None
    except msgspec.DecodeError as error:
        hint = 'write it like {"text": "…", "tags": ["…"]}, or as a JSON text; the lines before it are kept'
        raise HoldfastError(f"line {number} cannot be used: {error}", hint) from None
    return _checked(usual, _Line(request) if isinstance(request, str) else request, number)


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


@group("holdfast memories list", "holdfast memories pin 1f2e3d4c")
def memories() -> None:
    """Look after what was remembered: list, show, edit, pin, unpin, share, unshare, forget."""


@command("holdfast memories list", "holdfast memories list --all --json")
@click.option("--all", "everything", is_flag=True, help="Also those that a newer one supersedes.")
@click.option("--all-projects", is_flag=True, help="Of every project; else of this one and your own.")
@limit_option(50)
@project_option()
@json_option()
def listed(*, everything: bool, all_projects: bool, limit: int, project: Path | None, as_json: bool) -> None:
    """List memories, the newest first."""
    place = access.project_at(project)
    with access.stored_engine() as engine:
        matches = remembering.memories(
            engine, place, all_projects=all_projects, include_superseded=everything, limit=limit
        )
    if as_json:
        give_json([memory_row(memory) for memory in matches])
    elif matches:
        give_memories(matches)
    else:
        say("nothing is remembered here; `holdfast remember TEXT` keeps something")


@command("holdfast memories show 1f2e3d4c")
@click.argument("id", metavar="ID")
@project_option()
@json_option()
def show(*, id: str, project: Path | None, as_json: bool) -> None:
    """Show one memory, by its id or how that begins."""
    with access.stored_engine() as engine:
        memory = remembering.named_memory(engine, access.project_at(project), id, all_projects=True)
    if as_json:
        give_json(memory_row(memory))
        return
    for name, value in memory_row(memory).items():
        if name != "text" and value not in (None, "", []):
            values = cast("list[str]", value) if isinstance(value, list) else [str(value)]
            say(f"{name}: {', '.join(values)}")
    give(redact(memory.text))


@command("holdfast memories edit 1f2e3d4c 'The port is 9090'", "holdfast memories edit 1f2e3d4c --tag net")
@click.argument("id", metavar="ID")
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("--tag", "tags", multiple=True, metavar="T", help="In place of its tags; '' for none.")
@click.option("--importance", type=click.FloatRange(0, 1), metavar="0..1", help="How much it matters.")
@project_option()
@json_option()
def edit(
    *,
    id: str,
    words: tuple[str, ...],
    tags: tuple[str, ...],
    importance: float | None,
    project: Path | None,
    as_json: bool,
) -> None:
    """Change a memory's text, tags or importance."""
    if not (words or tags or importance is not None):
        raise click.UsageError("Say what is to change: TEXT, --tag or --importance.")
    text = " ".join(words) if words else None
    _refuse_half_characters(text or "")
    with access.stored_engine() as engine:
        memory = remembering.edit(
            engine, access.project_at(project), id, text=text, tags=tags or None, importance=importance
        )
    _changed(memory, as_json=as_json)


@command("holdfast memories pin 1f2e3d4c")
@click.argument("id", metavar="ID")
@project_option()
@json_option()
def pin(*, id: str, project: Path | None, as_json: bool) -> None:
    """Do not let a memory fade."""
    with access.stored_engine() as engine:
        memory = remembering.edit(engine, access.project_at(project), id, pinned=True)
    _changed(memory, as_json=as_json)


@command("holdfast memories unpin 1f2e3d4c")
@click.argument("id", metavar="ID")
@project_option()
@json_option()
def unpin(*, id: str, project: Path | None, as_json: bool) -> None:
    """Let a memory fade like others."""
    with access.stored_engine() as engine:
        memory = remembering.edit(engine, access.project_at(project), id, pinned=False)
    _changed(memory, as_json=as_json)


@command("holdfast memories forget 1f2e3d4c --yes")
@click.argument("id", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only say how much would go.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@project_option()
@json_option()
def forget(*, id: str, dry_run: bool, yes: bool, project: Path | None, as_json: bool) -> None:
    """Remove a memory for good; what it had superseded holds again."""
    with access.stored_engine() as engine:
        memory = remembering.named_memory(engine, access.project_at(project), id)
    carry_out(access.home(), OneMemory(memory.id), dry_run=dry_run, yes=yes, as_json=as_json)


@command("holdfast memories share 1f2e3d4c")
@click.argument("id", metavar="ID")
@project_option()
@json_option()
def share(*, id: str, project: Path | None, as_json: bool) -> None:
    """Give a memory to your team, through the hub of its project.

    `memories = "team"` in `[sharing]` must allow it. `holdfast hub status --what` shows what would be sent.
    """
    with access.stored_engine() as engine:
        place = access.project_at(project)
        memory = remembering.named_memory(engine, place, id)
        _share(engine, place, memory)
    _changed(memory, as_json=as_json)


@command("holdfast memories unshare 1f2e3d4c")
@click.argument("id", metavar="ID")
@project_option()
@json_option()
def unshare(*, id: str, project: Path | None, as_json: bool) -> None:
    """Take a memory back from your team: it is removed at the hub and from their machines; yours stays."""
    with access.stored_engine() as engine:
        memory = remembering.named_memory(engine, access.project_at(project), id)
        if not team_memories.take_back(engine, memory):
            say("it was not shared with the team")
    _changed(memory, as_json=as_json)


def _share(engine: Engine, place: Project, memory: Memory) -> None:
    """Mark a memory for the team, and say what keeps it from going there."""
    if access.surrounding_session():
        raise HoldfastError(
            "only a person shares a memory with the team, and an agent could have typed this",
            "type it in a terminal of your own",
        )
    obstacle = team_memories.share(engine, place, memory)
    if obstacle:
        say(f"marked for the team, but not sent yet: {obstacle}")


def _changed(memory: Memory, *, as_json: bool) -> None:
    give_json(memory_row(memory)) if as_json else give(memory.id)


def _refuse_half_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise HoldfastError("the text is not valid UTF-8", "convert it first") from None


memories.add_command(listed, "list")
for each in (show, edit, pin, unpin, share, unshare, forget):
    memories.add_command(each)


SHOWN_CHARS = 110
ID_CHARS = 8


def memory_row(memory: Memory) -> Row:
    """A memory for a program."""
    return redacted_value(serialisation.memory_row(memory, access.now()), redact)


def outcome_row(outcome: MemoryOutcome) -> Row:
    """The outcome of a request to remember, for a program."""
    return {**memory_row(outcome.memory), "again": outcome.again, "supersedes": list(outcome.supersedes)}


def give_outcome(outcome: MemoryOutcome) -> None:
    """Print the id of a stored memory to stdout, and notes about it to stderr."""
    if outcome.again:
        say(f"known already; it was said {quantity(outcome.memory.seen, 'time')}")
    for id in outcome.supersedes:
        say(f"it supersedes {id}, which said otherwise")
    if Label.TRANSIENT in outcome.memory.labels:
        say("note: it speaks of this moment, and will soon be untrue")
    click.echo(outcome.memory.id)


def give_memories(memories: Iterable[Memory]) -> None:
    """Memories as a table."""
    now = access.now()
    give_table(
        ("id", "age", "kind", "scope", "strength", "recalled", "text"),
        [
            (
                memory.id[:ID_CHARS],
                elapsed(now - memory.created_at),
                memory.kind,
                memory.scope,
                "pinned" if memory.pinned else f"{strength(memory, now):.2f}",
                str(memory.found),
                _short(memory),
            )
            for memory in memories
        ],
        numbers=("strength", "recalled"),
    )


def text_row(finding: RecalledText) -> Row:
    """The whole text behind an id, for a program."""
    return redacted_value(serialisation.text_row(finding, access.now()), redact)


def _short(memory: Memory) -> str:
    marks = [f"({label})" for label in memory.labels] + [f"#{redact(tag)}" for tag in memory.tags]
    return " ".join([_cut(memory.text), *marks])


def _cut(text: str) -> str:
    # What is hidden goes first: it could stand in the middle of a secret.
    return shortened(one_line(redact(printable(text))), SHOWN_CHARS)
