"""OpenAI's Responses API as Codex speaks it: one more wire format of the model server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.clients.model_server import Answer, Json, Refusal, Reply, Request, ToolCall, Usage, plain_text


class OpenAIResponses:
    """Responses, always streamed. A compaction is asked for in words, or by an item with an opaque answer."""

    _COMPACTION_MARK: Final = "You are performing a CONTEXT CHECKPOINT COMPACTION"

    def read(self, request: Request) -> Request | None:
        route = request.path.partition("?")[0]
        if route not in ("/v1/responses", "/v1/models"):
            return None
        asked = route == "/v1/responses"
        compaction = asked and (self._is_remote(request) or self._asks_for_summary(request))
        session, thread = (request.headers.get(name, "") for name in ("session-id", "thread-id"))
        return replace(
            request,
            session=session,
            # A subagent has a thread of its own in the session of the agent that started it.
            subagent=thread if thread != session else "",
            turn=asked and not compaction,
            compaction=compaction,
        )

    def render(self, request: Request, reply: Reply, number: int) -> Answer:
        whole = {
            "id": f"resp_{number}",
            "object": "response",
            "model": request.body.get("model"),
            "status": "completed",
            "output": list(self._output(request, reply, number)),
            "usage": self._usage(reply.usage, request),
        }
        frames = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in self._events(whole)]
        return Answer("".join(frames).encode(), content_type="text/event-stream")

    def refuse(self, refusal: Refusal) -> Answer:
        error = {"message": refusal.message, "type": "server_error"}
        return Answer(json.dumps({"error": error}).encode(), status=refusal.status)

    def answer_aside(self, request: Request) -> Answer:
        return Answer(b'{"object": "list", "data": [], "models": []}')

    def summary(self, text: str) -> str:
        return text

    def _is_remote(self, request: Request) -> bool:
        """Whether the vendor itself is to compact, and to answer with what only it can read."""
        return self._input(request)[-1:] == [{"type": "compaction_trigger"}]

    def _asks_for_summary(self, request: Request) -> bool:
        return self._COMPACTION_MARK in plain_text(self._input(request)[-1:])

    def _input(self, request: Request) -> list[Json]:
        found: list[Json] = request.body.get("input", [])
        return found

    def _output(self, request: Request, reply: Reply, number: int) -> Iterator[Json]:
        if self._is_remote(request):
            yield {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": f"opaque {number}"}
            return
        if reply.text:
            content = [{"type": "output_text", "text": reply.text, "annotations": []}]
            said = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
            yield {**said, "status": "completed"}
        for nth, tool in enumerate(reply.calls):
            name = {"call_id": f"call_{number}_{nth}", "status": "completed"}
            yield {**self._called(request, tool), "id": f"fc_{number}_{nth}", **name}

    def _called(self, request: Request, tool: ToolCall) -> Json:
        """A call in the shape that the request asks for: by arguments, by free text, or in a namespace."""
        offered: list[Json] = request.body.get("tools", [])
        if any(one.get("type") == "custom" and one.get("name") == tool.name for one in offered):
            return {"type": "custom_tool_call", "name": tool.name, "input": str(tool.arguments["input"])}
        called: Json = {"type": "function_call", "name": tool.name, "arguments": json.dumps(tool.arguments)}
        spaces = [str(one.get("name")) for one in offered if one.get("type") == "namespace"]
        space = next((one for one in spaces if tool.name.startswith(f"{one}__")), "")
        if space:
            called |= {"namespace": space, "name": tool.name.removeprefix(f"{space}__")}
        return called

    def _usage(self, usage: Usage, request: Request) -> Json:
        fresh = max(1, len(json.dumps(request.body)) // 4) if usage.input is None else usage.input
        whole = fresh + usage.cache_read
        return {
            "input_tokens": whole,
            "input_tokens_details": {"cached_tokens": usage.cache_read},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": whole + usage.output,
        }

    def _events(self, whole: Json) -> Iterator[Json]:
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        yield {"type": "response.created", "response": begun}
        for index, item in enumerate(whole["output"]):
            yield {"type": "response.output_item.added", "output_index": index, "item": _begun(item)}
            if item["type"] == "message":
                said = item["content"][0]["text"]
                place = {"item_id": item["id"], "output_index": index, "content_index": 0}
                yield {"type": "response.output_text.delta", **place, "delta": said}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {"type": "response.completed", "response": whole}


def _begun(item: dict[str, Any]) -> Json:
    """An item as a stream announces it."""
    emptied: Json = {"content": []} if item["type"] == "message" else {}
    return {**item, **emptied, "status": "in_progress"}
