"""Hooks: parse the hook events of Holdfast's plugin and write its replies.

OpenClaw calls no program. A plugin in its gateway sends a hook event for what happens in a session, and adds
the answer to the request: so hook events have Holdfast's own format, and what they name is in the agent's
database. OpenClaw does not store what is added to a request, so a hook event comes before each. No file is
read here.
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
from holdfast.core.text.untrusted import is_own_tool
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.fields import tokens
from holdfast.harnesses.hook_payload import HookContent, SessionPayload
from holdfast.harnesses.openclaw import records

HOOK_VARIABLES = ("OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH")
ANSWER_LIMIT = 10_000
"""Characters. There is no limit; a longer brief would not be read."""


def parse_hook(payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
    """Parse a hook event; an unknown one still triggers a read of the database."""
    return hook_payload.hook_event(payload, envelope, _content)


def render_reply(hook_event: HookEvent, brief: str) -> bytes:
    """The plugin's answer, which it inserts where this moment allows."""
    return hook_payload.context(hook_event, brief, hook_payload.OUR_MOMENTS)


def _content(payload: SessionPayload) -> HookContent:
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
            model = hook_payload.model_in_use(payload, tokens(payload.fields.get("window")))
            return HookContent(events=(TurnEnded(**payload.common("stop")), *model))
        case "SessionEnd":
            return hook_payload.session_ended(payload)
        case _:
            return HookContent()


def _imminent(payload: SessionPayload) -> CompactionImminent:
    """OpenClaw announces its own compactions twice; the size in the id makes them one event."""
    size = payload.text("prompt_id")
    announced = hook_payload.imminent(payload)
    return replace(announced, record=f"imminent:{size}") if size else announced


def _prompt(payload: SessionPayload) -> tuple[Event, ...]:
    prompt = records.typed_text(payload.text("prompt"))
    return (Prompt(**payload.common("hook", Origin.HUMAN), text=prompt),) if prompt else ()


def _calling(payload: SessionPayload) -> tuple[Event, ...]:
    """A call of one of Holdfast's tools, before it arrives; the database will show how it ended."""
    tool, call = payload.text("tool_name"), payload.text("tool_use_id")
    if not call or not is_own_tool(tool):
        return ()
    common = payload.common("calling", Origin.ASSISTANT)
    return (ToolCalled(**common, call=call, tool=tool, action=Action.OTHER),)
