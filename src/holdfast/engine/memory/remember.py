"""Remember: stores, lists, edits, drops and audits memories; each is on the disk before it is acknowledged.

`engine.recording.memorize` turns a request into a memory; `engine.memory.recall` finds it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from holdfast.core.events.event import Origin, Remembered
from holdfast.core.events.world import Project
from holdfast.core.memory.audit import ReviewReason, files_named, review_reasons
from holdfast.core.memory.memory import Memory, kind_of, labels_of, normalised_tags
from holdfast.core.session.session import is_imported
from holdfast.engine.engine import Engine
from holdfast.engine.index import document_named, visible_from
from holdfast.engine.recording.memorize import (
    KIND,
    MemoryOutcome,
    MemoryRequest,
    make_findable,
    remember_again,
    store_memory,
    wording_of,
)
from holdfast.engine.recording.record import Arrival, record_inside
from holdfast.engine.redaction.forgotten import note_wording
from holdfast.engine.repository import git
from holdfast.engine.repository.world import file_states
from holdfast.errors import NotThere
from holdfast.files import memory_files
from holdfast.lazy_dataclass import dataclass

__all__ = [
    "MemoryOutcome",
    "MemoryRequest",
    "edit",
    "memories",
    "named_memory",
    "note",
    "remember",
    "remember_all",
]

LISTED: Final = 50
FROM_AGENT: Final = "mcp"
"""The source of memories from an agent; all other sources are the user."""
READ_MOST: Final = 100_000


def remember(
    engine: Engine, project: Project, wish: MemoryRequest, *, source: str, session: str = ""
) -> MemoryOutcome:
    """Store a memory; its session, if known, names it in its next digest.

    Raises HoldfastError for an empty text, or one that is too long for a memory.
    """
    (outcome,) = remember_all(engine, project, [wish], source=source, session=session)
    return outcome


def remember_all(
    engine: Engine, project: Project, wishes: Iterable[MemoryRequest], *, source: str, session: str = ""
) -> list[MemoryOutcome]:
    """Store many memories at once: all of them or none."""
    at, wishes = engine.clock(), list(wishes)
    with engine.store.writing_durably():
        for wish in wishes:
            remember_again(engine, project, wish, session=session, at=at)
        redactor = engine.redactor(project)
        outcomes = [
            store_memory(engine, project, wish, redactor, source=source, session=session, at=at)
            for wish in wishes
        ]
        if session:
            _record_in_session(engine, session, outcomes, source, at)
        engine.store.stamp_announcements(at)
    return outcomes


def memories(
    engine: Engine,
    project: Project,
    *,
    all_projects: bool = False,
    include_superseded: bool = False,
    limit: int = LISTED,
) -> list[Memory]:
    """Memories that can be seen from the project, the newest first."""
    where = visible_from(project, all_projects=all_projects)
    all_memories = engine.store.memories(where, limit)
    if include_superseded:
        all_memories += engine.store.superseded_memories(where, limit)
        all_memories.sort(key=lambda memory: -memory.created_at)
    return all_memories[:limit]


def named_memory(engine: Engine, project: Project, id: str, *, all_projects: bool = False) -> Memory:
    """The memory with that id, or with the only id that begins with it; raises NotThere if there is none."""
    where = replace(visible_from(project, all_projects=all_projects), kinds=(KIND,))
    document = document_named(engine, id, where)
    memory = engine.store.memory(document.id) if document else None
    if memory is None:
        raise NotThere(f"there is no memory `{id}` here", "`holdfast memories list` names those of a project")
    return memory


def edit(
    engine: Engine,
    project: Project,
    id: str,
    *,
    text: str | None = None,
    tags: Sequence[str] | None = None,
    importance: float | None = None,
    pinned: bool | None = None,
) -> Memory:
    """Change the given fields of a memory."""
    with engine.store.writing_durably():
        before = named_memory(engine, project, id)
        if text is not None:
            remember_again(engine, project, MemoryRequest(text), session=before.session, at=engine.clock())
        redactor = engine.redactor(project)
        redact = redactor.of_session(before.session)
        wording = before.text if text is None else wording_of(MemoryRequest(text)).text
        memory = replace(
            _reworded(before, redact(wording)),
            tags=normalised_tags(map(redact, before.tags if tags is None else tags)),
            importance=before.importance if importance is None else min(1.0, max(0.0, importance)),
            pinned=before.pinned if pinned is None else pinned,
        )
        if memory.text != before.text:
            note_wording(engine.store, engine.home, before.id, before.text)
        engine.store.put_memory(memory, redactor.mark)
        if (memory.text, memory.tags) != (before.text, before.tags):
            make_findable(engine.store, memory, redactor.mark)
        engine.store.stamp_announcements(engine.clock())
    return memory


def note(engine: Engine, project: Project, wish: MemoryRequest) -> str:
    """Add a text to the project's memory file of today; returns the file's path in the worktree.

    Search finds it in the file; it is not stored as a memory too.
    """
    wording, redact = wording_of(wish), engine.redactor(project).of_session("")
    tags = "".join(f" #{redact(tag)}" for tag in wording.tags)
    now = datetime.fromtimestamp(engine.clock() / 1000, UTC).astimezone()
    section = f"## {now:%H:%M}{tags}\n\n{redact(wording.text)}"
    return memory_files.add(Path(project.root), now.date(), section)


def _record_in_session(
    engine: Engine, key: str, outcomes: Iterable[MemoryOutcome], source: str, at: int
) -> None:
    """Record in the session what was remembered in it; an imported one is over and stays as it is."""
    session = engine.store.session(key)
    if session is None or is_imported(session):
        return
    events = tuple(
        Remembered(
            session=key,
            record=f"remembered:{each.memory.id}:{each.memory.seen}",
            at=at,
            origin=Origin.ASSISTANT if source == FROM_AGENT else Origin.HUMAN,
            text=each.memory.text,
        )
        for each in outcomes
    )
    record_inside(engine, Arrival(key, session.harness, session.project, events=events))


def _reworded(memory: Memory, text: str) -> Memory:
    """The memory with another text; labels that do not follow from the text stay."""
    others = (label for label in memory.labels if label not in labels_of(memory.text))
    labels = tuple(dict.fromkeys((*labels_of(text), *others)))
    return replace(memory, text=text, kind=kind_of(text), labels=labels)


@dataclass(frozen=True, slots=True)
class AuditedMemory:
    """How many memories were checked, and the doubtful ones, each with its doubt."""

    looked_at: int
    doubts: tuple[tuple[ReviewReason, Memory], ...]


def audit_memories(engine: Engine, project: Project, *, all_projects: bool = False) -> AuditedMemory:
    """Check the memories that can be seen from the project."""
    all_memories = memories(engine, project, all_projects=all_projects, limit=READ_MOST)
    by_id = {memory.id: memory for memory in all_memories}
    # Another project's files cannot be checked from here.
    own = (memory for memory in all_memories if memory.project_id == project.project_id)
    missing = _missing(project, {path for memory in own for path in files_named(memory.text)})
    doubtful = review_reasons(all_memories, missing, engine.clock())
    return AuditedMemory(len(all_memories), tuple((doubt, by_id[doubt.id]) for doubt in doubtful))


def _missing(project: Project, paths: Iterable[str]) -> frozenset[str]:
    """The paths that are no file below the project's root, and no suffix of a tracked file's path."""
    missing = {state.path for state in file_states(project.root, paths) if not state.exists}
    place = git.find(project.root) if missing else None
    if place is None or place.repository is None:
        return frozenset(missing)
    ends = tuple(f"/{path}" for path in missing)
    tracked = git.tracked(place.repository, lambda file: f"/{file.name}".endswith(ends), READ_MOST)
    there = {path for path in missing if any(f"/{name}".endswith(f"/{path}") for name in tracked)}
    return frozenset(missing - there)
