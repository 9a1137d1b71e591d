"""What the tests of hubs share: a hub with its owner and people, whichever way it is made, and items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, OutgoingItem, SharedKind, VersionRef
from holdfast.stores.hub.base import Hub, HubOwner, Invitation

SHOP = "github.com/acme/shop"
NOON = 1_800_000_000_000


@dataclass
class Place:
    """A hub, and how to connect to it."""

    owner: HubOwner
    log_in: Callable[[Invitation], Hub]
    """A new connection of the person who was invited."""
    hubs: dict[str, Hub] = field(default_factory=dict)
    """The connection with which each person was invited."""
    _open: list[Hub] = field(default_factory=list)
    _invitations: dict[str, Invitation] = field(default_factory=dict)

    def invite(self, name: str, team: str = "core", *, is_read_only: bool = False) -> Hub:
        """Invite a person; returns their connection, with a machine of the same name in use."""
        self._invitations[name] = self.owner.invite(name, team, is_read_only=is_read_only)
        hub = self.connect(name)
        hub.identify(machine_of(name))
        self.hubs[name] = hub
        return hub

    def connect(self, name: str) -> Hub:
        """Another connection of someone who was invited."""
        hub = self.log_in(self._invitations[name])
        self._open.append(hub)
        return hub

    def close(self) -> None:
        for hub in self._open:
            hub.close()
        self.owner.close()


def machine_of(name: str) -> Machine:
    """A machine with an id that nobody else has."""
    return Machine(f"machine-of-{name}", f"{name}'s laptop")


def item(
    id: str = "m1",
    revision: int = 1,
    body: str = '{"text": "the port is 5433"}',
    *,
    audience: Audience = Audience.TEAM,
    kind: SharedKind = SharedKind.MEMORY,
    replaces: VersionRef | None = None,
    recipient: str = "",
) -> OutgoingItem:
    return OutgoingItem(kind, id, revision, NOON + revision, audience, body, "7", replaces, recipient)


def texts(hub: Hub, project: str = SHOP, after: int = 0) -> list[tuple[str, str]]:
    """What a member sees: id and body of each change."""
    return [(each.item.id, each.item.body) for each in hub.pull(project, after, 1_000)]
