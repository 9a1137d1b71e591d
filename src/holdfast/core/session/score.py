"""Session score: how well a session continued from earlier work, as stored.

`core.evaluation.scores` does the counting.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass


class Start(StrEnum):
    """What a session was given at its start, or after a compaction."""

    RECOVERED = "recovered"
    """A brief."""
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class SessionScore:
    """The score of one session: a row of `session_scores`. Counts cover all its starts together."""

    session: str
    harness: str
    project_id: str
    scored_at: int
    start: Start
    agent_events: int = 0
    brief_items: int = 0
    """Items of its briefs that name something whose use can be detected."""
    brief_items_used: int = 0
    needed: int = 0
    """Things known before that the agent named first."""
    rediscovered: int = 0
    """Things known before that a tool or the user had to bring up again."""
    novel_context_count: int = 0
    """New things that a tool or the user brought up."""
    memories_recalled: int = 0
    """New things that the agent got from Holdfast's tools."""
    memories_used: int = 0
    """How many of these it then named itself."""


@dataclass(frozen=True, slots=True)
class BriefUse:
    """How many names and files a brief holds, and how many of them the agent then used."""

    names: int
    used: int | None
    """None if it is not known: too little happened after the brief, or it is no longer stored."""
