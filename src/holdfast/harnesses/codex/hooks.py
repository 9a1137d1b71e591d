"""Hooks: parse Codex's hook events and write its replies.

Before a compaction Codex accepts no text; it accepts the brief at the session start that follows. No file is
read here.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from holdfast.core.events.event import Compacted, CompactionSign, Event, Origin, Prompt, Skipped, TurnEnded
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.codex.records import typed_text
from holdfast.harnesses.hook_payload import HookContent, SessionPayload

HOOK_VARIABLES = ("CODEX_HOME",)
RARELY_ANSWERED = ("Stop", "PostCompact", "SessionEnd", "Interrupt")
ANSWER_LIMIT = 10_000
"""Bytes: Codex accepts 2,500 tokens, counts four bytes as one, and cuts the middle out of longer texts."""

_ROLLOUT = re.compile(r"rollout-[0-9T-]+-(?P<thread>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")


def parse_hook(payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
    """Parse a hook event; an unknown one still triggers a read of the transcript."""
    opened = hook_payload.opened(payload, envelope)
    if isinstance(opened, Skipped):
        return opened
    if _is_subagents(opened):
        # It names the session, but its prompt, compaction and file are the subagent's.
        return hook_payload.understood(opened, HookContent(), opened.text("cwd"), "")
    return hook_payload.understood(opened, _content(opened), opened.text("cwd"), opened.transcript)


def render_reply(hook_event: HookEvent, brief: str) -> bytes:
    """The hook's answer; any other field would make Codex reject all of it."""
    return (
        hook_payload.go_on(brief) if hook_event.ask is Ask.STOP else hook_payload.context(hook_event, brief)
    )


def answer_size(answer: str) -> int:
    """How many bytes an answer takes."""
    return len(answer.encode(errors="replace"))


def _is_subagents(payload: SessionPayload) -> bool:
    """Whether a subagent sent the hook event: it names its parent's session as its own."""
    rollout = _ROLLOUT.fullmatch(PurePath(payload.transcript).name)
    return bool(payload.text("agent_id")) or (rollout is not None and rollout["thread"] != payload.session)


def _content(payload: SessionPayload) -> HookContent:
    match payload.event:
        case "SessionStart":
            return hook_payload.started(payload)
        case "UserPromptSubmit":
            return HookContent(Ask.PROMPT, stand_ins=_prompt(payload))
        case "Stop":
            return hook_payload.turn_ended(payload)
        case "Interrupt":
            return HookContent(events=(TurnEnded(**payload.common("stop")),))
        case "PreCompact":
            return HookContent(events=(hook_payload.imminent(payload, "auto"),))
        case "PostCompact":
            return HookContent(events=(Compacted(**payload.common("compacted"), sign=CompactionSign.HOOK),))
        case "SessionEnd":
            return hook_payload.session_ended(payload)
        case _:
            return HookContent()


def _prompt(payload: SessionPayload) -> tuple[Event, ...]:
    prompt = typed_text([(payload.text("prompt"), "")])
    if not prompt:
        return ()
    return (Prompt(**payload.common("hook", Origin.HUMAN), text=prompt, turn=payload.text("turn_id")),)
