"""Examine: what the doctor finds from where the daemon stands, at a glance or thoroughly.

At a glance nothing is started, nothing heavy is loaded, and no file of the store is read through. What needs
the command line itself, whether the installed commands are those of today, only `holdfast doctor` asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

from holdfast import config, harnesses
from holdfast.engine.engine import Engine
from holdfast.engine.health import connections, doctor
from holdfast.engine.health.activity import check_activity, check_cursors
from holdfast.engine.health.doctor import Finding
from holdfast.engine.health.round_trip import check_round_trip
from holdfast.harnesses.base import Harness


def at_a_glance(engine: Engine, home: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """What can be said at once."""
    every = _every()
    yield doctor.check_home(home)
    yield doctor.check_settings(home, None, None, environment)
    yield from _stopped_projects(engine, home, environment)
    yield connections.check_setup(home)
    yield doctor.check_redactor(engine.store, home, environment)
    yield doctor.check_records(engine.store, home, environment)
    for harness in every:
        if connections.installed(home, harness):
            yield check_activity(engine.store, harness, engine.clock())
    yield check_cursors(engine.store, every, engine.user_home)
    yield doctor.check_set_aside(home)
    yield doctor.check_spool(home)
    yield connections.check_skipped(engine.store.skipped(), every)


def thoroughly(engine: Engine, home: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """The same, with tokens counted, the store read through, and a real letter sent for each harness."""
    yield from at_a_glance(engine, home, environment)
    yield doctor.check_tokens(engine.counter)
    yield doctor.check_store(engine.store, home / "store.db")
    # While settings stop everything, no trial letter comes back.
    stopped = config.load(home, None, None, environment).config.unreadable is not None
    for harness in _every():
        if connections.installed(home, harness):
            yield connections.check_version(harness, environment.get("PATH", ""))
            yield connections.check_interpreters(home, harness)
            command = connections.installed(home, harness)
            if not stopped:
                yield check_round_trip(harness, command, lambda: nullcontext(engine.store), engine.clock)


def _stopped_projects(engine: Engine, home: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Projects with a live session and settings of their own that cannot be read."""
    for project in {session.project for session in engine.store.live_sessions()}:
        unreadable = engine.config(project).unreadable
        if unreadable is not None and not unreadable.everywhere:
            yield doctor.check_settings(home, Path(project.root), project.project_id, environment)


def _every() -> list[Harness]:
    return [harnesses.get(name) for name in harnesses.names()]
