"""Hooks: parse Claude Code's hook events and status requests, and write its replies.

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
from holdfast.harnesses.base import Ask, Envelope, HookEvent, StatusInput
from holdfast.harnesses.claude_code import setup
from holdfast.harnesses.claude_code.records import summary_of, typed_text
from holdfast.harnesses.fields import capped, count, items, mapping, read_object, text
from holdfast.harnesses.hook_payload import HookContent, SessionPayload

HOOK_VARIABLES = (
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    *setup.AUTO_COMPACT_VARIABLES,
)
RARELY_ANSWERED = ("Stop", "PostCompact", "SessionEnd")
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
    prompt = typed_text(payload.text("prompt", "user_prompt", "userPrompt"))
    if not prompt:
        return ()
    turn = payload.text("prompt_id", "promptId")
    return (Prompt(**payload.common("hook", Origin.HUMAN), text=prompt, turn=turn),)


def _outputs(payload: SessionPayload) -> Iterator[ToolReturned]:
    """The results of a batch of tools; the transcript says more exactly how each ended."""
    for call in map(mapping, items(payload.fields.get("tool_calls"))):
        response, id = text(call, "tool_response"), text(call, "tool_use_id")
        common = payload.common(f"hook:{id}", Origin.TOOL)
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


def parse_status(payload: bytes) -> StatusInput | Skipped:
    """Parse the report; the window is the model's whole one, even if the session may use only a part."""
    fields = read_object(payload, "status line")
    if isinstance(fields, Skipped):
        return fields
    session = text(fields, "session_id", "sessionId")
    if not session:
        return Skipped("no session id", "status line")
    window = mapping(fields.get("context_window"))
    usage = mapping(window.get("current_usage"))
    return StatusInput(
        session=session,
        cwd=text(mapping(fields.get("workspace")), "project_dir") or text(fields, "cwd"),
        used=sum(_number(usage.get(name)) for name in _COUNTS),
        window=_number(window.get("context_window_size")),
    )


_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def _number(value: object) -> int:
    return count(value) if isinstance(value, int | float) and value == value else 0  # noqa: PLR0124 - NaN
