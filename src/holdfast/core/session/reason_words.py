"""The words in which a person reads why a checkpoint was taken or a brief was given."""

from __future__ import annotations

from typing import Final

_TRIGGERS: Final = {
    "periodic": "as time passed",
    "threshold": "the window filled",
    "pre_compaction": "before a compaction",
    "agent": "the agent's digest",
    "explicit": "you asked",
    "session_end": "the session ended",
    "clear": "before /clear",
    "orphan": "its program vanished",
}
_REASONS: Final = {
    "compact": "after a compaction",
    "late": "late, after a compaction",
    "startup": "at a start",
    "clear": "after /clear",
    "resume": "on resuming",
    "fork": "in a fork",
    "summary": "to guide the harness's summary",
    "parallel": "beside another session",
    "asked": "the agent asked",
    "recall": "memories for a prompt",
}


def trigger_words(trigger: str) -> str:
    """Why a checkpoint was taken."""
    return _TRIGGERS.get(trigger, trigger)


def reason_words(reason: str) -> str:
    """Why a brief was given, or by what a session continues another one."""
    return _REASONS.get(reason, reason)
