"""Doctor: all checks, with a real hook event through the installed hook; and the repairs of `--fix`.

The exit status is 1 if a check fails. Only repairs that cannot lose anything are done; what needs a decision
is left to the user.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from holdfast import __version__, config, models, system
from holdfast.cli import access
from holdfast.cli.commands import setup
from holdfast.cli.commands.daemon.daemon import start, stop
from holdfast.cli.daemon_requests import daemon_problem
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give_folded, give_json, give_styled, say, with_home, working
from holdfast.core.text.strings import one_line
from holdfast.daemon.local import client
from holdfast.engine.health import connections, examine
from holdfast.engine.health import doctor as checks
from holdfast.engine.health.doctor import CheckResult, HealthVerdict, Mend, fine, verdict_of, wrong
from holdfast.engine.health.examine import Surroundings, check_tools
from holdfast.engine.health.installation import relay_command
from holdfast.engine.health.round_trip import check_round_trip
from holdfast.engine.liveness import is_alive, lock_holder, start_of
from holdfast.errors import DaemonAway, HoldfastError
from holdfast.harnesses.base import Harness, Tooled


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
    verdict = verdict_of(findings)
    if as_json:
        give_json([finding.row for finding in verdict.findings])
    else:
        give_verdict(verdict)
    click.get_current_context().exit(0 if verdict.ok else 1)


def _findings(home: Path) -> Iterator[CheckResult]:
    project = access.project_at(None)
    around = Surroundings(home, Path.home(), os.environ, Path(project.root), project.project_id)
    yield checks.check_tokens(models.counter)
    every = examine.harnesses_here(os.environ)
    for harness in every:
        yield from examine.check_program(harness, around)
    yield from examine.installation(around)
    if not home.is_dir():
        return
    try:
        with access.stored_engine() as engine:
            yield checks.check_store(engine.store, home / "store.db")
            yield from examine.in_use(engine, around)
    except HoldfastError as error:
        # A daemon would set a damaged store aside, and that is for the user to decide.
        yield wrong("store", error.message, error.hint)
        return
    yield from _with_daemon(home, [harness for harness in every if connections.installed(home, harness)])


def _with_daemon(home: Path, connected: Sequence[Harness]) -> Iterator[CheckResult]:
    """The daemon, and what only works with it: hooks and tools."""
    # A daemon that starts notes its own interpreter, so what hooks would find is looked at before.
    yield from [connections.check_interpreters(home, harness) for harness in connected]
    status = access.daemon_status(home)
    daemon = _daemon(home, status, start=bool(connected))
    yield daemon
    for harness in connected:
        # Checks that need the daemon would only wait for it and repeat this finding. While unreadable
        # settings stop everything, no trial hook event is answered.
        if daemon.ok and config.load(home, None, None, os.environ).config.unreadable is None:
            yield from _tried(home, harness)
    answering = access.daemon_answering(home) if status or daemon.ok else 0
    yield checks.check_leftovers(home, answering)


def _tried(home: Path, harness: Harness) -> Iterator[CheckResult]:
    """Whether hooks and tools work."""
    stored = partial(access.opened_store, home)
    yield check_round_trip(harness, connections.installed(home, harness), stored, access.now)
    if isinstance(harness, Tooled):
        yield check_tools(home, harness, relay_command(harness, home))


def _daemon(home: Path, status: Mapping[str, Any] | None, *, start: bool) -> CheckResult:
    """Whether the daemon runs in the installed version; `status` is its answer, None if it gave none."""
    detail, fix = daemon_problem(home, status)
    if detail:
        # One whose housekeeping fails is left running; the log says what is to be done.
        mends = status is None or status["version"] != __version__
        return wrong("daemon", detail, fix, Mend.RESTART if mends else None)
    try:
        if start and status is None:
            client.start(home)
        answer = status or client.ask(home, "status", timeout=2.0)
    except DaemonAway as error:
        if start or lock_holder(home):
            fix = "look at `holdfast logs`, then `holdfast restart`"
            return wrong("daemon", error.message, fix, Mend.RESTART)
        return fine("daemon", "not running; a hook starts it when it is needed")
    return fine("daemon", f"process {answer['pid']}, version {answer['version']}")


_MARKS: Final = {"FAIL": "red", "ok  ": "green", "–   ": "dim"}


def give_verdict(verdict: HealthVerdict) -> None:
    """Print the findings, problems first, and what they mean together in one line."""
    for finding in verdict.findings:
        mark = "–   " if finding.absent else "ok  " if finding.ok else "FAIL"
        # One line each, or a detail could look like the next finding.
        give_folded(mark, _MARKS[mark], f"{finding.check}: {with_home(one_line(finding.detail))}")
        if finding.fix:
            more = " (or `holdfast doctor --fix`)" if finding.mend else ""
            give_folded("    ", "", f"fix: {with_home(one_line(finding.fix))}{more}")
    give_styled(verdict.summary, "green" if verdict.ok else "red")


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
        for how in system.ways_to_end():
            with suppress(ProcessLookupError):
                os.kill(pid, how)
            until = time.monotonic() + END_TIME
            while is_alive(pid, began) and time.monotonic() < until:
                time.sleep(0.05)
