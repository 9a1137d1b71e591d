"""Session score: how one session went on from what was there before it, as it is stored.

How it is counted, `core.evaluation.scores` says.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass


class Start(StrEnum):
    """What a session had when it began, or when it went on after a compaction."""

    RECOVERED = "recovered"
    """A brief."""
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class SessionScore:
    """How one session went: a row of `session_scores`. Counts are over all its beginnings together."""

    session: str
    harness: str
    project_id: str
    scored_at: int
    start: Start
    agent_events: int = 0
    brief_items: int = 0
    """Items of its briefs that name anything by which their use could be seen."""
    brief_items_used: int = 0
    needed: int = 0
    """What was known before, and the agent was the first to name."""
    rediscovered: int = 0
    """What was known before, and a tool or a person had to bring back."""
    novel_context_count: int = 0
    """What nobody had named before, and a tool or a person brought."""
    memories_recalled: int = 0
    """What the agent was told when it asked us, and nobody had named."""
    memories_used: int = 0
    """What of that it then named itself."""
