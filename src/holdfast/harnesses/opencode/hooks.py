"""Hooks: parse the hook events of Holdfast's plugin and write its replies.

OpenCode calls no program. A plugin in its own process sends a hook event for what happens in a session, and
adds the answer to the request: so hook events have Holdfast's own format, and what they name is in the
database. OpenCode does not store what is added to a request, so a hook event comes before each. No file is
read here.
"""

from __future__ import annotations

from holdfast.core.events.event import Event, Origin, Prompt, Skipped, TurnEnded
from holdfast.core.text.untrusted import is_own_tool, without_injected_text
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.hook_payload import HookContent, SessionPayload
from holdfast.harnesses.opencode import tools
from holdfast.harnesses.opencode.setup import window
from holdfast.harnesses.record_events import Frame

HOOK_VARIABLES = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "OPENCODE_DB")
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
            return HookContent(
                Ask.REQUEST, events=hook_payload.model_in_use(payload, window(payload.fields.get("limit")))
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
    prompt = without_injected_text(payload.text("prompt")).strip()
    return (Prompt(**payload.common("hook", Origin.HUMAN), text=prompt),) if prompt else ()


def _calling(payload: SessionPayload) -> tuple[Event, ...]:
    """A call of one of Holdfast's tools, before it arrives; the database shows it under the same id."""
    tool, call = payload.text("tool_name"), payload.text("tool_use_id")
    if not call or not is_own_tool(tool):
        return ()
    return (tools.asked(tool, {}, Frame(payload.session, call, payload.envelope.at)),)
