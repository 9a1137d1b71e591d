"""Examine: checks of an installation in use: recent activity, the tools, and all that the daemon can run."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import msgspec

from holdfast import config, harnesses
from holdfast.core.session.session import Session
from holdfast.core.text.strings import ago, many
from holdfast.engine.engine import Engine
from holdfast.engine.health import connections, doctor, sharing
from holdfast.engine.health.doctor import CheckResult, Mend, fine, wrong
from holdfast.engine.health.installation import command_for, files_of, programs, scoped
from holdfast.engine.health.round_trip import check_round_trip
from holdfast.engine.recording.transcripts import ReadableTranscript, transcript_access
from holdfast.engine.tools import table
from holdfast.errors import ManifestUnreadable
from holdfast.files.install import hook_path, read_manifest
from holdfast.harnesses.base import Harness
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

"""How far back is looked."""
LOOKED_INTO: Final = 50
"""How many live sessions are checked for unread transcripts."""
READ_BYTES: Final = 1 << 16
ANSWER_TIME: Final = 20.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where an examination takes place."""

    home: Path
    user_home: Path
    environment: Mapping[str, str]
    root: Path | None = None
    """The root of the current project; None to examine all that setup was run in."""
    project_id: str | None = None


def at_a_glance(engine: Engine, around: Surroundings) -> Iterator[CheckResult]:
    """The quick checks; `doctor` and the dashboard make the same ones."""
    yield from installation(around)
    yield from in_use(engine, around)


def installation(around: Surroundings) -> Iterator[CheckResult]:
    """Check home, settings, what setup installed, and what waits for the user. Needs no store."""
    home = around.home
    yield doctor.check_home(home)
    yield doctor.check_settings(home, around.root, around.project_id, around.environment)
    every = harnesses_here(around.environment)
    plugged = [harness for harness in every if connections.has_plugin(harness, around.user_home)]
    setup = connections.check_setup(home, plugged)
    yield setup
    # The first session of a plugin makes them.
    if setup.ok and (not plugged or hook_path(home).exists()):
        yield connections.check_files(home, "Holdfast", programs(home), "run `holdfast doctor --fix`")
    for harness in every:
        yield from _connection(harness, around)
    if home.is_dir():
        yield doctor.check_set_aside(home)
        yield doctor.check_spool(home)


def in_use(engine: Engine, around: Surroundings) -> Iterator[CheckResult]:
    """Report what was captured and given back so far, and what could not be read."""
    home, environment, every = around.home, around.environment, harnesses_here(around.environment)
    yield from stopped_projects(engine, around)
    yield doctor.check_redactor(engine.store, home, environment)
    yield doctor.check_records(engine.store, home, environment)
    yield from sharing.check_sharing(engine)
    for harness in every:
        if connections.installed(home, harness):
            yield check_activity(engine.store, harness, engine.clock())
    yield check_cursors(engine.store, every, engine.user_home)
    yield connections.check_skipped(engine.store.skipped(), every)


def thoroughly(engine: Engine, around: Surroundings) -> Iterator[CheckResult]:
    """The quick checks, plus token counts, the whole store, and a real hook event for each harness."""
    yield from at_a_glance(engine, around)
    yield doctor.check_tokens(engine.counter)
    yield doctor.check_store(engine.store, around.home / "store.db")
    # While settings stop everything, a trial hook event gets no reply.
    stopped = config.load(around.home, None, None, around.environment).config.unreadable is not None
    for harness in harnesses_here(around.environment):
        yield from check_program(harness, around)
        command = connections.installed(around.home, harness)
        if command:
            yield connections.check_interpreters(around.home, harness)
            if not stopped:
                yield check_round_trip(harness, command, lambda: nullcontext(engine.store), engine.clock)


def check_program(harness: Harness, around: Surroundings) -> Iterator[CheckResult]:
    """The version of an installed harness, which it is asked for."""
    program = connections.program_of(harness, around.environment.get("PATH", ""))
    if program:
        yield connections.check_version(harness, program)


def harnesses_here(environment: Mapping[str, str]) -> list[Harness]:
    """Every harness, with its files where this environment says they are."""
    return [harnesses.here(name, environment) for name in harnesses.names()]


def _connection(harness: Harness, around: Surroundings) -> Iterator[CheckResult]:
    """The quick checks of one harness."""
    home, search_path = around.home, around.environment.get("PATH", "")
    is_connected = connections.is_connected(home, harness, around.user_home)
    if not connections.program_of(harness, search_path):
        yield connections.not_installed(harness)
        if not is_connected:
            return
    if not harness.present(around.user_home, search_path) and not is_connected:
        return
    projects = connections.projects(home, harness)
    if not projects or connections.is_for_user(home, harness):
        yield from _hooks(harness, around)
    elif around.root is None:
        for root in projects:
            yield from _hooks(scoped(harness, root), around)
    elif around.root in projects:
        yield from _hooks(scoped(harness, around.root), around)
    else:
        listed = ", ".join(map(str, projects))
        yield fine(f"hooks of {harness.name}", f"in other projects alone: {listed}")


def _hooks(harness: Harness, around: Surroundings) -> Iterator[CheckResult]:
    """Whether what setup installed for a harness is there, and may run."""
    home, user_home = around.home, around.user_home
    command = command_for(harness, home)
    hooks = connections.check_hooks(home, harness, command, user_home)
    yield hooks
    if hooks.ok:
        yield connections.check_hurdle(harness, user_home, command)
    if connections.installed(home, harness) and (files := files_of(harness, home, user_home)):
        yield connections.check_files(home, harness.name, files, f"run `holdfast setup {harness.name}`")
    search = connections.check_search(harness, user_home, around.root) if around.root else None
    if search:
        yield search


def stopped_projects(engine: Engine, around: Surroundings) -> Iterator[CheckResult]:
    """Projects with a live session and settings of their own that cannot be read."""
    for project in {session.project for session in engine.store.live_sessions()}:
        unreadable = engine.config(project).unreadable
        is_checked = project.project_id == around.project_id
        if unreadable is not None and not unreadable.everywhere and not is_checked:
            root, project_id = Path(project.root), project.project_id
            yield doctor.check_settings(around.home, root, project_id, around.environment)


def check_activity(store: Store, harness: Harness, now: int) -> CheckResult:
    """When a session of this harness was last active, and when one last got a brief."""
    check = f"activity of {harness.name}"
    captured = next((entry for entry in store.captured() if entry.harness == harness.name), None)
    if captured is None:
        return fine(check, "no session was heard of yet")
    at = captured.last_brief_at
    brief_age = f"last brief {ago(now - at)}" if at else "no brief yet"
    last_seen = f"last capture {ago(now - captured.last_event_at)}"
    return fine(check, f"{last_seen}, {brief_age}; {many(captured.sessions, 'session')}")


def check_cursors(store: Store, every: Iterable[Harness], user_home: Path) -> CheckResult:
    """Whether the transcripts of live sessions were read to their end."""
    by_name = {harness.name: harness for harness in every}
    live = [session for session in store.live_sessions() if session.harness in by_name][:LOOKED_INTO]
    behind = [session for session in live if _waits(store, session, by_name[session.harness], user_home)]
    if not behind:
        return fine("cursors", f"the transcripts of all {len(live)} live sessions were read to their end")
    keys = ", ".join(session.key for session in behind[:3])
    detail = f"{len(behind)} of {len(live)} live sessions have more to read: {keys}"
    return fine("cursors", f"{detail}; the next hook event, or `holdfast brief`, reads it")


def _waits(store: Store, session: Session, harness: Harness, user_home: Path) -> bool:
    access = transcript_access(session.transcript, harness.transcript_roots(user_home, {}))
    if not isinstance(access, ReadableTranscript):
        return False
    batch = harness.read_transcript(access.path, session.key, store.cursor(str(access.path)), READ_BYTES)
    return bool(batch.events)


_HELLO: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "holdfast doctor", "version": "1"},
}
_LINES: Final = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def check_tools(home: Path, harness: Harness, relay: Sequence[str]) -> CheckResult:
    """Check that the tools' server answers when it is started as this harness starts it."""
    check, again = f"tools of {harness.name}", f"run `holdfast setup {harness.name}`"
    if relay[3] not in _placed(home):
        return fine(check, "its agents have none; `holdfast setup` without `--no-mcp` gives them some")
    began = time.monotonic()
    try:
        response = _response(relay)
    except (OSError, subprocess.TimeoutExpired) as error:
        return wrong(check, f"their server could not be run: {error}", again, Mend.SETUP)
    took = round((time.monotonic() - began) * 1000)
    missing = [name for name in table.names() if f'"{name}"' not in response]
    if missing:
        return wrong(check, f"their server does not know {', '.join(missing)}", "look at `holdfast logs`")
    cost = f"about {table.token_cost():,} tokens of every context window"
    return fine(check, f"{len(table.names())} tools answered in {took} ms; they take {cost}")


def _placed(home: Path) -> set[str]:
    """The identities of the entries that setup put into other programs' files."""
    try:
        return {one.identity for record in read_manifest(home).edited for one in record.placed}
    except ManifestUnreadable:
        return set()


def _response(relay: Sequence[str]) -> str:
    requests = b"".join(msgspec.json.encode(line) + b"\n" for line in _LINES)
    done = subprocess.run(
        relay, input=requests, capture_output=True, timeout=ANSWER_TIME, check=False, cwd="/"
    )
    return done.stdout.decode("utf-8", "replace")
