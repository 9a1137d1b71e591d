"""Digest: an agent's own account of its session, on the disk before it is acknowledged.

Stored verbatim, after redaction, as a checkpoint. `engine.tools.caller` finds the session; the core decides
how a brief uses the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from holdfast.core.events.event import DigestGiven, Origin
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Session, Trigger
from holdfast.core.text.untrusted import without_injected_text
from holdfast.engine.engine import Engine
from holdfast.engine.recording.record import Arrival, record
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

LONGEST = 20_000
"""A digest is a few sentences on what must not be lost; the whole history is in the transcript."""
SAME_WITHIN_MS = 120_000
"""An agent that got no answer sends the same again; within this time it is the same digest."""
CHECKPOINTS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Digest:
    """Where the work stands, as the agent sees it; all but the summary may be left out."""

    summary: str
    decisions: tuple[str, ...] = ()
    state: str = ""
    next: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


def give_digest(engine: Engine, session_key: str, digest: Digest) -> Checkpoint:
    """Store a digest durably as a checkpoint; returns the earlier one if the same was just given."""
    session = engine.store.session(session_key)
    if session is None:
        raise HoldfastError(f"there is no session `{session_key}`", "leave the session out to use your own")
    text = _checked(digest)
    redact = engine.redactor(session.project).of_session(session.key)
    return _given_before(engine, session, redact(text)) or _stored(engine, session, text)


def written(digest: Digest) -> str:
    """The digest as one readable text; next steps come early, because a brief may cut the end."""
    return "\n".join(_lines(digest)).strip()


def _checked(digest: Digest) -> str:
    if not _own(digest.summary):
        raise HoldfastError(
            "the summary is empty", "say in a few sentences what was done and where it stands"
        )
    text = written(digest)
    if len(text) > LONGEST:
        raise HoldfastError(
            f"the digest has {len(text):,} characters, and at most {LONGEST:,} are kept",
            "say it shorter: what must not be lost, not everything that happened",
        )
    return text


def _lines(digest: Digest) -> Iterator[str]:
    yield _own(digest.summary)
    if state := _own(digest.state):
        yield f"State: {state}"
    for title, rows in (
        ("Next", digest.next),
        ("Decisions", digest.decisions),
        ("Blockers", digest.blockers),
        ("Open questions", digest.open_questions),
    ):
        lines = [own for row in rows if (own := _own(row))]
        yield from (f"{title}:", *(f"- {row}" for row in lines)) if lines else ()


def _own(text: str) -> str:
    """The agent's own words, without text that Holdfast gave it."""
    return without_injected_text(text).strip()


def _given_before(engine: Engine, session: Session, text: str) -> Checkpoint | None:
    """The agent's newest digest, if it has the same text and is recent."""
    for checkpoint in engine.store.checkpoints_of_session(session.key, CHECKPOINTS_LOOKED_AT):
        if checkpoint.trigger is Trigger.AGENT:
            fresh = engine.clock() - checkpoint.created_at <= SAME_WITHIN_MS
            return checkpoint if fresh and checkpoint.words == text else None
    return None


def _stored(engine: Engine, session: Session, text: str) -> Checkpoint:
    id = engine.new_id()
    event = DigestGiven(
        session=session.key, record=f"agent:{id}", at=engine.clock(), origin=Origin.ASSISTANT, text=text
    )
    arrival = Arrival(session.key, session.harness, session.project, events=(event,))
    # One event takes one checkpoint: this becomes its id.
    record(replace(engine, new_id=lambda: id), arrival)
    checkpoints = engine.store.checkpoints_of_session(session.key, CHECKPOINTS_LOOKED_AT)
    return next(checkpoint for checkpoint in checkpoints if checkpoint.id == id)
