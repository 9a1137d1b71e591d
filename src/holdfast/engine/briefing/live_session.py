"""Live session: the brief that a running session would get back."""

from __future__ import annotations

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.compose import Brief, compose_for_start
from holdfast.core.session.session import Session
from holdfast.engine.documents.ledger import words_of
from holdfast.engine.engine import Engine
from holdfast.engine.repository.projects import root_now
from holdfast.engine.repository.verify import checked


def would_keep(engine: Engine, session: Session) -> Brief:
    """The brief that the session would get if it were compacted now; nothing is stored."""
    kept, words = engine.harness(session.harness).kept, words_of(engine, session)
    brief_input = BriefInput(Reason.COMPACT, session, engine.clock(), words=words, kept=kept)
    redact = engine.redactor_to_show(session.project).of_session(session.key)
    brief_input = checked(brief_input, redact, root_now(engine.store, session.project))
    return compose_for_start(brief_input, engine.config(session.project).continuity.recovery_budget_chars)
