"""A hub in memory whose connections break when a test says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import OutgoingItem, SharedItem
from holdfast.errors import HubError
from holdfast.stores.hub.base import Hub, HubAuditEntry, Identification, MachineState
from holdfast.stores.hub.memory import MemoryDatabase


@dataclass
class BreakingDatabase:
    """The database, the time there, and which of the next pushes fail, before or after their commit."""

    now: int
    fails_before: list[HubError] = field(default_factory=list)
    fails_after: list[HubError] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.inner = MemoryDatabase(lambda: self.now)

    def connect(self, person: str) -> BreakingHub:
        """A connection of that person, who is invited to the one team if need be."""
        if person not in self.inner.members:
            self.inner.connect_owner().invite(person, "team", is_read_only=False)
        return BreakingHub(self, person)

    def lose_everything(self) -> None:
        """Become a hub that knows its members alone, as one that was restored from its first backup."""
        members = list(self.inner.members)
        self.inner = MemoryDatabase(lambda: self.now)
        for name in members:
            self.inner.connect_owner().invite(name, "team", is_read_only=False)

    @property
    def items(self) -> dict[tuple[str, str, str, str], OutgoingItem]:
        """Every version at the hub, by project, machine, kind and id."""
        return {
            (project, each.machine, each.item.kind.value, each.item.id): each.item
            for (_, project), there in self.inner.projects.items()
            for each in there.versions
            if not each.is_withdrawn
        }

    @property
    def texts(self) -> dict[str, str]:
        """The bodies at the hub that are not empty, by the item's id."""
        return {key[3]: item.body for key, item in self.items.items() if item.body}


@dataclass
class BreakingHub:
    """One person's connection."""

    database: BreakingDatabase
    person: str

    @property
    def inner(self) -> Hub:
        return self.database.inner.connect(self.person)

    def identify(self, machine: Machine) -> Identification:
        return self.inner.identify(machine)

    def last_revision(self, machine: str) -> int:
        return self.inner.last_revision(machine)

    def push(self, project: str, machine: str, items: Sequence[OutgoingItem]) -> None:
        if self.database.fails_before:
            raise self.database.fails_before.pop(0)
        self.inner.push(project, machine, items)
        if self.database.fails_after:
            raise self.database.fails_after.pop(0)

    def pull(self, project: str, after: int, limit: int) -> list[SharedItem]:
        return self.inner.pull(project, after, limit)

    def confirm(self, project: str, machine: str, applied: int) -> None:
        self.inner.confirm(project, machine, applied)

    def machines(self, project: str) -> list[MachineState]:
        return self.inner.machines(project)

    def erase_own(self, project: str | None) -> int:
        return self.inner.erase_own(project)

    def audit(self, limit: int) -> list[HubAuditEntry]:
        return self.inner.audit(limit)

    def close(self) -> None:
        self.inner.close()
