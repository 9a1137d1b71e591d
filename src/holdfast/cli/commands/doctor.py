"""Doctor: all checks, with a real hook event through the installed hook; and the repairs of `--fix`.

The exit status is 1 if a check fails. Only repairs that cannot lose anything are done; what needs a decision
is left to the user.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from holdfast import __version__, config, harnesses, models
from holdfast.cli import access
from holdfast.cli.commands import setup
from holdfast.cli.commands.daemon.daemon import start, stop
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, say, working
from holdfast.core.text.strings import one_line
from holdfast.daemon.local import client
from holdfast.engine.health import connections
from holdfast.engine.health import doctor as checks
from holdfast.engine.health.doctor import CheckResult, Mend, fine, wrong
from holdfast.engine.health.examine import check_activity, check_cursors, check_tools
from holdfast.engine.health.installation import command_for, files_of, in_project, programs, relay_command
from holdfast.engine.health.round_trip import check_round_trip
from holdfast.engine.liveness import is_alive, lock_holder, start_of
from holdfast.errors import DaemonAway, HoldfastError
from holdfast.harnesses.base import Harness, Tooled
from holdfast.stores.base import Store


@command("holdfast doctor", "holdfast doctor --fix", "holdfast doctor --json")
@click.option("--fix", is_flag=True, help="Mend what can be mended safely, then look again.")
@json_option("Print one JSON document: a list of {check, ok, detail, fix, mend}.")
def doctor(*, fix: bool, as_json: bool) -> None:
    """Check that everything works, with a real round trip.

    Without --fix nothing is changed; the daemon is started, as any hook would. With it, what setup wrote is
    written once more where it is gone or of another version, the home is closed to others, and a daemon that
    does not answer or is of another version is replaced; what needs your decision is left to you, and so is
    a file of ours that you changed. The exit status is 1 if a check fails in the end.
    """
    home = access.home()
    with working("examining"):
        findings = list(_findings(home))
    if fix and (mends := {finding.mend for finding in findings if finding.mend}):
        repair(home, mends)
        with working("examining again"):
            findings = list(_findings(home))
    if as_json:
        give_json([asdict(finding) for finding in findings])
    else:
        _print(findings)
    click.get_current_context().exit(0 if all(finding.ok for finding in findings) else 1)


def _findings(home: Path) -> Iterator[CheckResult]:
    project = access.project_at(None)
    yield checks.check_home(home)
    yield checks.check_settings(home, Path(project.root), project.project_id, os.environ)
    yield checks.check_tokens(models.counter)
    setup = connections.check_setup(home)
    yield setup
    if setup.ok:
        yield connections.check_files(home, "our own", programs(home), "run `holdfast setup` again")
    every = [harnesses.here(name, os.environ) for name in harnesses.names()]
    search_path = os.environ.get("PATH", "")
    for harness in every:
        if harness.present(Path.home(), search_path) or connections.installed(home, harness):
            yield from _connected(home, harness, Path(project.root), search_path)
    if home.is_dir():
        yield from _inside(home, every)


def _connected(home: Path, harness: Harness, root: Path, search_path: str) -> Iterator[CheckResult]:
    """The findings about a harness on this machine."""
    yield connections.check_version(harness, search_path)
    projects = connections.projects(home, harness)
    if projects and not connections.is_for_user(home, harness):
        if root not in projects:
            yield fine(
                f"hooks of {harness.name}", f"in other projects alone: {', '.join(map(str, projects))}"
            )
            return
        (harness,) = in_project([harness], root)
    command = command_for(harness, home)
    hooks = connections.check_hooks(home, harness, harness.hook_entries(command, Path.home()))
    yield hooks
    if hooks.ok:
        yield connections.check_hurdle(harness, Path.home(), command)
    if connections.installed(home, harness) and (files := files_of(harness, home, Path.home())):
        yield connections.check_files(home, harness.name, files, f"run `holdfast setup {harness.name}`")
    search = connections.check_search(harness, Path.home(), root)
    if search:
        yield search


def _inside(home: Path, every: Sequence[Harness]) -> Iterator[CheckResult]:
    """The checks that need a home."""
    try:
        with access.opened_store(home) as store:
            yield checks.check_store(store, home / "store.db")
            yield checks.check_redactor(store, home, os.environ)
            yield checks.check_records(store, home, os.environ)
            yield from _activity(home, store, every)
    except HoldfastError as error:
        # A daemon would set a damaged store aside, and that is for the user to decide.
        yield wrong("store", error.message, error.hint)
        return
    yield checks.check_set_aside(home)
    connected = [harness for harness in every if connections.installed(home, harness)]
    status = access.daemon_status(home)
    daemon = _daemon(home, status, start=bool(connected))
    yield daemon
    for harness in connected:
        yield connections.check_interpreters(home, harness)
        # Checks that need the daemon would only wait for it and repeat this finding. While unreadable
        # settings stop everything, no trial hook event is answered.
        if daemon.ok and config.load(home, None, None, os.environ).config.unreadable is None:
            yield from _tried(home, harness)
    answering = access.daemon_answering(home) if status or daemon.ok else 0
    yield checks.check_leftovers(home, answering)
    yield checks.check_spool(home)
    yield connections.check_skipped(_skipped(home), every)


def _tried(home: Path, harness: Harness) -> Iterator[CheckResult]:
    """Whether hooks and tools work."""
    stored = partial(access.opened_store, home)
    yield check_round_trip(harness, connections.installed(home, harness), stored, access.now)
    if isinstance(harness, Tooled):
        yield check_tools(home, harness, relay_command(harness, home))


def _activity(home: Path, store: Store, every: Sequence[Harness]) -> Iterator[CheckResult]:
    """The finding about what was captured and given back so far."""
    for harness in every:
        if connections.installed(home, harness):
            yield check_activity(store, harness, access.now())
    yield check_cursors(store, every, Path.home())


def _daemon(home: Path, status: Mapping[str, Any] | None, *, start: bool) -> CheckResult:
    """Whether the daemon runs in the installed version; `status` is its answer, None if it gave none."""
    if status is None and (holder := lock_holder(home)):
        # It was asked just now, so the user waits for a daemon that hangs only once.
        return _away(f"process {holder} does not answer")
    try:
        if start and status is None:
            client.start(home)
        answer = status or client.ask(home, "status", timeout=2.0)
    except DaemonAway as error:
        if start or lock_holder(home):
            return _away(error.message)
        return fine("daemon", "not running; a hook starts it when it is needed")
    if answer["version"] != __version__:
        detail = f"version {answer['version']} runs, {__version__} is installed"
        return wrong("daemon", detail, "run `holdfast restart`", Mend.RESTART)
    if troubles := access.troubles_of(answer):
        return wrong("daemon", f"its housekeeping fails: {troubles}", "`holdfast logs` says why")
    return fine("daemon", f"process {answer['pid']}, version {answer['version']}")


def _away(detail: str) -> CheckResult:
    return wrong("daemon", detail, "look at `holdfast logs`, then `holdfast restart`", Mend.RESTART)


def _skipped(home: Path) -> dict[str, int]:
    with access.opened_store(home) as store:
        return store.skipped()


def _print(findings: Sequence[CheckResult]) -> None:
    for finding in findings:
        # One line each, or a detail could look like the next finding.
        give(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.check}: {one_line(finding.detail)}")
        if finding.fix:
            give(
                f"      fix: {one_line(finding.fix)}{' (or `holdfast doctor --fix`)' if finding.mend else ''}"
            )


END_TIME = 5.0
"""Seconds in which a daemon that does not answer may still end by itself."""


def repair(home: Path, mends: Collection[Mend]) -> None:
    """Do each of these repairs, in an order in which none hinders another."""
    for mend in Mend:
        if mend in mends:
            say(f"doctor: {mend}")
            try:
                _repair_one(home, mend)
            except (HoldfastError, OSError) as error:
                say(f"doctor: could not {mend}: {error}")


def _repair_one(home: Path, mend: Mend) -> None:
    match mend:
        case Mend.CLOSE:
            checks.close_to_others(home)
        case Mend.SETUP:
            setup.renew(home)
        case Mend.RESTART:
            _end_silent(home)
            stop(home)
            start(home)
        case Mend.END:
            _end_silent(home)
        case Mend.COUNT:
            checks.count_anew(home)


def _end_silent(home: Path) -> None:
    """End the daemons that cannot be reached; what they acknowledged is stored already."""
    for pid in checks.leftovers(home, access.daemon_answering(home)):
        began = start_of(pid)
        for how in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(pid, how)
            until = time.monotonic() + END_TIME
            while is_alive(pid, began) and time.monotonic() < until:
                time.sleep(0.05)
