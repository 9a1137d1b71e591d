"""Doctor: every check in turn, with a real letter through the installed hook; exit status 1 if anything is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from holdfast import __version__, harnesses
from holdfast.cli import access
from holdfast.cli.hook import command_for
from holdfast.cli.printing import give, give_json, working
from holdfast.daemon import client
from holdfast.engine import doctor as checks
from holdfast.engine.doctor import Finding
from holdfast.errors import DaemonAway, HoldfastError
from holdfast.harnesses.base import Harness


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: a list of {check, ok, detail, fix}.")
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Check that everything works, with a real round trip.

    Nothing is changed but that the daemon is started, as any hook would. The exit status is 1 if a check fails.

    \b
    Examples:
      holdfast doctor
      holdfast doctor --json
    """
    with working("examining"):
        findings = list(_findings(access.home()))
    if as_json:
        give_json([asdict(finding) for finding in findings])
    else:
        _print(findings)
    context.exit(0 if all(finding.ok for finding in findings) else 1)


def _findings(home: Path) -> Iterator[Finding]:
    project = access.project_at(None)
    yield checks.check_home(home)
    yield checks.check_settings(home, Path(project.root), project.project_id, os.environ)
    yield checks.check_setup(home)
    every = [harnesses.get(name) for name in harnesses.names()]
    for harness in every:
        is_present = harness.present(Path.home(), os.environ.get("PATH", ""))
        yield checks.check_hooks(home, harness, command_for(harness, home), is_present)
    if home.is_dir():
        yield from _inside(home, every[0])


def _inside(home: Path, harness: Harness) -> Iterator[Finding]:
    """What can be checked where there is a home."""
    try:
        with access.opened_store(home) as store:
            yield checks.check_store(store, home / "store.db")
    except HoldfastError as error:
        # A daemon would set a damaged store aside, and that is for the person to decide.
        yield Finding("store", False, error.message, error.hint)
        return
    yield checks.check_set_aside(home)
    commands = checks.installed_commands(home)
    yield _daemon(home, start=bool(commands))
    if commands:
        yield checks.check_interpreters(home, commands[0])
        yield checks.check_round_trip(commands[0], harness, lambda: _skipped(home))
    yield checks.check_leftovers(home, _pid(home))
    yield checks.check_spool(home)
    with access.opened_store(home) as store:
        yield checks.check_skipped(store, harness)


def _daemon(home: Path, *, start: bool) -> Finding:
    """The daemon runs, in the version that is installed."""
    try:
        if start and not client.is_up(home) and not checks.lock_holder(home):
            client.start(home)
        answer = client.ask(home, "status", timeout=2.0)
    except DaemonAway as error:
        if start or checks.lock_holder(home):
            return Finding("daemon", False, error.message, "look at `holdfast logs`, then `holdfast restart`")
        return Finding("daemon", True, "not running; a hook starts it when it is needed")
    if answer["version"] != __version__:
        detail = f"version {answer['version']} runs, {__version__} is installed"
        return Finding("daemon", False, detail, "run `holdfast restart`")
    return Finding("daemon", True, f"process {answer['pid']}, version {answer['version']}")


def _pid(home: Path) -> int:
    """The daemon that answers; 0 if none does."""
    try:
        return int(client.ask(home, "status", timeout=2.0)["pid"])
    except DaemonAway:
        return 0


def _skipped(home: Path) -> dict[str, int]:
    with access.opened_store(home) as store:
        return store.skipped()


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        give(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.check}: {finding.detail}")
        if finding.fix and not finding.ok:
            give(f"      fix: {finding.fix}")
