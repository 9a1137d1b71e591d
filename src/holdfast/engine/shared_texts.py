"""Shared texts: makes findable what others shared in a project, and says whose each text is.

What a teammate shared is found in its project alone. The store has it; documents of it are made here, and
dropped once it is forgotten or no longer shared. A person's own memories from another machine are not here:
they are memories of this machine too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2s
from typing import Final

import msgspec

from holdfast.core.events.world import Project
from holdfast.core.sharing.bodies import CheckpointBody, HandoffBody, MemoryBody, decode
from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import SharedKind
from holdfast.core.sharing.provenance import Provenance
from holdfast.core.text.strings import shortened
from holdfast.engine.engine import Engine
from holdfast.engine.shared_sessions import own_machine_id, provenance_of, shared_names_of
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import START, SearchDocument, Store
from holdfast.stores.shared import SharedWithin, StoredVersion

ITEMS_MOST: Final = 2_000
"""The most texts of a project; the newest ones are found."""
TEXT_CHARS: Final = 8_000
FINDABLE: Final = (SharedKind.MEMORY, SharedKind.HANDOFF, SharedKind.CHECKPOINT)
MEMORY: Final = "memory"
HANDOFF: Final = "handoff"
CHECKPOINT: Final = "checkpoint"


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    """A document, and whose text it is."""

    person: str
    machine: str
    machine_name: str
    is_mine: bool
    at: int


class _Indexed(msgspec.Struct, frozen=True):
    """What of a project is indexed, and as of which change at the hub."""

    as_of: str = ""
    documents: dict[str, _Entry] = {}


@dataclass(frozen=True, slots=True)
class _Findable:
    """One text that can be found."""

    document: SearchDocument
    item: StoredVersion


def refresh_shared_texts(engine: Engine, project: Project) -> int:
    """Bring the documents of what others shared up to date; returns how many changed.

    Every recall calls it, so it is quick where nothing arrived.
    """
    if engine.is_stopped(project):
        return 0
    source = _source(project.project_id)
    cursor, as_of = engine.store.cursor(source), _as_of(engine, project)
    before = _decoded(cursor)
    if before.as_of == as_of:
        return 0
    redactor = engine.redactor(project)
    new = {each.document.id: each for each in _findable(engine, project, redactor.of_session(""))}
    with engine.store.writing():
        if engine.store.cursor(source) != cursor:
            return 0  # Another process is doing it.
        for id in before.documents.keys() - new.keys():
            engine.store.drop_document(id)
        for id in new.keys() - before.documents.keys():
            engine.store.add_document(new[id].document, redactor.mark)
        entries = {id: _entry(each.item) for id, each in new.items()}
        engine.store.put_cursor(source, msgspec.json.encode(_Indexed(as_of, entries)).decode())
    return len(before.documents.keys() ^ new.keys())


def authors_of_texts(store: Store, project_id: str) -> dict[str, Provenance]:
    """Whose each document is that came from elsewhere, by the document's id."""
    documents = _decoded(store.cursor(_source(project_id))).documents
    return {
        id: Provenance(each.person, Machine(each.machine, each.machine_name), each.is_mine, each.at)
        for id, each in documents.items()
    }


def _as_of(engine: Engine, project: Project) -> str:
    """What changes whenever something arrives for the project, or is removed."""
    newest = engine.store.shared_items(_within(engine, project), START, 1)
    if not newest:
        return ""
    hub, names = newest[0].key.hub, shared_names_of(engine, project)
    return msgspec.json.encode(
        [hub, [(name, engine.store.pull_cursor(hub, name)) for name in names]]
    ).decode()


def _within(engine: Engine, project: Project) -> SharedWithin:
    names = shared_names_of(engine, project)
    return SharedWithin(names, FINDABLE, except_machine=own_machine_id(engine))


def _findable(engine: Engine, project: Project, redact: Callable[[str], str]) -> Iterator[_Findable]:
    for item in engine.store.shared_items(_within(engine, project), START, ITEMS_MOST):
        if item.is_mine and item.key.kind is SharedKind.MEMORY:
            continue
        body = decode(item.key.kind, item.body)
        label = provenance_of(item).label
        match body:
            case MemoryBody(text=text, created_at=at):
                kind, source = MEMORY, f"memory of {label}"
            case HandoffBody(text=text, name=name):
                kind, source, at = HANDOFF, f"handoff {name} of {label}", item.at
            case CheckpointBody(digest=text, session=session, created_at=at):
                kind, source = CHECKPOINT, f"session {session[:8]} of {label}"
            case _:
                continue
        if not text.strip():
            continue
        text = shortened(redact(text), TEXT_CHARS)
        id = _print_of(f"{project.project_id}\0{item.key.kind}\0{item.key.id}\0{source}\0{text}")
        yield _Findable(SearchDocument(id, kind, project.project_id, text, at=at, source=source), item)


def _entry(item: StoredVersion) -> _Entry:
    return _Entry(item.person, item.machine.id, item.machine.name, item.is_mine, item.at)


def _source(project_id: str) -> str:
    return f"shared/{project_id}"


def _decoded(cursor: str) -> _Indexed:
    try:
        return msgspec.json.decode(cursor, type=_Indexed) if cursor else _Indexed()
    except msgspec.DecodeError:
        return _Indexed()


def _print_of(text: str) -> str:
    return blake2s(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
