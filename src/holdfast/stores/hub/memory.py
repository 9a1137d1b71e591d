"""A hub in the memory of one process, for tests and for trying things out. It keeps the whole contract.

`MemoryDatabase` is what a PostgreSQL database is to the real one: the owner and every member connect to it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, OutgoingItem, SharedItem, SharedKind
from holdfast.errors import HubRefused
from holdfast.stores.hub.base import (
    NOTED_EVERY_MS,
    HubAuditEntry,
    Identification,
    Invitation,
    MachineState,
    Member,
)
from holdfast.stores.hub.names import checked_name
from holdfast.stores.hub.texts import cleaned, cleaned_item


@dataclass
class _Version:
    project: str
    person: str
    machine: str
    sequence: int
    item: OutgoingItem
    noted_at: int = 0
    """When the audit last noted that it was changed."""
    is_withdrawn: bool = False
    """It stands for a version that went to fewer readers, for those who may see it no more."""


@dataclass
class _Project:
    team: str
    last: int = 0
    versions: list[_Version] = field(default_factory=list[_Version])
    applied: dict[str, int] = field(default_factory=dict[str, int])


@dataclass
class _MachineRow:
    machine: Machine
    person: str
    last_seen_at: int
    last_revision: int = 0


class MemoryDatabase:
    """The members, machines and items of a hub; connections of several threads may use it at once."""

    def __init__(self, now: Callable[[], int]) -> None:
        self.now = now
        self.members: dict[str, Member] = {}
        self.projects: dict[tuple[str, str], _Project] = {}
        self.machines: dict[str, _MachineRow] = {}
        self.audit: list[tuple[str, bool, HubAuditEntry]] = []
        """With the team, and whether all of the team may see it."""
        self._lock = threading.RLock()

    def connect(self, person: str) -> MemoryHub:
        """A member's connection."""
        return MemoryHub(self, person)

    def connect_owner(self) -> MemoryHubOwner:
        """The owner's connection."""
        return MemoryHubOwner(self)

    @contextmanager
    def used_by(self, person: str) -> Generator[Member]:
        """The member, while nobody else uses the hub; HubRefused for everyone else."""
        with self._lock:
            member = self.members.get(person)
            if member is None or member.revoked_at:
                raise HubRefused(f"the hub refuses `{person}`", "ask its owner for an invitation")
            yield member

    @contextmanager
    def used(self) -> Generator[None]:
        """Nobody else uses the hub meanwhile."""
        with self._lock:
            yield


class MemoryHub:
    """A member's connection to a hub in memory."""

    def __init__(self, database: MemoryDatabase, person: str) -> None:
        self._database = database
        self._person = person

    def identify(self, machine: Machine) -> Identification:
        machine = Machine(cleaned(machine.id), cleaned(machine.name))
        with self._database.used_by(self._person) as member:
            known = self._database.machines.get(machine.id)
            if not machine.id or (known and known.person != self._person):
                raise HubRefused(
                    f"the machine `{machine.name}` is another person's at the hub", "give it another id"
                )
            now = self._database.now()
            revision = known.last_revision if known else 0
            self._database.machines[machine.id] = _MachineRow(machine, self._person, now, revision)
            return Identification(member.name, member.team, member.is_read_only, now)

    def last_revision(self, machine: str) -> int:
        with self._database.used_by(self._person):
            known = self._database.machines.get(machine)
            return known.last_revision if known and known.person == self._person else 0

    def push(self, project: str, machine: str, items: Sequence[OutgoingItem]) -> None:
        project, items = cleaned(project), [cleaned_item(each) for each in items]
        with self._database.used_by(self._person) as member:
            if member.is_read_only:
                raise HubRefused(f"`{self._person}` may only read at the hub", "ask its owner for more")
            own = self._own_machine(machine)
            there = self._database.projects.setdefault((member.team, project), _Project(member.team))
            for item in items:
                self._push_one(there, project, machine, item)
                own.last_revision = max(own.last_revision, item.revision)
            own.last_seen_at = self._database.now()

    def pull(self, project: str, after: int, limit: int) -> list[SharedItem]:
        project = cleaned(project)
        with self._database.used_by(self._person) as member:
            there = self._database.projects.get((member.team, project), _Project(member.team))
            visible = (each for each in there.versions if each.sequence > after and self._sees(each))
            return [
                SharedItem(
                    each.item,
                    each.person,
                    self._database.machines[each.machine].machine,
                    each.sequence,
                )
                for each in sorted(visible, key=lambda each: each.sequence)[:limit]
            ]

    def confirm(self, project: str, machine: str, applied: int) -> None:
        with self._database.used_by(self._person) as member:
            self._own_machine(machine).last_seen_at = self._database.now()
            there = self._database.projects.setdefault((member.team, project), _Project(member.team))
            there.applied[machine] = max(applied, there.applied.get(machine, 0))

    def machines(self, project: str) -> list[MachineState]:
        with self._database.used_by(self._person) as member:
            there = self._database.projects.get((member.team, project), _Project(member.team))
            is_shared = any(_readers(each.item) == (Audience.TEAM, "") for each in there.versions)
            known = (
                (self._database.machines[id], applied)
                for id, applied in there.applied.items()
                if is_shared or self._database.machines[id].person == self._person
            )
            states = [
                MachineState(each.machine, each.person, each.last_seen_at, applied) for each, applied in known
            ]
            return sorted(states, key=lambda state: (-state.last_seen_at, state.machine.id))

    def erase_own(self, project: str | None) -> int:
        with self._database.used_by(self._person) as member:
            return sum(
                self._erase(there, name)
                for (team, name), there in self._database.projects.items()
                if team == member.team and project in (None, name)
            )

    def audit(self, limit: int) -> list[HubAuditEntry]:
        with self._database.used_by(self._person) as member:
            visible = [
                entry
                for team, is_shared, entry in self._database.audit
                if team == member.team and (is_shared or entry.person == self._person)
            ]
            return visible[::-1][:limit]

    def close(self) -> None:
        pass

    def _own_machine(self, machine: str) -> _MachineRow:
        known = self._database.machines.get(machine)
        if known is None or known.person != self._person:
            raise HubRefused(f"the machine `{machine}` is not yours at the hub", "")
        return known

    def _push_one(self, there: _Project, project: str, machine: str, item: OutgoingItem) -> None:
        stored = next(
            (
                each
                for each in there.versions
                if (each.machine, each.item.kind, each.item.id) == (machine, item.kind, item.id)
                and not each.is_withdrawn
            ),
            None,
        )
        if stored and item.revision <= stored.item.revision:
            return
        if stored:
            there.versions.remove(stored)
            if _readers(stored.item) != _readers(item) and stored.item.audience is Audience.TEAM:
                there.last += 1
                withdrawn = replace(stored.item, body="")
                there.versions.append(
                    _Version(project, self._person, machine, there.last, withdrawn, is_withdrawn=True)
                )
        there.versions = [
            each
            for each in there.versions
            if not (
                each.is_withdrawn
                and (each.machine, each.item.kind, each.item.id) == (machine, item.kind, item.id)
                and _readers(each.item) == _readers(item)
            )
        ]
        there.last += 1
        now = self._database.now()
        is_noted = stored is None or item.is_removed or stored.noted_at <= now - NOTED_EVERY_MS
        noted_at = 0 if stored is None else now if is_noted else stored.noted_at
        there.versions.append(_Version(project, self._person, machine, there.last, item, noted_at))
        if item.is_removed:
            for each in there.versions:
                if (each.person, each.item.kind, each.item.id) == (self._person, item.kind, item.id):
                    each.item = replace(each.item, body="")
        action = "removed" if item.is_removed else "changed" if stored else "shared"
        if is_noted:
            self._note(there, action, project, machine, item)

    def _erase(self, there: _Project, project: str) -> int:
        erased: set[tuple[SharedKind, str]] = set()
        for each in sorted(there.versions, key=lambda each: each.sequence):
            if each.person == self._person and not each.item.is_removed:
                there.last += 1
                each.item, each.sequence = replace(each.item, body=""), there.last
                self._note(there, "removed", project, each.machine, each.item)
                erased.add((each.item.kind, each.item.id))
        return len(erased)

    def _note(self, there: _Project, action: str, project: str, machine: str, item: OutgoingItem) -> None:
        entry = HubAuditEntry(
            self._database.now(), self._person, machine, action, project, item.kind, item.id
        )
        is_shared = item.audience is Audience.TEAM and not item.recipient
        self._database.audit.append((there.team, is_shared, entry))

    def _sees(self, version: _Version) -> bool:
        if version.person == self._person:
            return not version.is_withdrawn
        return version.item.audience is Audience.TEAM and version.item.recipient in ("", self._person)


class MemoryHubOwner:
    """The owner's connection to a hub in memory."""

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    def prepare(self) -> bool:
        return False

    def invite(self, name: str, team: str, *, is_read_only: bool) -> Invitation:
        name, team = checked_name(name, "person"), checked_name(team, "team")
        with self._database.used():
            known = self._database.members.get(name)
            if known and known.team != team:
                raise HubRefused(
                    f"`{name}` is in the team `{known.team}`", "invite the person by another name"
                )
            now = self._database.now()
            self._database.members[name] = Member(name, team, is_read_only, now)
            self._note(team, "invited", name)
        return Invitation(name, secrets.token_urlsafe())

    def revoke(self, name: str) -> None:
        with self._database.used():
            known = self._database.members.get(name)
            if known is None:
                raise HubRefused(f"`{name}` was never invited", "`holdfast hub members` lists who was")
            if not known.revoked_at:
                self._database.members[name] = replace(known, revoked_at=self._database.now())
                self._note(known.team, "revoked", name)

    def members(self) -> list[Member]:
        with self._database.used():
            return sorted(self._database.members.values(), key=lambda member: member.name)

    def close(self) -> None:
        pass

    def _note(self, team: str, action: str, name: str) -> None:
        entry = HubAuditEntry(self._database.now(), "", "", action, "", "person", name)
        self._database.audit.append((team, True, entry))


def _readers(item: OutgoingItem) -> tuple[Audience, str]:
    return item.audience, item.recipient if item.audience is Audience.TEAM else ""
