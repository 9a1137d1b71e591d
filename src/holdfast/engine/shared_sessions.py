"""Sessions between machines: what this one sends of a session, and what it reads of those of others.

A session of another machine is read as one of this project, with its files below the local root. It is in no
table of sessions, its transcript is not here, and only its author's own machines continue it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.event import Action, Skipped
from holdfast.core.events.world import Project
from holdfast.core.evidence.lineage import disinherited
from holdfast.core.session.checkpoint import own_words
from holdfast.core.session.session import Session
from holdfast.core.sharing.bodies import AroundSession, decode_session, encode_session, place_session
from holdfast.core.sharing.identity import identity_of
from holdfast.core.sharing.items import SharedKind
from holdfast.core.sharing.local_paths import LocalPaths, local_paths
from holdfast.core.sharing.provenance import Provenance
from holdfast.engine.engine import Engine
from holdfast.engine.ids import NAMED_MOST, ambiguous
from holdfast.engine.repository import git, projects
from holdfast.engine.repository.commits import line_of_commits
from holdfast.engine.repository.prints import prints_of
from holdfast.files import machine_id
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import START, RowKind
from holdfast.stores.shared import SharedWithin, StoredVersion

CHECKPOINTS_LOOKED_AT: Final = 50
HUBS_FACT: Final = "hubs"
"""The fact that holds what is noted of each hub."""
CLOCKS_DIFFER_MS: Final = DAY_MS
"""How wrong a clock may be before a session is taken for an older one."""


@dataclass(frozen=True, slots=True)
class PulledSession:
    """A session of another machine, and where it is from."""

    session: Session
    around: AroundSession
    provenance: Provenance


# ---------------------------------------------------------------- what is sent


def session_body(engine: Engine, session: Session, clock_ahead: int = 0) -> str:
    """What another machine of the user needs of a session, as JSON; `clock_ahead` is this machine's."""
    project = session.project
    root = projects.root_now(engine.store, project)
    checkpoints = engine.store.checkpoints_of_session(session.key, CHECKPOINTS_LOOKED_AT)
    words = next((words for each in checkpoints if (words := own_words(each))), None)
    lineage = engine.store.lineage(session.key)
    touched = (*session.trail.subagent_files, *session.trail.files)
    changed = [project.relative(touch.path) for touch in touched if touch.action in _CHANGES]
    around = AroundSession(
        words=(words,) if words else (),
        continues=lineage.parent if lineage else "",
        commits=_commits(root, session),
        # Where the project itself is gone, nothing says that its files were deleted.
        prints=prints_of(Path(root), changed) if Path(root).is_dir() else (),
        clock_ahead=clock_ahead,
    )
    return encode_session(session, paths_of(engine, project), around)


def paths_of(engine: Engine, project: Project) -> LocalPaths:
    """The paths that nothing which leaves this machine may name."""
    home = str(engine.user_home)
    return local_paths(project, (home, os.path.realpath(home)))


_CHANGES: Final = frozenset({Action.EDIT, Action.WRITE, Action.DELETE})


def _commits(root: str, session: Session) -> tuple[str, ...]:
    place = git.find(root)
    if session.git is None or place is None or place.repository is None:
        return ()
    return line_of_commits(place.repository, session.git.head)


# ---------------------------------------------------------------- what is read


def pulled_sessions(engine: Engine, project: Project, since: int, limit: int) -> list[PulledSession]:
    """Sessions of other machines in a project with an event since that time, the latest first."""
    items = shared_items_of(engine, project, SharedKind.SESSION, limit)
    recent = (each for each in items if each.at >= since - CLOCKS_DIFFER_MS)
    pulled = [one for one in _read(engine, project, recent) if one.session.last_event_at >= since]
    return sorted(pulled, key=lambda one: -one.session.last_event_at)


def pulled_everywhere(engine: Engine, limit: int) -> list[PulledSession]:
    """Sessions of other machines in all projects of this one, the latest first."""
    within = SharedWithin(None, (SharedKind.SESSION,), except_machine=own_machine_id(engine))
    projects_by_name = _projects_by_name(engine)
    pulled: list[PulledSession] = []
    for item in engine.store.shared_items(within, START, limit):
        if project := projects_by_name.get(item.key.project):
            pulled += _read(engine, project, iter([item]))
    return sorted(pulled, key=lambda one: -one.session.last_event_at)


def pulled_named(engine: Engine, name: str) -> PulledSession | None:
    """The session of another machine with this key, or the only one whose key begins so; None if none does.

    Raises HoldfastError if several do.
    """
    name = name.strip().rstrip("…")
    ids = engine.store.shared_ids_beginning(SharedKind.SESSION, name, NAMED_MOST + 1) if name else []
    if len(ids) > 1 and name not in ids:
        raise ambiguous(RowKind.SESSION.value, name, [f"`{id}`" for id in ids])
    return pulled_by_key(engine, name if name in ids else next(iter(ids), ""))


def pulled_by_key(engine: Engine, key: str) -> PulledSession | None:
    """The session of another machine with this key, in whichever project of this one."""
    item = engine.store.shared_item(SharedKind.SESSION, key) if key else None
    project = _projects_by_name(engine).get(item.key.project) if item else None
    return next(_read(engine, project, iter([item])), None) if item and project else None


def pulled_unless_here(engine: Engine, name: str) -> PulledSession | None:
    """The session of another machine that a person names, unless one of this machine is named."""
    is_here = not name or engine.store.ids_beginning(RowKind.SESSION, name.strip().rstrip("…"), 1)
    return None if is_here else pulled_named(engine, name)


def _projects_by_name(engine: Engine) -> dict[str, Project]:
    """The project of this machine that has or had each shared name."""
    by_name: dict[str, Project] = {}
    for project in projects.known_projects(engine.store):
        for name in shared_names_of(engine, project):
            by_name.setdefault(name, project)
    return by_name


def pulled_session(engine: Engine, project: Project, key: str) -> PulledSession | None:
    """The session of another machine with that key, if it is one of this project."""
    item = engine.store.shared_item(SharedKind.SESSION, key) if key else None
    if item is None or item.key.project not in shared_names_of(engine, project):
        return None
    return next(_read(engine, project, iter([item])), None)


def session_anywhere(engine: Engine, project: Project, key: str) -> Session | None:
    """The session with that key, of this machine or of another one of the user's."""
    session = engine.store.session(key)
    if session is not None:
        return session
    pulled = pulled_session(engine, project, key)
    return pulled.session if pulled and pulled.provenance.is_mine else None


def shared_items_of(engine: Engine, project: Project, kind: SharedKind, limit: int) -> list[StoredVersion]:
    """What other machines and people shared in a project, of one kind, the newest first."""
    own = own_machine_id(engine)
    within = SharedWithin(shared_names_of(engine, project), (kind,), except_machine=own)
    return engine.store.shared_items(within, START, limit)


def shared_names_of(engine: Engine, project: Project) -> tuple[str, ...]:
    """The names under which others know the project, or knew it, as they are stored."""
    return identity_of(engine.store.shared_names(project.project_id), "").names


def provenance_of(item: StoredVersion) -> Provenance:
    """Where an item is from."""
    return Provenance(item.person, item.machine, item.is_mine, item.at)


def own_machine_id(engine: Engine) -> str:
    """The id of this machine; empty if it has none yet."""
    return machine_id.read(engine.home) if engine.home else ""


def _read(engine: Engine, project: Project, items: Iterator[StoredVersion]) -> Iterator[PulledSession]:
    """The sessions in these items; what cannot be read is left out, and so is what is stored here itself."""
    own = own_machine_id(engine)
    for item in items:
        if (own and item.machine.id == own) or engine.store.session(item.key.id) is not None:
            continue
        body = decode_session(item.body)
        if not isinstance(body, Skipped):
            placed = place_session(body, project, _clock_ahead(engine, item.key.hub))
            # What was forgotten here may still be in what a machine sent before it heard of that.
            forgotten = {key for key in body.trail.inherits if engine.store.forgotten_at(key)}
            session = replace(placed, trail=disinherited(placed.trail, forgotten)) if forgotten else placed
            yield PulledSession(session, body.around, provenance_of(item))


class _HubClock(msgspec.Struct):
    """Of what is noted of a hub, how far this machine's clock is ahead of it."""

    clock_ahead: int = 0


def _clock_ahead(engine: Engine, hub: str) -> int:
    try:
        noted = msgspec.json.decode(engine.store.fact(HUBS_FACT) or "{}", type=dict[str, _HubClock])
    except msgspec.DecodeError:
        return 0
    return noted[hub].clock_ahead if hub in noted else 0
