"""Exchange: one round with one hub: say who we are, send what was announced, pull what others sent.

What is sent is noted first, then committed by the hub, and only then acknowledged here. So a process that is
killed at any moment sends the same version again, which changes nothing at the hub.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from typing import Final

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import SharedKind, VersionRef
from holdfast.engine.engine import Engine
from holdfast.engine.shared_texts import refresh_shared_texts
from holdfast.engine.sharing import report
from holdfast.engine.sharing.incoming import apply_page, settle
from holdfast.engine.sharing.outgoing import (
    STORED_WITH_BODY,
    Sender,
    SendingPlan,
    announce_documents,
    plan,
    row_id,
    to_item,
)
from holdfast.engine.sharing.report import HubNotes
from holdfast.engine.sharing.shared_projects import (
    SharedProject,
    SharedProjects,
    announce_by_policy,
    shared_projects,
)
from holdfast.errors import HubError, HubRefused
from holdfast.lazy_dataclass import dataclass, replace
from holdfast.stores.hub.base import Hub
from holdfast.stores.shared import Announcement, StoredVersion

SENT_AT_ONCE: Final = 100
PULLED_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class HubLink:
    """An open connection to a hub, by its name in the settings, and the machine that uses it."""

    name: str
    hub: Hub
    machine: Machine


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What one round did."""

    sent: int = 0
    pulled: int = 0
    waiting: int = 0
    """Changes that could not be sent yet."""


def exchange(engine: Engine, link: HubLink, goes_on: Callable[[], bool]) -> Exchanged:
    """Push and pull once; notes the outcome, also that of a failure, which is raised.

    `goes_on` is asked between steps: a daemon that stops need not wait for the rest. Where a hub refuses what
    is sent, what others sent is still pulled.
    """
    engine = _with_settings_of_now(engine)
    with _Noting(engine, link.name):
        shared = prepare(engine)
        sender = _sender(engine, link)
        try:
            pushed = _push(engine, link, shared, sender, goes_on)
        except HubRefused:
            _pull(engine, link, shared, sender, goes_on)
            raise
        return replace(pushed, pulled=_pull(engine, link, shared, sender, goes_on))


def push(engine: Engine, link: HubLink, goes_on: Callable[[], bool]) -> Exchanged:
    """Send what was announced for this hub, in order."""
    engine = _with_settings_of_now(engine)
    with _Noting(engine, link.name):
        shared = prepare(engine)
        return _push(engine, link, shared, _sender(engine, link), goes_on)


def pull(engine: Engine, link: HubLink, goes_on: Callable[[], bool]) -> Exchanged:
    """Apply what changed at this hub since the last time, in each project of this machine."""
    engine = _with_settings_of_now(engine)
    with _Noting(engine, link.name):
        shared = prepare(engine)
        return Exchanged(pulled=_pull(engine, link, shared, _sender(engine, link), goes_on))


def note_failure(engine: Engine, hub: str, error: HubError) -> None:
    """Note why a hub could not be used, where no round could begin."""
    at = engine.clock()
    _note(engine, hub, lambda notes: report.failed(notes, error, at))


def prepare(engine: Engine) -> SharedProjects:
    """The projects as the settings are now, with the store announcing what they share; needs no network.

    What changed since the last time is noted as changed now: of two changes the later one wins.
    """
    shared = shared_projects(engine)
    announce_by_policy(engine.store, shared)
    if engine.store.last_announcement():
        with engine.store.writing():
            engine.store.stamp_announcements(engine.clock())
    return shared


def _with_settings_of_now(engine: Engine) -> Engine:
    """The engine with each project's settings read once for a round, not for each item."""
    return replace(engine, config=cache(engine.config))


# ---------------------------------------------------------------- pushing


@dataclass(frozen=True, slots=True)
class _Batch:
    """Announcements in order, and what of them goes to this hub."""

    announcements: tuple[Announcement, ...]
    versions: tuple[StoredVersion, ...]


def _push(
    engine: Engine, link: HubLink, shared: SharedProjects, sender: Sender, goes_on: Callable[[], bool]
) -> Exchanged:
    for clones in shared.clones(link.name):
        announce_documents(engine, clones, sender, engine.clock())
    if sender.is_read_only:
        # Its owner may allow more later: until then all of it waits.
        return Exchanged(waiting=sum(engine.store.count_announcements().values()))
    behind = sent = waiting = 0
    is_complete = False
    while goes_on():
        announcements = engine.store.announcements(behind, SENT_AT_ONCE)
        is_complete = not announcements
        if is_complete:
            break
        behind = announcements[-1].revision
        # Outside of a transaction: this reads files, and hooks must not wait for it.
        plans = [(each, plan(engine, shared, sender, each)) for each in announcements]
        waiting += sum(bool(each.waits) for _, each in plans)
        batch = _prepared(engine, link, shared, plans)
        for project, versions in groupby(batch.versions, key=lambda each: each.key.project):
            items = [to_item(each, _mark(engine, shared, each)) for each in versions]
            link.hub.push(project, link.machine.id, items)
        sent += len(batch.versions)
        _acknowledge(engine, shared, sender, batch)
    if is_complete and not waiting:
        _note(engine, link.name, lambda notes: replace(notes, pushed_at=engine.clock()))
    return Exchanged(sent=sent, waiting=waiting)


def _prepared(
    engine: Engine,
    link: HubLink,
    shared: SharedProjects,
    plans: Sequence[tuple[Announcement, SendingPlan]],
) -> _Batch:
    """Note what is about to be sent, except what changed again meanwhile."""
    store = engine.store
    with store.writing_durably():
        current = [each for each in plans if store.announcement(each[0].kind, each[0].id) == each[0]]
        batch = _batch(link.name, current)
        for version in batch.versions:
            has_text = version.key.kind in STORED_WITH_BODY
            store.put_version(
                version if has_text else replace(version, body=""), _mark(engine, shared, version)
            )
    return batch


def _batch(hub: str, plans: Sequence[tuple[Announcement, SendingPlan]]) -> _Batch:
    ready = [(announcement, each) for announcement, each in plans if not each.waits]
    versions = (version for _, each in ready for version in each.versions if version.key.hub == hub)
    # Of what belongs to another hub nothing is acknowledged by this one.
    own = (
        announcement
        for announcement, each in ready
        if all(version.key.hub == hub for version in each.versions)
    )
    return _Batch(tuple(own), tuple(versions))


def _acknowledge(engine: Engine, shared: SharedProjects, sender: Sender, batch: _Batch) -> None:
    """Note what the hub has committed, and settle what had to wait for that."""
    store, at = engine.store, engine.clock()
    with store.writing_durably():
        for version in batch.versions:
            store.note_sent(version.key, version.machine.id, version.revision, at)
        store.acknowledge(batch.announcements)
        for each in batch.announcements:
            if each.revision and store.announcement(each.kind, each.id) is None and _was_sent(each, batch):
                store.put_base(each.kind, each.id, VersionRef(sender.machine.id, each.revision))
        for version in batch.versions:
            for project in shared.named(version.key.hub, version.key.project)[:1]:
                settle(engine, project, [version.key], sender)


def _was_sent(announcement: Announcement, batch: _Batch) -> bool:
    return any(
        each.revision == announcement.revision and not each.is_removed and each.key.kind is announcement.kind
        for each in batch.versions
    )


def _mark(engine: Engine, shared: SharedProjects, version: StoredVersion) -> str:
    """The redactor that a version's text went through: all projects have the same lists."""
    project = next(iter(shared.named(version.key.hub, version.key.project)), shared.by_id[""])
    return engine.redactor(project.project).mark


# ---------------------------------------------------------------- pulling


def _pull(
    engine: Engine, link: HubLink, shared: SharedProjects, sender: Sender, goes_on: Callable[[], bool]
) -> int:
    pulled = 0
    # Clones of one repository share a name: the first one stands for them.
    for name, project in _names(shared.of_hub(link.name)).items():
        pulled += _pull_project(engine, link, shared, project, name, sender, goes_on)
    if goes_on():
        _note(engine, link.name, lambda notes: replace(notes, pulled_at=engine.clock()))
    return pulled


def _pull_project(
    engine: Engine,
    link: HubLink,
    shared: SharedProjects,
    project: SharedProject,
    name: str,
    sender: Sender,
    goes_on: Callable[[], bool],
) -> int:
    pulled = 0
    while goes_on():
        after = engine.store.pull_cursor(link.name, name)
        items = link.hub.pull(name, after, PULLED_AT_ONCE)
        pulled += apply_page(engine, project, name, items, sender)
        if items:
            # What was removed may be found no more, not even until the next search.
            for clone in shared.named(link.name, name):
                refresh_shared_texts(engine, clone.project)
        if items or after:
            link.hub.confirm(name, link.machine.id, items[-1].sequence if items else after)
        if len(items) < PULLED_AT_ONCE:
            break
    return pulled


def _names(projects: Sequence[SharedProject]) -> dict[str, SharedProject]:
    names: dict[str, SharedProject] = {}
    for project in projects:
        for name in project.names:
            names.setdefault(name, project)
    return names


# ---------------------------------------------------------------- who we are


def _sender(engine: Engine, link: HubLink) -> Sender:
    """Say who we are, note who that is to the hub, and continue above what this machine ever sent."""
    if not link.machine.id:
        raise HubRefused(
            "this machine has no id, so nothing is shared", "start the daemon once: `holdfast up`"
        )
    known = link.hub.identify(link.machine)
    sender = Sender(link.machine, known.person, engine.clock() - known.now, known.is_read_only)
    _note(
        engine,
        link.name,
        lambda notes: replace(
            notes,
            person=known.person,
            team=known.team,
            is_read_only=known.is_read_only,
            clock_ahead=sender.clock_ahead,
        ),
    )
    last = link.hub.last_revision(link.machine.id)
    _send_again(engine, link, last)
    if last > engine.store.last_sent_revision(link.name, link.machine.id):
        # This store was restored, or is new: it has not sent what the hub has from this machine.
        with engine.store.writing_durably():
            engine.store.raise_revisions(last)
    return sender


def _send_again(engine: Engine, link: HubLink, last: int) -> None:
    """Announce again what a hub had acknowledged and does not know any more, as after its restore.

    All of it is pulled again too: the numbers of its changes may have begun anew.
    """
    store = engine.store
    lost = store.versions_acknowledged_above(link.name, link.machine.id, last)
    if not lost:
        return
    rows = {(each.key.kind, row_id(each.key), each.key.project) for each in lost}
    with store.writing_durably():
        projects = {each: next(iter(store.projects_named(each)), "") for _, _, each in rows}
        for kind, id, name in sorted(rows):
            row = projects[name] if kind is SharedKind.CONTINUITY else id
            store.announce(kind, row, projects[name], engine.clock())
        for name in store.pull_cursors(link.name):
            store.put_pull_cursor(link.name, name, 0)


class _Noting:
    """Notes that an attempt succeeded, or why it failed and since when."""

    def __init__(self, engine: Engine, hub: str) -> None:
        self._engine = engine
        self._hub = hub

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: object) -> None:
        at = self._engine.clock()
        if error is None:
            _note(self._engine, self._hub, lambda notes: report.succeeded(notes, at))
        elif isinstance(error, HubError):
            refused = error
            _note(self._engine, self._hub, lambda notes: report.failed(notes, refused, at))


def _note(engine: Engine, hub: str, change: Callable[[HubNotes], HubNotes]) -> None:
    with engine.store.writing():
        before = report.notes_of(engine.store, hub)
        after = change(before)
        if after != before:
            report.note(engine.store, hub, after)
