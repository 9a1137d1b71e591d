"""Memory files: makes a project's memory files searchable, section by section, without changing them.

Files are checked by size and time, and read again only when they changed; an unchanged section keeps its
document. Files that came with the clone are labelled, because anyone may have written them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2s
from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.events.world import Project
from holdfast.core.memory.passages import markdown_sections
from holdfast.core.text.untrusted import from_repository
from holdfast.engine.engine import Engine
from holdfast.engine.redaction.redactor import Redactor
from holdfast.engine.repository import git
from holdfast.files import memory_files
from holdfast.files.memory_files import State
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import EVERYWHERE, Document, Store

KIND: Final = "file"
SECTIONS_MOST: Final = 400
"""The most sections of one file that are indexed."""


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

    states: Mapping[str, State]
    cloned: frozenset[str]
    index_ns: int


def refresh(engine: Engine, project: Project) -> int:
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


def _replace(store: Store, before: _File | None, after: Iterable[Document], redactor: str) -> None:
    """Replace a file's documents; those of unchanged sections stay, with their vectors."""
    old = set(before.documents) if before else set[str]()
    new = {document.id: document for document in after}
    for id in old - new.keys():
        store.drop_document(id)
    for id in new.keys() - old:
        store.add_document(new[id], redactor)


def _file(look: _Look, name: str, documents: Iterable[Document]) -> _File:
    state = look.states[name]
    ids = tuple(document.id for document in documents)
    return _File(state.modified_ns, state.size, name in look.cloned, ids)


def _is_as_seen(name: str, look: _Look, last: _Seen) -> bool:
    state, before = look.states[name], last.files.get(name)
    now = (state.modified_ns, state.size, name in look.cloned)
    return before is not None and (before.modified_ns, before.size, before.cloned) == now


# ---------------------------------------------------------------- looking


def _look(project: Project, last: _Seen) -> _Look:
    states = {_print_of(state.path): state for state in memory_files.found(Path(project.root))}
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


def _documents(project: Project, look: _Look, name: str, redactor: Redactor) -> tuple[Document, ...]:
    state, cloned = look.states[name], name in look.cloned
    text = redactor.redacted("", memory_files.read(Path(project.root), state.path))
    return tuple(_sections(project, state, text, cloned=cloned))


def _sections(project: Project, state: State, text: str, *, cloned: bool) -> Iterator[Document]:
    for place, section in enumerate(markdown_sections(text)[:SECTIONS_MOST]):
        source = " › ".join((state.path, *section.headings))
        source = from_repository(source) if cloned else source
        section_text = "\n".join((*section.headings[-1:], section.text))
        yield Document(
            id=_print_of(f"{project.worktree_id}\0{source}\0{place}\0{section_text}"),
            kind=KIND,
            project_id=project.project_id,
            text=section_text,
            at=memory_files.written_at(state),
            place=place,
            source=source,
            worktree_id=project.worktree_id,
        )


def _print_of(text: str) -> str:
    return blake2s(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
