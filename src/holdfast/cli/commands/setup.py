"""Setup and unsetup: show what would change, ask, have it written.

Each harness defines its own entries; `files.install` merges them into its files.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from holdfast import config, environment, harnesses
from holdfast.cli import access
from holdfast.cli.commands.import_export import inherit_or_offer
from holdfast.cli.commands.setup_summary import (
    changed_files,
    changes_at_a_glance,
    file_counts,
    plugin_notes,
    remaining_plugins,
    summary,
)
from holdfast.cli.options import command, inherit_option, json_option
from holdfast.cli.printing import give_diff, give_json, home_path, say
from holdfast.core.events.install_request import InstallEntry, WantedCopy
from holdfast.core.work.question import QUESTION_CHARS
from holdfast.engine.documents.continuity import OWN_FOLDER, continuity_files, leave_worktree
from holdfast.engine.documents.git_exclude import (
    documents_in_sight,
    settings_exclusions,
    spare_exclusions,
    worktrees_with,
)
from holdfast.engine.health import connections
from holdfast.engine.health.installation import (
    command_for,
    copies,
    files_of,
    guidance_files,
    has_tools,
    hook_entries,
    in_project,
    plugin_files,
    tool_entries,
)
from holdfast.errors import Declined, HoldfastError
from holdfast.files import install
from holdfast.files.install import InstallChange, Plan, Report, Role, Verb, read_manifest
from holdfast.harnesses.base import Harness, InProject


def _options(function: Callable[..., None]) -> Callable[..., None]:
    """The options that setup and unsetup share."""
    folder = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)
    whose = "The user's home directory, if not yours."
    alone = "Only in the project that you are in, in settings that are yours and not the project's."
    for decorate in (
        json_option("Print one JSON document: which files changed, and how."),
        click.option("--yes", is_flag=True, help="Do it without asking."),
        click.option("--dry-run", is_flag=True, help="Only print what would change, as a diff."),
        click.option(
            "--diff", "shows_diff", is_flag=True, help="Print each line that changes in your settings, too."
        ),
        click.option("--project", "scoped", is_flag=True, help=alone),
        click.option("--home", "user_home", type=folder, metavar="DIR", help=whose),
        click.argument("names", metavar="[HARNESS]...", nargs=-1),
    ):
        function = decorate(function)
    return function


@command(
    "holdfast setup --dry-run",
    "holdfast setup --diff",
    "holdfast setup HARNESS --yes",
    "holdfast setup --project",
)
@click.option(
    "--status-line/--no-status-line",
    "adds_status_line",
    default=None,
    help="Whether Holdfast's status line comes below one that you have; else you are asked, and by `--yes` "
    "yours stays alone.",
)
@click.option("--no-mcp", is_flag=True, help="Only the hooks: no tools for agents, and no word of them.")
@inherit_option
@_options
def setup(  # noqa: PLR0913 - each is an option
    *,
    names: tuple[str, ...],
    user_home: Path | None,
    scoped: bool,
    dry_run: bool,
    shows_diff: bool,
    yes: bool,
    no_mcp: bool,
    adds_status_line: bool | None,
    take: bool,
    as_json: bool,
) -> None:
    """Connect the harnesses on this machine to Holdfast.

    Adds hooks and the server of Holdfast's tools to the settings of each harness named, or of each one
    found, and leaves everything else in them as it is; skills and a short file tell agents when to use the
    tools. A backup is kept; `holdfast unsetup` undoes it. Doing it twice is the same as once.

    With --project only sessions in this project are kept: hooks and tools go into settings of the project
    that are yours alone, and git is told to leave them alone. A file that is committed is refused.
    """
    home, user_directory = access.home(), user_home or Path.home()
    root = root_here(user_directory) if scoped else None
    selected = _chosen(names, user_directory, _environment(user_home), scoped=scoped)
    refuse_to_tell_twice(home, selected, root)
    chosen = in_project(selected, root) if root else selected
    tooled = [] if no_mcp else chosen
    is_asked = not (yes or dry_run) and sys.stdin.isatty()
    hooks = hook_entries(chosen, home, user_directory, os.environ)
    entries = [
        *_with_status_line(hooks, home, adds=adds_status_line, is_asked=is_asked),
        *tool_entries(tooled, home, user_directory),
    ]
    brought = [
        *copies(home),
        *plugin_files(chosen, home, user_directory),
        *guidance_files(tooled, user_directory),
    ]
    plan = _planned(entries, brought, home, root)
    known = {"harnesses": [harness.name for harness in chosen], "project": str(root) if root else None}
    if dry_run:
        _show(plan, known, as_json=as_json)
        return
    if environment.is_temporary(sys.prefix):
        say("note: this Holdfast runs from a cache that may be emptied; first `uv tool install holdfast`")
    _agree(plan, "setup", beforehand=yes, shows_diff=shows_diff)
    report = install.apply(plan)
    if as_json:
        give_json(_changes_row(report.changes, report.left, known, dry_run=False))
    _say_left(report)
    absent = [] if names else _absent(chosen, _environment(user_home))
    settings = config.load(home, None, None, os.environ).config
    say(summary(chosen, absent, report, home, settings, root=root, has_tools=bool(tooled)))
    for note in plugin_notes(chosen, user_directory):
        say(note)
    _say_blockers(chosen, home, user_directory)
    inherit_or_offer(take=take)
    _offer_model(home)


def renew(home: Path) -> None:
    """Write again what setup wrote for each connected harness, with tools only where it had them."""
    every = [harnesses.here(name, os.environ) for name in harnesses.names()]
    for_user = [harness for harness in every if connections.is_for_user(home, harness)]
    if for_user:
        _renew(for_user, home, None)
    else:
        prepare(home)
    roots = dict.fromkeys(root for harness in every for root in connections.projects(home, harness))
    # A deleted project is not created again for its settings.
    for root in filter(Path.is_dir, roots):
        there = [harness for harness in every if root in connections.projects(home, harness)]
        _renew(in_project(there, root), home, root)


def prepare(home: Path) -> None:
    """Write hook and relay into the home, for plugins."""
    install.apply(install.plan_setup((), copies(home), home, access.now()))


def _renew(chosen: Sequence[Harness], home: Path, root: Path | None) -> None:
    user_directory = Path.home()
    tooled = [harness for harness in chosen if has_tools(harness, home, user_directory)]
    hooks = hook_entries(chosen, home, user_directory, os.environ)
    entries = [
        *_with_status_line(hooks, home, adds=None, is_asked=False),
        *tool_entries(tooled, home, user_directory),
    ]
    brought = [
        *copies(home),
        *(copy for harness in chosen for copy in files_of(harness, home, user_directory)),
    ]
    _tell(install.apply(_planned(entries, brought, home, root)))


def _planned(
    entries: Sequence[InstallEntry], brought: Iterable[WantedCopy], home: Path, root: Path | None
) -> Plan:
    """What is to be written: for all projects, or in the one with this root."""
    if root is None:
        return install.plan_setup(entries, brought, home, access.now())
    files = dict.fromkeys(Path(entry.file) for entry in entries)
    exclusions = settings_exclusions(root, files)
    return install.plan_setup(entries, brought, home, access.now(), project=root, exclusions=exclusions)


def _with_status_line(
    entries: Iterable[InstallEntry], home: Path, *, adds: bool | None, is_asked: bool
) -> Iterator[InstallEntry]:
    """The entries, without a status line that would come below one of the user's, unless they want it."""
    for entry in entries:
        command = install.command_to_wrap(entry, home)
        if not command or adds:
            yield entry
            continue
        question = f"Your status line `{command}` stays. Add Holdfast's below it?"
        if adds is None and is_asked and click.confirm(question, err=True):
            yield entry
        else:
            say("your status line stays as it is; `holdfast setup --status-line` adds Holdfast's below it")


def _absent(chosen: Sequence[Harness], environment: Mapping[str, str]) -> list[Harness]:
    """The harnesses that were not found."""
    every = [harnesses.here(name, environment) for name in harnesses.names()]
    present = {harness.name for harness in chosen}
    return [harness for harness in every if harness.name not in present]


def _say_blockers(chosen: Sequence[Harness], home: Path, user_directory: Path) -> None:
    for harness in chosen:
        blocker = harness.setup_blocker(user_directory, command_for(harness, home))
        if blocker:
            say(f"\n{harness.title}: {blocker.reason}; {blocker.remedy}")


def _offer_model(home: Path) -> None:
    """Say what a model would do and cost, unless the settings have decided that; never turn it on."""
    loaded = config.load(home, None, None, os.environ)
    checkpoint = loaded.config.checkpoint
    if "checkpoint.model" in loaded.sources or not checkpoint.enabled:
        return
    percents = ", ".join(map(str, checkpoint.token_threshold_percents))
    file = home_path(str(home / "config.toml"))
    say(
        f"\nif you like, a model of your choice writes what a session hands over (`checkpoint.model` in "
        f"{file}): it is asked after a turn in which the window passed {percents} % or "
        f"{checkpoint.turn_threshold} more prompts came, with at most {QUESTION_CHARS:,} characters each "
        "time; without it, rules write it and no model is asked"
    )


@command("holdfast unsetup --dry-run", "holdfast unsetup --yes")
@_options
def unsetup(
    *,
    names: tuple[str, ...],
    user_home: Path | None,
    scoped: bool,
    dry_run: bool,
    shows_diff: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Undo setup: every file is again what it was.

    Without names, everything that setup did, in all projects, and the lines that keep our files out of git's
    sight; with --project, what it did in this one. What was recorded so far stays in the Holdfast home, and
    so does the continuity of each worktree: its `.holdfast/` goes, `holdfast continuity restore` brings it
    back.
    """
    home, user_directory = access.home(), user_home or Path.home()
    root = root_here(user_directory) if scoped else None
    manifest = read_manifest(home)
    files = [record.path for record in manifest.edited]
    if names or user_home or root:
        own = _own_files(names, home, user_directory, _environment(user_home), root)
        files = [file for file in (*files, *(copy.path for copy in manifest.copied)) if file in own]
    if not files and (names or user_home or root or not (manifest.copied or manifest.excluded)):
        say("nothing to undo: setup has not been run for this")
        if as_json:
            give_json(_changes_row((), (), {"project": str(root) if root else None}, dry_run=dry_run))
        return
    plan = install.plan_unsetup(home, files, spare_exclusions(manifest, root, files) if root else ())
    worktrees = () if names or user_home or root else worktrees_with(manifest, OWN_FOLDER)
    known = {"project": str(root) if root else None, "worktrees": list(map(str, worktrees))}
    if dry_run:
        _show(plan, known, as_json=as_json)
        for worktree in worktrees:
            say(f"{worktree / OWN_FOLDER} would be taken into {home}")
        return
    _agree(plan, "unsetup", beforehand=yes, shows_diff=shows_diff)
    _leave_worktrees(home, worktrees)
    _forget_compiled(home)
    report = install.apply(plan)
    if as_json:
        give_json(_changes_row(report.changes, report.left, known, dry_run=False))
    else:
        say(f"files: {file_counts(report) or 'none was changed'}")
        _say_left(report)
    for document in documents_in_sight(manifest) if not (names or user_home or root) else ():
        say(f"{home_path(str(document))}: stays, because it is yours; git shows it now")
    say(
        f"\nwhat was recorded is still in {home_path(str(home))}; `holdfast down` stops the daemon if it runs"
    )
    for note in remaining_plugins(_absent((), _environment(user_home)), user_directory):
        say(note)


def _leave_worktrees(home: Path, worktrees: Sequence[Path]) -> None:
    """Take the continuity of worktrees into the home, before git sees it."""
    if not worktrees:
        return
    with access.stored_engine() as engine:
        for root in worktrees:
            folder = root / OWN_FOLDER
            try:
                files = continuity_files(engine, home, access.project_at(root))
                is_gone = leave_worktree(engine, files)
            except HoldfastError as error:
                say(f"{folder}: left there: {error.message}")
                continue
            if is_gone:
                say(f"{folder}: taken into {home}; `holdfast continuity restore` brings it back")
            else:
                say(f"{folder}: left there, because something else is in it")


def _own_files(
    names: Iterable[str], home: Path, user_directory: Path, environment: Mapping[str, str], root: Path | None
) -> set[Path]:
    """Every file in which setup puts something for these harnesses, or for all if none is named."""
    chosen = [harnesses.here(name, environment) for name in names]
    if not chosen:
        every = [harnesses.here(name, environment) for name in harnesses.names()]
        chosen = [one for one in every if root is None or can_be_scoped(one)]
    if root:
        chosen = in_project(chosen, root)
    brought = (*plugin_files(chosen, home, user_directory), *guidance_files(chosen, user_directory))
    hooks = hook_entries(chosen, home, user_directory, os.environ)
    entries = (*hooks, *tool_entries(chosen, home, user_directory), *brought)
    return {Path(one.file).absolute() for one in entries}


def _environment(user_home: Path | None) -> Mapping[str, str]:
    """The variables that may move harnesses' files; none for another user, whose variables are unknown."""
    return {} if user_home else os.environ


def _chosen(
    names: Iterable[str], user_directory: Path, environment: Mapping[str, str], *, scoped: bool
) -> list[Harness]:
    """The harnesses named, or those that are there and, for one project, can be set up in it."""
    selected = [harnesses.here(name, environment) for name in dict.fromkeys(names)]
    if selected:
        return selected
    search_path = os.environ.get("PATH", "")
    every = [harnesses.here(name, environment) for name in harnesses.names()]
    present = [
        harness
        for harness in every
        if harness.present(user_directory, search_path) and (not scoped or can_be_scoped(harness))
    ]
    if not present:
        known = " or ".join(f"`holdfast setup {name}`" for name in harnesses.names())
        raise HoldfastError("no harness was found on this machine", f"name the one you use: {known}")
    return present


def _forget_compiled(home: Path) -> None:
    """Remove the bytecode cache beside the hook, so that its folder can go."""
    shutil.rmtree(install.hook_path(home).with_name("__pycache__"), ignore_errors=True)


def _show(plan: Plan, known: Mapping[str, object], *, as_json: bool) -> None:
    """What would change: the settings as a diff, whole files by name."""
    if as_json:
        give_json(_changes_row(plan.changes, plan.left, known, dry_run=True))
        return
    give_diff(install.diff(plan).rstrip("\n") or "no settings would change")
    for line in changed_files(change for change in plan.changes if change.role is Role.COPY):
        say(line)


def _agree(plan: Plan, verb: str, *, beforehand: bool, shows_diff: bool) -> None:
    """Ask, unless there is nothing to ask about or the answer was given beforehand."""
    difference = install.diff(plan)
    if shows_diff and difference:
        give_diff(difference)
    if beforehand or not difference:
        return
    if not sys.stdin.isatty():
        raise HoldfastError(
            f"{verb} asks before it changes a file, and nobody is there to answer",
            f"look with `holdfast {verb} --dry-run`, then add `--yes`",
        )
    say("\n".join(changes_at_a_glance(plan.changes)))
    option = "" if shows_diff else " (`--diff` shows the lines)"
    if not click.confirm(f"Change these files?{option}", err=True):
        raise Declined("nothing was changed")


def _tell(report: Report) -> None:
    for change in report.changes:
        state = "as it should be already" if change.verb is Verb.UNCHANGED else change.verb
        say(f"{change.path}: {state}")
    _say_left(report)


def _say_left(report: Report) -> None:
    for path in report.left:
        say(f"{path}: left there, because it is not as we wrote it")


def _changes_row(
    changes: Iterable[InstallChange], left: Iterable[Path], known: Mapping[str, object], *, dry_run: bool
) -> dict[str, object]:
    rows = [{"path": str(change.path), "change": change.verb} for change in changes]
    return {**known, "dry_run": dry_run, "files": rows, "left": [str(path) for path in left]}


def root_here(user_home: Path) -> Path:
    """The root of the current project; a user's home is not a project."""
    root = Path(access.project_at(None).root)
    if root == user_home.resolve():
        raise HoldfastError("your home is no project", "go to the project's directory and try again")
    return root


def can_be_scoped(harness: Harness) -> bool:
    """Whether the harness has settings for one project that only its user sees."""
    return isinstance(harness, InProject)


def refuse_to_tell_twice(home: Path, chosen: Iterable[Harness], root: Path | None) -> None:
    """Refuse to connect a harness both for all projects and in one of them: each event would come twice.

    Without a root it is to be set up for all projects.
    """
    for harness in chosen:
        projects = connections.projects(home, harness)
        if root is None and projects:
            raise HoldfastError(
                f"{harness.title} is set up in `{projects[0]}` alone, and would be told twice there",
                f"run `holdfast unsetup --project {harness.name}` there first",
            )
        if root is not None and connections.is_for_user(home, harness):
            raise HoldfastError(
                f"{harness.title} is set up for all projects already, and would be told twice here",
                f"run `holdfast unsetup {harness.name}` first, if you want it in this project alone",
            )
