"""Prompts: separate what the user typed from what Gemini CLI or a hook added to a text in the user's role.

A hook's text stands between two tags, with its own brackets escaped. `transcript` knows which records may
hold a prompt.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from holdfast.core.text.untrusted import has_injected_text, without_injected_text

_HOOK = re.compile(r"<hook_context>(?P<said>.*?)</hook_context>\s*", re.DOTALL)
_NOT_TYPED = re.compile(
    r"\s*(?:<session_context>|<state_snapshot>|Please continue\.\s*\Z"
    r"|Here is (?:the user's editor context|a summary of changes in the user's editor context))"
)
_REFERENCED = "--- Content from referenced files ---"
_WORKSPACE = re.compile(r"^- \*\*Workspace Directories:\*\*\n +- (?P<folder>[^\n]+)", re.MULTILINE)


def typed(blocks: Iterable[str]) -> str:
    """What the user typed in these blocks of text; empty if nothing."""
    words = (without_hooks(block).partition(_REFERENCED)[0] for block in blocks)
    return "\n".join(part.strip() for part in words if part.strip() and not _NOT_TYPED.match(part))


def without_hooks(text: str) -> str:
    """The text without what hooks added, and without Holdfast's own text."""
    return without_injected_text(_HOOK.sub("", text) if "<hook_context>" in text else text)


def brief_in(text: str) -> str:
    """What Holdfast's hook added to a text; empty if it added nothing."""
    hooks = (html.unescape(block["said"]) for block in _HOOK.finditer(text))
    return "\n".join(content for content in hooks if has_injected_text(content))


def workspace_in(text: str) -> str:
    """The directory that the session works in, if this is its first message; empty for any other."""
    workspace = _WORKSPACE.search(text) if text.startswith("<session_context>") else None
    return workspace["folder"].strip() if workspace else ""
