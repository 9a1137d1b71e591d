"""Recover: what an agent is given back because it asks, and in one sentence where that comes from.

The same brief as after a compaction, in the larger budget of a start. No receipt is kept: what a session is
owed does not depend on what its agent asked for.
"""

from __future__ import annotations

from holdfast.core.brief.compose import Brief, BriefInput
from holdfast.core.brief.startup_block import written
from holdfast.core.events.world import Project
from holdfast.core.session.session import Session
from holdfast.core.text.strings import elapsed
from holdfast.engine.briefing.resume import brief_when_asked
from holdfast.engine.engine import Engine
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Recovered:
    """A brief, fenced, and the account of it in one sentence."""

    text: str
    account: str


def recover(engine: Engine, project: Project, session: Session | None) -> Recovered | None:
    """What this session would be given back, or a new one of the project; None if nothing is kept."""
    told = brief_when_asked(engine, project, session)
    if told is None:
        return None
    brief = written(told, engine.config(project).brief.total_chars)
    if not brief.text:
        return None
    redact = engine.redactor(project).of_session(told.session.key)
    return Recovered(redact(brief.text), _account(told, brief))


def _account(told: BriefInput, brief: Brief) -> str:
    said = sum(item.rendered for item in brief.items)
    age = elapsed(told.now - told.session.changed_at)
    return (
        f"From session {told.session.key} ({told.session.phase}, last record {age} ago): "
        f"{said} items, {len(brief.items) - said} left out."
    )
