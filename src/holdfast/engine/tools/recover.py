"""Recover: the brief for an agent that asks, and in one sentence where it comes from.

The same brief as after a compaction, in the larger budget of a start. No receipt is stored: which briefs a
session still gets does not depend on what its agent asked for.
"""

from __future__ import annotations

from holdfast.core.brief.compose import Brief, BriefInput, compose_for_start
from holdfast.core.events.world import Project
from holdfast.core.session.session import Session
from holdfast.core.text.strings import elapsed
from holdfast.engine.briefing.resume import brief_when_asked
from holdfast.engine.engine import Engine
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Recovered:
    """A brief, fenced, and a sentence that says where it comes from."""

    text: str
    account: str


def recover(engine: Engine, project: Project, session: Session | None) -> Recovered | None:
    """The brief for this session, or for a new one of the project; None if nothing is stored."""
    brief_input = brief_when_asked(engine, project, session)
    if brief_input is None:
        return None
    brief = compose_for_start(brief_input, engine.config(project).brief.total_chars)
    if not brief.text:
        return None
    redact = engine.redactor(project).of_session(brief_input.session.key)
    return Recovered(redact(brief.text), _account(brief_input, brief))


def _account(brief_input: BriefInput, brief: Brief) -> str:
    rendered = sum(item.rendered for item in brief.items)
    age = elapsed(brief_input.now - brief_input.session.changed_at)
    return (
        f"From session {brief_input.session.key} ({brief_input.session.phase}, last record {age} ago): "
        f"{rendered} items, {len(brief.items) - rendered} left out."
    )
