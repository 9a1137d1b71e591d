"""Status: how sharing stands with each hub, and exactly what would be sent next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from holdfast.core.events.durations import DAY_MS, MINUTE_MS
from holdfast.core.events.world import Project
from holdfast.core.sharing.bodies import ContinuityBody, HandoffBody, MemoryBody, decode
from holdfast.core.sharing.identity import Machine, identity_of
from holdfast.core.sharing.items import SharedKind
from holdfast.engine.engine import Engine
from holdfast.engine.sharing.exchange import prepare
from holdfast.engine.sharing.outgoing import STORED_WITH_BODY, Sender, announce_documents, plan
from holdfast.engine.sharing.report import HubNotes, notes_of
from holdfast.engine.sharing.shared_projects import SharedProject, SharedProjects
from holdfast.errors import NotThere
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store
from holdfast.stores.hub.base import Hub, MachineState
from holdfast.stores.shared import Announcement, StoredVersion

OVERDUE_MS: Final = 15 * MINUTE_MS
"""After so long without an attempt, changes that wait are a problem."""
CONFLICTS_MS: Final = 7 * DAY_MS
"""For how long a conflict is named; its versions stay."""
_READ_AT_ONCE: Final = 500
_CONFLICTS_MOST: Final = 50


@dataclass(frozen=True, slots=True)
class NextItem:
    """One version that would be sent next, or why it waits."""

    announcement: Announcement
    version: StoredVersion | None
    waits: str = ""


@dataclass(frozen=True, slots=True)
class HubState:
    """How sharing stands with one hub."""

    name: str
    is_joined: bool
    projects: tuple[SharedProject, ...]
    waiting: int
    """Changes that were not sent yet, each of one item."""
    notes: HubNotes


@dataclass(frozen=True, slots=True)
class MachineProgress:
    """How far a machine has applied a project's changes."""

    project: str
    state: MachineState
    is_current: bool
    """Whether it has applied every change that this machine knows of."""


def hub_states(engine: Engine, joined: Sequence[str], machine: Machine) -> list[HubState]:
    """Every hub that was joined or is named by the settings. Announces what changed; needs no network."""
    shared = prepare(engine)
    items = list(_next_items(engine, shared, joined, machine))
    return [
        HubState(
            name,
            name in joined,
            tuple(shared.of_hub(name)),
            sum(_hub_of(each, shared) == name for each in items),
            notes_of(engine.store, name),
        )
        for name in sorted({*joined, *shared.hubs})
    ]


def next_items(engine: Engine, hub: str, machine: Machine) -> list[NextItem]:
    """What would be sent to a hub next, in order: everything, with its whole text."""
    shared = prepare(engine)
    return [each for each in _next_items(engine, shared, [hub], machine) if _hub_of(each, shared) == hub]


@dataclass(frozen=True, slots=True)
class Conflict:
    """An item that two machines changed without knowing of each other."""

    held: StoredVersion
    other: StoredVersion
    """The earlier one, which is history now."""


def conflicts(store: Store, now: int) -> list[Conflict]:
    """The conflicts of the last days, the newest first."""
    pairs: list[Conflict] = []
    for other in store.versions_without_hold(now - CONFLICTS_MS, _CONFLICTS_MOST):
        held = next((each for each in store.versions(other.key) if each.holds), None)
        if held is not None and held.body and not held.version.is_made_from(other.version):
            pairs.append(Conflict(held, other))
    return pairs


def versions_named(engine: Engine, project: Project, name: str) -> list[StoredVersion]:
    """Every version of the item with that id, or with the only one that begins so; NotThere if there is none.

    The continuity has the same id in each project: that of this one is meant.
    """
    store = engine.store
    ids = {
        (kind, id)
        for kind in STORED_WITH_BODY
        for id in store.shared_ids_beginning(kind, name, _CONFLICTS_MOST)
    }
    exact = {each for each in ids if each[1] == name} or ids
    if len(exact) != 1:
        problem = (
            f"several shared items begin with `{name}`" if exact else f"no shared item is named `{name}`"
        )
        raise NotThere(problem, "`holdfast memories list` and `holdfast handoff list` have ids")
    ((kind, id),) = exact
    names = identity_of(store.shared_names(project.project_id), "").names
    every = store.versions_of(kind, id)
    return [each for each in every if kind is not SharedKind.CONTINUITY or each.key.project in names]


def text_in(version: StoredVersion) -> str:
    """The text of a version; empty if it has none, or none that can be read."""
    body = decode(version.key.kind, version.body) if version.body else None
    return body.text if isinstance(body, MemoryBody | HandoffBody | ContinuityBody) else ""


def machine_progress(
    store: Store, hub: Hub, name: str, projects: Sequence[SharedProject]
) -> list[MachineProgress]:
    """How far each machine is that pulls these projects."""
    progress: list[MachineProgress] = []
    for project in dict.fromkeys(each for one in projects for each in one.names):
        last = store.pull_cursor(name, project)
        progress += (MachineProgress(project, each, each.applied >= last) for each in hub.machines(project))
    return progress


def _next_items(
    engine: Engine, shared: SharedProjects, hubs: Sequence[str], machine: Machine
) -> Iterator[NextItem]:
    for name in {*hubs, *shared.hubs}:
        sender = _sender(engine, name, machine)
        for clones in shared.clones(name):
            announce_documents(engine, clones, sender, engine.clock())
    behind = 0
    while announcements := engine.store.announcements(behind, _READ_AT_ONCE):
        behind = announcements[-1].revision
        for announcement in announcements:
            sharing = shared.by_id.get(announcement.project_id)
            sender = _sender(engine, sharing.policy.hub if sharing else "", machine)
            planned = plan(engine, shared, sender, announcement)
            if planned.waits:
                yield NextItem(announcement, None, planned.waits)
            yield from (NextItem(announcement, version) for version in planned.versions)


def _sender(engine: Engine, hub: str, machine: Machine) -> Sender:
    """Who sends, as the hub said it the last time."""
    notes = notes_of(engine.store, hub)
    return Sender(machine, notes.person, notes.clock_ahead)


def _hub_of(item: NextItem, shared: SharedProjects) -> str:
    if item.version is not None:
        return item.version.key.hub
    project = shared.by_id.get(item.announcement.project_id)
    return project.policy.hub if project else ""
