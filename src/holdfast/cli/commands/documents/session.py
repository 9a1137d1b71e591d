"""Session continuity on the command line: save, refresh, load, look at, clear and open the working state."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from holdfast.cli import access
from holdfast.cli.options import Option, command, group, json_option, project_option
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.cli.views import continuity as view
from holdfast.core.documents.continuity import LayerName
from holdfast.core.documents.continuity_audit import AuditScope, AuditTrigger
from holdfast.core.text.strings import elapsed
from holdfast.engine.documents import continuity
from holdfast.engine.documents import continuity_source as sources
from holdfast.engine.documents.continuity import ContinuityFiles, ReadableLayers, SaveOutcome, SaveTask
from holdfast.engine.engine import Engine
from holdfast.engine.models.summarize import Means
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

_FILE: Final = click.Path(path_type=Path)


@group("holdfast session save", "holdfast session load", name="session")
def session() -> None:
    """Keep a project's working state as Markdown that you can edit.

    Two layers: one that all worktrees of the project share, kept in Holdfast's home, and one in the worktree
    itself, which git leaves alone. For what lasts beyond the work at hand there is `holdfast remember`.
    """


def _scope_option(default: AuditScope) -> Option:
    return click.option(
        "--scope",
        type=click.Choice([scope.value for scope in AuditScope]),
        default=default.value,
        show_default=True,
        help="Which layers: shared, this worktree's, or both.",
    )


def _source_options(decorated: Option) -> Option:
    """`--transcript` and `--harness` on top of another option."""
    transcript = click.option("--transcript", type=_FILE, metavar="FILE", help="Generate it from this file.")
    harness = click.option("--harness", default="", metavar="HARNESS", help="Whose transcript it is.")
    return lambda function: transcript(harness(decorated(function)))


@dataclass(frozen=True, slots=True)
class _Opened:
    """An engine, and the project's continuity files."""

    engine: Engine
    files: ContinuityFiles


@contextmanager
def _opened(project: Path | None) -> Generator[_Opened]:
    with access.current_engine() as engine:
        where = access.register_project(engine, project)
        yield _Opened(engine, continuity.continuity_files(engine, access.home(), where))


@command("holdfast session status", "holdfast session status --json")
@project_option()
@json_option()
def status(*, project: Path | None, as_json: bool) -> None:
    """Say how the continuity came about, and where it stands; writes nothing."""
    with _opened(project) as opened:
        readable = continuity.readable_layers(opened.files)
        layers = continuity.layers_with_paths(readable.layers)
        if as_json:
            give_json(view.status_as_json(opened.engine, opened.files, readable))
            return
        for layer in layers:
            give(f"{layer.name}: {layer.source}")
        _warn_of_unreadable(readable)
        view.print_account(opened.files, opened.engine.clock())
        say(f"audit log: {opened.files.log}")


@command("holdfast session load", "holdfast session load --json", "holdfast session load --print-startup")
@project_option()
@click.option("--print-startup", is_flag=True, help="Print the block that a starting session is given.")
@json_option()
def load(*, project: Path | None, print_startup: bool, as_json: bool) -> None:
    """Show both layers, what they say together, and how they came about; writes nothing."""
    with _opened(project) as opened:
        if as_json:
            give_json(view.as_json(opened.engine, opened.files))
            return
        readable = continuity.readable_layers(opened.files)
        if print_startup:
            block = view.block(opened.engine, opened.files)
            give(block.text)
            for omission in block.omissions:
                say(omission)
            _warn_of_unreadable(readable)
            return
        view.print_layers(continuity.layers_with_paths(readable.layers))
        _warn_of_unreadable(readable)
        view.print_account(opened.files, opened.engine.clock())


def _warn_of_unreadable(readable: ReadableLayers) -> None:
    for reason in readable.unreadable:
        say(f"warning: {reason}")


@command("holdfast session save", "holdfast session save --transcript rollout.jsonl --harness HARNESS --json")
@project_option()
@_source_options(_scope_option(AuditScope.BOTH))
@json_option()
def save(*, project: Path | None, transcript: Path | None, harness: str, scope: str, as_json: bool) -> None:
    """Merge what the latest session has done into the continuity.

    What you wrote into the files stays as it is; what Holdfast wrote before gives way to what is known now.
    """
    with _opened(project) as opened, working("reading the transcript"):
        source = (
            sources.source_named(transcript, harness)
            if transcript
            else sources.latest_primary(opened.engine, opened.files.project, os.environ)
        )
        outcome = continuity.save(
            opened.engine, opened.files, SaveTask(AuditScope(scope), source, AuditTrigger.SAVE), _means()
        )
    _tell(opened.files, outcome, "save", as_json=as_json)


@command("holdfast session refresh", "holdfast session refresh --scope project-local --json")
@project_option()
@_source_options(_scope_option(AuditScope.BOTH))
@json_option()
def refresh(
    *, project: Path | None, transcript: Path | None, harness: str, scope: str, as_json: bool
) -> None:
    """Generate the continuity anew from where it came from, and put that in place of what is there.

    The source is the transcript that you name, else that of a generation which was not accounted for, else
    that of the latest one, else the latest session; the last three for exactly these layers. If it has
    nothing to say to a layer that says something now, nothing is changed.
    """
    with _opened(project) as opened, working("reading the transcript"):
        files = opened.files
        source = (
            sources.source_named(transcript, harness)
            if transcript
            else sources.trusted_source(
                opened.engine, files.project, AuditScope(scope), files.markers(), files.entries(), os.environ
            )
        )
        outcome = continuity.refresh(
            opened.engine, files, SaveTask(AuditScope(scope), source, AuditTrigger.REFRESH), _means()
        )
    _tell(files, outcome, "refresh", as_json=as_json)


def _means() -> Means:
    return Means(os.environ, time.sleep)


def _tell(files: ContinuityFiles, outcome: SaveOutcome, action: str, *, as_json: bool) -> None:
    if as_json:
        give_json(view.outcome_as_json(files, outcome, action))
        return
    for path in outcome.entry.written:
        give(path)
    source = outcome.source
    say(f"{action}: from session {source.session[:8]} ({source.choice}), {outcome.entry.write_mode}")
    entry = outcome.entry
    say(f"by {entry.actual}{f', because {entry.fallback}' if entry.fallback else ''}")
    say(f"confidence {entry.confidence}")
    for warning in outcome.entry.warnings:
        say(f"warning: {warning}")
    if outcome.marker:
        say(f"note: the audit log could not be written: {outcome.marker.reason}")


@command("holdfast session clear", "holdfast session clear --scope project-local --yes")
@project_option()
@_scope_option(AuditScope.BOTH)
@click.option("--yes", is_flag=True, help="Do it without asking.")
@json_option()
def clear(*, project: Path | None, scope: str, yes: bool, as_json: bool) -> None:
    """Take the continuity away; `holdfast session restore` brings the last version back."""
    if not yes:
        if not sys.stdin.isatty():
            raise HoldfastError("clear asks first, and nobody is there to answer", "add `--yes`")
        if not click.confirm(f"Clear the continuity ({scope})?", err=True):
            raise HoldfastError("nothing was cleared")
    with _opened(project) as opened:
        cleared = continuity.clear(opened.engine, opened.files, AuditScope(scope))
    if as_json:
        give_json({"action": "clear", "scope": scope, "clearedPaths": [str(path) for path in cleared]})
        return
    for path in cleared:
        give(str(path))
    say("cleared" if cleared else "there was nothing to clear")


@command("holdfast session open", "holdfast session open --scope project")
@project_option()
@_scope_option(AuditScope.LOCAL)
def open_(*, project: Path | None, scope: str) -> None:
    """Open the file of a layer in your editor ($VISUAL, $EDITOR), or say where it is."""
    if scope == AuditScope.BOTH:
        raise HoldfastError("one file can be opened at a time", "name a layer with --scope")
    with _opened(project) as opened:
        path = opened.files.places.target(LayerName(scope)).whole
    if not path.exists():
        raise HoldfastError(f"there is no `{path}` yet", "`holdfast session save` writes it")
    give(str(path))
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor:
        subprocess.run([*editor.split(), str(path)], check=False)


@command("holdfast session history", "holdfast session history --scope project --json")
@project_option()
@_scope_option(AuditScope.LOCAL)
@json_option()
def history(*, project: Path | None, scope: str, as_json: bool) -> None:
    """List the past versions of a layer, the newest first."""
    with _opened(project) as opened:
        versions = opened.files.places.versions(_layer(scope))
        now = opened.engine.clock()
    if as_json:
        give_json([{"number": number, "path": str(path)} for number, path in enumerate(versions, 1)])
        return
    if not versions:
        say(f"there is no past version of the layer `{scope}`")
        return
    rows = [(str(n), f"{elapsed(now - int(path.stem))} ago", str(path)) for n, path in enumerate(versions, 1)]
    give_table(("number", "written", "file"), rows)


@command("holdfast session restore", "holdfast session restore 2 --scope project")
@click.argument("number", type=click.IntRange(min=1), default=1)
@project_option()
@_scope_option(AuditScope.LOCAL)
def restore(*, number: int, project: Path | None, scope: str) -> None:
    """Put a past version of a layer back in place; the present one becomes a past one."""
    with _opened(project) as opened:
        versions = opened.files.places.versions(_layer(scope))
        if number > len(versions):
            raise HoldfastError(
                f"there is no version {number}", "`holdfast session history` lists those there are"
            )
        give(str(continuity.restore(opened.engine, opened.files, _layer(scope), versions[number - 1])))


def _layer(scope: str) -> LayerName:
    if scope == AuditScope.BOTH:
        raise HoldfastError("each layer has a history of its own", "name a layer with --scope")
    return LayerName(scope)


for _name, _command in {
    "status": status,
    "load": load,
    "save": save,
    "refresh": refresh,
    "clear": clear,
    "open": open_,
    "history": history,
    "restore": restore,
}.items():
    session.add_command(_command, _name)
