"""Heritage: `setup` and `up` offer the sessions of another program, and import them if wanted.

They are wanted if the settings or an option say so. The other program's files are only read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from holdfast import config, harnesses
from holdfast.cli import access
from holdfast.cli.printing import say, working
from holdfast.core.events.world import Project
from holdfast.engine.agent_log.transfer import inherit_all, not_inherited, own_key
from holdfast.harnesses.base import FoundLog
from holdfast.stores.codec import to_iso

SETTING = "session.inherit.enabled"


def inherit_or_offer(*, take: bool) -> None:
    """Take over new sessions if that is wanted; else name them, unless the settings say no."""
    project = access.project_at(None)
    loaded = config.load(access.home(), Path(project.root), project.project_id, os.environ)
    if take or loaded.config.session.inherit.enabled:
        _take(project, loaded.config.session.default_key)
    elif SETTING not in loaded.sources:
        with access.stored_engine() as engine:
            logs = not_inherited(engine, project, os.environ)
        if logs:
            _offer(logs)


def _take(project: Project, default_key: str) -> None:
    with working("taking sessions over"), access.writable_engine() as engine:
        inherited, skipped = inherit_all(engine, project, os.environ)
        goes_on = bool(engine.store.log(own_key(default_key), "", 1))
    title = harnesses.log_reader().title
    if inherited:
        records = sum(log.records for log in inherited)
        count = _sessions(len(inherited))
        say(f"\n{title}: {count} taken over, {records:,} records; its own stay as they are")
        if goes_on:
            say(f"`{default_key}`: your agent's first `load()` goes on with it as `{own_key(default_key)}`")
    if skipped:
        say(
            f"{title}: {_sessions(len(skipped))} left out, empty, unreadable or of a project that is excluded"
        )


def _offer(logs: Sequence[FoundLog]) -> None:
    reader, newest = harnesses.log_reader(), logs[0]
    where = f"the newest of {to_iso(newest.updated_at)[:10]} in `{newest.path}`"
    say(f"\n{reader.title}: {_sessions(len(logs))} that your own agent could go on with, {where}")
    say("`holdfast up --inherit` takes them over, and leaves them where they are as they are;")
    say(f"so does `{SETTING} = true` in your settings, and with `false` this is not said again")
    say(f"`holdfast import {reader.name}` makes what was said in them findable instead")


def _sessions(count: int) -> str:
    return f"{count:,} session{'s' if count > 1 else ''}"
