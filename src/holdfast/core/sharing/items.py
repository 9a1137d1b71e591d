"""Shared items: one row or document that a machine sends to a hub, and what comes back.

An item is a memory, a handoff, a continuity, a checkpoint or a session. Each machine has at most one version
of it at the hub; `resolve` in `versions.py` says which one holds. The hub sees redacted text only.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.core.sharing.identity import Machine
from holdfast.lazy_dataclass import dataclass


class SharedKind(StrEnum):
    """What can be shared."""

    MEMORY = "memory"
    HANDOFF = "handoff"
    CONTINUITY = "continuity"
    """The shared layer of a project's continuity."""
    CHECKPOINT = "checkpoint"
    SESSION = "session"
    """The state of a session: its work, never its transcript or records."""


class Audience(StrEnum):
    """Who may read an item."""

    OWN = "own"
    """The other machines of its author."""
    TEAM = "team"
    """The members of the author's team."""


@dataclass(frozen=True, slots=True)
class VersionRef:
    """One version of an item: which machine made it, and its number there."""

    machine: str
    revision: int


@dataclass(frozen=True, slots=True)
class OutgoingItem:
    """An item as its machine sends it."""

    kind: SharedKind
    id: str
    revision: int
    """Grows with each change on this machine; the same revision twice is the same content."""
    at: int
    """When it was changed, in milliseconds since 1970, by the hub's clock as far as the machine knows it."""
    audience: Audience
    body: str
    """JSON; empty if the item was removed."""
    redactor: str
    replaces: VersionRef | None = None
    """The version of another machine that this one was made from; None if it began on this machine."""
    recipient: str = ""
    """The one person besides the author who may read a handoff; empty for everyone in the audience."""

    @property
    def is_removed(self) -> bool:
        """Whether the item was forgotten or has expired."""
        return not self.body


@dataclass(frozen=True, slots=True)
class SharedItem:
    """An item as the hub returns it, with who made it and when it arrived."""

    item: OutgoingItem
    person: str
    """The author, as the hub knows them from their login, not from the item."""
    machine: Machine
    sequence: int
    """Its position among all changes of its project at the hub, in order of commit."""
