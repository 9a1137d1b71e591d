"""The tool `handoff`: an agent passes its work on, or picks up another's.

`engine.documents.handoff` writes and verifies handoffs. This module makes the answers for an agent: it cannot
see the user's terminal, may repeat a request that got no answer, and must ask the user before it continues
from a handoff that no longer holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from holdfast.core.session.session import Session
from holdfast.core.text.strings import one_line
from holdfast.core.text.untrusted import fence, from_repository, quoted
from holdfast.core.work.handoff_content import HandoffWords
from holdfast.engine.documents import handoff
from holdfast.engine.documents.handoff import Finding, HandoffFile, Verdict
from holdfast.engine.engine import Engine
from holdfast.engine.tools.caller import Caller
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

SAME_WITHIN_MS: Final = 120_000
"""An agent that got no answer asks the same again; within this time it is the same handoff."""
DOCUMENT_CHARS: Final = 20_000
"""Harnesses cut longer answers at a place of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToHandOff(HandoffWords):
    """The request: a purpose and the agent's words to create a handoff, a name to pick one up."""

    action: Literal["create", "pickup"]
    purpose: str = ""
    name: str = ""
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class HandedOff:
    """The result. A handoff that drifted has no document here until the user has confirmed it."""

    done: bool
    say: str
    name: str
    path: str
    verdict: str = ""
    findings: tuple[str, ...] = ()
    document: str = ""


def hand_off(engine: Engine, caller: Caller, request: ToHandOff) -> HandedOff:
    """Write the calling session's handoff, or pick up another's for it."""
    return (
        _created(engine, caller, request)
        if request.action == "create"
        else _picked_up(engine, caller, request)
    )


def _created(engine: Engine, caller: Caller, request: ToHandOff) -> HandedOff:
    session = caller.session
    if session is None:
        raise HoldfastError(
            f"no session is live in `{caller.project.path}`, so that there is nothing to hand over",
            "ask the user to run `holdfast setup`, which has Holdfast hear of sessions",
        )
    written_file = _just_made(engine, caller, session, request.purpose)
    if written_file is None:
        events = engine.store.events(session.key, handoff.EVENTS_READ)
        written_file = handoff.create(engine, caller.project, session, events, request.purpose, request)
    stem = _stem(written_file)
    say = f"Handoff written: {written_file.path}. Tell the user; the next session picks it up by `{stem}`."
    return HandedOff(done=True, say=say, name=written_file.name, path=str(written_file.path))


def _picked_up(engine: Engine, caller: Caller, request: ToHandOff) -> HandedOff:
    handoff_file = _handoff_named(engine, caller, request.name.strip())
    findings = handoff.verified(caller.project, handoff_file)
    verdict = handoff.verdict(findings)
    if verdict is Verdict.DRIFT and not request.confirm:
        return _answer(
            engine,
            caller,
            handoff_file,
            findings,
            "Not picked up: something is no longer so. Tell the user what drifted and ask whether to go on; "
            f"if so, call again with name `{_stem(handoff_file)}` and confirm true.",
        )
    if not _is_taken_by(handoff_file, caller.session):
        handoff_file = handoff.pick_up(engine, handoff_file, caller.session)
    say = f"Picked up {handoff_file.name}: {verdict}. Tell the user in a line, then begin with its Next Step."
    return _answer(engine, caller, handoff_file, findings, say, document=handoff_file.text)


def _answer(
    engine: Engine,
    caller: Caller,
    handoff_file: HandoffFile,
    findings: Sequence[Finding],
    say: str,
    document: str = "",
) -> HandedOff:
    """The answer about a document, redacted and defanged, because it is data."""
    redact = engine.redactor(caller.project).of_session(handoff_file.head.session)
    text = redact(document)
    if len(text) > DOCUMENT_CHARS:
        text = f"{text[:DOCUMENT_CHARS]}\n(the rest is in {handoff_file.path})"
    return HandedOff(
        done=bool(document),
        say=from_repository(say) if handoff_file.is_tracked else say,
        name=handoff_file.name,
        path=str(handoff_file.path),
        verdict=handoff.verdict(findings),
        findings=tuple(quoted(redact(one_line(finding.line))) for finding in findings),
        document=fence(quoted(text)) if text else "",
    )


def _handoff_named(engine: Engine, caller: Caller, name: str) -> HandoffFile:
    """The handoff with that name; without a name the newest open one, or the one that was just picked up."""
    if name or caller.session is None:
        return handoff.find(caller.project, name)
    mine = [one for one in handoff.every(caller.project) if _is_taken_by(one, caller.session)]
    just_now = [one for one in mine if one.head.taken[0] >= _a_moment_ago(engine)]
    return just_now[0] if just_now else handoff.find(caller.project, "")


def _just_made(engine: Engine, caller: Caller, session: Session, purpose: str) -> HandoffFile | None:
    """The open handoff that this session wrote for the same purpose a moment ago."""
    purpose_line = one_line(engine.redactor(caller.project).of_session(session.key)(purpose))
    for one in handoff.every(caller.project):
        head = one.head
        is_same = (head.session, head.purpose) == (session.key, purpose_line)
        if is_same and head.is_open and head.created >= _a_moment_ago(engine):
            return one
    return None


def _a_moment_ago(engine: Engine) -> str:
    return handoff.iso(engine.clock() - SAME_WITHIN_MS)


def _is_taken_by(handoff_file: HandoffFile, session: Session | None) -> bool:
    return session is not None and handoff_file.head.taken[1] == f"session {session.key}"


def _stem(handoff_file: HandoffFile) -> str:
    return handoff_file.name.removesuffix(".md")
