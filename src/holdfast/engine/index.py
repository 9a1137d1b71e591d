"""Index: documents and vectors by which texts are found, and which of them a search from a project covers.

Indexed are the texts and checkpoints of sessions, and a project's memory files, section by section.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2s
from pathlib import Path
from typing import Final

import msgspec

from holdfast import harnesses
from holdfast.core.agent_log.records import OWN
from holdfast.core.events.event import Event, map_text
from holdfast.core.events.world import Project
from holdfast.core.memory.passages import Passage, PassageKind, markdown_sections, passages, relevant_events
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Session, Trigger
from holdfast.core.text.untrusted import from_repository
from holdfast.engine.engine import Engine
from holdfast.engine.ids import NAMED_MOST, ambiguous
from holdfast.engine.redaction.redactor import Redactor
from holdfast.engine.repository import git
from holdfast.files import memory_files
from holdfast.files.memory_files import MemoryFileState
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Embedder
from holdfast.stores.base import EVERYWHERE, SearchDocument, Store, Within

SETTLED_MS: Final = 30_000
"""How long a session's texts wait for more: a passage that grows is rewritten each time."""
LOOKED_AT: Final = 200
EVENTS_AT_ONCE: Final = 300
VECTORS_AT_ONCE: Final = 64
"""The most events of one step: a hook event that arrives meanwhile waits for some tens of milliseconds."""
BACKLOG: Final = 256
EMBEDDER_FACT: Final = "embedder"
"""The fact that says which model made the store's vectors: those of two models cannot be compared."""
MEMORY_FILE: Final = "file"
SECTIONS_MOST: Final = 400
"""The most sections of one file that are indexed."""
USER: Final = ""
"""The project id of memories that apply to every project."""


def index_next(engine: Engine) -> bool:
    """Index the new texts of one session; returns whether another step may be due at once."""
    waiting = engine.store.unindexed(engine.clock() - SETTLED_MS, LOOKED_AT)
    key = next((key for key in waiting if not _is_stopped(engine, key)), None)
    if key is not None:
        _index(engine, key)
    return key is not None


def _is_stopped(engine: Engine, key: str) -> bool:
    session = engine.store.session(key)
    return session is not None and engine.is_stopped(session.project)


def embed_backlog(engine: Engine) -> bool:
    """Embed some documents, if more wait than a recall would embed by itself.

    Returns whether another step may be due at once. Where few wait, the embedder is not loaded.
    """
    if len(engine.store.without_vector(BACKLOG + 1)) <= BACKLOG:
        return False
    embedder = engine.embedder()
    return embedder is not None and embed_missing(engine, embedder, VECTORS_AT_ONCE) > 0


def checkpoint_document(checkpoint: Checkpoint) -> SearchDocument:
    """A checkpoint as a document. Digests in someone's own words are kept longer than rule-based ones."""
    words = checkpoint.trigger in (Trigger.AGENT, Trigger.EXPLICIT) and bool(checkpoint.words)
    return SearchDocument(
        id=checkpoint.id,
        kind=PassageKind.DIGEST.value if words else "checkpoint",
        project_id=checkpoint.project_id,
        text=checkpoint.digest,
        session=checkpoint.session if words else "",
        at=checkpoint.created_at,
        source=_source(checkpoint.session),
    )


def document_of(passage: Passage, session: str, project: Project, place: int) -> SearchDocument:
    """A passage as a document. The same words in one project are one document, whichever session has them.

    This matters because a fork begins with a copy of its parent's conversation.
    """
    print_of = blake2s(f"{project.project_id}\0{passage.text}".encode("utf-8", "replace"), digest_size=16)
    return SearchDocument(
        id=print_of.hexdigest(),
        kind=passage.kind.value,
        project_id=project.project_id,
        text=passage.text,
        session=session,
        at=passage.at,
        place=place,
        source=_source(session),
    )


def _source(session: str) -> str:
    return f"session {session[:8]}"


class _Reached(msgspec.Struct, frozen=True, array_like=True):
    """Where to go on indexing a session: the record to begin with, and the place of its passage."""

    record: str = ""
    place: int = 0


def _index(engine: Engine, key: str) -> None:
    """Index a session from its last passage on, which may have grown and is rewritten."""
    store, source = engine.store, f"index/{key}"
    with store.writing():
        session = store.session(key)
        reached = _reached(store.cursor(source))
        since = _since(engine, session, reached.record) if session else _Since([], "", full=False)
        if session is not None:
            passages_read = _passages(engine, session, since.events)
            store.drop_records(key, reached.place)
            mark = engine.redactor(session.project).mark
            for place, passage in enumerate(passages_read, reached.place):
                store.add_document(document_of(passage, key, session.project, place), mark)
            reached = _after(reached, since, passages_read)
            store.put_cursor(source, msgspec.json.encode(reached).decode())
        if not since.full:
            store.mark_indexed(key)


@dataclass(frozen=True, slots=True)
class _Since:
    """The events of a session from a record on, the last record, and whether there may be more."""

    events: list[Event]
    last: str
    full: bool


def _since(engine: Engine, session: Session, record: str) -> _Since:
    """Read a session's events from the store, or derive them from its agent log if it has one."""
    if session.harness != OWN:
        events = engine.store.events_from(session.key, record, EVENTS_AT_ONCE)
        return _Since(events, events[-1].record if events else "", len(events) == EVENTS_AT_ONCE)
    # One record may give several events, each named after the record and its place in it.
    records = engine.store.log_from(session.key, record.partition("/")[0], EVENTS_AT_ONCE)
    reader = harnesses.log_reader()
    log_events = [event for each in records for event in reader.events_of(session.key, each)]
    return _Since(log_events, records[-1].id if records else "", len(records) == EVENTS_AT_ONCE)


def _passages(engine: Engine, session: Session, events: list[Event]) -> list[Passage]:
    """The passages, redacted by the present rules. Digests are left out: their checkpoints are searchable."""
    redact = engine.redactor(session.project).of_session(session.key)
    redacted_events = [map_text(event, redact) for event in relevant_events(events)]
    return [
        each for each in passages(redacted_events, session.project.root) if each.kind is PassageKind.RECORD
    ]


def _after(reached: _Reached, since: _Since, passages_read: list[Passage]) -> _Reached:
    """Where to begin the next time: at the last passage that opens a turn."""
    begins = [place for place, passage in enumerate(passages_read) if passage.begins]
    if begins and (begins[-1] or not since.full):
        return _Reached(passages_read[begins[-1]].begins, reached.place + begins[-1])
    # No passage in so many events: move on, or some of them would be read again for ever.
    return _Reached(since.last, reached.place + len(passages_read)) if since.full else reached


def _reached(cursor: str) -> _Reached:
    try:
        return msgspec.json.decode(cursor, type=_Reached)
    except ValueError:
        return _Reached()


def embed_missing(engine: Engine, embedder: Embedder, most: int) -> int:
    """Embed at most so many documents that have no vector; returns how many were embedded."""
    store = engine.store
    if store.fact(EMBEDDER_FACT) == embedder.name and not store.without_vector(1):
        return 0
    # Read inside the transaction, so that the vector belongs to this text even if another process writes.
    with store.writing():
        if store.fact(EMBEDDER_FACT) != embedder.name:
            store.drop_vectors()
            store.put_fact(EMBEDDER_FACT, embedder.name)
        waiting = store.without_vector(most)
        vectors = embedder.embed([document.text for document in waiting])
        for document, vector in zip(waiting, vectors, strict=True):
            store.put_vector(document.id, vector)
    return len(waiting)


class _File(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was when it was last read, and the documents made from it."""

    modified_ns: int
    size: int
    cloned: bool
    documents: tuple[str, ...]


class _Seen(msgspec.Struct, frozen=True):
    """The files of the last check, by a hash of their paths: this is stored, and a name may be a secret."""

    index_ns: int = 0
    """When git's own index was written; it says which files came with the clone."""
    files: dict[str, _File] = msgspec.field(default_factory=dict[str, _File])


@dataclass(frozen=True, slots=True)
class _Look:
    """The memory files as they are now, and what is known of them."""

    states: Mapping[str, MemoryFileState]
    cloned: frozenset[str]
    index_ns: int


def refresh_memory_files(engine: Engine, project: Project) -> int:
    """Bring the project's memory files up to date in the index; returns how many had changed.

    Every recall calls it, so it is quick where none did.
    """
    if engine.is_stopped(project):
        return 0
    source = f"files/{project.worktree_id}"
    cursor = engine.store.cursor(source)
    last = _seen(engine.store, cursor)
    look = _look(project, last)
    changed = [name for name in look.states if not _is_as_seen(name, look, last)]
    deleted = last.files.keys() - look.states.keys()
    if not changed and not deleted and look.index_ns == last.index_ns:
        return 0
    redactor = engine.redactor(project)
    read = {name: _documents(project, look, name, redactor) for name in changed}
    with engine.store.writing():
        if engine.store.cursor(source) != cursor:
            return 0  # Another process is doing it.
        for name in (*deleted, *changed):
            _replace(engine.store, last.files.get(name), read.get(name, ()), redactor.mark)
        remaining = {name: each for name, each in last.files.items() if name in look.states}
        now = _Seen(look.index_ns, remaining | {name: _file(look, name, read[name]) for name in changed})
        engine.store.put_cursor(source, msgspec.json.encode(now).decode())
    return len(changed) + len(deleted)


def _replace(store: Store, before: _File | None, after: Iterable[SearchDocument], redactor: str) -> None:
    """Replace a file's documents; those of unchanged sections stay, with their vectors."""
    old = set(before.documents) if before else set[str]()
    new = {document.id: document for document in after}
    for id in old - new.keys():
        store.drop_document(id)
    for id in new.keys() - old:
        store.add_document(new[id], redactor)


def _file(look: _Look, name: str, documents: Iterable[SearchDocument]) -> _File:
    state = look.states[name]
    ids = tuple(document.id for document in documents)
    return _File(state.modified_ns, state.size, name in look.cloned, ids)


def _is_as_seen(name: str, look: _Look, last: _Seen) -> bool:
    state, before = look.states[name], last.files.get(name)
    now = (state.modified_ns, state.size, name in look.cloned)
    return before is not None and (before.modified_ns, before.size, before.cloned) == now


# ---------------------------------------------------------------- looking


def _look(project: Project, last: _Seen) -> _Look:
    states = {_print_of(state.path): state for state in memory_files.states(Path(project.root))}
    place = git.find(project.root) if states else None
    if place is None or place.repository is None:
        return _Look(states, frozenset(), 0)
    index_ns = _modified_ns(place.repository.git_dir / "index")
    if index_ns == last.index_ns and states.keys() <= last.files.keys():
        # The index of a large repository takes a while to read.
        return _Look(states, frozenset(name for name in states if last.files[name].cloned), index_ns)
    paths = {state.path: name for name, state in states.items()}
    tracked = git.tracked(place.repository, lambda file: file.name in paths, len(paths))
    return _Look(states, frozenset(paths[path] for path in tracked), index_ns)


def _modified_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _seen(store: Store, cursor: str) -> _Seen:
    """The result of the last check; empty if its documents have been forgotten."""
    try:
        last = msgspec.json.decode(cursor, type=_Seen)
    except ValueError:
        return _Seen()
    documents = [file.documents[0] for file in last.files.values() if file.documents]
    return last if all(store.documents_beginning(id, EVERYWHERE, 1) for id in documents[:1]) else _Seen()


# ---------------------------------------------------------------- reading


def _documents(project: Project, look: _Look, name: str, redactor: Redactor) -> tuple[SearchDocument, ...]:
    state, cloned = look.states[name], name in look.cloned
    text = redactor.redacted("", memory_files.read(Path(project.root), state.path))
    return tuple(_sections(project, state, text, cloned=cloned))


def _sections(
    project: Project, state: MemoryFileState, text: str, *, cloned: bool
) -> Iterator[SearchDocument]:
    for place, section in enumerate(markdown_sections(text)[:SECTIONS_MOST]):
        source = " › ".join((state.path, *section.headings))
        source = from_repository(source) if cloned else source
        section_text = "\n".join((*section.headings[-1:], section.text))
        yield SearchDocument(
            id=_print_of(f"{project.worktree_id}\0{source}\0{place}\0{section_text}"),
            kind=MEMORY_FILE,
            project_id=project.project_id,
            text=section_text,
            at=memory_files.written_at(state),
            place=place,
            source=source,
            worktree_id=project.worktree_id,
        )


def _print_of(text: str) -> str:
    return blake2s(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def visible_from(project: Project, *, all_projects: bool = False) -> Within:
    """The texts that can be seen from this project."""
    return EVERYWHERE if all_projects else Within((project.project_id, USER), project.worktree_id)


def document_named(engine: Engine, id: str, where: Within) -> SearchDocument | None:
    """The document with that id, or the only one whose id begins with it; None if there is none.

    Raises HoldfastError if several match.
    """
    documents = engine.store.documents_beginning(id, where, NAMED_MOST + 1) if id else []
    if any(document.id == id for document in documents):
        return next(document for document in documents if document.id == id)
    if not documents:
        return None
    if len(documents) > 1:
        # Passages of a session share the beginning of its key, so the whole ids are named.
        raise ambiguous("document", id, [f"`{document.id}`" for document in documents])
    return documents[0]
