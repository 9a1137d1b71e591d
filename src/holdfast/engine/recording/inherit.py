"""Inherit: a session that continues another one takes over what still holds of its work.

It is stored in the transaction that also stores why: the receipt of a brief, or the lineage. So it happens
once, however often a start is reported. Which parts are taken over is `core.evidence.lineage`'s work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from holdfast.core.evidence import lineage
from holdfast.core.evidence.trail import Trail
from holdfast.engine.engine import Engine
from holdfast.engine.shared_sessions import session_anywhere

_Inherit: TypeAlias = Callable[[Trail, Trail, str], Trail]


def inherit_work(engine: Engine, heir: str, predecessor: str) -> None:
    """Store with a session what it inherits of its predecessor; called inside a transaction."""
    _inherit(engine, heir, predecessor, lineage.inherit)


def take_over_work(engine: Engine, heir: str, predecessor: str) -> None:
    """The same where the user asked for exactly that work; called inside a transaction."""
    _inherit(engine, heir, predecessor, lineage.take_over)


def inherit_at_fork(engine: Engine, heir: str, parent: str) -> None:
    """The same for a fork, which has the parent's own records already; called inside a transaction."""
    _inherit(
        engine,
        heir,
        parent,
        lambda own, before, key: lineage.inherit(own, lineage.inherited_part(before), key),
    )


def _inherit(engine: Engine, heir: str, predecessor: str, inherit: _Inherit) -> None:
    session = engine.store.session(heir)
    before = session_anywhere(engine, session.project, predecessor) if session else None
    if session is None or before is None or heir == predecessor:
        return
    # A handoff is a file that may have come from anywhere, and it names its session.
    if before.project.project_id != session.project.project_id:
        return
    redactor = engine.redactor(session.project)
    # The predecessor's state may have been redacted by an older version.
    handed_on = lineage.map_texts(before.trail, redactor.of_session(heir))
    trail = inherit(session.trail, handed_on, predecessor)
    engine.store.put_session(replace(session, trail=trail), redactor.mark)
