"""Continuity: save, refresh, read and clear the Markdown working state of a project.

Save merges, refresh replaces, reading writes nothing. Each generation is entered in an audit log; if that
fails, a marker stays until a later entry succeeds. The content comes from a session by rules or, if the
settings say so, from a model. Auto-save merges the work of a session that is over, if the settings say so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from holdfast import harnesses
from holdfast.core.agent_log.summary import Failed
from holdfast.core.documents.continuity import (
    LayerName,
    LayerSummary,
    MergedContinuity,
    Unusable,
    WrittenItems,
    blank,
    document_with_summary,
    is_blank,
    items_of_user,
    merge_summary,
    parse,
    summary_of,
    with_front_matter,
)
from holdfast.core.documents.continuity_log import AuditEntry, AuditScope, AuditTrigger, WriteMode, entry_of
from holdfast.core.documents.continuity_model import answer, answer_schema, question
from holdfast.core.documents.continuity_startup import LayerContent
from holdfast.core.documents.continuity_summary import Author, GeneratedSummary, confidence, generated
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, Session
from holdfast.engine.documents import continuity_source
from holdfast.engine.documents.continuity_source import ContinuitySource, Marker, SourceChoice
from holdfast.engine.documents.git_exclude import keep_out_of_git
from holdfast.engine.engine import Engine
from holdfast.engine.models import Means, ModelQuestion, ask, conversation_turns
from holdfast.errors import HoldfastError
from holdfast.files import audit_log, continuity
from holdfast.files import continuity as files
from holdfast.files.atomic import remove_empty_folder
from holdfast.files.continuity import Layer, Places
from holdfast.files.together import Target, locked
from holdfast.lazy_dataclass import dataclass

ONE_FILE: Final = "holdfast"
OWN_FOLDER: Final = ".holdfast"
LAYERS: Final = {
    AuditScope.SHARED: (LayerName.SHARED,),
    AuditScope.LOCAL: (LayerName.LOCAL,),
    AuditScope.BOTH: (LayerName.SHARED, LayerName.LOCAL),
}
ENTRIES_READ: Final = 200
BY_RULES: Final = "heuristic"
BY_MODEL: Final = "model"
NOTHING_TO_ASK: Final = "there is too little in the session to ask a model about"
LOOKED_AT: Final = 20
NEWS_MS: Final = 24 * 3_600_000
"""Sessions that ended longer ago are not saved: the next one has long gone on from its brief."""
SAVED: Final = "continuity_saved"
"""The fact in which the store notes up to which moment recent sessions are in the continuity."""
NOTED: Final = 50


@dataclass(frozen=True, slots=True)
class ContinuityFiles:
    """Where a project's continuity and its audit log are."""

    project: Project
    places: Places
    log: Path
    recovery: Path

    def entries(self) -> list[AuditEntry]:
        """The audit log, oldest first."""
        lines = list(audit_log.tail(self.log))[-ENTRIES_READ:]
        return [entry for line in lines if (entry := entry_of(line)) is not None]

    def markers(self) -> list[Marker]:
        """Generations that are missing in the audit log."""
        return continuity_source.markers(self.recovery)


@dataclass(frozen=True, slots=True)
class SaveTask:
    """What to generate: for which layers, from which source, and who asked."""

    scope: AuditScope
    source: ContinuitySource
    trigger: AuditTrigger


@dataclass(frozen=True, slots=True)
class SaveOutcome:
    """One generation: its log entry, why this source, and the marker if the entry could not be written."""

    entry: AuditEntry
    source: ContinuitySource
    summaries: Mapping[LayerName, LayerSummary]
    """What the session contributes to each layer."""
    marker: Marker | None


def continuity_files(engine: Engine, home: Path, project: Project) -> ContinuityFiles:
    """Where the continuity files of a project are."""
    folder = home / "projects" / project.project_id
    style = engine.config(project).continuity.local_path_style
    dated = "" if style == ONE_FILE else harnesses.dated_sessions(style)
    if dated is None:
        raise HoldfastError(
            f"`continuity.local_path_style` is `{style}`, which is no style", f'set it to "{ONE_FILE}"'
        )
    places = Places(folder / "continuity", Path(project.root), project.worktree_id, dated)
    log = folder / "audit" / continuity.AUDIT_LOG
    return ContinuityFiles(project, places, log, folder / "continuity" / "recovery")


def layers(continuity: ContinuityFiles) -> list[Layer]:
    """The layers that exist, the shared one first."""
    all_layers = (files.read(continuity.places, name) for name in LayerName)
    return [layer for layer in all_layers if layer is not None]


@dataclass(frozen=True, slots=True)
class ReadableLayers:
    """The layers that can be read, the shared one first, and why another one cannot."""

    layers: tuple[Layer, ...]
    unreadable: tuple[str, ...]


def readable_layers(continuity: ContinuityFiles) -> ReadableLayers:
    """The readable layers: one that cannot be read does not hide the other."""
    layers_read: list[Layer] = []
    unreadable: list[str] = []
    for name in LayerName:
        try:
            layer = files.read(continuity.places, name)
        except HoldfastError as error:
            unreadable.append(error.message)
        else:
            layers_read += [layer] if layer else []
    return ReadableLayers(tuple(layers_read), tuple(unreadable))


def layers_with_paths(every_layer: Sequence[Layer]) -> list[LayerContent]:
    """The layers with their paths and content."""
    return [
        LayerContent(
            one.name,
            str(one.target.whole),
            summary_of(one.document),
            items_of_user(one.document, one.written),
        )
        for one in every_layer
    ]


def save(engine: Engine, continuity: ContinuityFiles, task: SaveTask, means: Means) -> SaveOutcome:
    """Merge the content of the source's session into the layers."""
    return _generate(engine, continuity, task, WriteMode.MERGE, means)


def refresh(engine: Engine, continuity: ContinuityFiles, task: SaveTask, means: Means) -> SaveOutcome:
    """Replace the layers with the content of the source's session."""
    return _generate(engine, continuity, task, WriteMode.REPLACE, means)


def clear(engine: Engine, continuity: ContinuityFiles, scope: AuditScope) -> tuple[Path, ...]:
    """Remove the layers; their last versions stay in the history."""
    with locked(continuity.places.journal):
        return files.clear(continuity.places, LAYERS[scope], engine.clock())


def leave_worktree(engine: Engine, continuity: ContinuityFiles) -> bool:
    """Take Holdfast's folder out of a worktree, its layer becomes a past version; whether it is gone."""
    clear(engine, continuity, AuditScope.LOCAL)
    folder = continuity.places.root / OWN_FOLDER
    for inner in (folder / "sessions", folder):
        remove_empty_folder(inner)
    return not folder.exists()


def restore(engine: Engine, continuity: ContinuityFiles, layer: LayerName, version: Path) -> Path:
    """Put a past version of a layer back in place; the present one becomes a past one."""
    content = version.read_text(encoding="utf-8")
    with locked(continuity.places.journal):
        document = files.document(version, content.encode())
        target = continuity.places.target(layer)
        files.write(
            continuity.places, {layer: (target, MergedContinuity(document, WrittenItems()))}, engine.clock()
        )
    return target.whole


def _generate(
    engine: Engine, continuity: ContinuityFiles, task: SaveTask, mode: WriteMode, means: Means
) -> SaveOutcome:
    scope, source = task.scope, task.source
    session = continuity_source.read(engine, source, continuity.project)
    extracted = extract(engine, session, source, means)
    redact = engine.redactor(continuity.project).of_session(source.session)
    summaries = {name: redacted_summary(extracted.generated.layers[name], redact) for name in LAYERS[scope]}
    at = engine.clock()
    entry = AuditEntry(
        id=engine.new_id(),
        at=at,
        scope=scope,
        trigger=task.trigger,
        write_mode=mode,
        configured=extracted.configured,
        preferred=extracted.preferred,
        actual=extracted.actual,
        fallback=redact(extracted.fallback),
        confidence=extracted.generated.confidence,
        warnings=tuple(map(redact, extracted.generated.warnings)),
        counts=extracted.generated.counts,
        transcript=str(source.transcript),
        harness=source.harness,
        session=source.session,
        written=(),
    )
    with locked(continuity.places.journal):
        if mode is WriteMode.REPLACE:
            _refuse_emptying(continuity, summaries, source)
        try:
            targets = _targets(continuity, scope, mode, at)
            new = {
                name: (targets[name], _new_layer(continuity, name, summaries[name], mode, at))
                for name in LAYERS[scope]
            }
            if LayerName.LOCAL in targets:
                # First, so that git never sees the file; if it cannot be excluded, nothing is written.
                _hidden_from_git(engine, continuity, targets[LayerName.LOCAL])
            written = files.write(continuity.places, new, at)
        except HoldfastError as error:
            continuity_source.mark(continuity.recovery, entry, error.message)
            raise
    entry = replace(entry, written=tuple(map(str, written)))
    return SaveOutcome(entry, source, summaries, _log_generation(continuity, entry))


def _new_layer(
    continuity: ContinuityFiles, name: LayerName, summary: LayerSummary, mode: WriteMode, at: int
) -> MergedContinuity:
    """A layer merged with, or replaced by, the session's content."""
    if mode is WriteMode.REPLACE:
        merged_layer = document_with_summary(name, summary)
    else:
        before = files.read(continuity.places, name)
        merged_layer = (
            merge_summary(before.document, summary, before.written)
            if before
            else merge_summary(blank(name), summary, WrittenItems())
        )
    day = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return MergedContinuity(with_front_matter(merged_layer.document, updated=day), merged_layer.written)


def _refuse_emptying(
    continuity: ContinuityFiles, summaries: Mapping[LayerName, LayerSummary], source: ContinuitySource
) -> None:
    """Raise an error if a layer with content would be replaced by an empty one."""
    emptied = [
        name
        for name, summary in summaries.items()
        if summary.is_empty() and _says_something(continuity, name)
    ]
    if emptied:
        raise HoldfastError(
            f"`{source.transcript}` has nothing to say to the layer `{emptied[0]}`, so nothing was replaced",
            "name another transcript with --transcript FILE, other layers with --scope, "
            "or take it away with `holdfast continuity clear`",
        )


def _says_something(continuity: ContinuityFiles, name: LayerName) -> bool:
    raw = continuity.places.target(name).read()
    if raw is None:
        return False
    document = parse(raw.decode("utf-8", "replace"))
    return isinstance(document, Unusable) or not is_blank(document)


def _targets(
    continuity: ContinuityFiles, scope: AuditScope, mode: WriteMode, at: int
) -> dict[LayerName, Target]:
    """Where the layers are written: with daily files, merging writes today's, replacing the active one."""
    targets = {name: continuity.places.target(name) for name in LAYERS[scope]}
    if LayerName.LOCAL in targets and continuity.places.dated:
        today = continuity.places.target_today(datetime.fromtimestamp(at / 1000, UTC).date().isoformat())
        there = targets[LayerName.LOCAL].read() is not None
        if mode is WriteMode.MERGE or not there:
            targets[LayerName.LOCAL] = today
    return targets


def redacted_summary(summary: LayerSummary, redact: Callable[[str], str]) -> LayerSummary:
    """A layer's content, redacted."""
    items = {part: tuple(map(redact, texts)) for part, texts in summary.items.items()}
    return LayerSummary(redact(summary.goal), items)


def _log_generation(continuity: ContinuityFiles, entry: AuditEntry) -> Marker | None:
    """Log the generation. If that fails, leave a marker; otherwise remove this source's marker."""
    try:
        audit_log.append(continuity.log, entry.as_json())
    except HoldfastError as error:
        return continuity_source.mark(continuity.recovery, entry, error.message)
    continuity_source.unmark(continuity.recovery, entry)
    return None


def _hidden_from_git(engine: Engine, continuity: ContinuityFiles, target: Target) -> None:
    inside = target.whole.relative_to(continuity.places.root).as_posix()
    keep_out_of_git(engine, continuity.project, f"{OWN_FOLDER}/" if inside.startswith(OWN_FOLDER) else inside)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A session's content for the layers, the configured and the actual method, and why they differ."""

    generated: GeneratedSummary
    configured: str
    preferred: str
    actual: str
    fallback: str = ""


def extract(engine: Engine, session: Session, source: ContinuitySource, means: Means) -> Extracted:
    """A session's content, by the method that the settings prefer, or else by the rules."""
    configured = engine.config(session.project).continuity.extractor
    rules = generated(session)
    if configured != BY_MODEL:
        return Extracted(rules, configured, BY_RULES, BY_RULES)
    written = _by_model(engine, session, source, rules, means)
    if not isinstance(written, Failed):
        return Extracted(written, configured, BY_MODEL, BY_MODEL)
    doubtful = confidence(Author.STAND_IN, rules.counts, rules.warnings)
    return Extracted(replace(rules, confidence=doubtful), configured, BY_MODEL, BY_RULES, written.reason)


def _by_model(
    engine: Engine, session: Session, source: ContinuitySource, rules: GeneratedSummary, means: Means
) -> GeneratedSummary | Failed:
    if not rules.counts.total:
        return Failed(NOTHING_TO_ASK)
    events = continuity_source.events(engine, source)
    prompt = ModelQuestion(
        question(session, tuple(conversation_turns(events))), session.model, answer_schema()
    )
    return ask(engine, session.project, prompt, lambda text, _: answer(text, session, rules), means)


def session_to_save(engine: Engine) -> Session | None:
    """A session that is over and not in the continuity yet, in a project whose settings ask for auto-save."""
    saved_until, now = _saved_until(engine), engine.clock()
    # Housekeeping asks often: the settings of a project are read once.
    projects: dict[str, bool] = {}
    for session in engine.store.sessions(LOOKED_AT):
        if session.phase is Phase.LIVE or now - session.last_event_at > NEWS_MS:
            continue
        project = session.project.project_id
        if project not in projects:
            projects[project] = engine.config(session.project).continuity.auto_save
        if (
            projects[project]
            and saved_until.get(_session_hash(session), 0) < session.changed_at
            and _is_enabled(engine, session)
        ):
            return session
    return None


def auto_save(engine: Engine, session: Session, means: Means) -> SaveOutcome | None:
    """Merge a session's work into both layers; None if another process does that."""
    if engine.home is None or not _claim(engine, session):
        return None
    here = continuity_files(engine, engine.home, session.project)
    source = ContinuitySource(SourceChoice.PRIMARY, session.harness, Path(session.transcript), session.key)
    return save(engine, here, SaveTask(AuditScope.BOTH, source, AuditTrigger.WRAPPER), means)


def auto_save_latest(engine: Engine, project: Project, since: int, means: Means) -> SaveOutcome | None:
    """Save the project's latest primary session, if it was active since then and the settings ask for it."""
    session = continuity_source.primary(engine, project)
    if session is None or session.changed_at < since or not _is_enabled(engine, session):
        return None
    return auto_save(engine, session, means)


def _is_enabled(engine: Engine, session: Session) -> bool:
    return (
        bool(session.transcript)
        and not engine.is_stopped(session.project)
        and engine.config(session.project).continuity.auto_save
        and continuity_source.is_primary(engine, session)
    )


def _claim(engine: Engine, session: Session) -> bool:
    """Whether this process is to save the session; noted first, so that a failure is not retried for ever."""
    with engine.store.writing():
        saved_until = _saved_until(engine)
        if saved_until.pop(_session_hash(session), 0) >= session.changed_at:
            return False
        latest = dict([*saved_until.items(), (_session_hash(session), session.changed_at)][-NOTED:])
        engine.store.put_fact(SAVED, msgspec.json.encode(latest).decode())
    return True


def _session_hash(session: Session) -> str:
    """A hash of the session's key, so that nothing here reveals a forgotten session."""
    return hashlib.sha256(session.key.encode()).hexdigest()[:16]


def _saved_until(engine: Engine) -> dict[str, int]:
    fact = engine.store.fact(SAVED)
    return msgspec.json.decode(fact, type=dict[str, int]) if fact else {}
