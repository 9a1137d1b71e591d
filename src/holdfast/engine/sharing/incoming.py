"""Incoming: stores what a hub returns, and brings this person's own memories up to date with it.

What arrives is redacted again by this machine's rules before it is stored. A memory of this person behaves
like one that was remembered here. What others wrote stays apart, with its author and machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from holdfast.core.events.event import Skipped
from holdfast.core.memory.memory import Memory, MemoryScope, labels_of
from holdfast.core.sharing.bodies import MemoryBody, decode_memory
from holdfast.core.sharing.items import SharedItem, SharedKind, VersionRef
from holdfast.core.sharing.policy import PERSONAL
from holdfast.engine.engine import Engine
from holdfast.engine.privacy.forget import AFTER_FORGETTING, OWED
from holdfast.engine.recording.memorize import make_findable
from holdfast.engine.redaction import forgotten
from holdfast.engine.sharing.outgoing import Sender
from holdfast.engine.sharing.shared_projects import SharedProject
from holdfast.stores.codec import map_document
from holdfast.stores.forgettable import memory_name
from holdfast.stores.shared import TEAM_PREFIX, ItemKey, StoredVersion

FROM_HUB = "hub"
"""The source of a memory that came from another machine of its person."""


def apply_page(
    engine: Engine, project: SharedProject, name: str, items: Sequence[SharedItem], sender: Sender
) -> int:
    """Store a page of changes of a project, and how far it goes, in one transaction; returns how many."""
    store, at = engine.store, engine.clock()
    # Outside of the transaction: hooks must not wait until all of it is redacted.
    versions = [_stored(engine, project, name, each, sender, at) for each in items]
    mark = engine.redactor(project.project).mark
    with store.writing_durably():
        for version in versions:
            store.put_version(_without_forgotten(engine, version), mark)
        settle(engine, project, (each.key for each in versions), sender)
        if items:
            store.put_pull_cursor(project.policy.hub, name, items[-1].sequence)
    return len(items)


def settle(engine: Engine, project: SharedProject, keys: Iterable[ItemKey], sender: Sender) -> None:
    """Bring the memories of these items up to date with the versions that hold; inside a transaction.

    One that was changed here and not sent yet stays as it is: first the hub has to know of both.
    """
    has_forgotten = False
    for key in dict.fromkeys(keys):
        if key.kind is SharedKind.SESSION:
            has_forgotten = _forget_inherited(engine, key) or has_forgotten
        is_own_copy = key.kind is SharedKind.MEMORY and not key.id.startswith(TEAM_PREFIX)
        if is_own_copy and engine.store.announcement(key.kind, key.id) is None:
            has_forgotten = _settle_memory(engine, project, key, sender) or has_forgotten
    if has_forgotten and engine.home is not None:
        engine.store.put_fact(OWED, AFTER_FORGETTING)
        forgotten.publish(engine.store, engine.home)


def _stored(
    engine: Engine, project: SharedProject, name: str, shared: SharedItem, sender: Sender, at: int
) -> StoredVersion:
    """A change as it is stored: redacted by the rules of this machine."""
    item = shared.item
    session = item.id if item.kind is SharedKind.SESSION else ""
    redact = partial(engine.redactor(project.project).redacted, session)
    return StoredVersion(
        ItemKey(project.policy.hub, name, item.kind, item.id),
        shared.machine,
        shared.person,
        shared.person == sender.person,
        item.revision,
        item.at,
        item.audience,
        map_document(item.body, redact) if item.body else "",
        item.is_removed,
        item.replaces,
        item.recipient,
        shared.sequence,
        at,
    )


def _without_forgotten(engine: Engine, version: StoredVersion) -> StoredVersion:
    if version.is_mine and _is_forgotten(engine, version.key.kind, version.key.id):
        return replace(version, body="", is_removed=True)
    return version


def _is_forgotten(engine: Engine, kind: SharedKind, id: str) -> bool:
    """Whether this person forgot the item here: then it does not come back from another machine."""
    match kind:
        case SharedKind.MEMORY:
            return bool(engine.store.forgotten_at(memory_name(id.removeprefix(TEAM_PREFIX))))
        case SharedKind.SESSION:
            return bool(engine.store.forgotten_at(id))
        case _:
            return False


def _forget_inherited(engine: Engine, key: ItemKey) -> bool:
    """Forget what sessions here have of one that its person forgot on another machine; whether any had."""
    store = engine.store
    holder = next((each for each in store.versions(key) if each.holds), None)
    is_forgotten = holder is not None and holder.is_mine and holder.is_removed
    if not is_forgotten or store.session(key.id) is not None or not store.heirs([key.id]):
        return False
    store.forget([key.id], engine.clock())
    return True


def _settle_memory(engine: Engine, project: SharedProject, key: ItemKey, sender: Sender) -> bool:
    """Bring one memory up to date; returns whether it was forgotten."""
    store = engine.store
    holder = next((each for each in store.versions(key) if each.holds), None)
    if holder is None or not holder.is_mine or not project.policy.own_memories:
        return False
    ref = VersionRef(holder.machine.id, holder.revision)
    if store.base(key.kind, key.id) == ref:
        return False
    memory = store.memory(key.id)
    if holder.is_removed:
        if memory is not None:
            forgotten.forget_memory(store, key.id, engine.clock())
        store.put_base(key.kind, key.id, ref)
        if _has_own_text(engine, key, sender):
            # This machine sent a change without knowing of the removal: the hub still has that text.
            store.announce(key.kind, key.id, project.project.project_id, engine.clock())
        return memory is not None
    if memory is None or holder.machine.id != sender.machine.id or store.base(key.kind, key.id):
        body = decode_memory(holder.body) if holder.body else Skipped("no text")
        if isinstance(body, Skipped):
            return False
        mark = engine.redactor(project.project).mark
        changed = _memory(project, key, body, memory, holder)
        if memory is not None and memory.text != changed.text:
            forgotten.note_wording(store, engine.home, memory.id, memory.text)
        store.put_memory(changed, mark)
        make_findable(store, changed, mark)
    store.put_base(key.kind, key.id, ref)
    return False


def _has_own_text(engine: Engine, key: ItemKey, sender: Sender) -> bool:
    """Whether a hub may have a text of this memory that this machine sent."""
    ids = (key.id, f"{TEAM_PREFIX}{key.id}")
    versions = (each for id in ids for each in engine.store.versions(replace(key, id=id)))
    return any(each.machine.id == sender.machine.id and not each.is_removed for each in versions)


def _memory(
    project: SharedProject, key: ItemKey, body: MemoryBody, before: Memory | None, holder: StoredVersion
) -> Memory:
    """The memory as it is stored here; how often it was seen and recalled here stays."""
    is_personal = key.project == PERSONAL
    fresh = Memory(
        key.id,
        body.text,
        body.kind,
        MemoryScope.USER if is_personal else MemoryScope.PROJECT,
        "" if is_personal else project.project.project_id,
        "",
        body.created_at,
        source=FROM_HUB,
        seen_at=body.created_at,
    )
    return replace(
        before or fresh,
        text=body.text,
        kind=body.kind,
        tags=body.tags,
        importance=body.importance,
        pinned=body.pinned,
        labels=labels_of(body.text) if before is None or before.text != body.text else before.labels,
        source=before.source if before else f"{FROM_HUB}:{holder.machine.name}",
    )
