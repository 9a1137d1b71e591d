"""Setup and unsetup: show what would change, ask, have it written, and say what to do next.

Which entries a harness wants is its own knowledge; merging them into its files is `files.install`'s work.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import click

from holdfast import config, harnesses, relay, skills
from holdfast import hook as carrier
from holdfast.cli import access
from holdfast.cli.heritage import say_what_could_be_inherited
from holdfast.cli.hook import command_for, status_command_for
from holdfast.cli.mcp import relay_command, relay_path
from holdfast.cli.options import command
from holdfast.cli.printing import give, say
from holdfast.core.wanted import Wanted, WantedCopy
from holdfast.engine import connections
from holdfast.errors import HoldfastError
from holdfast.files import install
from holdfast.files.install import Plan, Report, Role, Verb
from holdfast.files.manifest import read_manifest
from holdfast.harnesses.base import Harness, MidTurn, Plugged, StatusLine, Tooled


def _options(function: Callable[..., None]) -> Callable[..., None]:
    """What setup and unsetup both take."""
    folder = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)
    whose = "The user's home directory, if not yours."
    for decorate in (
        click.option("--yes", is_flag=True, help="Do it without asking."),
        click.option("--dry-run", is_flag=True, help="Only print what would change, as a diff."),
        click.option("--home", "user_home", type=folder, metavar="DIR", help=whose),
        click.argument("names", metavar="[HARNESS]...", nargs=-1),
    ):
        function = decorate(function)
    return function


@command("holdfast setup --dry-run", "holdfast setup", "holdfast setup HARNESS --yes")
@click.option("--no-mcp", is_flag=True, help="Only the hooks: no tools for agents, and no word of them.")
@_options
def setup(*, names: tuple[str, ...], user_home: Path | None, dry_run: bool, yes: bool, no_mcp: bool) -> None:
    """Connect the harnesses on this machine to Holdfast.

    Adds our hooks and the server of our tools to the settings of each harness named, or of each one found,
    and leaves everything else in them as it is; skills and a short file tell agents when to use the tools. A
    backup is kept; `holdfast unsetup` undoes it. Doing it twice is the same as once.
    """
    home, theirs = access.home(), user_home or Path.home()
    chosen = _chosen(names, theirs, _environment(user_home))
    tooled = [] if no_mcp else chosen
    entries = [*_wanted(chosen, home, theirs), *_tools(tooled, home, theirs)]
    brought = [*copies(home), *_plugins(chosen, home, theirs), *_guidance(tooled, theirs)]
    plan = install.plan_setup(entries, brought, home, access.now())
    if dry_run:
        _show(plan)
        return
    _agree(plan, "setup", beforehand=yes)
    _tell(install.apply(plan))
    titles = " and ".join(one.title for one in chosen)
    say(f"\n{titles}: sessions that start from now on are kept, and get their work back when a context dies.")
    for one in chosen:
        hurdle = one.hurdle(theirs, command_for(one, home))
        if hurdle:
            say(f"\n{one.title}: {hurdle.reason}; {hurdle.remedy}")
    say_what_could_be_inherited()
    say("next: work as usual; `holdfast doctor` checks the connection, `holdfast unsetup` takes it away")


def renew(home: Path) -> None:
    """Write once more what setup wrote for the harnesses it was run for, tools only where they had them."""
    theirs = Path.home()
    placed = {(record.path, one.path) for record in read_manifest(home).edited for one in record.placed}
    every = [harnesses.here(name, os.environ) for name in harnesses.names()]
    chosen = [one for one in every if connections.installed(home, one)]
    tooled = [
        one for one in chosen if any((want.file, want.path) in placed for want in _tools([one], home, theirs))
    ]
    entries = [*_wanted(chosen, home, theirs), *_tools(tooled, home, theirs)]
    whole = [*copies(home), *_guidance(tooled, theirs)]
    _tell(install.apply(install.plan_setup(entries, whole, home, access.now())))


@command("holdfast unsetup --dry-run", "holdfast unsetup --yes")
@_options
def unsetup(*, names: tuple[str, ...], user_home: Path | None, dry_run: bool, yes: bool) -> None:
    """Undo setup: every file is again what it was.

    Without names, everything that setup did, and the lines that keep our files out of git's sight. What was
    recorded so far stays in the Holdfast home.
    """
    home, theirs = access.home(), user_home or Path.home()
    manifest = read_manifest(home)
    files = [record.path for record in manifest.edited]
    if names or user_home:
        environment = _environment(user_home)
        chosen = [harnesses.here(name, environment) for name in names or harnesses.names()]
        brought = (*_plugins(chosen, home, theirs), *_guidance(chosen, theirs))
        wanted = (*_wanted(chosen, home, theirs), *_tools(chosen, home, theirs), *brought)
        own = {Path(one.file).absolute() for one in wanted}
        files = [file for file in (*files, *(copy.path for copy in manifest.copied)) if file in own]
    if not files and (names or user_home or not (manifest.copied or manifest.excluded)):
        say("nothing to undo: setup has not been run for this")
        return
    plan = install.plan_unsetup(home, files)
    if dry_run:
        _show(plan)
        return
    _agree(plan, "unsetup", beforehand=yes)
    _forget_compiled(home)
    _tell(install.apply(plan))
    say(f"\nwhat was recorded is still in {home}; `holdfast down` stops the daemon if it runs")


def _environment(user_home: Path | None) -> Mapping[str, str]:
    """What tells harnesses to keep their files elsewhere; ours says nothing of another user's."""
    return {} if user_home else os.environ


def _chosen(names: Iterable[str], theirs: Path, environment: Mapping[str, str]) -> list[Harness]:
    """The harnesses named, or those that are there."""
    named = [harnesses.here(name, environment) for name in dict.fromkeys(names)]
    if named:
        return named
    search_path = os.environ.get("PATH", "")
    every = [harnesses.here(name, environment) for name in harnesses.names()]
    present = [one for one in every if one.present(theirs, search_path)]
    if not present:
        known = " or ".join(f"`holdfast setup {name}`" for name in harnesses.names())
        raise HoldfastError("no harness was found on this machine", f"name the one you use: {known}")
    return present


def _wanted(chosen: Iterable[Harness], home: Path, theirs: Path) -> list[Wanted]:
    return [
        entry
        for one in chosen
        for entry in (*one.wanted(command_for(one, home), theirs), *_more(one, home, theirs))
    ]


def _more(harness: Harness, home: Path, theirs: Path) -> Iterator[Wanted]:
    """What a harness can have beyond its hooks, as far as the user wants it."""
    pressure = config.load(home, None, None, os.environ).config.pressure
    if pressure.mid_turn and isinstance(harness, MidTurn):
        yield from harness.wanted_mid_turn(command_for(harness, home), theirs)
    if isinstance(harness, StatusLine):
        yield from harness.wanted_status_line(status_command_for(harness, home), theirs)


def _tools(chosen: Iterable[Harness], home: Path, theirs: Path) -> list[Wanted]:
    """What has each start the server of our tools."""
    tooled = [one for one in chosen if isinstance(one, Tooled)]
    return [entry for one in tooled for entry in one.wanted_tools(relay_command(one, home), theirs)]


def _plugins(chosen: Iterable[Harness], home: Path, theirs: Path) -> list[WantedCopy]:
    return [copy for one in chosen if isinstance(one, Plugged) for copy in one.wanted_plugin(home, theirs)]


def _guidance(chosen: Iterable[Harness], theirs: Path) -> list[WantedCopy]:
    known = skills.shipped()
    return [copy for one in chosen if isinstance(one, Tooled) for copy in one.guidance(theirs, known)]


def copies(home: Path) -> tuple[WantedCopy, ...]:
    """What hook and relay need to outlive the package: themselves, and who can start the daemon."""
    hook = install.hook_path(home)
    return (
        WantedCopy(hook, Path(carrier.__file__).read_bytes()),
        WantedCopy(relay_path(home), Path(relay.__file__).read_bytes()),
        WantedCopy(hook.with_name("interpreter"), f"{sys.executable}\n".encode()),
    )


def _forget_compiled(home: Path) -> None:
    """Remove what Python kept compiled beside the hook, so that no folder is left for its sake."""
    shutil.rmtree(install.hook_path(home).with_name("__pycache__"), ignore_errors=True)


def _show(plan: Plan) -> None:
    """What would change: the settings as a diff, whole files by name."""
    give(install.diff(plan).rstrip("\n") or "no settings would change")
    for change in plan.changes:
        if change.role is Role.COPY and change.verb is not Verb.UNCHANGED:
            say(f"{change.path} would be {change.verb}")


def _agree(plan: Plan, verb: str, *, beforehand: bool) -> None:
    """Ask, unless there is nothing to ask about or the answer was given beforehand."""
    difference = install.diff(plan)
    if beforehand or not difference:
        return
    if not sys.stdin.isatty():
        raise HoldfastError(
            f"{verb} asks before it changes a file, and nobody is there to answer",
            f"look with `holdfast {verb} --dry-run`, then add `--yes`",
        )
    say(difference)
    if not click.confirm("Change these files?", err=True):
        raise HoldfastError("nothing was changed")


def _tell(report: Report) -> None:
    for change in report.changes:
        state = "as it should be already" if change.verb is Verb.UNCHANGED else change.verb
        say(f"{change.path}: {state}")
    for path in report.left:
        say(f"{path}: left there, because it is not as we wrote it")
