"""Transfer: begins an agent log with another program's log of the same name, and exports a whole log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from holdfast import harnesses
from holdfast.config import excluded, require_protection
from holdfast.core.agent_log.record_bodies import Header, body
from holdfast.core.agent_log.records import OWN, SESSION, Log, header, portable
from holdfast.core.events.world import Project
from holdfast.engine.agent_log.append import Owner, append, take_over
from holdfast.engine.engine import Engine
from holdfast.engine.repository import projects
from holdfast.errors import HoldfastError, StoreError
from holdfast.harnesses.base import FoundLog
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a session began with: which log, and how many records of it."""

    source: FoundLog
    records: int


def own_key(key: str) -> str:
    """The key under which Holdfast continues another program's session, such as `agent:main:main`."""
    return f"{OWN}:{key.partition(':')[2] or key}"


def inherit(engine: Engine, owner: Owner, environment: Mapping[str, str]) -> Inherited | None:
    """Begin a session that has no log with the one it is named after, if the settings ask for it.

    None if they do not, if there is no such log, or if the session has its own log or was forgotten.
    """
    settings = engine.config(owner.project).session
    if not settings.inherit.enabled or owner.key != own_key(settings.default_key):
        return None
    if engine.store.log(owner.key, "", 1) or engine.store.forgotten_at(owner.key):
        return None
    log_file = next(
        (log for log in logs(engine, owner.project, environment) if log.key == settings.default_key), None
    )
    if log_file is None:
        return None
    log = harnesses.log_reader().read_log(log_file)
    if not log.records:
        return None
    take_over(engine, owner, log)
    return Inherited(log_file, len(log.records))


def not_inherited(engine: Engine, project: Project, environment: Mapping[str, str]) -> tuple[FoundLog, ...]:
    """The logs that could be inherited here and were not, the newest first; only the newest of each name."""
    newest: dict[str, FoundLog] = {}
    for log in sorted(logs(engine, project, environment), key=lambda log: -log.updated_at):
        key = own_key(log.key)
        if key not in newest and not engine.store.log(key, "", 1) and not engine.store.forgotten_at(key):
            newest[key] = log
    return tuple(newest.values())


def inherit_all(
    engine: Engine, project: Project, environment: Mapping[str, str]
) -> tuple[tuple[Inherited, ...], tuple[FoundLog, ...]]:
    """Inherit each log that was not inherited yet; returns those inherited, and those left out.

    Unreadable logs and those of excluded projects are left out. A log that names its directory belongs to the
    project there.
    """
    inherited: list[Inherited] = []
    left_out: list[FoundLog] = []
    for log_file in not_inherited(engine, project, environment):
        try:
            log = harnesses.log_reader().read_log(log_file)
        except (HoldfastError, OSError):
            log = Log(())
        owner = Owner(own_key(log_file.key), _project_of(engine, log, project))
        config = engine.config(owner.project)
        is_captured = config.continuity.enabled and not excluded(config, owner.project.normalized)
        if log.records and is_captured:
            take_over(engine, owner, log)
            inherited.append(Inherited(log_file, len(log.records)))
        else:
            left_out.append(log_file)
    return tuple(inherited), tuple(left_out)


def _project_of(engine: Engine, log: Log, otherwise: Project) -> Project:
    heads = (body(record) for record in log.records if record.type == SESSION)
    cwd = next((head.cwd for head in heads if isinstance(head, Header) and head.cwd), "")
    return projects.resolve(engine.store, cwd).project if cwd.startswith("/") else otherwise


def bring_in(engine: Engine, owner: Owner, log: Log) -> None:
    """Store another program's log as an agent log; repeated calls add what is new.

    StoreError if the session has gone on here since: one of the two logs would be lost.
    """
    stored_ids = {record.id for record in engine.store.log(owner.key, "", _ALL)}
    if not stored_ids:
        take_over(engine, owner, log)
    elif stored_ids <= {record.id for record in log.records}:
        append(engine, owner, log.records)
    else:
        raise StoreError(f"the session `{owner.key}` has gone on here", "forget it first, or go on with it")


_ALL: Final = 1 << 40


def logs(engine: Engine, project: Project, environment: Mapping[str, str]) -> Iterator[FoundLog]:
    """The logs that could be inherited, in the places that the settings name."""
    settings = engine.config(project).session.inherit
    reader = harnesses.log_reader()
    sources = (Path(settings.source.replace("~", str(engine.user_home), 1)),) if settings.source else ()
    for source in sources or reader.log_sources(engine.user_home, environment):
        yield from reader.find_logs(source, settings.format)


_WHOLE: Final = 1 << 40
_NAMED: Final = 5


def export(engine: Engine, key: str) -> Iterator[str]:
    """The lines of a session's log, its header first. HoldfastError if no log with that key is stored."""
    records = engine.store.log(key, "", _WHOLE)
    if not records:
        raise HoldfastError(f"no log of a session `{key}` is kept here", _hint(engine.store))
    session = engine.store.session(key)
    if session is not None:
        require_protection(engine.config(session.project))
    if records[0].type != SESSION:
        at = records[0].at or engine.clock()
        yield header(engine.new_id(), at, session.project.normalized if session else "").line
    yield from map(portable, records)


def _hint(store: Store) -> str:
    """A hint that lists the stored logs."""
    keys = [session.key for session in store.logged_sessions(_NAMED)]
    if not keys:
        return "only sessions of your own agents, by `holdfast.embed`, have one"
    return f"these have one: {', '.join(keys)}"
