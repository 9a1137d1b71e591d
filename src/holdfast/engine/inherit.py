"""Inherit: a session of ours begins with the log that another program kept under the same name.

The other log is only read, and only once: from then on both go their own ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from holdfast import harnesses
from holdfast.core.records import OWN, Log
from holdfast.core.world import Project
from holdfast.engine.append import Owner, append, take_over
from holdfast.engine.desk import Desk
from holdfast.errors import StoreError
from holdfast.harnesses.base import FoundLog
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a session began with: which log, and how many records of it."""

    source: FoundLog
    records: int


def own_key(key: str) -> str:
    """The key under which we go on with a session of that key: `agent:main:main` becomes ours."""
    return f"{OWN}:{key.partition(':')[2] or key}"


def inherit(desk: Desk, owner: Owner, environment: Mapping[str, str]) -> Inherited | None:
    """Begin a session that has no log yet with the one it is named after, if the settings want that.

    None if they do not, if there is no such log, or if the session has one of its own.
    """
    settings = desk.config(owner.project).session
    if not settings.inherit.enabled or owner.key != own_key(settings.default_key):
        return None
    if desk.store.log(owner.key, "", 1):
        return None
    found = next(
        (log for log in logs(desk, owner.project, environment) if log.key == settings.default_key), None
    )
    if found is None:
        return None
    log = harnesses.log_reader().read_log(found)
    if not log.records:
        return None
    take_over(desk, owner, log)
    return Inherited(found, len(log.records))


def to_inherit(desk: Desk, project: Project, environment: Mapping[str, str]) -> tuple[FoundLog, ...]:
    """The logs that could be inherited here, the newest first; none if nobody wants it, or it was done."""
    settings = desk.config(project).session
    if not settings.inherit.enabled or desk.store.log(own_key(settings.default_key), "", 1):
        return ()
    return tuple(sorted(logs(desk, project, environment), key=lambda log: -log.updated_at))


def bring_in(desk: Desk, owner: Owner, log: Log) -> None:
    """Keep another program's log as ours; once more, and what is new of it is added.

    StoreError if the session has gone on here since: then there are two, and one of them would be lost.
    """
    kept = {record.id for record in desk.store.log(owner.key, "", _ALL)}
    if not kept:
        take_over(desk, owner, log)
    elif kept <= {record.id for record in log.records}:
        append(desk, owner, log.records)
    else:
        raise StoreError(f"the session `{owner.key}` has gone on here", "forget it first, or go on with it")


_ALL: Final = 1 << 40


def logs(desk: Desk, project: Project, environment: Mapping[str, str]) -> Iterator[FoundLog]:
    """The logs that could be inherited, as the settings say where they are."""
    settings = desk.config(project).session.inherit
    reader = harnesses.log_reader()
    named = (Path(settings.source.replace("~", str(desk.user_home), 1)),) if settings.source else ()
    for source in named or reader.log_sources(desk.user_home, environment):
        yield from reader.find_logs(source, settings.format)
