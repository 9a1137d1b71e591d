"""Session continuity on the command line: save, refresh, load, look at, clear and open the working state."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli import access
from holdfast.cli.options import Option, command, group, json_option, project_option
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.core.brief.brief_input import Reason
from holdfast.core.brief.budget import budget_for
from holdfast.core.documents.continuity import TITLES, ContinuityPart, LayerName, LayerSummary
from holdfast.core.documents.continuity_log import (
    AuditEntry,
    AuditScope,
    AuditTrigger,
    WriteMode,
    earlier_entries,
)
from holdfast.core.documents.continuity_startup import (
    LayerContent,
    Startup,
    StartupInput,
    combined_layers,
    startup,
)
from holdfast.core.events.world import Project
from holdfast.core.text.strings import ago, quantity
from holdfast.core.text.untrusted import printable, quoted
from holdfast.engine.briefing import start_context
from holdfast.engine.briefing import start_context as briefing_startup
from holdfast.engine.briefing.start_context import ResumeContext, TeamEntry
from holdfast.engine.documents import continuity, dream
from holdfast.engine.documents import continuity_source as sources
from holdfast.engine.documents.continuity import (
    BY_RULES,
    ONE_FILE,
    ContinuityFiles,
    ReadableLayers,
    SaveOutcome,
    SaveTask,
    continuity_files,
    layers_with_paths,
    readable_layers,
)
from holdfast.engine.engine import Engine
from holdfast.engine.models import Means
from holdfast.errors import Declined, HoldfastError
from holdfast.lazy_dataclass import dataclass

_FILE: Final = click.Path(path_type=Path)
NOTHING_YET: Final = "nothing was generated yet; `holdfast continuity save` does it"


@group("holdfast continuity save", "holdfast continuity load", name="continuity")
def continuity_group() -> None:
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


@command("holdfast continuity status", "holdfast continuity status --json")
@project_option()
@json_option()
def status(*, project: Path | None, as_json: bool) -> None:
    """Say how the continuity came about, and where it stands; writes nothing."""
    with _opened(project) as opened:
        readable_layers = continuity.readable_layers(opened.files)
        layers = continuity.layers_with_paths(readable_layers.layers)
        if as_json:
            give_json(status_as_json(opened.engine, opened.files, readable_layers))
            return
        for layer in layers:
            give(f"{layer.name}: {layer.source}")
        _warn_of_unreadable(readable_layers)
        now = opened.engine.clock()
        if opened.files.entries():
            print_account(opened.files, now, [layer.source for layer in layers])
        else:
            give(NOTHING_YET)
            print_history(opened.files, now)
        give(f"audit log: {opened.files.log}")


@command(
    "holdfast continuity load", "holdfast continuity load --json", "holdfast continuity load --print-startup"
)
@project_option()
@click.option("--print-startup", is_flag=True, help="Print the block that a starting session is given.")
@json_option()
def load(*, project: Path | None, print_startup: bool, as_json: bool) -> None:
    """Show what both layers say together, each item with its layer, and how it came about; writes nothing."""
    with _opened(project) as opened:
        if as_json:
            give_json(continuity_as_json(opened.engine, opened.files))
            return
        readable_layers = continuity.readable_layers(opened.files)
        if print_startup:
            block = startup_block(opened.engine, opened.files)
            give(block.text)
            for omission in block.omissions:
                say(omission)
            _warn_of_unreadable(readable_layers)
            return
        layers = continuity.layers_with_paths(readable_layers.layers)
        if layers:
            print_layers(layers)
        _warn_of_unreadable(readable_layers)
        print_account(opened.files, opened.engine.clock(), [layer.source for layer in layers])


def _warn_of_unreadable(readable: ReadableLayers) -> None:
    for reason in readable.unreadable:
        say(f"warning: {reason}")


@command(
    "holdfast continuity save", "holdfast continuity save --transcript rollout.jsonl --harness HARNESS --json"
)
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


@command("holdfast continuity refresh", "holdfast continuity refresh --scope project-local --json")
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
        give_json(outcome_as_json(files, outcome, action))
        return
    for path in outcome.entry.written:
        give(path)
    source = outcome.source
    entry = outcome.entry
    say(f"{action}: from session {source.session[:8]} ({_CHOICES[source.choice]}), {_HOW[entry.write_mode]}")
    say(_maker(entry))
    for warning in outcome.entry.warnings:
        say(f"warning: {warning}")
    if outcome.marker:
        say(f"note: the audit log could not be written: {outcome.marker.reason}")


@command("holdfast continuity clear", "holdfast continuity clear --scope project-local --yes")
@project_option()
@_scope_option(AuditScope.BOTH)
@click.option("--yes", is_flag=True, help="Do it without asking.")
@json_option()
def clear(*, project: Path | None, scope: str, yes: bool, as_json: bool) -> None:
    """Take the continuity away; `holdfast continuity restore` brings the last version back."""
    if not yes:
        if not sys.stdin.isatty():
            raise HoldfastError("clear asks first, and nobody is there to answer", "add `--yes`")
        if not click.confirm(f"Clear the continuity ({scope})?", err=True):
            raise Declined("nothing was cleared")
    with _opened(project) as opened:
        cleared = continuity.clear(opened.engine, opened.files, AuditScope(scope))
    if as_json:
        give_json({"action": "clear", "scope": scope, "clearedPaths": [str(path) for path in cleared]})
        return
    for path in cleared:
        give(str(path))
    say("cleared" if cleared else "there was nothing to clear")


@command("holdfast continuity open", "holdfast continuity open --scope project")
@project_option()
@_scope_option(AuditScope.LOCAL)
def open_(*, project: Path | None, scope: str) -> None:
    """Open the file of a layer in your editor ($VISUAL, $EDITOR), or say where it is."""
    if scope == AuditScope.BOTH:
        raise HoldfastError("one file can be opened at a time", "name a layer with --scope")
    with _opened(project) as opened:
        path = opened.files.places.target(LayerName(scope)).whole
    if not path.exists():
        raise HoldfastError(f"there is no `{path}` yet", "`holdfast continuity save` writes it")
    give(str(path))
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor:
        subprocess.run([*editor.split(), str(path)], check=False)


@command("holdfast continuity history", "holdfast continuity history --scope project --json")
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
    rows = [(str(n), ago(now - int(path.stem)), str(path)) for n, path in enumerate(versions, 1)]
    give_table(("number", "written", "file"), rows)


@command("holdfast continuity restore", "holdfast continuity restore 2 --scope project")
@click.argument("number", type=click.IntRange(min=1), default=1)
@project_option()
@_scope_option(AuditScope.LOCAL)
@json_option()
def restore(*, number: int, project: Path | None, scope: str, as_json: bool) -> None:
    """Put a past version of a layer back in place; the present one becomes a past one."""
    with _opened(project) as opened:
        versions = opened.files.places.versions(_layer(scope))
        if number > len(versions):
            raise HoldfastError(
                f"there is no version {number}", "`holdfast continuity history` lists those there are"
            )
        path = continuity.restore(opened.engine, opened.files, _layer(scope), versions[number - 1])
    if as_json:
        give_json({"action": "restore", "scope": scope, "number": number, "path": str(path)})
    else:
        give(str(path))


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
    continuity_group.add_command(_command, _name)


ENTRIES_SHOWN: Final = 5
REPOSITORY: Final = "from the repository"
_WHOSE: Final = {LayerName.SHARED: "Shared by all worktrees", LayerName.LOCAL: "This worktree"}
_SHORT: Final = {LayerName.SHARED: "shared", LayerName.LOCAL: "this worktree"}
_LAYER_KEYS: Final = {LayerName.SHARED: "project", LayerName.LOCAL: "projectLocal"}


def continuity_as_json(engine: Engine, here: ContinuityFiles) -> dict[str, Any]:
    """Everything that `load` knows."""
    current = readable_layers(here)
    layers = layers_with_paths(current.layers)
    return {
        **status_as_json(engine, here, current),
        "projectContinuity": _layer_row(layers, LayerName.SHARED),
        "projectLocalContinuity": _layer_row(layers, LayerName.LOCAL),
        "mergedResumeBrief": _summary(combined_layers(layers)),
        "startup": startup_block(engine, here).as_json(),
    }


def startup_block(engine: Engine, here: ContinuityFiles) -> Startup:
    """The startup block that a session would get if it got nothing else."""
    budget = budget_for(Reason.STARTUP, engine.budget_settings(here.project), None)
    loaded = briefing_startup.continuity_at_start(engine, here) or StartupInput((), ())
    return startup(loaded, budget.continuity())


def status_as_json(engine: Engine, here: ContinuityFiles, current: ReadableLayers) -> dict[str, Any]:
    """What `status` knows: the account of the continuity, without what it says."""
    layers = layers_with_paths(current.layers)
    return {
        "projectId": here.project.project_id,
        "worktreeId": here.project.worktree_id,
        "projectPath": str(here.places.target(LayerName.SHARED).whole),
        "projectLocalPath": str(here.places.target(LayerName.LOCAL).whole),
        "localPathStyle": here.places.dated or ONE_FILE,
        "layersPresent": [layer.name.value for layer in layers],
        "unreadableLayers": list(current.unreadable),
        **account(here),
        "resumeContext": _resume_context(briefing_startup.resume_context(engine, here, layers)),
    }


def surfaced_as_json(engine: Engine, project: Project, query: str) -> dict[str, Any]:
    """What is under review, and what the team wrote down, that fits a query; nothing is built for it."""
    candidates, diagnostics = briefing_startup.candidates_about(
        continuity_files(engine, access.home(), project), query
    )
    return {
        "dreamRefs": [dream.as_json(candidate) for candidate in candidates],
        "teamEntries": _team(
            start_context.team_entries_about(Path(project.root), query, briefing_startup.SUGGESTED)
        ),
        "diagnostics": list(diagnostics),
    }


def outcome_as_json(here: ContinuityFiles, outcome: SaveOutcome, action: str) -> dict[str, Any]:
    """What `save` and `refresh` did."""
    source = outcome.source
    return {
        "action": action,
        "writeMode": outcome.entry.write_mode.value,
        "scope": outcome.entry.scope.value,
        "rolloutSelection": {
            "kind": source.choice.value,
            "rolloutPath": str(source.transcript),
            "harness": source.harness,
            "sessionId": source.session,
        },
        "writtenPaths": list(outcome.entry.written),
        "summary": {_LAYER_KEYS[name]: _summary(summary) for name, summary in outcome.summaries.items()},
        **account(here),
    }


def account(here: ContinuityFiles) -> dict[str, Any]:
    """The latest generation, those before it, and what is not accounted for."""
    entries = here.entries()
    last = entries[-1] if entries else None
    return {
        "auditLogPath": str(here.log),
        "latestContinuityAuditEntry": last.as_json() if last else None,
        "latestContinuityDiagnostics": last.diagnostics() if last else None,
        "recentContinuityAuditEntries": [entry.as_json() for entry in entries[-ENTRIES_SHOWN:]],
        "priorContinuityAuditPreview": [
            {"times": repeated.times, **repeated.entry.as_json()}
            for repeated in earlier_entries(entries, ENTRIES_SHOWN)
        ],
        "pendingContinuityRecovery": [
            {"reason": marker.reason, "path": str(marker.path), **marker.entry.as_json()}
            for marker in here.markers()
        ],
    }


def print_layers(layers: Sequence[LayerContent]) -> None:
    """What both layers say together, each item once and with its layer, and which files they are."""
    together = combined_layers(layers)
    give("# Resume brief")
    give("\n".join(_lines(together, layers)))
    for layer in layers:
        others = [
            f"- {TITLES[part]}: {item}"
            for part in ContinuityPart
            for item in layer.summary.of(part)
            if item not in together.of(part)
        ]
        if others:
            give(
                "\n".join(
                    (f"Left out, because the other layer says otherwise ({layer.source}):", *others, "")
                )
            )
    give("\n".join(f"{_WHOSE[layer.name]}: {layer.source}" for layer in layers))


def print_account(here: ContinuityFiles, now: int, named_files: Sequence[str]) -> None:
    """How the continuity came about, in a few lines; files that are named above it are not repeated."""
    entries = here.entries()
    if entries:
        give("\n".join(_entry_lines(entries[-1], now)))
        for path in entries[-1].written:
            if path not in named_files:
                give(f"wrote {path}")
    else:
        say(NOTHING_YET)
    print_history(here, now)


def print_history(here: ContinuityFiles, now: int) -> None:
    """What came before the latest generation, and what could not be noted in the audit log."""
    entries = here.entries()
    for repeated in earlier_entries(entries, ENTRIES_SHOWN):
        times = f" (×{repeated.times})" if repeated.times > 1 else ""
        give(f"before: {_headline(repeated.entry, now)}{times}")
    for marker in here.markers():
        give(f"not accounted for: {marker.entry.transcript} ({marker.reason})")


def _entry_lines(entry: AuditEntry, now: int) -> Iterator[str]:
    counts = entry.counts
    yield f"latest: {_headline(entry, now)}"
    yield f"from {entry.transcript}"
    yield _maker(entry)
    yield (
        f"evidence: {quantity(counts.succeeded, 'command')} passed, {counts.failed} failed, "
        f"{quantity(counts.file_writes, 'file')} written, {quantity(counts.next_steps, 'next step')}, "
        f"{counts.untried} untried"
    )
    yield from (f"warning: {warning}" for warning in entry.warnings)


def _maker(entry: AuditEntry) -> str:
    """Who wrote it, and how sure that is."""
    maker = "rule" if entry.actual == BY_RULES else entry.actual
    return (
        f"by {maker}{f', because {entry.fallback}' if entry.fallback else ''}; confidence {entry.confidence}"
    )


def _headline(entry: AuditEntry, now: int) -> str:
    done = f"{_TRIGGERS[entry.trigger]}, {_HOW[entry.write_mode]}"
    return f"{ago(now - entry.at)}, {done}, {_WHICH[entry.scope]}"


_CHOICES: Final = {
    sources.SourceChoice.EXPLICIT: "the transcript that you named",
    sources.SourceChoice.MARKER: "of a save that was not finished",
    sources.SourceChoice.AUDIT: "of the latest save",
    sources.SourceChoice.PRIMARY: "the latest one here",
}
_HOW: Final = {
    WriteMode.MERGE: "merged with what was there",
    WriteMode.REPLACE: "in place of what was there",
}
_TRIGGERS: Final = {
    AuditTrigger.SAVE: "saved",
    AuditTrigger.REFRESH: "generated anew",
    AuditTrigger.WRAPPER: "saved at the end of `holdfast run`",
}
_WHICH: Final = {
    AuditScope.BOTH: "both layers",
    AuditScope.SHARED: "the shared layer",
    AuditScope.LOCAL: "the layer of this worktree",
}


def _lines(together: LayerSummary, layers: Sequence[LayerContent]) -> Iterator[str]:
    if together.is_empty():
        yield "(nothing)"
    for part in ContinuityPart:
        if together.of(part):
            yield f"\n## {TITLES[part]}"
            yield from (f"- {item}{_layer_mark(item, part, layers)}" for item in together.of(part))
    yield ""


def _layer_mark(item: str, part: ContinuityPart, layers: Sequence[LayerContent]) -> str:
    """Which layer says it, where there are two and only one of them does."""
    sayers = [layer.name for layer in layers if item in layer.summary.of(part)]
    return f" ({_SHORT[sayers[0]]})" if len(sayers) == 1 and len(layers) > 1 else ""


def _layer_row(layers: Sequence[LayerContent], name: LayerName) -> dict[str, Any] | None:
    layer = next((candidate for candidate in layers if candidate.name is name), None)
    return {"path": layer.source, **_summary(layer.summary)} if layer else None


def _summary(summary: LayerSummary) -> dict[str, Any]:
    rest = {part.value: list(summary.of(part)) for part in ContinuityPart if part is not ContinuityPart.GOAL}
    return {"goal": summary.goal, **rest}


def _resume_context(context: ResumeContext) -> dict[str, Any]:
    return {
        "goal": context.goal,
        "nextSteps": list(context.next_steps),
        "instructionFiles": list(context.instruction_files),
        "suggestedDurableRefs": [
            {"id": ref.id, "kind": ref.kind.value, "text": quoted(ref.text), "pinned": ref.pinned}
            for ref in context.durable
        ],
        "suggestedDreamRefs": [dream.as_json(ref) for ref in context.dream],
        "suggestedTeamEntries": _team(context.team),
        "diagnostics": list(context.diagnostics),
    }


def _team(entries: Iterable[TeamEntry]) -> list[dict[str, str]]:
    return [
        {
            "path": entry.path,
            "title": printable(entry.title),
            "text": quoted(entry.text),
            "origin": REPOSITORY,
        }
        for entry in entries
    ]
