"""Hook payloads: what the JSON hook events of several harnesses have in common.

Each names its session and its event, and many use the same field names. Each harness knows what its events
mean. No file is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from holdfast.core.events.event import (
    AssistantText,
    Compacted,
    CompactionImminent,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    SessionEnded,
    SessionStarted,
    Skipped,
    Source,
    TurnEnded,
)
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.fields import read_object, text
from holdfast.harnesses.record_events import Common, Frame
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SessionPayload:
    """A hook event's JSON that names its session."""

    session: str
    fields: Mapping[str, object]
    envelope: Envelope

    @property
    def event(self) -> str:
        return self.text("hook_event_name", "hookEventName")

    @property
    def previous(self) -> str:
        """The session that this one continues, if the hook event says so."""
        return self.text("previousSessionKey", "previous_session_key") or self.envelope.previous

    @property
    def transcript(self) -> str:
        return self.text("transcript_path", "transcriptPath")

    def text(self, *names: str) -> str:
        return text(self.fields, *names)

    def common(self, kind: str, origin: Origin = Origin.HARNESS) -> Common:
        """The arguments of an event from this hook event, which yields at most one of each kind."""
        frame = Frame(self.session, self.envelope.id, self.envelope.at)
        return frame.common(origin, f"{kind}:{self.envelope.id}")


@dataclass(frozen=True, slots=True)
class HookContent:
    """What one hook event says, apart from where it comes from."""

    ask: Ask = Ask.NOTHING
    events: tuple[Event, ...] = ()
    stand_ins: tuple[Event, ...] = ()
    source: Source | None = None


def opened(raw: bytes, envelope: Envelope) -> SessionPayload | Skipped:
    """Parse a hook event's JSON."""
    fields = read_object(raw, "hook event")
    if isinstance(fields, Skipped):
        return fields
    session = text(fields, "session_id", "sessionId", "session_key", "sessionKey")
    return SessionPayload(session, fields, envelope) if session else Skipped("no session id", "hook event")


def hook_event(
    raw: bytes, envelope: Envelope, read_content: Callable[[SessionPayload], HookContent]
) -> HookEvent | Skipped:
    """Parse a hook event that names its own directory and transcript; `read_content` knows the events."""
    payload = opened(raw, envelope)
    if isinstance(payload, Skipped):
        return payload
    return understood(payload, read_content(payload), payload.text("cwd"), payload.transcript)


def understood(payload: SessionPayload, content: HookContent, cwd: str, transcript: str) -> HookEvent:
    """The hook event with this content."""
    return HookEvent(
        session=payload.session,
        cwd=cwd,
        transcript=transcript,
        ask=content.ask,
        events=content.events,
        stand_ins=content.stand_ins,
        source=content.source,
        previous=payload.previous,
    )


MOMENTS: Final[Mapping[Ask, str]] = {
    Ask.START: "SessionStart",
    Ask.PROMPT: "UserPromptSubmit",
    Ask.STOP: "Stop",
    Ask.TOOLS: "PostToolBatch",
}
"""The moments at which text can be given to the model, and what most harnesses call them."""


OUR_MOMENTS: Final[Mapping[Ask, str]] = {
    Ask.START: "SessionStart",
    Ask.PROMPT: "UserPromptSubmit",
    Ask.REQUEST: "Request",
    Ask.COMPACTION: "PreCompact",
}
"""The same for hook events of Holdfast's plugins, which can add text to each request."""


def context(hook_event: HookEvent, brief: str, moments: Mapping[Ask, str] = MOMENTS) -> bytes:
    """The answer that gives the model a text at one of these moments; empty at any other."""
    event = moments.get(hook_event.ask)
    if event is None or not brief:
        return b""
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": event, "additionalContext": brief}})


def go_on(reason: str) -> bytes:
    """The answer that makes an agent continue and tells it why; empty without a reason."""
    return msgspec.json.encode({"decision": "block", "reason": reason}) if reason else b""


def started(payload: SessionPayload) -> HookContent:
    """A session starts or is resumed."""
    source_name = payload.text("source")
    source = Source(source_name) if source_name in frozenset(Source) else Source.STARTUP
    start = SessionStarted(
        **payload.common("start"), source=source, model=payload.text("model"), previous=payload.previous
    )
    events: tuple[Event, ...] = (start,)
    if source is Source.COMPACT:
        events = (start, Compacted(**payload.common("compacted"), sign=CompactionSign.START))
    return HookContent(Ask.START, events, source=source)


def model_in_use(payload: SessionPayload, window: int) -> tuple[Event, ...]:
    """Which model is in use and its window in tokens, if the hook event says both."""
    model = payload.text("model")
    return (ModelChanged(**payload.common("model"), model=model, window=window),) if model and window else ()


def turn_ended(payload: SessionPayload) -> HookContent:
    """The agent stopped, with its last message. An agent that a hook just made continue may stop now."""
    ask = Ask.NOTHING if payload.fields.get("stop_hook_active") is True else Ask.STOP
    words = without_injected_text(payload.text("last_assistant_message")).strip()
    last_message = (AssistantText(**payload.common("hook", Origin.ASSISTANT), text=words),) if words else ()
    return HookContent(ask, events=(TurnEnded(**payload.common("stop")),), stand_ins=last_message)


def imminent(payload: SessionPayload, trigger: str = "") -> CompactionImminent:
    """A compaction is about to start, with any instructions from the harness or the user."""
    return CompactionImminent(
        **payload.common("imminent"),
        trigger=payload.text("trigger") or trigger,
        instructions=without_injected_text(payload.text("custom_instructions", "customInstructions")),
        session_context=without_injected_text(payload.text("sessionContext", "session_context")),
    )


def session_ended(payload: SessionPayload) -> HookContent:
    """The session is over."""
    return HookContent(
        events=(SessionEnded(**payload.common("end"), reason=payload.text("reason") or "other"),)
    )


def prompted(event: str, session: str, cwd: str, prompt: str) -> bytes:
    """The hook event of a prompt, for a harness that gives it this name."""
    return msgspec.json.encode(
        {"hook_event_name": event, "session_id": session, "cwd": cwd, "prompt": prompt}
    )


def self_test_events(
    first: str, second: str, cwd: str, prompt: str, event: str = "UserPromptSubmit"
) -> tuple[bytes, ...]:
    """The hook events of a session up to and past a `/clear`; `event` is the harness's name for a prompt."""
    return (
        prompted(event, first, cwd, prompt),
        msgspec.json.encode(
            {"hook_event_name": "SessionEnd", "session_id": first, "cwd": cwd, "reason": "clear"}
        ),
        msgspec.json.encode(
            {"hook_event_name": "SessionStart", "session_id": second, "cwd": cwd, "source": "clear"}
        ),
    )


def session_end_event(session: str, transcript: str, cwd: str) -> bytes:
    """The hook event that such a harness sends when a session ends."""
    fields = {"session_id": session, "transcript_path": transcript, "cwd": cwd, "reason": "other"}
    return msgspec.json.encode({"hook_event_name": "SessionEnd", **fields})


def characters(answer: str) -> int:
    """The size of an answer for a harness that counts characters."""
    return len(answer)
