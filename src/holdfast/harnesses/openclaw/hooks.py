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


def parse_hook(payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
    """What a letter says; an event that we do not know is heard too, as a bell that says to look."""
    return hook_payload.hook_event(payload, envelope, _said)


def render_reply(hook_event: HookEvent, brief: str) -> bytes:
    """What the plugin gets, and puts where the moment allows."""
    return hook_payload.context(hook_event, brief, hook_payload.OUR_MOMENTS)


def _said(payload: SessionPayload) -> HookContent:
    match payload.event:
        case "SessionStart":
            return hook_payload.started(payload)
        case "UserPromptSubmit":
            return HookContent(Ask.PROMPT, stand_ins=_prompt(payload))
        case "Request":
            return HookContent(Ask.REQUEST)
        case "PreCompact":
            return HookContent(Ask.COMPACTION, events=(_imminent(payload),))
        case "PreToolUse":
            return HookContent(events=_calling(payload))
        case "Stop":
            model = hook_payload.model_at_work(payload, tokens(payload.fields.get("window")))
            return HookContent(events=(TurnEnded(**payload.common("stop")), *model))
        case "SessionEnd":
            return hook_payload.session_ended(payload)
        case _:
            return HookContent()


def _imminent(payload: SessionPayload) -> CompactionImminent:
    """A compaction is announced twice where OpenClaw compacts by itself; its size makes it one."""
    size = payload.text("prompt_id")
    announced = hook_payload.imminent(payload)
    return replace(announced, record=f"imminent:{size}") if size else announced


def _prompt(payload: SessionPayload) -> tuple[Event, ...]:
    prompt = prompts.typed(payload.text("prompt"))
    return (Prompt(**payload.common("letter", Origin.HUMAN), text=prompt),) if prompt else ()


def _calling(payload: SessionPayload) -> tuple[Event, ...]:
    """The call of one of our own tools, before it reaches us; the database will show how it ended."""
    tool, call = payload.text("tool_name"), payload.text("tool_use_id")
    if not call or not is_own_tool(tool):
        return ()
    common = payload.common("calling", Origin.ASSISTANT)
    return (ToolCalled(**common, call=call, tool=tool, action=Action.OTHER),)
