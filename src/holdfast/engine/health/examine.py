"""Examine: the doctor's checks that the daemon can run, quick or thorough.

The quick ones start nothing, load nothing heavy, and do not read the whole store. Only `holdfast doctor`
checks whether the installed commands are up to date, because that needs the command line.
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
    """The quick checks."""
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
    """The quick checks, plus token counts, the whole store, and a real hook event for each harness."""
    yield from at_a_glance(engine, home, environment)
    yield doctor.check_tokens(engine.counter)
    yield doctor.check_store(engine.store, home / "store.db")
    # While settings stop everything, a trial hook event gets no reply.
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
