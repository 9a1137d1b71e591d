"""Setup and unsetup: show what would change, ask, have it written, and say what to do next.

Which entries a harness wants is its own knowledge; merging them into its files is `files.install`'s work.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from holdfast import config, harnesses, relay, skills
from holdfast import hook as carrier
from holdfast.cli import access
from holdfast.cli.commands.daemon.hook import command_for, status_command_for
from holdfast.cli.commands.daemon.mcp import relay_command, relay_path
from holdfast.cli.commands.start import project_scope
from holdfast.cli.commands.start.heritage import inherit_or_offer
from holdfast.cli.options import command, inherit_option
from holdfast.cli.printing import give, say
from holdfast.core.events.install_request import Wanted, WantedCopy
from holdfast.engine.documents.git_exclude import settings_exclusions, spare_exclusions
from holdfast.engine.health import connections
from holdfast.errors import HoldfastError
from holdfast.files import install
from holdfast.files.install import Plan, Report, Role, Verb
from holdfast.files.manifest import read_manifest
from holdfast.harnesses.base import Harness, MidTurn, Plugged, StatusLine, Tooled


def _options(function: Callable[..., None]) -> Callable[..., None]:
    """What setup and unsetup both take."""
    folder = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)
    whose = "The user's home directory, if not yours."
    alone = "Only in the project that you are in, in settings that are yours and not the project's."
    for decorate in (
        click.option("--yes", is_flag=True, help="Do it without asking."),
        click.option("--dry-run", is_flag=True, help="Only print what would change, as a diff."),
        click.option("--project", "scoped", is_flag=True, help=alone),
        click.option("--home", "user_home", type=folder, metavar="DIR", help=whose),
        click.argument("names", metavar="[HARNESS]...", nargs=-1),
    ):
        function = decorate(function)
    return function


@command(
    "holdfast setup --dry-run", "holdfast setup", "holdfast setup HARNESS --yes", "holdfast setup --project"
)
@click.option("--no-mcp", is_flag=True, help="Only the hooks: no tools for agents, and no word of them.")
@inherit_option
@_options
def setup(
    *,
    names: tuple[str, ...],
    user_home: Path | None,
    scoped: bool,
    dry_run: bool,
    yes: bool,
    no_mcp: bool,
    take: bool,
) -> None:
    """Connect the harnesses on this machine to Holdfast.

    Adds our hooks and the server of our tools to the settings of each harness named, or of each one found,
    and leaves everything else in them as it is; skills and a short file tell agents when to use the tools. A
    backup is kept; `holdfast unsetup` undoes it. Doing it twice is the same as once.

    With --project only sessions in this project are kept: hooks and tools go into settings of the project
    that are yours alone, and git is told to leave them alone. A file that is committed is refused.
    """
    home, theirs = access.home(), user_home or Path.home()
    root = project_scope.root_here(theirs) if scoped else None
    found = _chosen(names, theirs, _environment(user_home), scoped=scoped)
    project_scope.refuse_to_tell_twice(home, found, root)
    chosen = project_scope.in_project(found, root) if root else found
    tooled = [] if no_mcp else chosen
    entries = [*_wanted(chosen, home, theirs), *_tools(tooled, home, theirs)]
    brought = [*copies(home), *_plugins(chosen, home, theirs), *_guidance(tooled, theirs)]
    plan = _planned(entries, brought, home, root)
    if dry_run:
        _show(plan)
        return
    _agree(plan, "setup", beforehand=yes)
    _tell(install.apply(plan))
    _say_what_holds_now(chosen, home, theirs, root)
    inherit_or_offer(take=take)
    option = " --project" if root else ""
    say(f"next: work as usual; `holdfast doctor` checks the connection, `holdfast unsetup{option}` undoes it")


def renew(home: Path) -> None:
    """Write once more what setup wrote for the harnesses it was run for, tools only where they had them."""
    every = [harnesses.here(name, os.environ) for name in harnesses.names()]
    for_user = [one for one in every if connections.is_for_user(home, one)]
    if for_user:
        _renew(for_user, home, None)
    roots = dict.fromkeys(root for one in every for root in connections.projects(home, one))
    # A project that is gone is not made again for the sake of our settings.
    for root in filter(Path.is_dir, roots):
        there = [one for one in every if root in connections.projects(home, one)]
        _renew(project_scope.in_project(there, root), home, root)


def _renew(chosen: Sequence[Harness], home: Path, root: Path | None) -> None:
    theirs = Path.home()
    tooled = [one for one in chosen if _has_tools(one, home, theirs)]
    entries = [*_wanted(chosen, home, theirs), *_tools(tooled, home, theirs)]
    brought = [*copies(home), *(copy for one in chosen for copy in files_of(one, home, theirs))]
    _tell(install.apply(_planned(entries, brought, home, root)))


def files_of(harness: Harness, home: Path, theirs: Path) -> list[WantedCopy]:
    """The whole files of ours that a connected harness has: its plugin, and skills where it has our tools."""
    tooled = [harness] if _has_tools(harness, home, theirs) else []
    return [*_plugins([harness], home, theirs), *_guidance(tooled, theirs)]


def _has_tools(harness: Harness, home: Path, theirs: Path) -> bool:
    """Whether setup gave it the server of our tools."""
    placed = {(record.path, one.path) for record in read_manifest(home).edited for one in record.placed}
    return any((wanted.file, wanted.path) in placed for wanted in _tools([harness], home, theirs))


def _planned(entries: Sequence[Wanted], brought: Iterable[WantedCopy], home: Path, root: Path | None) -> Plan:
    """What is to be written: for all projects, or in the one with this root."""
    if root is None:
        return install.plan_setup(entries, brought, home, access.now())
    files = dict.fromkeys(Path(entry.file) for entry in entries)
    exclusions = settings_exclusions(root, files)
    return install.plan_setup(entries, brought, home, access.now(), project=root, exclusions=exclusions)


def _say_what_holds_now(chosen: Sequence[Harness], home: Path, theirs: Path, root: Path | None) -> None:
    *others, last = (one.title for one in chosen)
    titles = f"{', '.join(others)} and {last}" if others else last
    where = f" in {root}" if root else ""
    kept = "are kept, and get their work back when a context dies."
    say(f"\n{titles}: sessions that start from now on{where} {kept}")
    for one in chosen:
        hurdle = one.hurdle(theirs, command_for(one, home))
        if hurdle:
            say(f"\n{one.title}: {hurdle.reason}; {hurdle.remedy}")


@command("holdfast unsetup --dry-run", "holdfast unsetup --yes")
@_options
def unsetup(
    *, names: tuple[str, ...], user_home: Path | None, scoped: bool, dry_run: bool, yes: bool
) -> None:
    """Undo setup: every file is again what it was.

    Without names, everything that setup did, in all projects, and the lines that keep our files out of git's
    sight; with --project, what it did in this one. What was recorded so far stays in the Holdfast home.
    """
    home, theirs = access.home(), user_home or Path.home()
    root = project_scope.root_here(theirs) if scoped else None
    manifest = read_manifest(home)
    files = [record.path for record in manifest.edited]
    if names or user_home or root:
        own = _own_files(names, home, theirs, _environment(user_home), root)
        files = [file for file in (*files, *(copy.path for copy in manifest.copied)) if file in own]
    if not files and (names or user_home or root or not (manifest.copied or manifest.excluded)):
        say("nothing to undo: setup has not been run for this")
        return
    plan = install.plan_unsetup(home, files, spare_exclusions(manifest, root, files) if root else ())
    if dry_run:
        _show(plan)
        return
    _agree(plan, "unsetup", beforehand=yes)
    _forget_compiled(home)
    _tell(install.apply(plan))
    say(f"\nwhat was recorded is still in {home}; `holdfast down` stops the daemon if it runs")


def _own_files(
    names: Iterable[str], home: Path, theirs: Path, environment: Mapping[str, str], root: Path | None
) -> set[Path]:
    """Every file in which setup puts something for these harnesses, or for all if none is named."""
    chosen = [harnesses.here(name, environment) for name in names]
    if not chosen:
        every = [harnesses.here(name, environment) for name in harnesses.names()]
        chosen = [one for one in every if root is None or project_scope.can_be_scoped(one)]
    if root:
        chosen = project_scope.in_project(chosen, root)
    brought = (*_plugins(chosen, home, theirs), *_guidance(chosen, theirs))
    wanted = (*_wanted(chosen, home, theirs), *_tools(chosen, home, theirs), *brought)
    return {Path(one.file).absolute() for one in wanted}


def _environment(user_home: Path | None) -> Mapping[str, str]:
    """What tells harnesses to keep their files elsewhere; ours says nothing of another user's."""
    return {} if user_home else os.environ


def _chosen(
    names: Iterable[str], theirs: Path, environment: Mapping[str, str], *, scoped: bool
) -> list[Harness]:
    """The harnesses named, or those that are there and, for one project, can be set up in it."""
    named = [harnesses.here(name, environment) for name in dict.fromkeys(names)]
    if named:
        return named
    search_path = os.environ.get("PATH", "")
    every = [harnesses.here(name, environment) for name in harnesses.names()]
    present = [
        one
        for one in every
        if one.present(theirs, search_path) and (not scoped or project_scope.can_be_scoped(one))
    ]
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
    interpreter = install.hook_path(home).with_name("interpreter")
    return (*programs(home), WantedCopy(interpreter, f"{sys.executable}\n".encode()))


def programs(home: Path) -> tuple[WantedCopy, ...]:
    """Hook and relay, as this version has them."""
    return (
        WantedCopy(install.hook_path(home), Path(carrier.__file__).read_bytes()),
        WantedCopy(relay_path(home), Path(relay.__file__).read_bytes()),
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
