"""The audit log of continuity: one entry for each time that it was generated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from holdfast.core.documents.continuity_summary import Confidence, EvidenceCounts
from holdfast.lazy_dataclass import dataclass


class AuditScope(StrEnum):
    """Which layers were generated."""

    SHARED = "project"
    LOCAL = "project-local"
    BOTH = "both"


class AuditTrigger(StrEnum):
    """What triggered the generation."""

    SAVE = "manual-save"
    REFRESH = "manual-refresh"
    WRAPPER = "wrapper-auto-save"


class WriteMode(StrEnum):
    """Whether the existing content was merged or replaced."""

    MERGE = "merge"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One generation: its trigger, its source, and the files that were written."""

    id: str
    at: int
    scope: AuditScope
    trigger: AuditTrigger
    write_mode: WriteMode
    configured: str
    preferred: str
    actual: str
    fallback: str
    confidence: Confidence
    warnings: tuple[str, ...]
    counts: EvidenceCounts
    transcript: str
    harness: str
    session: str
    written: tuple[str, ...]

    @property
    def source(self) -> tuple[str, str, str]:
        """What identifies the source: transcript, session and layers."""
        return (self.transcript, self.session, self.scope.value)

    def as_json(self) -> dict[str, Any]:
        """The entry as JSON, as it is stored and served."""
        return {
            "id": self.id,
            "generatedAt": self.at,
            "scope": self.scope.value,
            "trigger": self.trigger.value,
            "writeMode": self.write_mode.value,
            "configuredExtractorMode": self.configured,
            "preferredPath": self.preferred,
            "actualPath": self.actual,
            "fallbackReason": self.fallback or None,
            "confidence": self.confidence.value,
            "warnings": list(self.warnings),
            "evidenceCounts": {
                "successfulCommands": self.counts.succeeded,
                "failedCommands": self.counts.failed,
                "fileWrites": self.counts.file_writes,
                "nextSteps": self.counts.next_steps,
                "untried": self.counts.untried,
            },
            "rolloutPath": self.transcript,
            "harness": self.harness,
            "sourceSessionId": self.session,
            "writtenPaths": list(self.written),
        }

    def diagnostics(self) -> dict[str, Any]:
        """The fields that show how reliable the generated content is."""
        fields = self.as_json()
        names = ("preferredPath", "actualPath", "fallbackReason", "confidence", "warnings", "evidenceCounts")
        return {name: fields[name] for name in (*names, "generatedAt", "rolloutPath")}


def entry_of(fields: Mapping[str, Any]) -> AuditEntry | None:
    """The entry in a decoded line of the log; None if the line is not a valid entry."""
    try:
        counts = fields["evidenceCounts"]
        return AuditEntry(
            id=str(fields["id"]),
            at=int(fields["generatedAt"]),
            scope=AuditScope(fields["scope"]),
            trigger=AuditTrigger(fields["trigger"]),
            write_mode=WriteMode(fields["writeMode"]),
            configured=str(fields["configuredExtractorMode"]),
            preferred=str(fields["preferredPath"]),
            actual=str(fields["actualPath"]),
            fallback=str(fields["fallbackReason"] or ""),
            confidence=Confidence(fields["confidence"]),
            warnings=tuple(map(str, fields["warnings"])),
            counts=EvidenceCounts(
                int(counts["successfulCommands"]),
                int(counts["failedCommands"]),
                int(counts["fileWrites"]),
                int(counts["nextSteps"]),
                int(counts["untried"]),
            ),
            transcript=str(fields["rolloutPath"]),
            harness=str(fields["harness"]),
            session=str(fields["sourceSessionId"]),
            written=tuple(map(str, fields["writtenPaths"])),
        )
    except (KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class RepeatedEntry:
    """An entry, and how many similar ones followed each other."""

    entry: AuditEntry
    times: int


def earlier_entries(entries: Sequence[AuditEntry], limit: int) -> list[RepeatedEntry]:
    """The entries before the latest, newest first, with consecutive similar ones combined.

    Entries are similar if they have the same source, trigger, write mode and result: a save and a refresh
    are not.
    """
    groups: list[RepeatedEntry] = []
    for entry in reversed(entries[:-1]):
        if groups and _looks_like(groups[-1].entry, entry):
            groups[-1] = RepeatedEntry(groups[-1].entry, groups[-1].times + 1)
        else:
            groups.append(RepeatedEntry(entry, 1))
    return groups[:limit]


def latest_entry(entries: Iterable[AuditEntry], scope: AuditScope) -> AuditEntry | None:
    """The newest entry for exactly these layers."""
    return next((entry for entry in reversed(list(entries)) if entry.scope is scope), None)


def _looks_like(entry: AuditEntry, other: AuditEntry) -> bool:
    return (
        entry.source == other.source
        and (entry.trigger, entry.write_mode) == (other.trigger, other.write_mode)
        and (entry.actual, entry.fallback, entry.confidence)
        == (other.actual, other.fallback, other.confidence)
    )
