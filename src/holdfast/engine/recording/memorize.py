"""Memorize: turns a request to remember into a memory, inside an open transaction.

The text is stored word for word, without secrets. The rules of `core.memory.memory` only label it; memories
that it contradicts are marked as superseded and stay. Callers decide who may ask, and what else follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from holdfast.core.events.world import Project
from holdfast.core.memory.memory import (
    Label,
    Memory,
    MemoryScope,
    Wording,
    clear_superseded,
    contradicts,
    in_series,
    kind_of,
    labels_of,
    mark_superseded,
    normalised_tags,
    read,
    with_repetition,
)
from holdfast.core.memory.wordings import NO_WORDINGS, is_mark_alone
from holdfast.core.text.untrusted import printable, without_injected_text
from holdfast.engine.engine import Engine
from holdfast.engine.redaction.forgotten import known_by, publish
from holdfast.engine.redaction.redactor import Redactor
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import SearchDocument, Store

KIND: Final = "memory"
"""The kind of a memory's document."""
LONGEST: Final = 100_000


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """A request to remember, as typed, with its prefixes."""

    text: str
    tags: tuple[str, ...] = ()
    importance: float | None = None
    """From 0 to 1; None to use the prefixes."""
    pinned: bool = False
    scope: MemoryScope = MemoryScope.PROJECT


@dataclass(frozen=True, slots=True)
class MemoryOutcome:
    """The memory that a request became."""

    memory: Memory
    again: bool
    """Whether the same text was stored already; it stays one memory."""
    supersedes: tuple[str, ...]
    """The ids of older memories that it contradicts."""


def wording_of(wish: MemoryRequest) -> Wording:
    """The wording to remember; raises HoldfastError if it is empty or too long."""
    # Text that Holdfast itself gave back is not new when it is repeated.
    wording = read(without_injected_text(wish.text))
    if not printable(wording.text).strip():
        raise HoldfastError("there is nothing to remember: the text is empty", "say it after `remember`")
    if len(wording.text) > LONGEST:
        raise HoldfastError(
            f"the text has {len(wording.text):,} characters, and a memory at most {LONGEST:,}",
            "say what matters in it, or keep it in a file",
        )
    return replace(
        wording,
        tags=normalised_tags((*wording.tags, *wish.tags)),
        importance=wording.importance if wish.importance is None else min(1.0, max(0.0, wish.importance)),
        pinned=wording.pinned or wish.pinned,
    )


def store_memory(
    engine: Engine,
    project: Project,
    wish: MemoryRequest,
    redactor: Redactor,
    *,
    source: str,
    session: str,
    at: int,
) -> MemoryOutcome:
    """Store a memory and make it searchable; called inside a transaction.

    Raises HoldfastError for what was forgotten, unless `remember_again` lifted that.
    """
    wording = _redacted(wording_of(wish), redactor.of_session(session))
    if is_mark_alone(wording.text) or redactor.forgotten.is_one(wording.text):
        raise HoldfastError("this was forgotten", "`holdfast remember` keeps it again")
    memory = replace(
        _memory(engine.new_id(), project, wish.scope, wording, at), source=source, session=session, seen_at=at
    )
    same_memory = engine.store.memory_like(memory)
    if same_memory is not None:
        memory = with_repetition(clear_superseded(same_memory), wording, at)
    else:
        memory = in_series(memory, engine.store.last_memory(memory))
    older = [each for each in engine.store.memories_about(memory) if contradicts(memory.text, each.text)]
    if older:
        memory = replace(memory, labels=tuple(dict.fromkeys((*memory.labels, Label.CONTRADICTS))))
    for each in older:
        engine.store.put_memory(mark_superseded(each, memory.id))
    engine.store.put_memory(memory, "" if same_memory else redactor.mark)
    if same_memory is None or same_memory.tags != memory.tags:
        make_findable(engine.store, memory, redactor.mark)
    return MemoryOutcome(memory, same_memory is not None, tuple(each.id for each in older))


def remember_again(engine: Engine, project: Project, wish: MemoryRequest, *, session: str, at: int) -> None:
    """Allow a forgotten wording again, because the user has asked to remember it since.

    Called inside a transaction.
    """
    forgotten = {each.fingerprint: each for each in engine.store.forgotten_wordings() if each.holds}
    if not forgotten:
        return
    redact = replace(engine.redactor(project), forgotten=NO_WORDINGS).of_session(session)
    wording_prints = known_by(engine.store, redact(wording_of(wish).text))
    lifted = [forgotten[each] for each in wording_prints if each in forgotten and forgotten[each].at < at]
    if lifted:
        engine.store.put_forgotten_wordings(replace(each, lifted_at=at) for each in lifted)
        if engine.home is not None:
            publish(engine.store, engine.home)


def make_findable(store: Store, memory: Memory, redactor: str) -> None:
    """Store the memory's document: its text and its tags."""
    text = "\n".join([printable(memory.text), *(f"#{tag}" for tag in memory.tags)])
    document = SearchDocument(
        memory.id,
        KIND,
        memory.project_id,
        text,
        at=memory.created_at,
        source=KIND,
        worktree_id=memory.worktree_id,
    )
    store.add_document(document, redactor)


def _memory(id: str, project: Project, scope: MemoryScope, wording: Wording, at: int) -> Memory:
    return Memory(
        id=id,
        text=wording.text,
        kind=kind_of(wording.text),
        scope=scope,
        project_id="" if scope is MemoryScope.USER else project.project_id,
        worktree_id=project.worktree_id if scope is MemoryScope.WORKTREE else "",
        created_at=at,
        tags=wording.tags,
        importance=wording.importance,
        pinned=wording.pinned,
        labels=labels_of(wording.text),
    )


def _redacted(wording: Wording, redact: Callable[[str], str]) -> Wording:
    return replace(wording, text=redact(wording.text), tags=normalised_tags(map(redact, wording.tags)))
