"""The contract of a store: durable storage for everything that was acknowledged, and search in it.

Named operations over Holdfast's own types, with ids and times passed by the caller. No SQL and no decision is
visible here, so that another database can be added without touching the engine. Forgetting is in
`forgettable.py`, where projects are in `placed.py`, sharing in `shared.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Final, NamedTuple, Protocol, TypeAlias

from holdfast.core.agent_log.records import Record
from holdfast.core.brief.compose import Receipt
from holdfast.core.events.event import Event
from holdfast.core.events.world import Project
from holdfast.core.evidence.file_edits import EditUpdate, FileEdit
from holdfast.core.memory.memory import Memory, Merits
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.rolling import Outline
from holdfast.core.session.score import SessionScore
from holdfast.core.session.session import Process, Session
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.forgettable import Dropped, Forgettable
from holdfast.stores.placed import Placed
from holdfast.stores.shared import Shared

UNREDACTED: Final = "0"
"""The redactor of a text that may be unredacted: it is redacted again at the next opportunity."""


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """A searchable text, with its vector if it has one."""

    id: str
    kind: str
    project_id: str
    text: str
    vector: tuple[float, ...] = ()
    session: str = ""
    """The session with which it is pruned; empty if it stays until it is deleted.

    When read: if it has no session of its own, that of its checkpoint or memory.
    """
    at: int = 0
    place: int = 0
    """Its position in its session; its neighbours of the same kind support it as a hit."""
    source: str = ""
    """Where it comes from, for display."""
    worktree_id: str = ""
    """The only worktree that it applies to; empty if it applies to all of its project."""
    merits: Merits | None = None
    """The merits of the memory whose document it is, if `around` read it."""


@dataclass(frozen=True, slots=True)
class Within:
    """Where to search: in which projects, in which worktree, among which kinds, and since when."""

    projects: tuple[str, ...] | None
    """Their ids; the empty id stands for what applies to every project. None for all."""
    worktree_id: str = ""
    """Only texts that apply to this worktree or to all; empty: to any."""
    kinds: tuple[str, ...] = ()
    """Empty for every kind."""
    since: int = 0


EVERYWHERE: Final = Within(None)


class Hit(NamedTuple):
    """A matching document; the greater the score, the better the match."""

    id: str
    score: float


class Findable(Protocol):
    """Documents and memories."""

    def add_document(self, document: SearchDocument, redactor: str = UNREDACTED) -> None:
        """Make a text searchable; the same id replaces it. A checkpoint's or memory's is deleted with it."""
        ...

    def drop_document(self, id: str) -> None:
        """Remove a text from the search."""
        ...

    def documents(self, within: Within, limit: int) -> list[SearchDocument]:
        """Documents without their vectors, the newest first."""
        ...

    def documents_beginning(self, prefix: str, within: Within, limit: int) -> list[SearchDocument]:
        """Documents whose id begins with this prefix, without their vectors, by id."""
        ...

    def around(self, ids: Sequence[str], reach: int, within: Within) -> list[SearchDocument]:
        """These documents and those of the same kind up to `reach` places from them in their sessions.

        For memories, those stated shortly before or after. Each once, without its vector; a memory's document
        with its merits.
        """
        ...

    def search(self, words: Sequence[str], within: Within, limit: int) -> list[Hit]:
        """Documents that contain any of the words, the best match first.

        Among very many documents, a word that is in most of them is ignored beside rarer ones, and if all
        words are common, only the newest documents are searched.
        """
        ...

    def nearest(self, vector: Sequence[float], within: Within, limit: int) -> list[Hit]:
        """Documents with the most similar vectors."""
        ...

    def without_vector(self, limit: int) -> list[SearchDocument]:
        """Documents that have no vector yet, the newest first."""
        ...

    def put_vector(self, id: str, vector: Sequence[float]) -> None:
        """Store a document's vector; an empty one says that its text has no direction."""
        ...

    def drop_vectors(self) -> None:
        """Remove all vectors: another model will make new ones."""
        ...

    # Memories

    def put_memory(self, memory: Memory, redactor: str = "") -> None:
        """Store a memory; the same id replaces it. Without a redactor, no text in it is new.

        `add_document` makes it searchable.
        """
        ...

    def memory(self, id: str) -> Memory | None:
        """The memory with that id."""
        ...

    def memories_named(self, ids: Sequence[str]) -> list[Memory]:
        """The memories among these ids."""
        ...

    def memories(self, within: Within, limit: int) -> list[Memory]:
        """Memories that no newer one supersedes, the newest first; their kind is `memory`."""
        ...

    def superseded_memories(self, within: Within, limit: int) -> list[Memory]:
        """The others, the newest first."""
        ...

    def superseded_among(self, ids: Sequence[str]) -> set[str]:
        """Those of these ids that are superseded memories."""
        ...

    def memory_like(self, memory: Memory) -> Memory | None:
        """Another memory of the same scope that says the same, word for word."""
        ...

    def last_memory(self, memory: Memory) -> Memory | None:
        """The newest of the other memories of the same scope."""
        ...

    def memories_about(self, memory: Memory) -> list[Memory]:
        """Other memories of the same scope about the same subject that are not superseded."""
        ...

    def count_found(self, ids: Sequence[str], at: int) -> None:
        """Count that these memories were recalled."""
        ...

    def drop_memory(self, id: str) -> None:
        """Delete a memory and its document."""
        ...


__all__ = [
    "EVERYWHERE",
    "RECORDS",
    "START",
    "UNREDACTED",
    "Activity",
    "Captured",
    "Change",
    "ChangedFile",
    "DailyCheckpoints",
    "Dropped",
    "Hit",
    "Lineage",
    "Novelty",
    "PageMark",
    "RecordsKept",
    "Redaction",
    "Rewritten",
    "RowHead",
    "RowKind",
    "SearchDocument",
    "Store",
    "StoreCounts",
    "StoredText",
    "Within",
    "names_one_of",
]

RECORDS: Final = ("record", "digest")
"""The kinds of documents that hold a session's conversation: they outlive it, by their own rule."""


@dataclass(frozen=True, slots=True)
class RecordsKept:
    """How many passages are stored of all sessions, how many bytes of text that is, and since when."""

    passages: int
    bytes: int
    since: int


@dataclass(frozen=True, slots=True)
class PageMark:
    """Where a page ended: the time and the id of its last row."""

    at: int
    id: str


START: Final = PageMark(253_402_300_799_999, "")
"""Before everything that can be stored: the last millisecond that a date can express."""


@dataclass(frozen=True, slots=True)
class RowHead:
    """The least that distinguishes a row from others and from its earlier state."""

    kind: str
    """`session`, `checkpoint`, `brief` or `memory`."""
    id: str
    session: str
    at: int


class RowKind(StrEnum):
    """What an id is of; the values are those of `RowHead.kind`."""

    SESSION = "session"
    CHECKPOINT = "checkpoint"
    BRIEF = "brief"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """How much is stored, by kind."""

    sessions: int
    live: int
    events: int
    checkpoints: int
    receipts: int
    memories: int
    documents: int


@dataclass(frozen=True, slots=True)
class Captured:
    """What is stored of one harness."""

    harness: str
    sessions: int
    live: int
    last_event_at: int
    last_brief_at: int
    """When a session of it was last given a brief; 0 if none was."""


@dataclass(frozen=True, slots=True)
class DailyCheckpoints:
    """How many checkpoints of one day are stored."""

    day: str
    checkpoints: int


class Activity(NamedTuple):
    """How much happened in a stretch of time."""

    sessions: int
    """Sessions whose latest event was in it."""
    checkpoints: int
    compactions: int
    """Windows that were given a brief because of a compaction; a brief that got lost is given again."""
    starts: int
    """Briefs that were given when a session began, or began again."""
    memories: int


Change: TypeAlias = Callable[[str, str], str]
"""The new text for a text, from its session's key (empty if it has none) and the text itself."""


class Novelty(StrEnum):
    """Whether an event was new to the store."""

    NEW = "new"
    REVISED = "revised"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class Lineage:
    """Which session a session continues, and how: `clear`, `fork`, `startup`, `handoff`."""

    child: str
    parent: str
    kind: str
    at: int


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that sessions changed, when last, and how many did."""

    path: str
    at: int
    sessions: int


@dataclass(frozen=True, slots=True)
class StoredText:
    """One stored text, and where: the table and the column, or the like."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """How many rows hold texts, and how many of them another redactor processed."""

    rows: int
    stale: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """How many rows were processed again, and in how many of them a text changed."""

    rows: int
    changed: int


def names_one_of(source: str, keys: set[str]) -> bool:
    """Whether a source's file, or a directory above it, is named after one of these sessions."""
    return not keys.isdisjoint(_BETWEEN_NAMES.split(source))


_BETWEEN_NAMES = re.compile(r"[/\\.]")


class Store(Findable, Forgettable, Placed, Shared, Protocol):
    """Everything that Holdfast stores. Every write happens inside `writing` or `writing_durably`.

    `redactor` names the redactor that a text went through.
    """

    def writing(self) -> AbstractContextManager[None]:
        """One transaction: all or nothing; what is read inside stays valid until it is written."""
        ...

    def writing_durably(self) -> AbstractContextManager[None]:
        """The same, and on the disk before it returns."""
        ...

    # Sessions

    def session(self, key: str) -> Session | None:
        """The session with that key."""
        ...

    def put_session(self, session: Session, redactor: str = "") -> None:
        """Store this state of the session; without a redactor, no text in it is new.

        A session with texts of two redactors counts as unredacted.
        """
        ...

    def sessions(self, limit: int) -> list[Session]:
        """The sessions with the latest events first."""
        ...

    def sessions_of_project(self, project_id: str, since: int, limit: int) -> list[Session]:
        """Sessions of a project with an event since that time, the latest first."""
        ...

    def sessions_of_process(self, process: Process, limit: int) -> list[Session]:
        """Sessions that this process was last seen with, the latest first."""
        ...

    def live_sessions(self) -> list[Session]:
        """Sessions that neither ended nor were orphaned."""
        ...

    def live_transcripts(self) -> dict[str, str]:
        """The transcript of each session that has not ended, by the session's key; empty if it has none."""
        ...

    # Events and cursors

    def add_event(self, event: Event, redactor: str = UNREDACTED) -> Novelty:
        """Store an event, unless its session already has this or a later revision of its record."""
        ...

    def events(self, session: str, limit: int) -> list[Event]:
        """The last events of a session, oldest first."""
        ...

    def events_backwards(self, session: str, limit: int) -> Iterator[Event]:
        """The same, newest first, each decoded on use."""
        ...

    def sessions_sharing_records(self, session: str) -> list[str]:
        """Keys of other sessions that hold records of this one, those that share most first."""
        ...

    def cursor(self, source: str) -> str:
        """How far that source was read, even if its content was forgotten; empty if it never was."""
        ...

    def put_cursor(self, source: str, cursor: str) -> None:
        """Store how far that source was read."""
        ...

    # Checkpoints

    def add_checkpoint(self, checkpoint: Checkpoint, redactor: str = UNREDACTED) -> None:
        """Store a checkpoint."""
        ...

    def put_outline(self, id: str, outline: Outline) -> None:
        """Replace the outline of a checkpoint; nothing else of one ever changes."""
        ...

    def checkpoints_of_session(self, session: str, limit: int) -> list[Checkpoint]:
        """A session's checkpoints, the newest first."""
        ...

    def checkpoints_of_project(self, project_id: str, limit: int) -> list[Checkpoint]:
        """A project's checkpoints, the newest first."""
        ...

    def checkpoints(self, limit: int) -> list[Checkpoint]:
        """All checkpoints, the newest first."""
        ...

    def trim_checkpoints(self, session: str, keep: int) -> int:
        """Delete a session's oldest checkpoints beyond `keep`, and their documents; returns how many."""
        ...

    def prune_checkpoints(self, before: int, newest_before: int, imported_before: int) -> int:
        """Delete checkpoints older than `before`, or `newest_before` for a session's newest; how many.

        The newest of an imported session is kept until `imported_before`, as its passages are.
        """
        ...

    def prune_sessions(self, before: int, imported_before: int) -> int:
        """Delete sessions that ended before that time, with all that belongs to them; returns how many.

        Imported ones are kept until `imported_before`, as their passages are.
        """
        ...

    # Lineage and receipts

    def add_lineage(self, lineage: Lineage) -> None:
        """Store which session another continues; the first entry for a session stays."""
        ...

    def lineage(self, child: str) -> Lineage | None:
        """Which session this one continues."""
        ...

    def continued_by(self, parent: str) -> list[Lineage]:
        """How other sessions continue this one, the earliest first."""
        ...

    def add_receipt(self, receipt: Receipt, redactor: str = UNREDACTED) -> None:
        """Store a brief's receipt."""
        ...

    def receipts(self, session: str, limit: int) -> list[Receipt]:
        """A session's receipts, the newest first; of all sessions for an empty key."""
        ...

    def receipts_in_window(self, session: str, window: int, limit: int) -> list[Receipt]:
        """The receipts of one window of a session, the newest first."""
        ...

    # Redaction

    def secret(self, name: str, fresh: bytes) -> bytes:
        """The secret with that name; if there is none, `fresh` is stored, inside a transaction or not."""
        ...

    def redaction(self, redactor: str) -> Redaction:
        """How many texts this redactor has processed."""
        ...

    def rewrite(self, redactor: str, change: Change, rows: int, characters: int) -> Rewritten:
        """Change the texts of some rows that another redactor processed, sessions first, and mark them.

        At most `rows` rows, and no further one once `characters` were read. Ids, names and paths stay; a
        document whose text changes loses its vector.
        """
        ...

    def texts(self) -> Iterator[StoredText]:
        """Every stored text."""
        ...

    # Facts and health

    def fact(self, name: str) -> str:
        """The note stored under that name; empty if there is none."""
        ...

    def put_fact(self, name: str, fact: str) -> None:
        """Store a note about the store; an empty text removes the note."""
        ...

    def count_skipped(self, reason: str, times: int) -> None:
        """Count what could not be read."""
        ...

    def skipped(self) -> dict[str, int]:
        """What could not be read so far, by reason."""
        ...

    @property
    def place(self) -> str:
        """Where the store is, for a person."""
        ...

    @property
    def size(self) -> int:
        """How many bytes the store takes."""
        ...

    def check(self) -> str:
        """Empty if the store is sound, otherwise what is wrong with it."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...

    # Passages of sessions, and scores.

    def unindexed(self, before: int, limit: int) -> list[str]:
        """Sessions with main-agent events that arrived since they were indexed, the oldest first.

        Log records count as events. Only sessions whose first such event is older than `before`.
        """
        ...

    def mark_indexed(self, session: str) -> None:
        """Mark everything in the session so far as indexed."""
        ...

    def events_from(self, session: str, record: str, limit: int) -> list[Event]:
        """A session's events in order of arrival, from that record on; if it is not there, from the first."""
        ...

    def drop_records(self, session: str, place: int) -> int:
        """Delete a session's passages from that place on; returns how many."""
        ...

    def records_kept(self) -> RecordsKept:
        """How much of the sessions' conversations is searchable."""
        ...

    def prune_records(self, before: int, most_bytes: int, limit: int) -> int:
        """Delete passages older than `before`, and the oldest beyond `most_bytes` of text; returns how many.

        At most `limit`: a hook event that arrives meanwhile must not wait for long.
        """
        ...

    def add_recalls(self, session: str, ids: Sequence[str], at: int) -> None:
        """Store which documents a session's agent received from recall; the first time of each counts."""
        ...

    def recalls(self, session: str) -> list[tuple[str, int]]:
        """The documents that a session's agent received from recall, and when first, in that order."""
        ...

    def put_score(self, score: SessionScore) -> None:
        """Store a session's score, replacing an earlier one."""
        ...

    def scores(self, limit: int) -> list[SessionScore]:
        """The sessions' scores, the latest first."""
        ...

    # File edits, which outlive their session as passages do, and the work of imported sessions.

    def update_file_edits(
        self, session: str, updates: Sequence[EditUpdate], redactor: str = UNREDACTED
    ) -> None:
        """Store what an event says about a session's edits, in order.

        An edit is known by session, record and path: the same one again changes only what is known better.
        One whose call failed is deleted; a stronger reason replaces a weaker one.
        """
        ...

    def file_edits(self, project_id: str, paths: Sequence[str], limit: int) -> list[FileEdit]:
        """The edits of these files whose calls succeeded, the newest first."""
        ...

    def renames_to(self, project_id: str, paths: Sequence[str]) -> list[FileEdit]:
        """The edits that moved a file or folder to one of these paths, the newest first."""
        ...

    def edited_files(self, project_id: str, limit: int) -> list[ChangedFile]:
        """The files of a project that were changed, the last changed first."""
        ...

    def prune_file_edits(self, before: int, limit: int) -> int:
        """Delete at most `limit` edits older than that time; returns how many."""
        ...

    def put_imported_work(self, session: str, at: int, extent: str) -> None:
        """Note that a session was imported, and of how much of its transcript the work state is.

        An empty extent says that the work state is still to be derived.
        """
        ...

    def imported_work(self, session: str) -> str | None:
        """That extent; None for a session that was not imported."""
        ...

    def waiting_imports(self, limit: int) -> list[str]:
        """The imported sessions whose work state is still to be derived, the latest first."""
        ...

    def drop_imported_work(self, session: str) -> None:
        """Remove the note: the session is no longer an import."""
        ...

    # Logs, each a list of records in order of arrival.

    def add_to_log(self, session: str, records: Sequence[Record], redactor: str = UNREDACTED) -> int:
        """Append records to a session's log unchanged; returns how many were new.

        A record is identified by its id: the first one stays, a repeated one changes nothing.
        """
        ...

    def log(self, session: str, before: str, limit: int) -> list[Record]:
        """The last records of a session's log before that one (empty: of the whole log), oldest first."""
        ...

    def log_from(self, session: str, record: str, limit: int) -> list[Record]:
        """The records of a session's log in order, from that one on; if it is not there, from the first."""
        ...

    def logged_sessions(self, limit: int) -> list[Session]:
        """The sessions that have a log here, the one with the latest record first."""
        ...

    # Pages, single rows, and counts.

    def checkpoint(self, id: str) -> Checkpoint | None:
        """The checkpoint with that id."""
        ...

    def receipt(self, id: str) -> Receipt | None:
        """The receipt with that id."""
        ...

    def page_of_checkpoints(self, behind: PageMark, limit: int) -> list[Checkpoint]:
        """Checkpoints of all projects, by when they were taken."""
        ...

    def page_of_project_checkpoints(self, project_id: str, behind: PageMark, limit: int) -> list[Checkpoint]:
        """The same, of one project."""
        ...

    def page_of_session_checkpoints(self, session: str, behind: PageMark, limit: int) -> list[Checkpoint]:
        """The same, of one session."""
        ...

    def page_of_sessions(
        self, project_id: str, behind: PageMark, limit: int, harness: str = "", since: int = 0
    ) -> list[Session]:
        """Sessions by their latest event, which is not before `since`; empty: every project or harness."""
        ...

    def page_of_events(self, session: str, behind: PageMark, limit: int) -> list[Event]:
        """A session's events; the id of each is that of its record."""
        ...

    def page_of_receipts(self, session: str, behind: PageMark, limit: int) -> list[Receipt]:
        """A session's receipts; of all sessions for an empty key."""
        ...

    def page_of_memories(self, within: Within, behind: PageMark, limit: int) -> list[Memory]:
        """Memories by when they were first stated, including superseded ones."""
        ...

    def page_of_scores(self, behind: PageMark, limit: int) -> list[SessionScore]:
        """How sessions went, by when they were scored; the id of each is that of its session."""
        ...

    def projects(self) -> list[Project]:
        """Every project with a stored session, as its latest session names it."""
        ...

    def project_at(self, path: str) -> str:
        """The id of the project in which a checkpoint was taken at that real path; empty if there is none."""
        ...

    def heads(self, limit: int) -> list[RowHead]:
        """Up to `limit` of each kind, the latest first; those of one kind together."""
        ...

    def ids_beginning(self, kind: RowKind, prefix: str, limit: int) -> list[str]:
        """The ids of that kind that begin with this prefix, in order."""
        ...

    def ids_around(self, kind: RowKind, id: str) -> tuple[str, str]:
        """The ids of that kind just before and just after this one in order; empty where there is none."""
        ...

    def counts(self) -> StoreCounts:
        """How much is stored."""
        ...

    def captured(self) -> list[Captured]:
        """What is stored of each harness, by name."""
        ...

    def activity(self, bounds: Sequence[int]) -> list[Activity]:
        """How much happened between each of these times, which are in order, and the next one."""
        ...

    def receipts_made_from(self, session: str, limit: int) -> list[Receipt]:
        """The receipts of briefs that other sessions were given about this one, the newest first."""
        ...

    def taken_since(self, at: int) -> list[DailyCheckpoints]:
        """What is stored of each UTC day since then, in order, without empty days."""
        ...
