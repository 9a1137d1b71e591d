"""Remember: stores, lists, edits and drops memories; each is on the disk before it is acknowledged.

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
from holdfast.core.memory.memory import Memory, kind_of, labels_of, normalised_tags
from holdfast.engine.engine import Engine
from holdfast.engine.index.scope import named, within
from holdfast.engine.recording.memorize import (
    KIND,
    MemoryOutcome,
    MemoryRequest,
    keep,
    make_findable,
    remember_again,
    worded,
)
from holdfast.engine.recording.record import Arrival, record_inside
from holdfast.engine.redaction.forgotten import note_wording
from holdfast.errors import NotThere
from holdfast.files import memory_files

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
            keep(engine, project, wish, redactor, source=source, session=session, at=at) for wish in wishes
        ]
        if session:
            _record_in_session(engine, session, outcomes, source, at)
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
    where = within(project, all_projects=all_projects)
    all_memories = engine.store.memories(where, limit)
    if include_superseded:
        all_memories += engine.store.superseded_memories(where, limit)
        all_memories.sort(key=lambda memory: -memory.created_at)
    return all_memories[:limit]


def named_memory(engine: Engine, project: Project, id: str, *, all_projects: bool = False) -> Memory:
    """The memory with that id, or with the only id that begins with it; raises NotThere if there is none."""
    where = replace(within(project, all_projects=all_projects), kinds=(KIND,))
    document = named(engine, id, where)
    memory = engine.store.memory(document.id) if document else None
    if memory is None:
        raise NotThere(
            f"there is no memory `{id}` here",
            "`holdfast memories list` names them; at least six characters name one",
        )
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
        wording = before.text if text is None else worded(MemoryRequest(text)).text
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
    return memory


def note(engine: Engine, project: Project, wish: MemoryRequest) -> str:
    """Add a text to the project's memory file of today; returns the file's path in the worktree.

    Search finds it in the file; it is not stored as a memory too.
    """
    wording, redact = worded(wish), engine.redactor(project).of_session("")
    tags = "".join(f" #{redact(tag)}" for tag in wording.tags)
    now = datetime.fromtimestamp(engine.clock() / 1000, UTC).astimezone()
    section = f"## {now:%H:%M}{tags}\n\n{redact(wording.text)}"
    return memory_files.add(Path(project.root), now.date(), section)


def _record_in_session(
    engine: Engine, key: str, outcomes: Iterable[MemoryOutcome], source: str, at: int
) -> None:
    """Record in the session what was remembered in it."""
    session = engine.store.session(key)
    if session is None:
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
