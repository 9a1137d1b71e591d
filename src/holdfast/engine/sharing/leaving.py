"""Leaving: a machine uses a hub no more."""

from __future__ import annotations

from pathlib import Path

from holdfast.core.sharing.identity import Machine
from holdfast.engine.engine import Engine
from holdfast.engine.sharing import connections, report
from holdfast.engine.sharing.connections import HubConnection
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LeftHub:
    """What leaving removed."""

    erased: int
    """Items of this person that were removed at the hub."""
    removed_here: int
    """Versions of items that were removed here."""


def leave(engine: Engine, home: Path, connection: HubConnection, machine: Machine, *, erase: bool) -> LeftHub:
    """Forget a hub, and what came from it; with `erase`, first remove at the hub all that this person shared.

    If the hub cannot be asked to do that, nothing is left: HubError.
    """
    erased = 0
    if erase:
        hub = connections.open_hub(connection)
        try:
            hub.identify(machine)
            erased = hub.erase_own(None)
        finally:
            hub.close()
    connections.leave(home, connection.name)
    with engine.store.writing_durably():
        removed_here = engine.store.drop_hub(connection.name)
        report.drop_notes(engine.store, connection.name)
    return LeftHub(erased, removed_here)
