"""Prompts: what of a text in the user's role a person typed, and what Gemini CLI or a hook put there.

What a hook says stands between two marks, with its own brackets escaped. Whether a record may hold a prompt
at all is for `transcript` to say.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from holdfast.core.events.fence import is_ours, without_ours

_HOOK = re.compile(r"<hook_context>(?P<said>.*?)</hook_context>\s*", re.DOTALL)
_NOT_TYPED = re.compile(
    r"\s*(?:<session_context>|<state_snapshot>|Please continue\.\s*\Z"
    r"|Here is (?:the user's editor context|a summary of changes in the user's editor context))"
)
_REFERENCED = "--- Content from referenced files ---"
_WORKSPACE = re.compile(r"^- \*\*Workspace Directories:\*\*\n +- (?P<folder>[^\n]+)", re.MULTILINE)


def typed(blocks: Iterable[str]) -> str:
    """What a person typed of these blocks of text; empty where nobody did."""
    words = (without_hooks(block).partition(_REFERENCED)[0] for block in blocks)
    return "\n".join(one.strip() for one in words if one.strip() and not _NOT_TYPED.match(one))


def without_hooks(said: str) -> str:
    """The text without what hooks put into it, and without our own words."""
    return without_ours(_HOOK.sub("", said) if "<hook_context>" in said else said)


def brief_in(said: str) -> str:
    """What we had put into a text by a hook; empty where nothing of ours is in it."""
    hooks = (html.unescape(found["said"]) for found in _HOOK.finditer(said))
    return "\n".join(one for one in hooks if is_ours(one))


def workspace_in(said: str) -> str:
    """The directory that the session works in, as its first message says; empty in any other."""
    found = _WORKSPACE.search(said) if said.startswith("<session_context>") else None
    return found["folder"].strip() if found else ""
