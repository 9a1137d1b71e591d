"""Hooks: Gemini CLI's letters in, its replies out.

It says nothing when it has compacted, and asks before every model call whether it may: such a question is no
compaction. So the chat tells of one, and the brief goes with the next tool's output or the next prompt.
Nothing here looks at a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import AssistantText, Event, Origin, Prompt, Skipped, Source, TurnEnded
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.gemini.prompts import typed, without_hooks
from holdfast.harnesses.hook_payload import HookContent, SessionPayload

CARRIED = ("GEMINI_SESSION_ID", "GEMINI_CLI_HOME")
QUIET = ("AfterAgent", "SessionEnd")
ANSWER_LIMIT = 10_000
"""Characters. No limit was found; a brief that is longer would be read by nobody."""
_MOMENTS: Final[Mapping[Ask, str]] = {
    Ask.START: "SessionStart",
    Ask.PROMPT: "BeforeAgent",
    Ask.TOOLS: "AfterTool",
}


def parse_hook(payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
    """What a letter says; an event that we do not know is heard too, as a bell that says to look."""
    return hook_payload.hook_event(payload, envelope, _said)


def render_reply(hook_event: HookEvent, brief: str) -> bytes:
    """The hook's answer."""
    return hook_payload.context(hook_event, brief, _MOMENTS)


def rehearsal(first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
    """A session with this prompt that is cleared, and the one that follows up to its first prompt."""
    next_prompt = hook_payload.prompted("BeforeAgent", second, cwd, "Go on.")
    return (*hook_payload.rehearsal("BeforeAgent", first, second, cwd, prompt), next_prompt)


def _said(payload: SessionPayload) -> HookContent:
    match payload.event:
        case "SessionStart" if payload.text("source") == Source.CLEAR:
            # What is said now it drops: the brief goes with the first prompt.
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
    prompt = typed([payload.text("prompt")])
    return (Prompt(**payload.common("letter", Origin.HUMAN), text=prompt),) if prompt else ()


def _last_words(payload: SessionPayload) -> tuple[Event, ...]:
    words = without_hooks(payload.text("prompt_response")).strip()
    return (AssistantText(**payload.common("letter", Origin.ASSISTANT), text=words),) if words else ()
