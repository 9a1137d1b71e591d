"""Anthropic's Messages API as OpenCode speaks it: one more wire format of the model server.

OpenCode is told a base URL of its own, so that its requests are known by their path.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.clients.model_server import Answer, AnthropicMessages, Json, Reply, Request, plain_text

BASE: Final = "/opencode/v1"


class OpenCodeMessages(AnthropicMessages):
    """A turn tells its environment in the system prompt; a title and a summary are asked for without it."""

    _SUMMARY_MARK: Final = "You are a context summarization agent"
    _TURN_MARK: Final = "<env>"

    def read(self, request: Request) -> Request | None:
        if request.path.partition("?")[0] != f"{BASE}/messages":
            return None
        system = plain_text(request.body.get("system"))
        compaction = self._SUMMARY_MARK in system
        parent = request.headers.get("x-parent-session-id", "")
        return replace(
            request,
            session=request.headers.get("x-session-id", ""),
            subagent=request.headers.get("x-session-id", "") if parent else "",
            turn=self._TURN_MARK in system and not compaction,
            compaction=compaction,
        )

    def answer_aside(self, request: Request) -> Answer:
        """A title."""
        return self.render(request, Reply(text="A title"), 0)

    def summary(self, text: str) -> str:
        return text


def system_of(request: Request) -> list[Json]:
    """The blocks of a request's system prompt."""
    system = request.body.get("system")
    return system if isinstance(system, list) else [{"type": "text", "text": system or ""}]
