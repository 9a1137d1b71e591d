"""Google's Gemini API as Gemini CLI speaks it: one more wire format of the model server."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from tests.clients.model_server import Answer, Json, Refusal, Reply, Request, Usage, plain_text


class GeminiContent:
    """Turns are streamed. What is asked without a stream is a summary, or a small question on the side."""

    _COMPACTION_MARK: Final = "<state_snapshot>"

    def read(self, request: Request) -> Request | None:
        route = request.path.partition("?")[0]
        if not route.startswith("/v1beta/models/"):
            return None
        asked = route.rpartition(":")[2]
        compaction = asked == "generateContent" and self._COMPACTION_MARK in plain_text(
            request.body.get("systemInstruction")
        )
        return replace(request, turn=asked == "streamGenerateContent", compaction=compaction)

    def render(self, request: Request, reply: Reply, number: int) -> Answer:
        parts: list[Json] = [{"text": reply.text}] if reply.text else []
        parts += [
            {"functionCall": {"name": tool.name, "args": dict(tool.arguments), "id": f"call_{number}_{nth}"}}
            for nth, tool in enumerate(reply.calls)
        ]
        content = {"role": "model", "parts": parts}
        whole = {
            "responseId": f"response_{number}",
            "modelVersion": "test-model",
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": self._usage(reply.usage, request),
        }
        if not request.turn:
            return Answer(json.dumps(whole).encode())
        return Answer(f"data: {json.dumps(whole)}\n\n".encode(), content_type="text/event-stream")

    def refuse(self, refusal: Refusal) -> Answer:
        error = {"code": refusal.status, "message": refusal.message, "status": "UNAVAILABLE"}
        return Answer(json.dumps({"error": error}).encode(), status=refusal.status)

    def answer_aside(self, request: Request) -> Answer:
        """A number of tokens, or an answer that means nothing to whoever asked."""
        if request.path.partition("?")[0].endswith(":countTokens"):
            return Answer(json.dumps({"totalTokens": self._estimate(request)}).encode())
        return self.render(request, Reply(text="{}"), 0)

    def summary(self, text: str) -> str:
        return f"<state_snapshot>\n{text}\n</state_snapshot>"

    def _usage(self, usage: Usage, request: Request) -> dict[str, int]:
        fresh = self._estimate(request) if usage.input is None else usage.input
        whole = fresh + usage.cache_read
        return {
            "promptTokenCount": whole,
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": whole + usage.output,
        }

    def _estimate(self, request: Request) -> int:
        return max(1, len(json.dumps(request.body)) // 4)
