"""Continuity source: which transcript continuity is generated from.

If the source with the highest precedence cannot be read, that is an error: silently using another would
replace the continuity with something else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from holdfast import harnesses
from holdfast.config import excluded
from holdfast.core.documents.continuity_log import AuditEntry, AuditScope, entry_of, latest_entry
from holdfast.core.events.event import Event
from holdfast.core.events.world import Project
from holdfast.core.session.session import Session
from holdfast.engine.engine import Engine
from holdfast.engine.recording.preview import (
    EVERY,
    fold,
    is_transcript_of,
    session_and_events,
    transcript_file,
)
from holdfast.engine.repository import projects
from holdfast.errors import HoldfastError, TranscriptUnreadable
from holdfast.files import atomic
from holdfast.harnesses.base import KeptInRows, Reader, file_extent
from holdfast.lazy_dataclass import dataclass

SESSIONS_SEARCHED = 200
TRANSCRIPTS_LOOKED_AT = 500
HEAD_BYTES = 1 << 16
"""How much of a transcript is read to find its project."""
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


class SourceChoice(StrEnum):
    """Why this transcript was chosen."""

    EXPLICIT = "explicit-rollout"
    MARKER = "pending-recovery-marker"
    AUDIT = "latest-audit-entry"
    PRIMARY = "latest-primary-rollout"


@dataclass(frozen=True, slots=True)
class ContinuitySource:
    """A transcript, its harness, and why it was chosen."""

    choice: SourceChoice
    harness: str
    transcript: Path
    session: str


@dataclass(frozen=True, slots=True)
class Marker:
    """A generation that is missing in the audit log, and the file that notes it."""

    path: Path
    entry: AuditEntry
    reason: str


def source_named(transcript: Path, harness: str) -> ContinuitySource:
    """The transcript that the user named; its harness is detected if they did not say."""
    # Absolute, because the audit log does not say from which directory it was named.
    transcript = transcript.absolute()
    transcript_file(transcript)
    if harness:
        return ContinuitySource(
            SourceChoice.EXPLICIT, harnesses.reader(harness).name, transcript, transcript.stem
        )
    for name in harnesses.readable():
        if is_transcript_of(harnesses.reader(name), transcript):
            return ContinuitySource(SourceChoice.EXPLICIT, name, transcript, transcript.stem)
    raise TranscriptUnreadable(
        f"`{transcript}` is not a transcript that can be read", "name the harness with --harness"
    )


def latest_primary(
    engine: Engine, project: Project, environment: Mapping[str, str] = NO_VARIABLES
) -> ContinuitySource:
    """The transcript of the project's latest primary session, even if no hook ever reported it."""
    session = primary(engine, project)
    source = (
        ContinuitySource(SourceChoice.PRIMARY, session.harness, Path(session.transcript), session.key)
        if session
        else None
    )
    since = _changed_at(harnesses.reader(source.harness), source.transcript) if source else 0
    latest_source = _on_disk(engine, project, environment, since) or source
    if latest_source is None:
        raise HoldfastError("no session of this project is known", "name a transcript with --transcript FILE")
    return latest_source


def _on_disk(
    engine: Engine, project: Project, environment: Mapping[str, str], since: int
) -> ContinuitySource | None:
    """The newest transcript on disk of a session in this worktree, else in this project.

    Only those that changed after that time, of sessions that are neither stored nor forgotten.
    """
    config = engine.config(project)
    if not config.continuity.enabled or excluded(config, project.normalized):
        return None
    elsewhere: ContinuitySource | None = None
    for harness, path in _newest_transcripts(engine.user_home, environment, since)[:TRANSCRIPTS_LOOKED_AT]:
        key = harness.session_of(path)
        # A transcript that points to its beginning in another one is a fork.
        if not key or engine.store.session(key) or engine.store.forgotten_at(key):
            continue
        if harness.earlier_transcripts(path):
            continue
        cwd = harness.read_transcript(path, key, "", HEAD_BYTES).cwd
        there = projects.resolve(engine.store, cwd).project
        if there.project_id != project.project_id:
            continue
        source = ContinuitySource(SourceChoice.PRIMARY, harness.name, path, key)
        if there.worktree_id == project.worktree_id:
            return source
        elsewhere = elsewhere or source
    return elsewhere


def _newest_transcripts(
    user_home: Path, environment: Mapping[str, str], since: int
) -> list[tuple[Reader, Path]]:
    """The transcripts of this user's harnesses that changed after that time, the newest first."""
    dated = [
        (changed_at, harness, path)
        for harness in map(harnesses.reader, harnesses.readable())
        for root in harness.transcript_roots(user_home, environment)
        for path in harness.transcripts(root)
        if (changed_at := _changed_at(harness, path)) > since
    ]
    return [(harness, path) for _, harness, path in sorted(dated, key=lambda one: one[0], reverse=True)]


def _changed_at(harness: Reader, path: Path) -> int:
    """When a transcript was last written; 0 if it is gone."""
    extent = harness.extent(path) if isinstance(harness, KeptInRows) else file_extent(path)
    return extent.changed_at if extent else 0


def primary(engine: Engine, project: Project) -> Session | None:
    """The project's latest primary session that has a transcript, in this worktree if there is one."""
    sessions = engine.store.sessions_of_project(project.project_id, 0, SESSIONS_SEARCHED)
    candidates = [session for session in sessions if session.transcript and is_primary(engine, session)]
    here = [session for session in candidates if session.project.worktree_id == project.worktree_id]
    return next(iter(here or candidates), None)


def is_primary(engine: Engine, session: Session) -> bool:
    """Whether a session is not a fork."""
    lineage = engine.store.lineage(session.key)
    return lineage is None or lineage.kind != "fork"


def trusted_source(
    engine: Engine,
    project: Project,
    scope: AuditScope,
    markers: Iterable[Marker],
    log: Iterable[AuditEntry],
    environment: Mapping[str, str] = NO_VARIABLES,
) -> ContinuitySource:
    """The source of the present continuity, by the last log entry or marker for exactly these layers."""
    pending = [marker for marker in markers if marker.entry.scope is scope]
    if pending:
        newest = max(pending, key=lambda marker: marker.entry.at)
        return _source_of(SourceChoice.MARKER, newest.entry)
    entry = latest_entry(log, scope)
    return _source_of(SourceChoice.AUDIT, entry) if entry else latest_primary(engine, project, environment)


def read(engine: Engine, source: ContinuitySource, project: Project) -> Session:
    """The session in the source, as work in this project.

    For the project's latest session, the stored state replaces a transcript that is gone.
    """
    harness = harnesses.reader(source.harness)
    try:
        folded = fold(harness, source.transcript, source.session)
    except TranscriptUnreadable as error:
        if source.choice in (SourceChoice.MARKER, SourceChoice.AUDIT):
            raise TranscriptUnreadable(
                f"{error.message}; the {source.choice} names it",
                "name another transcript with --transcript FILE",
            ) from error
        stored_session = (
            engine.store.session(source.session) if source.choice is SourceChoice.PRIMARY else None
        )
        if stored_session is None or stored_session.trail.is_empty():
            raise
        folded = stored_session
    return replace(folded, project=project)


def events(engine: Engine, source: ContinuitySource) -> tuple[Event, ...]:
    """The events of the session in the source, oldest first; stored ones if the transcript is gone."""
    try:
        return session_and_events(harnesses.reader(source.harness), source.transcript, source.session)[1]
    except TranscriptUnreadable:
        if source.choice is not SourceChoice.PRIMARY:
            raise
        return tuple(engine.store.events(source.session, EVERY))


def _source_of(choice: SourceChoice, entry: AuditEntry) -> ContinuitySource:
    return ContinuitySource(choice, entry.harness, Path(entry.transcript), entry.session)


def markers(folder: Path) -> list[Marker]:
    """The markers of generations missing in the audit log, one for each source and set of layers."""
    all_markers: list[Marker] = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        content = json.loads(atomic.read(path) or b"{}")
        entry = entry_of(content.get("entry", {}))
        if entry is not None:
            all_markers.append(Marker(path, entry, str(content.get("reason", ""))))
    return all_markers


def mark(folder: Path, entry: AuditEntry, reason: str) -> Marker:
    """Leave a marker for a generation missing in the log; it replaces an earlier one of the same source."""
    path = folder / f"{hashlib.sha256('|'.join(entry.source).encode()).hexdigest()[:16]}.json"
    atomic.write(path, json.dumps({"reason": reason, "entry": entry.as_json()}).encode())
    return Marker(path, entry, reason)


def unmark(folder: Path, entry: AuditEntry) -> None:
    """Remove the markers that this generation supersedes; those of other sources stay."""
    for marker in markers(folder):
        if marker.entry.source == entry.source:
            atomic.remove(marker.path)
