"""Importing: makes sessions from before Holdfast was installed searchable, when the user asks for it.

Of an imported session the conversation is stored at once, with its first prompt and the files that its tools
changed. `imported_work` derives its work state: of the newest session of each project with the import. It is
over; if it is resumed, a hook event says so, and it is read from its start like any other.
Passages and the cursor share a transaction, so an interrupted import goes on where it stopped. Transcripts
are never written, and those that hook events named are left to the daemon. They are read in pieces that are
ready to store, by this process or by several at once.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from enum import StrEnum
from functools import partial
from multiprocessing import connection, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec

from holdfast.config import Config, excluded
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.event import (
    MAIN,
    AssistantText,
    Compacted,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    Titled,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.events.identity import Site
from holdfast.core.events.world import Project
from holdfast.core.evidence.file_edits import (
    TEXTS_READ,
    CallSettled,
    EditUpdate,
    TurnWords,
    asked_line,
    changes_of_edit,
    edits_of_call,
    tells_request,
)
from holdfast.core.evidence.prose import reader as prose
from holdfast.core.evidence.trail import TEXT_KEPT, Utterance
from holdfast.core.memory.passages import passages, relevant_events
from holdfast.core.session.session import IMPORTED, Phase, Session, after_title, begin, is_imported
from holdfast.core.text.strings import shortened
from holdfast.engine.engine import Engine
from holdfast.engine.index import document_of
from holdfast.engine.recording.imported_work import derivation
from holdfast.engine.recording.record import Arrival, redacted_arrival
from holdfast.engine.redaction.redactor import Redactor
from holdfast.engine.repository import projects
from holdfast.engine.repository.projects import FormerProject, Resolution, former_project_of
from holdfast.errors import TranscriptUnreadable
from holdfast.harnesses.base import KeptInRows, Reader, file_extent
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import EVERYWHERE, START, Lineage, SearchDocument, Store

if TYPE_CHECKING:
    _Line: TypeAlias = connection.Connection[Any, Any]


BATCH_BYTES: Final = 1 << 19
"""Bytes of one piece: a hook event that arrives while it is stored waits for a few milliseconds."""
HEAD_BYTES: Final = 1 << 16
"""How much of a file is read to find out its session and project."""


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

    session: ImportableSession
    cursor: str
    redactor: Redactor


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a transcript, redacted and ready to store, with the cursors before and after it."""

    before: str
    after: str
    size: int
    documents: tuple[SearchDocument, ...]
    skipped: tuple[str, ...]
    """The reason for each record that could not be read."""
    first_at: int
    last_at: int
    prompts: int
    compactions: int
    model: str
    edits: tuple[EditUpdate, ...] = ()
    """What it says about file edits by the agent's tools; those by commands are found with the work state."""
    request: Utterance | None = None
    """The first prompt that says what is to be done."""
    titles: tuple[Titled, ...] = ()
    """The titles that the harness or the user gave the session, redacted."""


Reading: TypeAlias = Callable[[Iterator[Job]], Generator[tuple[Job, Piece]]]
"""Does jobs, and yields the pieces of each."""


def in_turn(jobs: Iterator[Job]) -> Generator[tuple[Job, Piece]]:
    """Do the jobs one after the other in this process."""
    for job in jobs:
        yield from ((job, piece) for piece in pieces(job))


def pieces(job: Job) -> Iterator[Piece]:
    """The transcript after the job's cursor, piece by piece."""
    importable, cursor = job.session, job.cursor
    reached = progress_of(cursor)
    end, done = reached.size + importable.size, False
    edits = _EditReader(job)
    while not done:
        batch = importable.harness.read_transcript(
            importable.path, importable.session, reached.cursor, BATCH_BYTES
        )
        done = batch.done or batch.cursor == reached.cursor
        events = tuple(relevant_events(batch.events))
        arrival = Arrival(
            importable.session, importable.harness.name, importable.project, events, skipped=batch.skipped
        )
        arrival = redacted_arrival(arrival, job.redactor)
        documents = tuple(
            document_of(passage, importable.session, importable.project, place)
            for place, passage in enumerate(passages(arrival.events, importable.project.root), reached.place)
        )
        size = end if done else min(end, reached.size + BATCH_BYTES)
        after = ImportProgress(batch.cursor, reached.place + len(documents), size, through=done)
        skipped = tuple(each.reason for each in arrival.skipped)
        written = msgspec.json.encode(after).decode()
        piece = _piece(batch.events, cursor, written, size - reached.size, documents, skipped)
        yield replace(
            piece,
            edits=tuple(edits.updates(batch.events, arrival.events)),
            request=_request(arrival.events),
            titles=tuple(_titles(batch.events, job)),
        )
        reached, cursor = after, written


def _titles(events: Iterable[Event], job: Job) -> Iterator[Titled]:
    redact = job.redactor.of_session(job.session.session)
    for event in events:
        if isinstance(event, Titled) and event.agent == MAIN:
            yield replace(event, text=redact(event.text))


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
    documents: tuple[SearchDocument, ...],
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


def _request(redacted: Sequence[Event]) -> Utterance | None:
    """The first prompt of the user that says what is to be done."""
    prompts = (event for event in redacted if isinstance(event, Prompt) and _is_prompt(event))
    for prompt in prompts:
        text = shortened(prose.request_in(prompt.text), TEXT_KEPT)
        if tells_request(text) and not prose.is_bare_command(text):
            return Utterance(text, prompt.at, prompt.record, prompt.turn)
    return None


class _EditReader:
    """Follows what is asked and said in a transcript, and which files the agent's tools change meanwhile."""

    def __init__(self, job: Job) -> None:
        self._project = job.session.project
        self._redact = job.redactor.of_session(job.session.session)
        self._words = TurnWords()
        self._open = set[str]()

    def updates(self, events: Iterable[Event], redacted: Iterable[Event]) -> Iterator[EditUpdate]:
        """What these events say; their texts are taken from the redacted ones."""
        texts = {event.record: event.text for event in redacted if isinstance(event, Prompt | AssistantText)}
        for event in events:
            match event:
                case Prompt() if _is_prompt(event) and event.record in texts:
                    self._ask(prose.request_in(texts[event.record]), event.at)
                case AssistantText(record=record, agent="main") if record in texts:
                    statements = (*self._words.statements, shortened(texts[record], TEXT_KEPT))
                    self._words = replace(self._words, statements=statements[-TEXTS_READ:])
                case ToolCalled():
                    yield from self._called(event)
                case ToolReturned(call=call, ok=ok) if call in self._open:
                    self._open.discard(call)
                    yield CallSettled(call, ok)
                case _:
                    pass

    def _ask(self, prompt: str, at: int) -> None:
        asked = asked_line(prompt) if tells_request(prompt) or not self._words.asked else self._words.asked
        self._words = TurnWords(asked, at)

    def _called(self, call: ToolCalled) -> Iterator[EditUpdate]:
        changes = changes_of_edit(call)
        if not changes:
            return
        self._open.add(call.call)
        # The lines of an edit are not redacted here, so they leave no mark before the work is derived.
        bare = replace(call, detail="")
        for edit in edits_of_call(bare, changes, self._words, self._project.project_id, self._project.root):
            yield replace(edit, path=self._redact(edit.path), renamed_to=self._redact(edit.renamed_to))


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
    if sys.platform == "linux" and workers > 1:
        with ExitStack() as stack:
            lines: list[_Line] = []
            for _ in range(workers):
                lines.append(stack.enter_context(_worker(lines)))
            yield partial(_shared_out, lines)
    else:
        yield in_turn


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
    if sys.platform == "win32":
        raise OSError("a process cannot be forked")
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


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """Which sessions to import: changed since when, and of which project; empty for all."""

    since: int = 0
    project_id: str = ""


class LeftOut(StrEnum):
    """Why a session is not imported."""

    DONE = "imported before"
    RECORDED_LIVE = "recorded live"
    EXCLUDED = "excluded by the settings"
    OLD = "too old to be kept"
    STOPPED = "of a project with settings that cannot be read"


@dataclass(frozen=True, slots=True)
class Survey:
    """The sessions that can be imported, the newest first, and how many are left out, by reason."""

    sessions: tuple[ImportableSession, ...]
    left_out: dict[LeftOut, int]

    @property
    def size(self) -> int:
        """How many bytes are to be read."""
        return sum(one.size for one in self.sessions)


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import stored."""

    sessions: int = 0
    passages: int = 0
    characters: int = 0
    size: int = 0
    no_room: int = 0
    """How many sessions were not read, because the limit on stored text was reached."""


def survey(engine: Engine, candidates: Iterable[tuple[Reader, Path]], choice: ImportChoice) -> Survey:
    """The sessions in these files that can be imported; each file with the harness that may have made it."""
    by_session: dict[str, ImportableSession] = {}
    left_out = Counter[LeftOut]()
    look = _Surveyor(engine, choice)
    for harness, path in candidates:
        result = look.at(harness, path)
        if isinstance(result, LeftOut):
            left_out[result] += 1
        elif result is not None:
            other = by_session.get(result.session)
            # A copy of a transcript is the same session; the longer one has more.
            by_session[result.session] = other if other is not None and other.size >= result.size else result
    return Survey(tuple(sorted(by_session.values(), key=lambda one: -one.changed_at)), dict(left_out))


def take_in(
    engine: Engine,
    sessions: Sequence[ImportableSession],
    limit: int,
    done: Callable[[int], None],
    reading: Reading = in_turn,
) -> ImportResult:
    """Import these sessions until `limit` characters are stored; `done` gets the bytes of each piece."""
    keeping = _ImportRun(engine, limit)
    with closing(reading(keeping.jobs(sessions))) as pieces:
        for job, piece in pieces:
            keeping.keep(job, keeping.without_old(job, piece))
            done(piece.size)
    keeping.derive_newest()
    return replace(keeping.taken, no_room=len(sessions) - keeping.begun)


class _ImportRun:
    """Hands out jobs while there is room, and stores their pieces."""

    def __init__(self, engine: Engine, characters: int) -> None:
        self._engine = engine
        self._room = characters
        self._terms_by_root: dict[str, _Terms] = {}
        self._sessions_stored: set[str] = set()
        self._projects = set[str]()
        self.begun = 0
        self.taken = ImportResult()

    def jobs(self, sessions: Iterable[ImportableSession]) -> Iterator[Job]:
        for one in sessions:
            if self.taken.characters >= self._room:
                return
            self.begun += 1
            cursor = self._engine.store.cursor(_source(one.harness, one.session))
            yield Job(one, cursor, self._terms(one.project).redactor)

    def without_old(self, job: Job, piece: Piece) -> Piece:
        """The piece without documents past their retention, which would be pruned within the hour."""
        since = self._terms(job.session.project).since
        return replace(piece, documents=tuple(one for one in piece.documents if not 0 < one.at < since))

    def keep(self, job: Job, piece: Piece) -> None:
        _store_piece(self._engine.store, job.session, piece, job.redactor.mark)
        if piece.documents and not piece.before:
            _store_lineage(self._engine.store, job.session)
        if piece.documents:
            self._sessions_stored.add(job.session.session)
            self._projects.add(job.session.project.project_id)
        self.taken = replace(
            self.taken,
            sessions=len(self._sessions_stored),
            passages=self.taken.passages + len(piece.documents),
            characters=self.taken.characters + sum(len(document.text) for document in piece.documents),
            size=self.taken.size + piece.size,
        )

    def derive_newest(self) -> None:
        """Derive the work of each project's newest session, so that it can be gone on with at once."""
        for project_id in sorted(self._projects):
            for session in self._engine.store.page_of_sessions(project_id, START, 1):
                if is_imported(session):
                    deque(derivation(self._engine, session), maxlen=0)

    def _terms(self, project: Project) -> _Terms:
        """How a project's sessions are stored; its settings are read once."""
        if project.root not in self._terms_by_root:
            days = self._engine.config(project).records.retention_days
            since = self._engine.clock() - days * DAY_MS
            self._terms_by_root[project.root] = _Terms(self._engine.redactor(project), since)
        return self._terms_by_root[project.root]


@dataclass(frozen=True, slots=True)
class _Terms:
    """A project's redactor, and from which time on its texts are stored."""

    redactor: Redactor
    since: int


# ---------------------------------------------------------------- looking


class _Surveyor:
    """Examines files one after the other, and reads each project's settings once."""

    def __init__(self, engine: Engine, choice: ImportChoice) -> None:
        self._engine = engine
        self._choice = choice
        self._places: dict[str, Resolution] = {}
        self._configs: dict[Project, Config] = {}

    def at(self, harness: Reader, path: Path) -> ImportableSession | LeftOut | None:
        """The session of this file; None if it holds none, or one that was not asked for."""
        extent = harness.extent(path) if isinstance(harness, KeptInRows) else file_extent(path)
        if extent is None or extent.changed_at < self._choice.since:
            return None
        key = harness.session_of(path)
        if not key:
            return None
        stored_session = self._engine.store.session(key)
        if self._is_kept(path, stored_session):
            return LeftOut.RECORDED_LIVE
        reached = progress_of(self._engine.store.cursor(_source(harness, key)))
        if reached.through and reached.size >= extent.size:
            return LeftOut.DONE
        head = harness.read_transcript(path, key, "", HEAD_BYTES)
        times = [event.at for event in head.events if event.at] or [extent.changed_at]
        ended_at = max(times) if head.done else extent.changed_at
        whose = self._owner(stored_session.project.path if stored_session else head.cwd, min(times), ended_at)
        if self._choice.project_id not in ("", whose.project.project_id):
            return None
        unread = max(0, extent.size - reached.size)
        importable = ImportableSession(
            harness, path, key, whose.project, min(times), extent.changed_at, unread, whose.left
        )
        return self._unwanted(importable, self._config(whose.project)) or importable

    def _unwanted(self, importable: ImportableSession, config: Config) -> LeftOut | None:
        """Why the settings exclude a session, if they do.

        Raises ProtectionUnreadable where the settings for all projects cannot be read.
        """
        if config.unreadable is not None and not config.unreadable.everywhere:
            return LeftOut.STOPPED
        left_out = excluded(config, importable.project.normalized) or self._engine.owns(importable.project)
        if not config.continuity.enabled or left_out:
            return LeftOut.EXCLUDED
        kept_since = self._engine.clock() - config.records.retention_days * DAY_MS
        return LeftOut.OLD if importable.changed_at < kept_since else None

    def _is_kept(self, path: Path, stored_session: Session | None) -> bool:
        """Whether hook events recorded the session or it was forgotten; then it is not imported."""
        return bool(self._engine.store.cursor(str(path))) or (
            stored_session is not None and not is_imported(stored_session)
        )

    def _owner(self, cwd: str, started_at: int, ended_at: int) -> FormerProject:
        """The project of a session that worked in a directory between these times."""
        if cwd not in self._places:
            self._places[cwd] = projects.resolve(self._engine.store, cwd)
        return former_project_of(self._engine.store, self._places[cwd], started_at, ended_at)

    def _config(self, project: Project) -> Config:
        if project not in self._configs:
            self._configs[project] = self._engine.config(project)
        return self._configs[project]


# ---------------------------------------------------------------- keeping


def _store_piece(store: Store, importable: ImportableSession, piece: Piece, redactor: str) -> None:
    """Store a piece, unless another process did, or the daemon has recorded the session since."""
    with store.writing():
        stored_session, source = (
            store.session(importable.session),
            _source(importable.harness, importable.session),
        )
        if store.cursor(source) != piece.before or (
            stored_session is not None and not is_imported(stored_session)
        ):
            return
        forgotten_at = store.forgotten_at(importable.session)
        news = [document for document in piece.documents if not forgotten_at or document.at > forgotten_at]
        for document in _latest_of_each(store, news):
            store.add_document(document, redactor)
        if stored_session is not None or news:
            session = _after(stored_session or _begun(importable, piece), piece)
            store.put_session(session, redactor)
            store.update_file_edits(importable.session, piece.edits, redactor)
            store.put_imported_work(importable.session, session.last_event_at, "")
            if importable.left is not None and not store.sites_of(importable.project.project_id):
                store.put_site(importable.left)
        store.put_cursor(source, piece.after)
        for reason, times in Counter(piece.skipped).items():
            store.count_skipped(reason, times)


def _latest_of_each(store: Store, news: Sequence[SearchDocument]) -> list[SearchDocument]:
    """The documents that no later session repeats.

    A text of several sessions is stored with the latest of them, and parallel reading yields any order.
    """
    last = {one.id: one for one in store.around([one.id for one in news], 0, EVERYWHERE)}
    for one in news:
        last[one.id] = max(one, last.get(one.id, one), key=_moment)
    return [one for one in news if last[one.id] is one]


def _moment(document: SearchDocument) -> tuple[int, str, int]:
    """When the text was said; a fork's copy has the time of the original."""
    return document.at, document.session, document.place


def _store_lineage(store: Store, importable: ImportableSession) -> None:
    """Store which session it was forked from, if its harness says so: forgetting follows the lineage."""
    earlier = importable.harness.earlier_transcripts(importable.path)
    parent = importable.harness.session_of(earlier[-1]) if earlier else ""
    if parent in ("", importable.session):
        return
    with store.writing():
        if store.session(importable.session) is not None and store.lineage(importable.session) is None:
            store.add_lineage(Lineage(importable.session, parent, "fork", importable.started_at))


def _source(harness: Reader, session: str) -> str:
    """The name of a session's import cursor, whatever the path of its file.

    It contains the session's key, so that forgetting the session finds it. The daemon's own cursor is stored
    under the file's path.
    """
    return f"import/{harness.name}/{session}"


def _begun(one: ImportableSession, piece: Piece) -> Session:
    session = begin(one.session, one.harness.name, one.project, piece.first_at or one.started_at)
    return replace(session, phase=Phase.ENDED, end_reason=IMPORTED, transcript=str(one.path))


def _after(session: Session, piece: Piece) -> Session:
    at, title = max(session.last_event_at, piece.last_at), session.title
    for event in piece.titles:
        title = after_title(title, event)
    trail = session.trail
    if trail.first_prompt is None and piece.request is not None:
        # Enough for a title; no evidence yet.
        trail = replace(trail, first_prompt=piece.request)
    return replace(
        session,
        title=title,
        last_event_at=at,
        changed_at=at,
        ended_at=at,
        model=piece.model or session.model,
        prompt_count=session.prompt_count + piece.prompts,
        window=session.window + piece.compactions,
        trail=trail,
    )
