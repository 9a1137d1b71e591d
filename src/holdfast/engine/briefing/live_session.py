"""At work: what is known of a session while it goes on, for whoever watches it."""

from __future__ import annotations

from holdfast.core.brief.brief_input import Reason, Told
from holdfast.core.brief.compose import Brief
from holdfast.core.brief.startup_block import written
from holdfast.core.session.session import Session
from holdfast.engine.documents.ledger import words_of
from holdfast.engine.engine import Desk
from holdfast.engine.repository.projects import root_now
from holdfast.engine.repository.verify import checked


def would_keep(desk: Desk, session: Session) -> Brief:
    """What the session would be given back if it were compacted now; nothing is kept of having asked."""
    kept, words = desk.harness(session.harness).kept, words_of(desk, session)
    told = Told(Reason.COMPACT, session, desk.clock(), words=words, kept=kept)
    redact = desk.redactor_to_show(session.project).of_session(session.key)
    told = checked(told, redact, root_now(desk.store, session.project))
    return written(told, desk.config(session.project).continuity.recovery_budget_chars)
