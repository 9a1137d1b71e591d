"""Hooks: Claude Code's letters in, its replies out.

A letter is one hook's JSON. What it alone tells are events; what the transcript will tell as well are
stand-ins for a session that has none. Nothing here looks at a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from holdfast.core.events import (
    AssistantText,
    Compacted,
    CompactionImminent,
    Event,
    Origin,
    Prompt,
    SessionEnded,
    SessionStarted,
    Sign,
    Skipped,
    Source,
    SubagentStarted,
    SubagentStopped,
    TurnEnded,
)
from holdfast.core.fence import without_ours
from holdfast.harnesses.base import Ask, Envelope, Heard
from holdfast.harnesses.claude_code.prompts import summary_of, typed
from holdfast.harnesses.fields import capped, read_object, text
from holdfast.harnesses.frame import Common, Frame

CARRIED = (
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
)
QUIET = ("Stop", "PostCompact", "SessionEnd")
ANSWER_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class _Letter:
    """A letter that names its session."""

    session: str
    fields: Mapping[str, object]
    envelope: Envelope

    def text(self, *names: str) -> str:
        return text(self.fields, *names)

    def common(self, kind: str, origin: Origin = Origin.HARNESS) -> Common:
        """The arguments of an event that this letter tells; one letter tells at most one of each kind."""
        frame = Frame(self.session, self.envelope.id, self.envelope.at)
        return frame.told(origin, f"{kind}:{self.envelope.id}")


@dataclass(frozen=True, slots=True)
class _Said:
    """What one letter says beside where it comes from."""

    ask: Ask = Ask.NOTHING
    events: tuple[Event, ...] = ()
    stand_ins: tuple[Event, ...] = ()
    source: Source | None = None


def parse_hook(letter: bytes, envelope: Envelope) -> Heard | Skipped:
    """What a letter says; an event that we do not know is heard too, as a bell that says to look."""
    fields = read_object(letter, "letter")
    if isinstance(fields, Skipped):
        return fields
    session = text(fields, "session_id", "sessionId", "session_key", "sessionKey")
    if not session:
        return Skipped("no session id", "letter")
    previous = text(fields, "previousSessionKey", "previous_session_key") or envelope.previous
    said = _said(_Letter(session, fields, envelope), previous)
    return Heard(
        session=session,
        # The letter's own directory follows every `cd` of the agent; the project's does not.
        cwd=envelope.environment.get("CLAUDE_PROJECT_DIR") or text(fields, "cwd"),
        transcript=text(fields, "transcript_path", "transcriptPath"),
        ask=said.ask,
        events=said.events,
        stand_ins=said.stand_ins,
        source=said.source,
        previous=previous,
    )


def render_reply(heard: Heard, brief: str) -> bytes:
    """The hook's answer. A compaction takes plain text only, which joins its prompt; an end takes none."""
    if heard.ask is Ask.COMPACTION:
        return brief.encode(errors="replace")
    event = {Ask.START: "SessionStart", Ask.PROMPT: "UserPromptSubmit"}.get(heard.ask)
    if event is None or not brief:
        return b""
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": event, "additionalContext": brief}})


def _said(letter: _Letter, previous: str) -> _Said:
    match letter.text("hook_event_name", "hookEventName"):
        case "SessionStart":
            return _started(letter, previous)
        case "UserPromptSubmit":
            return _Said(Ask.PROMPT, stand_ins=_prompt(letter))
        case "Stop":
            return _Said(events=(TurnEnded(**letter.common("stop")),), stand_ins=_last_words(letter))
        case "PreCompact":
            return _Said(Ask.COMPACTION, (_imminent(letter),))
        case "PostCompact":
            summary = summary_of(letter.text("compact_summary"))
            return _Said(events=(Compacted(**letter.common("compacted"), sign=Sign.HOOK, summary=summary),))
        case "SessionEnd":
            reason = letter.text("reason") or "other"
            return _Said(events=(SessionEnded(**letter.common("end"), reason=reason),))
        case "SubagentStart" | "SubagentStop" as event:
            return _Said(stand_ins=_subagent(letter, event))
        case _:
            return _Said()


def _started(letter: _Letter, previous: str) -> _Said:
    named = letter.text("source")
    source = Source(named) if named in frozenset(Source) else Source.STARTUP
    start = SessionStarted(
        **letter.common("start"), source=source, model=letter.text("model"), previous=previous
    )
    events: tuple[Event, ...] = (start,)
    if source is Source.COMPACT:
        events = (start, Compacted(**letter.common("compacted"), sign=Sign.START))
    return _Said(Ask.START, events, source=source)


def _prompt(letter: _Letter) -> tuple[Event, ...]:
    prompt = typed(letter.text("prompt", "user_prompt", "userPrompt"))
    if not prompt:
        return ()
    turn = letter.text("prompt_id", "promptId")
    return (Prompt(**letter.common("letter", Origin.HUMAN), text=prompt, turn=turn),)


def _last_words(letter: _Letter) -> tuple[Event, ...]:
    words = without_ours(letter.text("last_assistant_message")).strip()
    return (AssistantText(**letter.common("letter", Origin.ASSISTANT), text=words),) if words else ()


def _imminent(letter: _Letter) -> CompactionImminent:
    return CompactionImminent(
        **letter.common("imminent"),
        trigger=letter.text("trigger") or "auto",
        instructions=without_ours(letter.text("custom_instructions", "customInstructions")),
        session_context=without_ours(letter.text("sessionContext", "session_context")),
    )


def _subagent(letter: _Letter, event: str) -> tuple[Event, ...]:
    agent, kind = letter.text("agent_id"), letter.text("agent_type")
    # An agent without a type is the one that writes a compaction's summary.
    if not agent or not kind:
        return ()
    if event == "SubagentStart":
        return (SubagentStarted(**letter.common("agent", Origin.ASSISTANT), subagent=agent, task=kind),)
    words = capped(without_ours(letter.text("last_assistant_message")))
    return (SubagentStopped(**letter.common("agent-end", Origin.TOOL), subagent=agent, text=words),)
