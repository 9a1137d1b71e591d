"""Ids: which session, checkpoint, brief or memory a person means by an id or how it begins.

Commands, the API, the dashboard and tools all resolve ids here, and lists show ids that can be typed back.
What a memory's or document's id may name depends on the project; `index.document_named` looks that up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from holdfast.core.brief.compose import Receipt
from holdfast.core.memory.memory import Memory
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Session, title_of
from holdfast.errors import HoldfastError, NotThere
from holdfast.stores.base import RowKind, Store

SHORTEST: Final = 8
"""How many characters of an id a list shows at least."""
WHOLE: Final = 12
"""An id that is not longer is shown whole."""
NAMED_MOST: Final = 4
"""How many candidates an error names."""


def session_named(store: Store, name: str) -> Session:
    """The session with that key, or the only one whose key begins so; raises an error otherwise."""
    session = store.session(resolved_id(store, RowKind.SESSION, name))
    return session if session is not None else missing(RowKind.SESSION, name)


def checkpoint_named(store: Store, name: str) -> Checkpoint:
    """The same for a checkpoint."""
    checkpoint = store.checkpoint(resolved_id(store, RowKind.CHECKPOINT, name))
    return checkpoint if checkpoint is not None else missing(RowKind.CHECKPOINT, name)


def brief_named(store: Store, name: str) -> Receipt:
    """The same for a brief that was given."""
    receipt = store.receipt(resolved_id(store, RowKind.BRIEF, name))
    return receipt if receipt is not None else missing(RowKind.BRIEF, name)


def memory_named(store: Store, name: str) -> Memory:
    """The same for a memory of any project."""
    memory = store.memory(resolved_id(store, RowKind.MEMORY, name))
    return memory if memory is not None else missing(RowKind.MEMORY, name)


def resolved_id(store: Store, kind: RowKind, name: str) -> str:
    """The id that a name stands for: itself, or the only one that begins with it."""
    name = name.strip().rstrip("…")
    ids = store.ids_beginning(kind, name, NAMED_MOST + 1) if name else []
    if not ids:
        missing(kind, name)
    # In order, the id itself comes before all that begin with it.
    if ids[0] == name or len(ids) == 1:
        return ids[0]
    raise ambiguous(kind.value, name, [candidate(store, kind, id) for id in ids])


def only_id(store: Store, kind: RowKind, name: str) -> str:
    """The only id that begins with a name; else the name, which may stand for something that outlived it."""
    ids = store.ids_beginning(kind, name, 2) if name else []
    return ids[0] if len(ids) == 1 else name


def short_id(store: Store, kind: RowKind, id: str) -> str:
    """The beginning of an id that names it alone, for a list: at least eight characters."""
    if len(id) <= WHOLE:
        return id
    shared = max(_shared(id, other) for other in store.ids_around(kind, id))
    return id[: max(SHORTEST, shared + 1)]


def _shared(id: str, other: str) -> int:
    """How many characters two ids share at their beginning."""
    pairs = enumerate(zip(id, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(id), len(other)))


def ambiguous(kind: str, name: str, candidates: Sequence[str]) -> HoldfastError:
    """The error for a name that several ids begin with, which names them."""
    named = ", ".join(candidates[:NAMED_MOST])
    rest = " and others" if len(candidates) > NAMED_MOST else ""
    return HoldfastError(
        f"several {_PLURALS[kind]} begin with `{name}`: {named}{rest}", "type more of the id"
    )


def missing(kind: RowKind, name: str) -> NoReturn:
    """Raise the error for a name that no id begins with."""
    raise NotThere(f"there is no {kind} `{name}`", _LISTED[kind])


def candidate(store: Store, kind: RowKind, id: str) -> str:
    """An id as an error offers it: its short form, and the title if it is a session's."""
    session = store.session(id) if kind is RowKind.SESSION else None
    title = f" (“{title_of(session)}”)" if session and title_of(session) else ""
    return f"`{short_id(store, kind, id)}`{title}"


_PLURALS: Final = {**{kind.value: f"{kind}s" for kind in RowKind}, "memory": "memories", "document": "ids"}
_LISTED: Final = {
    RowKind.SESSION: "`holdfast sessions` lists them",
    RowKind.CHECKPOINT: "it may have served its time; `holdfast checkpoints` lists them",
    RowKind.BRIEF: "it may have gone with its session; `holdfast show` lists a session's",
    RowKind.MEMORY: "`holdfast memories list` lists them",
}
