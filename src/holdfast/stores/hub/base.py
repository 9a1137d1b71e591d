"""The contract of a hub: numbered changes of shared items per project, and who may see them.

All methods raise HubError: HubAway where it may work later, HubRefused where a person must act. A method that
returns has committed. A project is named by its shared identity, such as `github.com/acme/shop`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final, Protocol

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import OutgoingItem, SharedItem
from holdfast.lazy_dataclass import dataclass

NOTED_EVERY_MS: Final = 3_600_000
"""A version that changes all the time, such as a session's, is noted as changed once in this time."""


@dataclass(frozen=True, slots=True)
class Member:
    """A person who may use the hub."""

    name: str
    team: str
    is_read_only: bool
    invited_at: int
    revoked_at: int = 0
    """0 while the person may use it."""


@dataclass(frozen=True, slots=True)
class MachineState:
    """A machine that uses the hub, and how far it has applied the changes of one project."""

    machine: Machine
    person: str
    last_seen_at: int
    applied: int


@dataclass(frozen=True, slots=True)
class HubAuditEntry:
    """Who shared, changed or removed which item, without its text."""

    at: int
    person: str
    machine: str
    action: str
    """`shared`, `changed` (noted once an hour for each version), `removed`, `invited` or `revoked`."""
    project: str
    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Identification:
    """Who this connection is to the hub, and what the hub's clock says."""

    person: str
    team: str
    is_read_only: bool
    now: int
    """The hub's time, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """How a person who was invited logs in."""

    login: str
    password: str = field(repr=False)
    """It is stored nowhere else."""


class Hub(Protocol):
    """What a member's machine does at a hub."""

    def identify(self, machine: Machine) -> Identification:
        """Note that this machine is in use by the member of this connection; says who that is.

        A machine belongs to the person who named it first; HubRefused for everyone else.
        """
        ...

    def last_revision(self, machine: str) -> int:
        """The greatest revision that this machine ever sent; 0 if none."""
        ...

    def push(self, project: str, machine: str, items: Sequence[OutgoingItem]) -> None:
        """Store these versions, in order: all of them or none.

        A version whose revision is not above the stored one of its machine changes nothing, so that sending
        twice is harmless. A removed item also removes the text of every other version by the same person.
        HubRefused unless `identify` named the machine as this member's, and for a member who may only read.
        """
        ...

    def pull(self, project: str, after: int, limit: int) -> list[SharedItem]:
        """The changes of a project that this member may see, behind that sequence number, in order.

        Nothing is ever inserted before a number that was returned once. A version that this member could see
        and no longer may, because its author narrowed the audience, comes as removed. One that was removed
        without a new version (by `erase_own`, or by its author's removal on another machine) keeps its
        revision, so that without a text holds over with a text.
        """
        ...

    def confirm(self, project: str, machine: str, applied: int) -> None:
        """Note that this machine has applied the project's changes up to that sequence number."""
        ...

    def machines(self, project: str) -> list[MachineState]:
        """The machines that pull this project and that this member may know of, the last seen first.

        Those are the member's own, and those of the team once anything of the project is shared with it.
        """
        ...

    def erase_own(self, project: str | None) -> int:
        """Remove everything that this member shared, of one project or of all; returns how many items."""
        ...

    def audit(self, limit: int) -> list[HubAuditEntry]:
        """What happened at the hub, as far as this member may know, the latest first."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class HubOwner(Protocol):
    """What the owner of the database does: prepares it, and says who may use it."""

    def prepare(self) -> bool:
        """Create or update schema, roles and policies; returns whether anything was missing."""
        ...

    def invite(self, name: str, team: str, *, is_read_only: bool) -> Invitation:
        """Make a person's role, or give the one who has it another password and these rights.

        Who was revoked may come back, to the same team alone; HubRefused for another one.
        """
        ...

    def revoke(self, name: str) -> None:
        """End a person's access at once, also that of open connections; what they shared stays."""
        ...

    def members(self) -> list[Member]:
        """Everyone who was invited, by name."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
