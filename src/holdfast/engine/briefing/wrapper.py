"""Wrapper: what a program that starts a harness does before and after it, if the user's settings ask for it.

A harness with hooks gets the continuity with its brief. The text given here is for one without, so that no
start gets anything twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from holdfast.core.events.event import Origin, SessionStarted, Source
from holdfast.core.events.world import Project
from holdfast.engine.briefing.resume import ComposedBrief, brief_to_give, next_brief, note_given
from holdfast.engine.documents import continuity, dream
from holdfast.engine.documents.continuity import SaveOutcome
from holdfast.engine.engine import Engine
from holdfast.engine.models import Means
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.recording.transcripts import HEAD_BYTES, UnreadTranscript
from holdfast.errors import HoldfastError
from holdfast.harnesses.base import Harness
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Ready:
    """The text for a session that is about to start, and what could not be done."""

    brief: ComposedBrief | None = None
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text, if there is any."""
        return self.brief.brief.text if self.brief else ""


def before(engine: Engine, project: Project, harness: Harness) -> Ready:
    """Rebuild the candidates if the settings ask for it; returns the text for a start without hooks."""
    config = engine.config(project)
    if config.unreadable is not None:
        return Ready(notes=(config.unreadable.notice,))
    notes: tuple[str, ...] = ()
    if config.dream.auto_build and engine.home is not None:
        try:
            dream.build(engine, continuity.continuity_files(engine, engine.home, project))
        except HoldfastError as error:
            notes = (f"the dream snapshot is as it was: {error.message}",)
    if not config.continuity.auto_load:
        return Ready(notes=notes)
    brief_input = next_brief(engine, project, harness.name)
    brief = brief_to_give(engine, project, brief_input, harness) if brief_input else None
    return Ready(brief, notes)


def begin(
    engine: Engine, project: Project, harness: Harness, ready: Ready, unread: Iterable[UnreadTranscript]
) -> None:
    """Record the start of the session that was given a text, before its transcript is read.

    So it inherits the work as with a hook. It is the first of the unread sessions that began since then; one
    that is older was resumed, and has its own past.
    """
    if ready.brief is None or not ready.text or engine.is_stopped(project):
        return
    since = ready.brief.brief_input.now
    new = [one for one in unread if engine.store.session(one.key) is None]
    started = {one.key: at for one in new if (at := _first_time(harness, one)) >= since}
    if not started:
        return
    key = min(started, key=lambda key: started[key])
    event = SessionStarted(
        session=key, record=START_RECORD, at=since, origin=Origin.HARNESS, source=Source.STARTUP
    )
    arrival = Arrival(session=key, harness=harness.name, project=project, events=(event,))
    note_given(engine, record(engine, arrival).session, ready.brief)


def _first_time(harness: Harness, unread: UnreadTranscript) -> int:
    """When a session began; 0 if its first records do not say."""
    batch = harness.read_transcript(unread.path, unread.key, "", HEAD_BYTES)
    return min((event.at for event in batch.events if event.at), default=0)


START_RECORD: Final = "wrapper:start"
"""The id of the record that stands for the start of a session without hooks."""


def after(engine: Engine, project: Project, since: int, means: Means) -> SaveOutcome | None:
    """Save the harness's session if it was active since then, the settings ask for it and it is not saved."""
    return continuity.auto_save_latest(engine, project, since, means)
