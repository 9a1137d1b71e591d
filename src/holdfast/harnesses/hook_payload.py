"""Letters: what the JSON letters of several harnesses have in common.

Each names its session and its event, and many name both alike. What an event means is for each harness to
say; nothing here looks at a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from holdfast.core.events.event import (
    AssistantText,
    Compacted,
    CompactionImminent,
    Event,
    ModelChanged,
    Origin,
    SessionEnded,
    SessionStarted,
    Sign,
    Skipped,
    Source,
    TurnEnded,
)
from holdfast.core.events.fence import without_ours
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.fields import read_object, text
from holdfast.harnesses.frame import Common, Frame
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SessionPayload:
    """A letter that names its session."""

    session: str
    fields: Mapping[str, object]
    envelope: Envelope

    @property
    def event(self) -> str:
        return self.text("hook_event_name", "hookEventName")

    @property
    def previous(self) -> str:
        """The session that this one is said to continue."""
        return self.text("previousSessionKey", "previous_session_key") or self.envelope.previous

    @property
    def transcript(self) -> str:
        return self.text("transcript_path", "transcriptPath")

    def text(self, *names: str) -> str:
        return text(self.fields, *names)

    def common(self, kind: str, origin: Origin = Origin.HARNESS) -> Common:
        """The arguments of an event that this letter tells; one letter tells at most one of each kind."""
        frame = Frame(self.session, self.envelope.id, self.envelope.at)
        return frame.told(origin, f"{kind}:{self.envelope.id}")


@dataclass(frozen=True, slots=True)
class HookContent:
    """What one letter says beside where it comes from."""

    ask: Ask = Ask.NOTHING
    events: tuple[Event, ...] = ()
    stand_ins: tuple[Event, ...] = ()
    source: Source | None = None


def opened(raw: bytes, envelope: Envelope) -> SessionPayload | Skipped:
    """The letter in these bytes."""
    fields = read_object(raw, "letter")
    if isinstance(fields, Skipped):
        return fields
    session = text(fields, "session_id", "sessionId", "session_key", "sessionKey")
    return SessionPayload(session, fields, envelope) if session else Skipped("no session id", "letter")


def hook_event(
    raw: bytes, envelope: Envelope, said: Callable[[SessionPayload], HookContent]
) -> HookEvent | Skipped:
    """What a letter says that names its own directory and transcript; `said` knows the harness's events."""
    payload = opened(raw, envelope)
    if isinstance(payload, Skipped):
        return payload
    return understood(payload, said(payload), payload.text("cwd"), payload.transcript)


def understood(payload: SessionPayload, said: HookContent, cwd: str, transcript: str) -> HookEvent:
    """The letter, understood."""
    return HookEvent(
        session=payload.session,
        cwd=cwd,
        transcript=transcript,
        ask=said.ask,
        events=said.events,
        stand_ins=said.stand_ins,
        source=said.source,
        previous=payload.previous,
    )


MOMENTS: Final[Mapping[Ask, str]] = {
    Ask.START: "SessionStart",
    Ask.PROMPT: "UserPromptSubmit",
    Ask.STOP: "Stop",
    Ask.TOOLS: "PostToolBatch",
}
"""When something can be put before the model, and what most harnesses call that."""


OUR_MOMENTS: Final[Mapping[Ask, str]] = {
    Ask.START: "SessionStart",
    Ask.PROMPT: "UserPromptSubmit",
    Ask.REQUEST: "Request",
    Ask.COMPACTION: "PreCompact",
}
"""The same for letters that a plugin of ours writes: it can put something into each request."""


def context(hook_event: HookEvent, brief: str, moments: Mapping[Ask, str] = MOMENTS) -> bytes:
    """The answer that puts a text before the model at one of these moments; empty where nothing can be."""
    event = moments.get(hook_event.ask)
    if event is None or not brief:
        return b""
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": event, "additionalContext": brief}})


def go_on(reason: str) -> bytes:
    """The answer that keeps an agent from stopping and tells it why; empty without a reason."""
    return msgspec.json.encode({"decision": "block", "reason": reason}) if reason else b""


def started(payload: SessionPayload) -> HookContent:
    """A session starts, anew or again."""
    named = payload.text("source")
    source = Source(named) if named in frozenset(Source) else Source.STARTUP
    start = SessionStarted(
        **payload.common("start"), source=source, model=payload.text("model"), previous=payload.previous
    )
    events: tuple[Event, ...] = (start,)
    if source is Source.COMPACT:
        events = (start, Compacted(**payload.common("compacted"), sign=Sign.START))
    return HookContent(Ask.START, events, source=source)


def model_at_work(payload: SessionPayload, window: int) -> tuple[Event, ...]:
    """Which model answers and how many tokens it holds, where the letter says both."""
    model = payload.text("model")
    return (ModelChanged(**payload.common("model"), model=model, window=window),) if model and window else ()


def turn_ended(payload: SessionPayload) -> HookContent:
    """The agent stopped, and these were its last words. One that a hook just had go on may stop now."""
    ask = Ask.NOTHING if payload.fields.get("stop_hook_active") is True else Ask.STOP
    words = without_ours(payload.text("last_assistant_message")).strip()
    said = (AssistantText(**payload.common("letter", Origin.ASSISTANT), text=words),) if words else ()
    return HookContent(ask, events=(TurnEnded(**payload.common("stop")),), stand_ins=said)


def imminent(payload: SessionPayload, trigger: str = "") -> CompactionImminent:
    """A compaction is about to come; the letter may bring what the runtime or the user has to say to it."""
    return CompactionImminent(
        **payload.common("imminent"),
        trigger=payload.text("trigger") or trigger,
        instructions=without_ours(payload.text("custom_instructions", "customInstructions")),
        session_context=without_ours(payload.text("sessionContext", "session_context")),
    )


def session_ended(payload: SessionPayload) -> HookContent:
    """The session is over."""
    return HookContent(
        events=(SessionEnded(**payload.common("end"), reason=payload.text("reason") or "other"),)
    )


def prompted(event: str, session: str, cwd: str, prompt: str) -> bytes:
    """A prompt's letter, of a harness that calls it by this name."""
    return msgspec.json.encode(
        {"hook_event_name": event, "session_id": session, "cwd": cwd, "prompt": prompt}
    )


def rehearsal(event: str, first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
    """Letters such as a harness writes that calls a prompt by this name, over a `/clear`."""
    return (
        prompted(event, first, cwd, prompt),
        msgspec.json.encode(
            {"hook_event_name": "SessionEnd", "session_id": first, "cwd": cwd, "reason": "clear"}
        ),
        msgspec.json.encode(
            {"hook_event_name": "SessionStart", "session_id": second, "cwd": cwd, "source": "clear"}
        ),
    )


def farewell(session: str, transcript: str, cwd: str) -> bytes:
    """The letter that such a harness writes when a session ends."""
    fields = {"session_id": session, "transcript_path": transcript, "cwd": cwd, "reason": "other"}
    return msgspec.json.encode({"hook_event_name": "SessionEnd", **fields})
