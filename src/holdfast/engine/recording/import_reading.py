"""Import reading: reads old transcripts in pieces that are ready to store, one by one or several at once.

Reading, redacting and dividing take most of an import's time and need no store, so other processes can do
them. These end with the process that started them, however that ends. `engine.recording.importing` stores the
pieces.
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

from holdfast.core.events.event import MAIN, Compacted, CompactionSign, Event, ModelChanged, Origin, Prompt
from holdfast.core.events.identity import Site
from holdfast.core.events.world import Project
from holdfast.core.memory.passages import passages, relevant_events
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
"""Bytes of one piece: a hook event that arrives while it is stored waits for a few milliseconds."""


@dataclass(frozen=True, slots=True)
class ImportableSession:
    """A session whose transcript can be imported from its start or from where an import stopped."""

    harness: Reader
    path: Path
    session: str
    project: Project
    started_at: int
    changed_at: int
    size: int
    """How many bytes are still to be read."""
    left: Site | None = None
    """The former site of its project, if another project is there now."""


class ImportProgress(msgspec.Struct, frozen=True):
    """How far a transcript was imported: by its reader's own cursor, in passages, and in bytes.

    Only the reader understands its cursor, so the bytes are an estimate until it is through.
    """

    cursor: str = ""
    place: int = 0
    size: int = 0
    through: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One transcript to read from a cursor on, and the redactor for its texts."""

    found: ImportableSession
    cursor: str
    redactor: Redactor


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a transcript, redacted and ready to store, with the cursors before and after it."""

    before: str
    after: str
    size: int
    documents: tuple[Document, ...]
    skipped: tuple[str, ...]
    """The reason for each record that could not be read."""
    first_at: int
    last_at: int
    prompts: int
    compactions: int
    model: str


Reading: TypeAlias = Callable[[Iterator[Job]], Generator[tuple[Job, Piece]]]
"""Does jobs, and yields the pieces of each."""


def in_turn(jobs: Iterator[Job]) -> Generator[tuple[Job, Piece]]:
    """Do the jobs one after the other in this process."""
    for job in jobs:
        yield from ((job, piece) for piece in pieces(job))


def pieces(job: Job) -> Iterator[Piece]:
    """The transcript after the job's cursor, piece by piece."""
    importable, cursor = job.found, job.cursor
    reached = progress_of(cursor)
    end, done = reached.size + importable.size, False
    while not done:
        batch = importable.harness.read_transcript(
            importable.path, importable.session, reached.cursor, BATCH_BYTES
        )
        done = batch.done or batch.cursor == reached.cursor
        events = tuple(relevant_events(batch.events))
        arrival = Arrival(
            importable.session, importable.harness.name, importable.project, events, skipped=batch.skipped
        )
        arrival = redacted(arrival, job.redactor)
        documents = tuple(
            document_of(passage, importable.session, importable.project, place)
            for place, passage in enumerate(passages(arrival.events, importable.project.root), reached.place)
        )
        size = end if done else min(end, reached.size + BATCH_BYTES)
        after = ImportProgress(batch.cursor, reached.place + len(documents), size, through=done)
        skipped = tuple(each.reason for each in arrival.skipped)
        written = msgspec.json.encode(after).decode()
        yield _piece(batch.events, cursor, written, size - reached.size, documents, skipped)
        reached, cursor = after, written


def progress_of(cursor: str) -> ImportProgress:
    """The progress that a cursor encodes; none if it is not an import's."""
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
    """Whether the event counts a compaction: of its several signs, exactly one does."""
    return isinstance(event, Compacted) and event.sign is CompactionSign.BOUNDARY


# ---------------------------------------------------------------- several at once


@contextmanager
def side_by_side(workers: int) -> Generator[Reading]:
    """A `Reading` with that many processes, on Linux; elsewhere one that reads in turn.

    The processes are forked, which is safe only before a thread is started: enter it first.
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
    """Give each process one job at a time, and the next when that is done."""
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
    """The connection to a process that reads; closing it ends the process."""
    context = get_context("fork")
    own_end, worker_end = context.Pipe()
    process = context.Process(target=_serve, args=(worker_end, (own_end, *others)), daemon=True)
    process.start()
    worker_end.close()
    try:
        yield own_end
    finally:
        own_end.close()
        process.join()


def _serve(line: _Line, inherited: Sequence[_Line]) -> None:
    """Do one job after the other until the other end is closed."""
    # An inherited copy of the other end would keep the connection open.
    for end in inherited:
        end.close()
    # Ctrl-C is for the process that the user started.
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
