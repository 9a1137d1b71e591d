"""Outgoing: what an announced change means for a hub: new versions of items, or their removal.

Only redacted text leaves: a row that an older redactor processed waits until it was processed again, and
documents are redacted as they are read. Transcripts and events are never read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from holdfast.core.documents.continuity import LayerName, render
from holdfast.core.memory.memory import Memory, MemoryScope
from holdfast.core.session.session import Phase
from holdfast.core.sharing.bodies import (
    encode_checkpoint,
    encode_continuity,
    encode_handoff,
    encode_memory,
)
from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, OutgoingItem, SharedKind, VersionRef
from holdfast.core.sharing.versions import made_at
from holdfast.engine.documents import handoff
from holdfast.engine.documents.continuity import continuity_files
from holdfast.engine.engine import Engine
from holdfast.engine.shared_sessions import paths_of, session_body
from holdfast.engine.sharing.shared_projects import SharedProject, SharedProjects
from holdfast.errors import HoldfastError
from holdfast.files import continuity as continuity_documents
from holdfast.files.continuity import Layer
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.shared import TEAM_PREFIX, Announcement, ItemKey, StoredVersion

CONTINUITY_ID: Final = "shared"
ROWS: Final = frozenset({SharedKind.MEMORY, SharedKind.CHECKPOINT, SharedKind.SESSION})
STORED_WITH_BODY: Final = frozenset({SharedKind.MEMORY, SharedKind.HANDOFF, SharedKind.CONTINUITY})
"""Kinds whose own versions are stored with their text, as history and to see whether a file changed."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sends: this machine, its person as each hub knows them, and how far its clock is ahead."""

    machine: Machine
    person: str
    clock_ahead: int = 0
    """In milliseconds, compared with the hub."""
    is_read_only: bool = False


@dataclass(frozen=True, slots=True)
class SendingPlan:
    """What an announcement asks for."""

    versions: tuple[StoredVersion, ...] = ()
    """What is still to be sent, to whichever hub."""
    waits: str = ""
    """Why it cannot be sent yet; empty if it can."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """One item that a row is to be at a hub."""

    id: str
    audience: Audience
    body: str
    recipient: str = ""


@dataclass(frozen=True, slots=True)
class _Targets:
    """The items that a row is to be at hubs, and whether the row itself is gone."""

    keys: frozenset[ItemKey]
    row_is_gone: bool


RESENT_MS: Final = 20_000
"""How often the state of a live session is sent at most."""
CHANGING: Final = "the session is at work; its state is sent every 20 seconds"
NOT_REDACTED: Final = "its text is still being redacted by the rules of today"
UNREADABLE: Final = "the settings of its project cannot be read"


def plan(engine: Engine, shared: SharedProjects, sender: Sender, announcement: Announcement) -> SendingPlan:
    """What is to be sent for an announcement. Nothing if its row is not shared, and was not before."""
    if announcement.project_id in shared.unreadable:
        return SendingPlan(waits=UNREADABLE)
    project = shared.by_id.get(announcement.project_id)
    copies: list[_Copy] = []
    is_there = True
    if announcement.kind in ROWS:
        redactor = engine.store.redactor_of(announcement.kind, announcement.id)
        is_there = bool(redactor)
        is_shared = project is not None and announcement.kind in project.policy.kinds
        if is_there and is_shared and project is not None:
            if redactor != engine.redactor(project.project).mark:
                return SendingPlan(waits=NOT_REDACTED)
            if announcement.kind is SharedKind.SESSION and _is_changing(
                engine, project, announcement, sender
            ):
                return SendingPlan(waits=CHANGING)
            copies = list(_copies(engine, project, announcement, sender))
    elif project is None:
        is_there = False  # A forgotten project has no documents.
    elif announcement.kind in project.policy.kinds:
        clones = shared.named(project.policy.hub, project.name)
        copy = _document(engine, clones, project, announcement, sender)
        is_there, copies = copy is not None, [copy] if copy else []
    texts = [_version(engine, project, announcement, sender, copy) for copy in copies] if project else []
    targets = _Targets(frozenset(each.key for each in texts), row_is_gone=not is_there)
    removals = _removals(engine, project, announcement, sender, targets)
    return SendingPlan(tuple(each for each in (*texts, *removals) if not _is_sent(engine, each)))


def to_item(version: StoredVersion, redactor: str) -> OutgoingItem:
    """The version as it is sent."""
    return OutgoingItem(
        version.key.kind,
        version.key.id,
        version.revision,
        version.at,
        version.audience,
        version.body,
        redactor,
        version.replaces,
        version.recipient,
    )


def row_id(key: ItemKey) -> str:
    """The id of the row or document that an item is a copy of."""
    return key.id.removeprefix(TEAM_PREFIX) if key.kind is SharedKind.MEMORY else key.id


def announce_documents(engine: Engine, clones: Sequence[SharedProject], sender: Sender, at: int) -> int:
    """Announce the handoffs and the continuity that changed since they were last announced; how many.

    `clones` are the projects of this machine that others know by one name. One that is gone, or not mounted
    now, takes nothing back.
    """
    changed: list[tuple[SharedKind, str, str]] = []
    for project in clones:
        if SharedKind.HANDOFF in project.policy.kinds and Path(project.project.root).is_dir():
            ids = _changed_handoffs(engine, project, sender)
            changed += ((SharedKind.HANDOFF, id, project.project.project_id) for id in ids)
    for project in clones[:1]:
        body = _continuity_body(engine, clones)
        sent = _sent_body(engine, project, sender, SharedKind.CONTINUITY, CONTINUITY_ID)
        if SharedKind.CONTINUITY in project.policy.kinds and body != sent:
            id = project.project.project_id
            changed.append((SharedKind.CONTINUITY, id, id))
    new = [each for each in changed if engine.store.announcement(each[0], each[1]) is None]
    if new:
        with engine.store.writing():
            for kind, id, project_id in new:
                engine.store.announce(kind, id, project_id, at)
    return len(new)


# ---------------------------------------------------------------- rows


def _is_changing(engine: Engine, project: SharedProject, announcement: Announcement, sender: Sender) -> bool:
    """Whether a live session was sent a moment ago: it changes with every event."""
    session = engine.store.session(announcement.id)
    key = ItemKey(project.policy.hub, project.name, announcement.kind, announcement.id)
    own = _own(engine.store.versions(key), sender)
    sent_at = own.received_at if own else 0
    is_live = session is not None and session.phase is Phase.LIVE
    return is_live and 0 <= engine.clock() - sent_at < RESENT_MS


def _copies(
    engine: Engine, project: SharedProject, announcement: Announcement, sender: Sender
) -> Iterator[_Copy]:
    store, paths, id = engine.store, paths_of(engine, project.project), announcement.id
    match announcement.kind:
        case SharedKind.MEMORY:
            memory = store.memory(id)
            if memory is not None:
                yield from _memory_copies(engine, project, memory)
        case SharedKind.CHECKPOINT:
            checkpoint = store.checkpoint(id)
            if checkpoint is not None:
                yield _Copy(id, project.policy.checkpoint_audience, encode_checkpoint(checkpoint, paths))
        case _:
            session = store.session(id)
            if session is not None:
                yield _Copy(id, Audience.OWN, session_body(engine, session, sender.clock_ahead))


def _memory_copies(engine: Engine, project: SharedProject, memory: Memory) -> Iterator[_Copy]:
    """The copy for the author's machines, and that for the team if a person marked the memory."""
    if memory.scope is MemoryScope.WORKTREE:
        return  # A worktree is of one machine.
    body = encode_memory(memory, paths_of(engine, project.project))
    if project.policy.own_memories:
        yield _Copy(memory.id, Audience.OWN, body)
    if project.policy.team_memories and memory.id in engine.store.team_memories():
        yield _Copy(f"{TEAM_PREFIX}{memory.id}", Audience.TEAM, body)


# ---------------------------------------------------------------- documents


def _document(
    engine: Engine,
    clones: Sequence[SharedProject],
    project: SharedProject,
    announcement: Announcement,
    sender: Sender,
) -> _Copy | None:
    """The document that was announced; None if it is gone."""
    if announcement.kind is SharedKind.CONTINUITY:
        body = _continuity_body(engine, clones)
        return _Copy(CONTINUITY_ID, Audience.TEAM, body) if body else None
    shared = _handoffs(engine, project, sender).get(announcement.id)
    return _Copy(announcement.id, Audience.TEAM, shared.body, shared.recipient) if shared else None


def _changed_handoffs(engine: Engine, project: SharedProject, sender: Sender) -> list[str]:
    handoffs = _handoffs(engine, project, sender)
    sent = {
        id: _sent_body(engine, project, sender, SharedKind.HANDOFF, id)
        for id in (*handoffs, *_sent_handoffs(engine, project, sender))
    }
    return [id for id, body in sent.items() if (handoffs[id].body if id in handoffs else "") != body]


@dataclass(frozen=True, slots=True)
class _SharedHandoff:
    body: str
    recipient: str


def _handoffs(engine: Engine, project: SharedProject, sender: Sender) -> dict[str, _SharedHandoff]:
    """The bodies of a project's handoffs, by the ids under which this machine shares them.

    Those that came with the repository are not this person's to share.
    """
    redactor, paths = engine.redactor(project.project), paths_of(engine, project.project)
    handoffs, prefix = dict[str, _SharedHandoff](), _handoff_prefix(project, sender)
    for one in handoff.all_handoffs(project.project):
        if not one.is_tracked:
            text = redactor.redacted(one.head.session, one.text)
            body = encode_handoff(one.name, text, paths)
            handoffs.setdefault(f"{prefix}{one.name}", _SharedHandoff(body, one.head.to))
    return handoffs


def _sent_handoffs(engine: Engine, project: SharedProject, sender: Sender) -> list[str]:
    """The ids of the handoffs of this project that this machine shares."""
    ids = engine.store.shared_ids_beginning(SharedKind.HANDOFF, _handoff_prefix(project, sender), _MANY)
    return [
        id
        for id in ids
        if any(
            each.key.project in project.names and each.machine.id == sender.machine.id
            for each in engine.store.versions_of(SharedKind.HANDOFF, id)
        )
    ]


def _handoff_prefix(project: SharedProject, sender: Sender) -> str:
    """Names of handoffs are chosen in each clone: this keeps those of two machines and two clones apart."""
    return f"{sender.machine.id[:8]}-{project.project.project_id[:8]}-"


def _continuity_body(engine: Engine, clones: Sequence[SharedProject]) -> str:
    """The body of the shared layer that was written last; empty if there is none that can be read."""
    layers = [(each, layer) for each in clones if (layer := _shared_layer(engine, each)) is not None]
    if not layers:
        return ""
    project, layer = max(layers, key=lambda each: _written_at(each[1]))
    text = engine.redactor(project.project).redacted("", render(layer.document))
    return encode_continuity(text, 0, paths_of(engine, project.project))


def _shared_layer(engine: Engine, project: SharedProject) -> Layer | None:
    if engine.home is None:
        return None
    try:
        files = continuity_files(engine, engine.home, project.project)
        return continuity_documents.read(files.places, LayerName.SHARED)
    except HoldfastError:
        return None


def _written_at(layer: Layer) -> int:
    try:
        return layer.target.whole.stat().st_mtime_ns
    except OSError:
        return 0


def _sent_body(engine: Engine, project: SharedProject, sender: Sender, kind: SharedKind, id: str) -> str:
    """What this machine last sent or was about to send of a document; empty if nothing, or its removal."""
    key = ItemKey(project.policy.hub, project.name, kind, id)
    own = _own(engine.store.versions(key), sender)
    return own.body if own else ""


# ---------------------------------------------------------------- versions


def _version(
    engine: Engine, project: SharedProject, announcement: Announcement, sender: Sender, copy: _Copy
) -> StoredVersion:
    """The new version of an item; with the same time again if it was prepared before and not acknowledged."""
    key = ItemKey(project.policy.hub, project.name, announcement.kind, copy.id)
    return replace(
        _next(engine, announcement, sender, key),
        audience=copy.audience,
        body=copy.body,
        recipient=copy.recipient,
    )


def _removals(
    engine: Engine, shared: SharedProject | None, announcement: Announcement, sender: Sender, plan: _Targets
) -> list[StoredVersion]:
    """The removal of every item that a hub may have of a row which is gone, or goes elsewhere now."""
    target_ids = {key.id for key in plan.keys}
    is_marked = announcement.id in engine.store.team_memories()
    known = _known(engine, shared, announcement)
    removals: list[StoredVersion] = []
    for key in dict.fromkeys(each.key for each in known if each.key not in plan.keys):
        versions = [each for each in known if each.key == key]
        is_unmarked = key.id.startswith(TEAM_PREFIX) and not is_marked
        if not (plan.row_is_gone or is_unmarked or key.id in target_ids):
            continue
        if all(each.is_removed and not _is_unsent(each, sender) for each in versions):
            continue
        is_team = any(each.audience is Audience.TEAM for each in versions)
        removals.append(
            replace(
                _next(engine, announcement, sender, key),
                audience=Audience.TEAM if is_team else Audience.OWN,
                body="",
                is_removed=True,
            )
        )
    return removals


def _known(engine: Engine, shared: SharedProject | None, announcement: Announcement) -> list[StoredVersion]:
    """The person's own versions of the items that a row is or was at any hub."""
    kind, store = announcement.kind, engine.store
    if kind is SharedKind.CONTINUITY:
        every = store.versions_of(kind, CONTINUITY_ID)
        # Of a forgotten project only the name is left that its continuity was shared under.
        names = shared.names if shared else (announcement.id,)
        return [each for each in every if each.is_mine and each.key.project in names]
    ids = [announcement.id]
    if kind is SharedKind.MEMORY:
        ids.append(f"{TEAM_PREFIX}{announcement.id}")
    return [each for id in ids for each in store.versions_of(kind, id) if each.is_mine]


def _next(engine: Engine, announcement: Announcement, sender: Sender, key: ItemKey) -> StoredVersion:
    """A version of an item by this machine, without a text: from what it was made, and when."""
    known = engine.store.versions(key)
    own = _own(known, sender)
    if own is not None and own.revision == announcement.revision:
        return own
    base = engine.store.base(announcement.kind, announcement.id)
    replaces: VersionRef | None = own.replaces if own else None
    if base is not None and base.machine != sender.machine.id:
        replaces = base
    elif own is None and known and announcement.kind in ROWS:
        replaces = VersionRef(known[0].machine.id, known[0].revision)
    # A change of this very moment has no time yet.
    changed_at = announcement.at or engine.clock()
    at = made_at(max(0, changed_at - sender.clock_ahead), (each.version for each in known))
    return StoredVersion(
        key,
        sender.machine,
        sender.person,
        is_mine=True,
        revision=announcement.revision,
        at=at,
        audience=Audience.OWN,
        body="",
        replaces=replaces,
    )


def _own(versions: list[StoredVersion], sender: Sender) -> StoredVersion | None:
    return next((each for each in versions if each.machine.id == sender.machine.id), None)


def _is_unsent(version: StoredVersion, sender: Sender) -> bool:
    return version.machine.id == sender.machine.id and not version.received_at


def _is_sent(engine: Engine, version: StoredVersion) -> bool:
    """Whether a hub has acknowledged this very version."""
    same_machine = (
        each for each in engine.store.versions(version.key) if each.machine.id == version.machine.id
    )
    own = next(same_machine, None)
    return own is not None and own.revision >= version.revision and bool(own.received_at)


_MANY: Final = 10_000
