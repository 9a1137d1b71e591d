"""Anthropic's Messages API as OpenClaw speaks it: one more wire format of the model server.

OpenClaw is told a base URL of its own, so that its requests are known by their path.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.clients.model_server import AnthropicMessages, Request, plain_text

BASE: Final = "/openclaw"
MEMORY: Final = "memory"
"""Who asks when it has its agent write notes before a compaction: a turn that nobody sees."""


class OpenClawMessages(AnthropicMessages):
    """Requests do not name their session: a summary and the notes before one are known by what they say."""

    _SUMMARY_MARKS: Final = ("You are a context summarization assistant",)
    _MEMORY_MARK: Final = "Pre-compaction memory flush."

    def read(self, request: Request) -> Request | None:
        if request.path.partition("?")[0] != f"{BASE}/v1/messages":
            return None
        compaction = any(mark in plain_text(request.body.get("system")) for mark in self._SUMMARY_MARKS)
        asked = plain_text([said for said in request.body.get("messages", []) if said["role"] == "user"][-1:])
        return replace(
            request,
            subagent=MEMORY if self._MEMORY_MARK in asked else "",
            turn=not compaction,
            compaction=compaction,
        )

    def summary(self, text: str) -> str:
        return text
