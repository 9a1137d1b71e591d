"""Wrapper: what a program that starts a harness does before and after it, if the user's settings ask for it.

A harness with hooks gets the continuity with its brief. The text given here is for one without, so that no
start gets anything twice.
"""

from __future__ import annotations

from holdfast.core.events.world import Project
from holdfast.engine.briefing.resume import brief_to_give, next_brief
from holdfast.engine.documents import continuity, dream
from holdfast.engine.documents.continuity import SaveOutcome
from holdfast.engine.engine import Engine
from holdfast.engine.models import Means
from holdfast.errors import HoldfastError
from holdfast.harnesses.base import Harness
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Ready:
    """The text for a session that is about to start, and what could not be done."""

    text: str
    notes: tuple[str, ...] = ()


def before(engine: Engine, project: Project, harness: Harness) -> Ready:
    """Rebuild the candidates if the settings ask for it; returns the text for a start without hooks."""
    config = engine.config(project)
    if config.unreadable is not None:
        return Ready("", (config.unreadable.notice,))
    notes: tuple[str, ...] = ()
    if config.dream.auto_build and engine.home is not None:
        try:
            dream.build(engine, continuity.continuity_files(engine, engine.home, project))
        except HoldfastError as error:
            notes = (f"the dream snapshot is as it was: {error.message}",)
    if not config.continuity.auto_load:
        return Ready("", notes)
    brief_input = next_brief(engine, project, harness.name)
    text = brief_to_give(engine, project, brief_input, harness).brief.text if brief_input else ""
    return Ready(text, notes)


def after(engine: Engine, project: Project, since: int, means: Means) -> SaveOutcome | None:
    """Save the harness's session if it was active since then, the settings ask for it and it is not saved."""
    return continuity.auto_save_latest(engine, project, since, means)
