"""How a project's continuity is shown to a person, and as JSON to programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from holdfast.cli import access
from holdfast.cli.printing import give, say
from holdfast.core.documents.continuity import TITLES, ContinuityPart, LayerName, LayerSummary
from holdfast.core.documents.continuity_audit import AuditEntry, earlier_entries
from holdfast.core.documents.continuity_startup import (
    LayerContent,
    Startup,
    StartupInput,
    StartupLimits,
    combined_layers,
    startup,
)
from holdfast.core.events.world import Project
from holdfast.core.text.strings import elapsed
from holdfast.core.text.untrusted import printable, quoted
from holdfast.engine.briefing import start_context
from holdfast.engine.briefing import start_context as load
from holdfast.engine.briefing.start_context import ResumeContext, TeamEntry
from holdfast.engine.documents import dream
from holdfast.engine.documents.continuity import (
    ONE_FILE,
    ContinuityFiles,
    ReadableLayers,
    SaveOutcome,
    continuity_files,
    layers_with_paths,
    readable_layers,
)
from holdfast.engine.engine import Engine

ENTRIES_SHOWN: Final = 5
REPOSITORY: Final = "from the repository"
_LAYER_KEYS: Final = {LayerName.SHARED: "project", LayerName.LOCAL: "projectLocal"}


def as_json(engine: Engine, here: ContinuityFiles) -> dict[str, Any]:
    """Everything that `load` knows."""
    current = readable_layers(here)
    layers = layers_with_paths(current.layers)
    return {
        **status_as_json(engine, here, current),
        "projectContinuity": _layer(layers, LayerName.SHARED),
        "projectLocalContinuity": _layer(layers, LayerName.LOCAL),
        "mergedResumeBrief": _summary(combined_layers(layers)),
        "startup": block(engine, here).as_json(),
    }


def block(engine: Engine, here: ContinuityFiles) -> Startup:
    """The startup block that a session would get if it got nothing else."""
    return startup(load.continuity_at_start(engine, here) or StartupInput((), (), StartupLimits(0)))


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
        "resumeContext": _resume_context(load.resume_context(engine, here, layers)),
    }


def surfaced_as_json(engine: Engine, project: Project, query: str) -> dict[str, Any]:
    """What is under review, and what the team wrote down, that fits a query; nothing is built for it."""
    candidates, diagnostics = load.candidates_about(continuity_files(engine, access.home(), project), query)
    return {
        "dreamRefs": [dream.as_json(candidate) for candidate in candidates],
        "teamEntries": _team(start_context.team_entries_about(Path(project.root), query, load.SUGGESTED)),
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
        "summary": {_LAYER_KEYS[name]: _summary(summary) for name, summary in outcome.said.items()},
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
    """Both layers and what they say together."""
    for layer in layers:
        whose = "Shared by all worktrees" if layer.name is LayerName.SHARED else "This worktree"
        give(f"# {whose}: {layer.source}")
        give("\n".join(_lines(layer.summary)))
    give("# Resume brief")
    give("\n".join(_lines(combined_layers(layers))))


def print_account(here: ContinuityFiles, now: int) -> None:
    """How the continuity came about, in a few lines."""
    entries = here.entries()
    if not entries:
        say("nothing was generated yet; `holdfast session save` does it")
    else:
        for line in _entry_lines(entries[-1], now):
            say(line)
    for repeated in earlier_entries(entries, ENTRIES_SHOWN):
        times = f" (×{repeated.times})" if repeated.times > 1 else ""
        say(f"before: {_headline(repeated.entry, now)}{times}")
    for marker in here.markers():
        say(f"not accounted for: {marker.entry.transcript} ({marker.reason})")


def _entry_lines(entry: AuditEntry, now: int) -> Iterator[str]:
    counts = entry.counts
    yield f"latest: {_headline(entry, now)}"
    yield f"from {entry.transcript}"
    yield (
        f"by {entry.actual}{f', because {entry.fallback}' if entry.fallback else ''}; "
        f"confidence {entry.confidence}"
    )
    yield (
        f"evidence: {counts.succeeded} commands passed, {counts.failed} failed, {counts.file_writes} files "
        f"written, {counts.next_steps} next steps, {counts.untried} untried"
    )
    yield from (f"warning: {warning}" for warning in entry.warnings)
    yield from (f"wrote {path}" for path in entry.written)


def _headline(entry: AuditEntry, now: int) -> str:
    return f"{entry.trigger} ({entry.write_mode}, {entry.scope}) {elapsed(now - entry.at)} ago"


def _lines(summary: LayerSummary) -> Iterator[str]:
    if summary.is_empty():
        yield "(nothing)"
    for part in ContinuityPart:
        if summary.of(part):
            yield f"\n## {TITLES[part]}"
            yield from (f"- {item}" for item in summary.of(part))
    yield ""


def _layer(layers: Sequence[LayerContent], name: LayerName) -> dict[str, Any] | None:
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
