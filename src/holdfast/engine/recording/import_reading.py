"""Import reading: old transcripts as pieces that are ready to be kept, one by one or several at once.

Reading, redacting and dividing take most of an import's time and need no store, so they can be done by other
processes. These end with the one that started them, however that ends. Keeping is
`engine.recording.importing`'s work.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import connection, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec

from holdfast.core.events.event import MAIN, Compacted, Event, ModelChanged, Origin, Prompt, Sign
from holdfast.core.events.identity import Site
from holdfast.core.events.world import Project
from holdfast.core.memory.passages import passages, trimmed
from holdfast.engine.index.index import document_of
from holdfast.engine.recording.record import Arrival, redacted
from holdfast.engine.redaction.redactor import Redactor
from holdfast.errors import TranscriptUnreadable
from holdfast.harnesses.base import Reader
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Document

if TYPE_CHECKING:
    _Line: TypeAlias = connection.Connection[Any, Any]

BATCH_BYTES: Final = 1 << 19
"""So much is read before it is written: a letter that comes meanwhile waits for a few milliseconds."""


@dataclass(frozen=True, slots=True)
class ImportableSession:
    """A session whose transcript can be imported, or read on."""

    harness: Reader
    path: Path
    session: str
    project: Project
    started_at: int
    changed_at: int
    size: int
    """How many bytes are still to be read."""
    left: Site | None = None
    """Where its project was, if another one is there now."""


class ImportProgress(msgspec.Struct, frozen=True):
    """How far a transcript was imported: by its reader's own cursor, in passages, and in bytes.

    Where a reader stands in its file is its own affair: until it is through, the bytes are a guess.
    """

    cursor: str = ""
    place: int = 0
    size: int = 0
    through: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One transcript to be read from a cursor on, and how what it says is redacted."""

    found: ImportableSession
    cursor: str
    redactor: Redactor


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of a transcript, redacted and ready to be kept, and the cursors before and behind it."""

    before: str
    after: str
    size: int
    documents: tuple[Document, ...]
    skipped: tuple[str, ...]
    """Why something could not be read, each time."""
    first_at: int
    last_at: int
    prompts: int
    compactions: int
    model: str


Reading: TypeAlias = Callable[[Iterator[Job]], Generator[tuple[Job, Piece]]]
"""A way to do these jobs: what comes of each, piece by piece."""


def in_turn(jobs: Iterator[Job]) -> Generator[tuple[Job, Piece]]:
    """One after the other, here."""
    for job in jobs:
        yield from ((job, piece) for piece in pieces(job))


def pieces(job: Job) -> Iterator[Piece]:
    """The transcript behind the job's cursor, piece by piece."""
    found, cursor = job.found, job.cursor
    reached = reached_by(cursor)
    end, done = reached.size + found.size, False
    while not done:
        batch = found.harness.read_transcript(found.path, found.session, reached.cursor, BATCH_BYTES)
        done = batch.done or batch.cursor == reached.cursor
        kept = tuple(trimmed(batch.events))
        told = Arrival(found.session, found.harness.name, found.project, kept, skipped=batch.skipped)
        told = redacted(told, job.redactor)
        documents = tuple(
            document_of(passage, found.session, found.project, place)
            for place, passage in enumerate(passages(told.events, found.project.root), reached.place)
        )
        size = end if done else min(end, reached.size + BATCH_BYTES)
        after = ImportProgress(batch.cursor, reached.place + len(documents), size, through=done)
        skipped = tuple(each.reason for each in told.skipped)
        written = msgspec.json.encode(after).decode()
        yield _piece(batch.events, cursor, written, size - reached.size, documents, skipped)
        reached, cursor = after, written


def reached_by(cursor: str) -> ImportProgress:
    """How far an import came; not at all if there is no cursor of one."""
    try:
        return msgspec.json.decode(cursor, type=ImportProgress)
    except ValueError:
        return ImportProgress()


def _piece(
    events: Sequence[Event],
    before: str,
    after: str,
    size: int,
    documents: tuple[Document, ...],
    skipped: tuple[str, ...],
) -> Piece:
    times = [event.at for event in events if event.at]
    models = [event.model for event in events if isinstance(event, ModelChanged)]
    return Piece(
        before,
        after,
        size,
        documents,
        skipped,
        first_at=min(times, default=0),
        last_at=max(times, default=0),
        prompts=sum(map(_is_prompt, events)),
        compactions=sum(map(_is_boundary, events)),
        model=models[-1] if models else "",
    )


def _is_prompt(event: Event) -> bool:
    return isinstance(event, Prompt) and event.agent == MAIN and event.origin is Origin.HUMAN


def _is_boundary(event: Event) -> bool:
    """Whether a compaction is told here, each by but one of its signs."""
    return isinstance(event, Compacted) and event.sign is Sign.BOUNDARY


# ---------------------------------------------------------------- several at once


@contextmanager
def side_by_side(workers: int) -> Generator[Reading]:
    """A way to read that many transcripts at once, each in a process of its own; else one by one.

    The processes are forked, which is quick, and safe where nothing else runs: enter it before any thread.
    """
    if sys.platform != "linux" or workers < 2:
        yield in_turn
        return
    with ExitStack() as stack:
        lines: list[_Line] = []
        for _ in range(workers):
            lines.append(stack.enter_context(_worker(lines)))
        yield partial(_shared_out, lines)


def _shared_out(lines: Sequence[_Line], jobs: Iterator[Job]) -> Generator[tuple[Job, Piece]]:
    """Every process has one job at a time, and gets the next when that is done."""
    idle = list(lines)
    busy: dict[_Line, Job] = {}
    while True:
        while idle and (job := next(jobs, None)) is not None:
            line = idle.pop()
            line.send(job)
            busy[line] = job
        if not busy:
            return
        for line in cast("list[_Line]", connection.wait(list(busy))):
            piece = _received(line)
            if piece is not None:
                yield busy[line], piece
            else:
                idle.append(line)
                del busy[line]


@contextmanager
def _worker(others: Sequence[_Line]) -> Generator[_Line]:
    """The line to a process that reads; when it is hung up, the process ends."""
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, (ours, *others)), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.join()


def _serve(line: _Line, inherited: Sequence[_Line]) -> None:
    """Do one job after the other until nobody is at the other end any more."""
    # Whoever holds the other end of a line open keeps it from being hung up.
    for end in inherited:
        end.close()
    # A person who interrupts the import means the process that they started.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while True:
            for piece in pieces(cast("Job", line.recv())):
                line.send(piece)
            line.send(None)


def _received(line: _Line) -> Piece | None:
    """The next piece of a job; None when it is done."""
    try:
        return cast("Piece | None", line.recv())
    except (EOFError, OSError) as error:
        raise TranscriptUnreadable(
            "a process that read transcripts ended before it was done",
            "run the same command again: it goes on",
        ) from error
