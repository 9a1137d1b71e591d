"""Hooks: the letters of our plugin in, its replies out.

OpenClaw calls no program. A plugin in its gateway writes a letter for what happens in a session, and carries
the answer into the request: so letters are in our own words, and what they name is in the agent's database.
OpenClaw keeps nothing of what is put into a request, so that one comes before each. Nothing here looks at a
file.
"""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.events.event import (
    Action,
    CompactionImminent,
    Event,
    Origin,
    Prompt,
    Skipped,
    ToolCalled,
    TurnEnded,
)
from holdfast.core.events.fence import is_own_tool
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.fields import tokens
from holdfast.harnesses.hook_payload import HookContent, SessionPayload
from holdfast.harnesses.openclaw import prompts

CARRIED = ("OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH")
ANSWER_LIMIT = 10_000
"""Characters. There is no limit; a brief that is longer would be read by nobody."""


def parse_hook(letter: bytes, envelope: Envelope) -> HookEvent | Skipped:
    """What a letter says; an event that we do not know is heard too, as a bell that says to look."""
    return hook_payload.heard(letter, envelope, _said)


def render_reply(heard: HookEvent, brief: str) -> bytes:
    """What the plugin gets, and puts where the moment allows."""
    return hook_payload.context(heard, brief, hook_payload.OUR_MOMENTS)


def _said(letter: SessionPayload) -> HookContent:
    match letter.event:
        case "SessionStart":
            return hook_payload.started(letter)
        case "UserPromptSubmit":
            return HookContent(Ask.PROMPT, stand_ins=_prompt(letter))
        case "Request":
            return HookContent(Ask.REQUEST)
        case "PreCompact":
            return HookContent(Ask.COMPACTION, events=(_imminent(letter),))
        case "PreToolUse":
            return HookContent(events=_calling(letter))
        case "Stop":
            model = hook_payload.model_at_work(letter, tokens(letter.fields.get("window")))
            return HookContent(events=(TurnEnded(**letter.common("stop")), *model))
        case "SessionEnd":
            return hook_payload.session_ended(letter)
        case _:
            return HookContent()


def _imminent(letter: SessionPayload) -> CompactionImminent:
    """A compaction is announced twice where OpenClaw compacts by itself; its size makes it one."""
    size = letter.text("prompt_id")
    announced = hook_payload.imminent(letter)
    return replace(announced, record=f"imminent:{size}") if size else announced


def _prompt(letter: SessionPayload) -> tuple[Event, ...]:
    prompt = prompts.typed(letter.text("prompt"))
    return (Prompt(**letter.common("letter", Origin.HUMAN), text=prompt),) if prompt else ()


def _calling(letter: SessionPayload) -> tuple[Event, ...]:
    """The call of one of our own tools, before it reaches us; the database will show how it ended."""
    tool, call = letter.text("tool_name"), letter.text("tool_use_id")
    if not call or not is_own_tool(tool):
        return ()
    common = letter.common("calling", Origin.ASSISTANT)
    return (ToolCalled(**common, call=call, tool=tool, action=Action.OTHER),)
