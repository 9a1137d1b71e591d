"""Hooks: parse Gemini CLI's hook events and write its replies.

It sends no event after a compaction, and before every model call one that asks whether it may compact, which
does not mean that it does. So compactions are read from the chat, and the brief goes with the next tool's
output or the next prompt. No file is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import AssistantText, Event, Origin, Prompt, Skipped, Source, TurnEnded
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.gemini.records import typed_text, without_hooks
from holdfast.harnesses.hook_payload import HookContent, SessionPayload

HOOK_VARIABLES = ("GEMINI_SESSION_ID", "GEMINI_CLI_HOME")
RARELY_ANSWERED = ("AfterAgent", "SessionEnd")
ANSWER_LIMIT = 10_000
"""Characters. No limit was found; a longer brief would not be read."""
_MOMENTS: Final[Mapping[Ask, str]] = {
    Ask.START: "SessionStart",
    Ask.PROMPT: "BeforeAgent",
    Ask.TOOLS: "AfterTool",
}


def parse_hook(payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
    """Parse a hook event; an unknown one still triggers a read of the transcript."""
    return hook_payload.hook_event(payload, envelope, _content)


def render_reply(hook_event: HookEvent, brief: str) -> bytes:
    """The hook's answer."""
    return hook_payload.context(hook_event, brief, _MOMENTS)


def self_test_events(first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
    """The hook events of a session with this prompt that is cleared, and of the next, to its first prompt."""
    next_prompt = hook_payload.prompted("BeforeAgent", second, cwd, "Go on.")
    return (*hook_payload.self_test_events(first, second, cwd, prompt, "BeforeAgent"), next_prompt)


def _content(payload: SessionPayload) -> HookContent:
    match payload.event:
        case "SessionStart" if payload.text("source") == Source.CLEAR:
            # It drops text sent now: the brief goes with the first prompt.
            return replace(hook_payload.started(payload), ask=Ask.NOTHING)
        case "SessionStart":
            return hook_payload.started(payload)
        case "BeforeAgent":
            return HookContent(Ask.PROMPT, stand_ins=_prompt(payload))
        case "AfterTool":
            return HookContent(Ask.TOOLS)
        case "AfterAgent":
            return HookContent(events=(TurnEnded(**payload.common("stop")),), stand_ins=_last_words(payload))
        case "PreCompress" if payload.text("trigger") == "manual":
            return HookContent(events=(hook_payload.imminent(payload),))
        case "SessionEnd":
            return hook_payload.session_ended(payload)
        case _:
            return HookContent()


def _prompt(payload: SessionPayload) -> tuple[Event, ...]:
    prompt = typed_text([payload.text("prompt")])
    return (Prompt(**payload.common("hook", Origin.HUMAN), text=prompt),) if prompt else ()


def _last_words(payload: SessionPayload) -> tuple[Event, ...]:
    words = without_hooks(payload.text("prompt_response")).strip()
    return (AssistantText(**payload.common("hook", Origin.ASSISTANT), text=words),) if words else ()
