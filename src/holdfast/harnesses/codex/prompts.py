"""Prompts: separate what the user typed from what Codex added to a text in the user's role.

Newer rollouts say for each block who wrote it; in older ones the text itself must show it. `messages` knows
which records may hold a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.core.text.untrusted import without_injected_text

_NOT_TYPED = re.compile(
    r"\s*(?:"
    r"<(?:environment_context|user_instructions|turn_aborted|turn_context|subagent_notification|skill"
    r"|user_shell_command|user_action|hook_prompt|permissions instructions|collaboration_mode|goal_context"
    r"|internal_model_context|model_switch|personality_spec|skills_instructions|apps_instructions"
    r"|plugins_instructions|recommended_plugins|system-reminder|INSTRUCTIONS)\b[^>]*>"
    r"|# AGENTS\.md instructions\b"
    r"|Another language model started to solve this problem"
    r"|You are performing a CONTEXT CHECKPOINT COMPACTION"
    r"|You were originally given instructions from a user over one or more turns"
    r"|Warning: (?:The maximum number of unified exec processes|apply_patch was requested via)"
    r")",
    re.IGNORECASE,
)
# What editors put before the user's words, and the tags around an image.
_EDITOR = re.compile(r"\A\s*# (?:Context from my IDE setup|Files mentioned by the user)\b")
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*", re.MULTILINE)
_PICTURE = re.compile(r"</?image\b[^<>]*>")
_HANDED_OVER, _INTRODUCED = "Another language model started to solve this problem", "analysis:"


def typed(blocks: Iterable[tuple[str, str]]) -> str:
    """What the user typed in these blocks of text, each with its kind; empty if nothing."""
    texts = [_request(text) for text, kind in blocks if _is_typed(text, kind)]
    return "\n".join(text for text in texts if text)


def summary_of(message: str) -> str:
    """A compaction's summary without its introduction and without Holdfast's own text."""
    _, _, introduced = message.partition(_HANDED_OVER)
    _, _, summary = introduced.partition(_INTRODUCED)
    return without_injected_text(summary or message).strip()


def _is_typed(text: str, kind: str) -> bool:
    if kind in ("", "unknown"):
        return not _NOT_TYPED.match(text)
    return kind.startswith("user.")


def _request(text: str) -> str:
    text = without_injected_text(text)
    if _EDITOR.match(text):
        request_match = _REQUEST.search(text)
        text = text[request_match.end() :] if request_match else ""
    return _PICTURE.sub("", text).strip()
