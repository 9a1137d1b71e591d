"""The audit of continuity: an account of every time that it was generated, apart from the Markdown itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from holdfast.core.documents.continuity_summary import Confidence, EvidenceCounts
from holdfast.lazy_dataclass import dataclass


class Scope(StrEnum):
    """Which layers are meant."""

    SHARED = "project"
    LOCAL = "project-local"
    BOTH = "both"


class AuditTrigger(StrEnum):
    """Who had it generated."""

    SAVE = "manual-save"
    REFRESH = "manual-refresh"
    WRAPPER = "wrapper-auto-save"


class WriteMode(StrEnum):
    """Whether what was there was continued or replaced."""

    MERGE = "merge"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One generation: how it came about, from what, and what was written."""

    id: str
    at: int
    scope: Scope
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
        """What makes two records be about the same thing: where from, and for which layers."""
        return (self.transcript, self.session, self.scope.value)

    def as_json(self) -> dict[str, Any]:
        """The entry in the words that other programs know it by."""
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
        """The part of it that says how far it can be relied on."""
        told = self.as_json()
        names = ("preferredPath", "actualPath", "fallbackReason", "confidence", "warnings", "evidenceCounts")
        return {name: told[name] for name in (*names, "generatedAt", "rolloutPath")}


def entry_of(told: Mapping[str, Any]) -> AuditEntry | None:
    """The entry that a line of the log holds; None for a line that holds none."""
    try:
        counts = told["evidenceCounts"]
        return AuditEntry(
            id=str(told["id"]),
            at=int(told["generatedAt"]),
            scope=Scope(told["scope"]),
            trigger=AuditTrigger(told["trigger"]),
            write_mode=WriteMode(told["writeMode"]),
            configured=str(told["configuredExtractorMode"]),
            preferred=str(told["preferredPath"]),
            actual=str(told["actualPath"]),
            fallback=str(told["fallbackReason"] or ""),
            confidence=Confidence(told["confidence"]),
            warnings=tuple(map(str, told["warnings"])),
            counts=EvidenceCounts(
                int(counts["successfulCommands"]),
                int(counts["failedCommands"]),
                int(counts["fileWrites"]),
                int(counts["nextSteps"]),
                int(counts["untried"]),
            ),
            transcript=str(told["rolloutPath"]),
            harness=str(told["harness"]),
            session=str(told["sourceSessionId"]),
            written=tuple(map(str, told["writtenPaths"])),
        )
    except (KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Repeated:
    """An entry, and how many like it came one after another."""

    entry: AuditEntry
    times: int


def prior(entries: Sequence[AuditEntry], limit: int) -> list[Repeated]:
    """The entries before the latest, newest first, with repeats told once.

    Those repeat each other that differ in nothing a reviewer would look at: a save and a refresh do not.
    """
    found: list[Repeated] = []
    for entry in reversed(entries[:-1]):
        if found and _looks_like(found[-1].entry, entry):
            found[-1] = Repeated(found[-1].entry, found[-1].times + 1)
        else:
            found.append(Repeated(entry, 1))
    return found[:limit]


def latest(entries: Iterable[AuditEntry], scope: Scope) -> AuditEntry | None:
    """The newest entry for exactly these layers."""
    return next((entry for entry in reversed(list(entries)) if entry.scope is scope), None)


def _looks_like(one: AuditEntry, other: AuditEntry) -> bool:
    return (
        one.source == other.source
        and (one.trigger, one.write_mode) == (other.trigger, other.write_mode)
        and (one.actual, one.fallback, one.confidence) == (other.actual, other.fallback, other.confidence)
    )
