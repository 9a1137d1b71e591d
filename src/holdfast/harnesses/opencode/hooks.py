"""Hooks: the letters of our plugin in, its replies out.

OpenCode calls no program. A plugin in its own process writes a letter for what happens in a session, and
carries the answer into the request: so letters are in our own words, and what they name is in the database.
OpenCode keeps nothing of what is put into a request, so that one comes before each. Nothing here looks at a
file.
"""

from __future__ import annotations

from holdfast.core.events.event import Event, Origin, Prompt, Skipped, TurnEnded
from holdfast.core.events.fence import is_own_tool, without_ours
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.hook_payload import HookContent, SessionPayload
from holdfast.harnesses.opencode import tools
from holdfast.harnesses.opencode.auto_compact import window

CARRIED = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "OPENCODE_DB")
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
            return HookContent(
                Ask.REQUEST, events=hook_payload.model_at_work(payload, window(payload.fields.get("limit")))
            )
        case "PreCompact":
            return HookContent(Ask.COMPACTION, events=(hook_payload.imminent(payload),))
        case "PreToolUse":
            return HookContent(events=_calling(payload))
        case "Stop":
            return HookContent(events=(TurnEnded(**payload.common("stop")),))
        case "SessionEnd":
            return hook_payload.session_ended(payload)
        case _:
            return HookContent()


def _prompt(payload: SessionPayload) -> tuple[Event, ...]:
    prompt = without_ours(payload.text("prompt")).strip()
    return (Prompt(**payload.common("letter", Origin.HUMAN), text=prompt),) if prompt else ()


def _calling(payload: SessionPayload) -> tuple[Event, ...]:
    """The call of one of our own tools, before it reaches us; the database shows it under the same id."""
    tool, call = payload.text("tool_name"), payload.text("tool_use_id")
    if not call or not is_own_tool(tool):
        return ()
    return (tools.asked(tool, {}, Frame(payload.session, call, payload.envelope.at)),)
