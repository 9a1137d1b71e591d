"""Hooks: parse Claude Code's hook events and write its replies.

What only the hook event says becomes events; what the transcript will also say becomes stand-ins, for
sessions without a transcript. No file is read here.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.core.events.event import (
    Compacted,
    CompactionSign,
    Event,
    Origin,
    Prompt,
    Skipped,
    SubagentStarted,
    SubagentStopped,
    ToolReturned,
)
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.claude_code import auto_compact
from holdfast.harnesses.claude_code.prompts import summary_of, typed
from holdfast.harnesses.fields import capped, items, mapping, text
from holdfast.harnesses.hook_payload import HookContent, SessionPayload

CARRIED = (
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    *auto_compact.CARRIED,
)
QUIET = ("Stop", "PostCompact", "SessionEnd")
ANSWER_LIMIT = 10_000
"""UTF-16 units, of which some characters take two."""


def parse_hook(payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
    """Parse a hook event; an unknown one still triggers a read of the transcript."""
    opened = hook_payload.opened(payload, envelope)
    if isinstance(opened, Skipped):
        return opened
    # The hook event's own directory follows every `cd` of the agent; the project's does not.
    cwd = envelope.environment.get("CLAUDE_PROJECT_DIR") or opened.text("cwd")
    return hook_payload.understood(opened, _content(opened), cwd, opened.transcript)


def render_reply(hook_event: HookEvent, brief: str) -> bytes:
    """The hook's answer. A compaction takes only plain text, for its prompt; a session's end takes none."""
    if hook_event.ask is Ask.COMPACTION:
        return brief.encode(errors="replace")
    return hook_payload.context(hook_event, brief)


def answer_size(answer: str) -> int:
    """How many UTF-16 units an answer takes."""
    return len(answer.encode("utf-16-le", "replace")) // 2


def _content(payload: SessionPayload) -> HookContent:
    match payload.event:
        case "SessionStart":
            return hook_payload.started(payload)
        case "UserPromptSubmit":
            return HookContent(Ask.PROMPT, stand_ins=_prompt(payload))
        case "Stop":
            return hook_payload.turn_ended(payload)
        case "PostToolBatch" if not payload.text("agent_id"):
            return HookContent(Ask.TOOLS, stand_ins=tuple(_outputs(payload)))
        case "PreCompact":
            return HookContent(Ask.COMPACTION, (hook_payload.imminent(payload, "auto"),))
        case "PostCompact":
            summary = summary_of(payload.text("compact_summary"))
            return HookContent(
                events=(Compacted(**payload.common("compacted"), sign=CompactionSign.HOOK, summary=summary),)
            )
        case "SessionEnd":
            return hook_payload.session_ended(payload)
        case "SubagentStart" | "SubagentStop" as event:
            return HookContent(stand_ins=_subagent(payload, event))
        case _:
            return HookContent()


def _prompt(payload: SessionPayload) -> tuple[Event, ...]:
    prompt = typed(payload.text("prompt", "user_prompt", "userPrompt"))
    if not prompt:
        return ()
    turn = payload.text("prompt_id", "promptId")
    return (Prompt(**payload.common("letter", Origin.HUMAN), text=prompt, turn=turn),)


def _outputs(payload: SessionPayload) -> Iterator[ToolReturned]:
    """The results of a batch of tools; the transcript says more exactly how each ended."""
    for call in map(mapping, items(payload.fields.get("tool_calls"))):
        response, id = text(call, "tool_response"), text(call, "tool_use_id")
        common = payload.common(f"letter:{id}", Origin.TOOL)
        yield ToolReturned(**common, call=id, ok=True, text=capped(response), size=len(response))


def _subagent(payload: SessionPayload, event: str) -> tuple[Event, ...]:
    agent, kind = payload.text("agent_id"), payload.text("agent_type")
    # An agent without a type is the one that writes a compaction's summary.
    if not agent or not kind:
        return ()
    if event == "SubagentStart":
        return (SubagentStarted(**payload.common("agent", Origin.ASSISTANT), subagent=agent, task=kind),)
    words = capped(without_injected_text(payload.text("last_assistant_message")))
    return (SubagentStopped(**payload.common("agent-end", Origin.TOOL), subagent=agent, text=words),)
