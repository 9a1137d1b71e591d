"""The part of a store's contract about sharing: what is to be sent to a hub, and what came from it.

A changed row is *announced* by kind and id, in the transaction that changes it. Every version of a shared
item is known here, also this machine's own, with the one that holds (`core.sharing.versions`). Not here:
speaking with a hub, and the decision what is shared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, SharedKind, VersionRef
from holdfast.core.sharing.versions import ItemVersion
from holdfast.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from holdfast.stores.base import PageMark

TEAM_PREFIX: Final = "team:"
"""How the id of a memory's copy for the team begins; the copy for its author's machines has the plain id."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """A row that changed since it was last sent."""

    kind: SharedKind
    id: str
    project_id: str
    revision: int
    """The number of the change: greater than that of every change before it."""
    at: int
    """When it changed, by this machine's clock; 0 while nobody noted it (`stamp_announcements`)."""


@dataclass(frozen=True, slots=True)
class ItemKey:
    """Which item of which hub."""

    hub: str
    """The name of the hub in the settings."""
    project: str
    """The project's shared name."""
    kind: SharedKind
    id: str


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One machine's version of an item, as this store has it."""

    key: ItemKey
    machine: Machine
    person: str
    is_mine: bool
    """Whether the author is the person of this home, on whichever machine."""
    revision: int
    at: int
    """When it was made, by the hub's clock."""
    audience: Audience
    body: str
    """JSON; empty if it was removed or is in a table of its own."""
    is_removed: bool = False
    replaces: VersionRef | None = None
    recipient: str = ""
    sequence: int = 0
    """Its number among the project's changes at the hub; 0 for this machine's own version."""
    received_at: int = 0
    """When it arrived: here, or at the hub for this machine's own version; 0 while that is not known."""
    holds: bool = False
    """Whether this version holds. Only read; the store decides it with every change of the item."""

    @property
    def version(self) -> ItemVersion:
        """What decides which version holds."""
        ref = VersionRef(self.machine.id, self.revision)
        return ItemVersion(ref, self.at, self.person, self.replaces, self.is_removed)


@dataclass(frozen=True, slots=True)
class SharedWithin:
    """Which items to read."""

    projects: tuple[str, ...] | None = None
    """Shared names; None for all."""
    kinds: tuple[SharedKind, ...] = ()
    """Empty for every kind."""
    except_machine: str = ""
    """Leave out items whose version that holds is from this machine: mostly the machine's own id."""
    person: str = ""
    """Only items of this author; empty for all."""
    machine: str = ""
    """Only items from the machine with this id; empty for all."""


class Shared(Protocol):
    """What goes out to hubs, and what came from them."""

    # What goes out.

    def share_kinds(self, project_id: str, kinds: Collection[SharedKind]) -> None:
        """Announce changes of these kinds in a project from now on, and no others.

        The rows that exist of a kind which was not announced before are announced at once.
        """
        ...

    def announced_kinds(self) -> dict[str, frozenset[SharedKind]]:
        """The kinds whose changes are announced, by the project's id."""
        ...

    def announce(self, kind: SharedKind, id: str, project_id: str, at: int) -> None:
        """Announce a change of what is no row of this store, such as a file; rows announce themselves."""
        ...

    def stamp_announcements(self, at: int) -> None:
        """Note that what was announced without a time changed at this time."""
        ...

    def announcements(self, behind: int, limit: int) -> list[Announcement]:
        """What was announced and not acknowledged, in order, above that revision."""
        ...

    def announcement(self, kind: SharedKind, id: str) -> Announcement | None:
        """The announcement of that row, if it waits."""
        ...

    def last_announcement(self) -> int:
        """The revision of the last announcement that waits; 0 if none does."""
        ...

    def redactor_of(self, kind: SharedKind, id: str) -> str:
        """The redactor that this row's text went through; empty if there is no such row."""
        ...

    def count_announcements(self) -> dict[str, int]:
        """How many announcements wait, by the project's id."""
        ...

    def acknowledge(self, announcements: Sequence[Announcement]) -> None:
        """Delete these announcements, except where a newer change of the same row was announced since."""
        ...

    def raise_revisions(self, above: int) -> None:
        """Give every waiting and every new announcement a revision above this one; their order stays."""
        ...

    def last_sent_revision(self, hub: str, machine: str) -> int:
        """The greatest revision that this machine sent to a hub or was about to send; 0 if none."""
        ...

    def versions_acknowledged_above(self, hub: str, machine: str, revision: int) -> list[StoredVersion]:
        """The versions of this machine above that revision that a hub has acknowledged, in order."""
        ...

    # Memories that a person marked for the team.

    def mark_for_team(self, memory_id: str, at: int) -> bool:
        """Mark a memory for the team; returns whether it was not marked before."""
        ...

    def unmark_for_team(self, memory_id: str) -> bool:
        """Take the mark from a memory; returns whether it had one."""
        ...

    def team_memories(self) -> dict[str, int]:
        """The marked memories, and when they were marked."""
        ...

    # Versions of items.

    def put_version(self, version: StoredVersion, redactor: str) -> StoredVersion | None:
        """Store a machine's version of an item, unless it has this or a later one; returns which one holds.

        Of the same revision, only the removal replaces what is stored.

        A removal deletes the texts of all versions by its person.
        """
        ...

    def note_sent(self, key: ItemKey, machine: str, revision: int, at: int) -> None:
        """Note that a hub has committed this version of this machine; until then `received_at` is 0."""
        ...

    def versions(self, key: ItemKey) -> list[StoredVersion]:
        """All versions of an item, the one that holds first, then the latest."""
        ...

    def versions_of(self, kind: SharedKind, id: str) -> list[StoredVersion]:
        """The same of all items with that kind and id, in whichever hub and project."""
        ...

    def versions_without_hold(self, since: int, limit: int) -> list[StoredVersion]:
        """Versions with a text that do not hold, made since that time, the newest first."""
        ...

    def put_base(self, kind: SharedKind, id: str, ref: VersionRef) -> None:
        """Note which version the row of this store is, and drop its announcement: this change is not new."""
        ...

    def base(self, kind: SharedKind, id: str) -> VersionRef | None:
        """Which version the row of this store is, or was before it was changed here."""
        ...

    # What is read. Only versions that hold, with a text.

    def shared_items(self, within: SharedWithin, behind: PageMark, limit: int) -> list[StoredVersion]:
        """Items, the newest first; the id of a page's mark is that of the last item."""
        ...

    def shared_item(self, kind: SharedKind, id: str) -> StoredVersion | None:
        """The item with that id; if several hubs or projects have one, the newest."""
        ...

    def shared_ids_beginning(self, kind: SharedKind, prefix: str, limit: int) -> list[str]:
        """The ids of items of that kind that begin with this prefix, in order."""
        ...

    def addressed_to(self, person: str, limit: int) -> list[StoredVersion]:
        """Items for this one person, the newest first."""
        ...

    # How far was pulled, and the end of sharing.

    def pull_cursor(self, hub: str, project: str) -> int:
        """The last sequence number of a project that was applied; 0 at first."""
        ...

    def put_pull_cursor(self, hub: str, project: str, sequence: int) -> None:
        """Note up to which sequence number a project was applied."""
        ...

    def pull_cursors(self, hub: str) -> Mapping[str, int]:
        """The same of all projects of a hub."""
        ...

    def drop_hub(self, hub: str) -> int:
        """Delete what is stored of a hub: versions and cursors; returns how many versions."""
        ...
