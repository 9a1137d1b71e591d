"""A model server on loopback whose replies a test scripts in advance.

Real harnesses talk to it as to their vendor's API. What it answers is decided by the `Script` that it keeps
for each session; how that looks on the wire is a `Codec`'s work. There is no model in it and it judges
nothing: it says what it was told to say, and remembers everything it was asked.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Protocol, Self, TypeAlias, cast

DEFAULT_TEXT: Final = "(nothing more is scripted)"
POOR_SUMMARY: Final = "The user and the assistant worked on something. Nothing is pending."
HELD_LIMIT_S: Final = 60.0

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts to report; `input=None` means an estimate from the size of the request."""

    input: int | None = None
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0


ESTIMATED: Final = Usage()


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """One assistant message: some text, some tool calls, or both."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = ESTIMATED


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP error in place of a message."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Held:
    """A step that is answered only once `gate` is set, so that a test can act while a turn is under way."""

    gate: threading.Event
    step: Reply | Refusal


Step: TypeAlias = Reply | Refusal | Held
Script: TypeAlias = list[Step]  # what is still to come


def say(text: str, *, usage: Usage = ESTIMATED) -> Reply:
    return Reply(text=text, usage=usage)


def call(tool: str, /, *, usage: Usage = ESTIMATED, **arguments: object) -> Reply:
    return Reply(calls=(ToolCall(tool, arguments),), usage=usage)


def together(*replies: Reply, usage: Usage = ESTIMATED) -> Reply:
    """One assistant message that says and calls what all the given ones do."""
    text = "\n".join(reply.text for reply in replies if reply.text)
    return Reply(text, tuple(tool for reply in replies for tool in reply.calls), usage)


def overflow(tokens: int = 210_000, limit: int = 200_000) -> Refusal:
    """The refusal by which a vendor says that the context window is full."""
    return Refusal(400, f"prompt is too long: {tokens} tokens > {limit} maximum")


def plain_text(value: object) -> str:
    """Every string inside a parsed JSON value, joined with newlines and without JSON's escapes."""
    return "\n".join(_strings(value))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from itertools.chain.from_iterable(map(_strings, value.values()))
    elif isinstance(value, list):
        yield from itertools.chain.from_iterable(map(_strings, value))


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived, header names in lower case, and what its codec read in it.

    A turn takes a step of a script, a compaction the summary. `subagent` is empty for the main agent.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Json
    session: str = ""
    subagent: str = ""
    turn: bool = False
    compaction: bool = False

    @property
    def text(self) -> str:
        return plain_text(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What to put on the wire."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


class Codec(Protocol):
    """One vendor's wire format: it reads requests and renders replies, and decides nothing.

    `read` fills in what a request says of itself, or gives None where it is another vendor's. `number` is
    different for every request, and ids are made of it. `answer_aside` is for what asks for no message, such
    as counting tokens. `summary` gives a text the shape that a compaction request asks for.
    """

    def read(self, request: Request) -> Request | None: ...

    def render(self, request: Request, reply: Reply, number: int) -> Answer: ...

    def refuse(self, refusal: Refusal) -> Answer: ...

    def answer_aside(self, request: Request) -> Answer: ...

    def summary(self, text: str) -> str: ...


class ModelServer:
    """A running server. Use it as a context manager; `url` is what a harness is told to call."""

    def __init__(self, *codecs: Codec) -> None:
        self._codecs = codecs or (AnthropicMessages(),)
        # One lock for all that changes. It is never held while a reply waits for its gate.
        self._news = threading.Condition()
        self._requests: list[Request] = []
        self._shared: Script = []
        self._subagents: Script = []
        self._sessions: dict[str, Script] = {}
        self._gates: list[threading.Event] = []
        self._summary = POOR_SUMMARY
        self._listener = _Listener(self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for gate in self._gates:
            gate.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.server_port}"

    def script(self, *steps: Step, session: str | None = None) -> None:
        """Add steps: for one session, or for all that have no script of their own."""
        with self._news:
            script = self._shared if session is None else self._sessions.setdefault(session, [])
            self._add(script, steps)

    def script_subagents(self, *steps: Step) -> None:
        """Add steps that only subagents take, in the order in which they ask."""
        with self._news:
            self._add(self._subagents, steps)

    def summarize_as(self, text: str) -> None:
        """What compaction requests are answered with from now on."""
        with self._news:
            self._summary = text

    @property
    def requests(self) -> tuple[Request, ...]:
        with self._news:
            return tuple(self._requests)

    def turns(self, session: str | None = None) -> tuple[Request, ...]:
        """The requests that took a step: of one session, or of all."""
        return tuple(seen for seen in self.requests if seen.turn and session in (None, seen.session))

    def compactions(self) -> tuple[Request, ...]:
        return tuple(seen for seen in self.requests if seen.compaction)

    def last(self, session: str | None = None) -> Request:
        """The newest turn."""
        return self.turns(session)[-1]

    def wait_until(self, condition: Callable[[], bool], limit: float = 30.0) -> None:
        """Return once `condition` holds; it is looked at after every request."""
        with self._news:
            if not self._news.wait_for(condition, limit):
                raise TimeoutError(f"not so after {limit} s and {len(self._requests)} requests")

    def unused(self) -> tuple[Step, ...]:
        """The steps that no request has taken, so that a test can say that its whole script was played."""
        with self._news:
            scripts = (self._shared, self._subagents, *self._sessions.values())
            return tuple(step for script in scripts for step in script)

    def answer(self, arrived: Request) -> Answer:
        """Record a request and say what to send back."""
        for codec in self._codecs:
            request = codec.read(arrived)
            if request is not None:
                return self._answer(codec, request)
        with self._news:
            self._record(arrived)
        return Answer(b"{}", status=404)

    def _answer(self, codec: Codec, request: Request) -> Answer:
        with self._news:
            step = self._step(codec, request)
            number = self._record(request)
        if isinstance(step, Held):
            # The limit only keeps a forgotten gate from hanging the harness.
            step.gate.wait(HELD_LIMIT_S)
            step = step.step
        if isinstance(step, Refusal):
            return codec.refuse(step)
        return codec.render(request, step, number) if step else codec.answer_aside(request)

    def _step(self, codec: Codec, request: Request) -> Step | None:
        if request.compaction:
            return say(codec.summary(self._summary))
        if not request.turn:
            return None
        of_session = self._sessions.get(request.session, self._shared)
        script = self._subagents if request.subagent else of_session
        return script.pop(0) if script else say(DEFAULT_TEXT)

    def _record(self, request: Request) -> int:
        self._requests.append(request)
        self._news.notify_all()
        return len(self._requests)

    def _add(self, script: Script, steps: Sequence[Step]) -> None:
        script.extend(steps)
        self._gates.extend(step.gate for step in steps if isinstance(step, Held))


class AnthropicMessages:
    """Anthropic's Messages API, streaming and not, as Claude Code speaks it."""

    _COMPACTION_MARKS: Final = (
        "CRITICAL: Respond with TEXT ONLY",
        "Your task is to create a detailed summary of the conversation so far",
    )
    _ERROR_TYPES: Final = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}

    def read(self, request: Request) -> Request | None:
        route = request.path.partition("?")[0]
        if route not in ("/v1/messages", "/v1/messages/count_tokens"):
            return None
        message = route == "/v1/messages"
        compaction = message and self._asks_for_summary(request.body)
        return replace(
            request,
            session=request.headers.get("x-claude-code-session-id", ""),
            subagent=request.headers.get("x-claude-code-agent-id", ""),
            turn=message and not compaction,
            compaction=compaction,
        )

    def render(self, request: Request, reply: Reply, number: int) -> Answer:
        message = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": request.body.get("model"),
            "content": self._blocks(reply, number),
            "stop_reason": "tool_use" if reply.calls else "end_turn",
            "stop_sequence": None,
            "usage": self._usage(reply.usage, request),
        }
        if not request.body.get("stream"):
            return Answer(json.dumps(message).encode())
        frames = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in self._events(message)]
        return Answer("".join(frames).encode(), content_type="text/event-stream")

    def refuse(self, refusal: Refusal) -> Answer:
        error = {"type": self._ERROR_TYPES.get(refusal.status, "api_error"), "message": refusal.message}
        return Answer(json.dumps({"type": "error", "error": error}).encode(), status=refusal.status)

    def answer_aside(self, request: Request) -> Answer:
        return Answer(json.dumps({"input_tokens": _estimate(request)}).encode())

    def summary(self, text: str) -> str:
        return f"<analysis>What was said so far.</analysis>\n<summary>\n{text}\n</summary>"

    def _asks_for_summary(self, body: Json) -> bool:
        # The prompt is a block of the newest user message, which system messages may follow.
        asked = plain_text([said for said in body.get("messages", []) if said.get("role") == "user"][-1:])
        return any(mark in asked for mark in self._COMPACTION_MARKS)

    def _blocks(self, reply: Reply, number: int) -> list[Json]:
        spoken: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
        return spoken + [
            {"type": "tool_use", "id": f"toolu_{number}_{nth}", "name": tool.name, "input": tool.arguments}
            for nth, tool in enumerate(reply.calls)
        ]

    def _usage(self, usage: Usage, request: Request) -> dict[str, int]:
        return {
            "input_tokens": _estimate(request) if usage.input is None else usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": usage.output,
        }

    def _events(self, message: Json) -> Iterator[Json]:
        yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
        for index, block in enumerate(message["content"]):
            empty, delta = self._opened(block)
            yield {"type": "content_block_start", "index": index, "content_block": empty}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": ended, "usage": message["usage"]}
        yield {"type": "message_stop"}

    def _opened(self, block: Json) -> tuple[Json, Json]:
        """A block as a stream begins it, and the one delta that fills it."""
        if block["type"] == "text":
            return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        arguments = json.dumps(block["input"])
        return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": arguments}


def _estimate(request: Request) -> int:
    return max(1, len(json.dumps(request.body)) // 4)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.model = model

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's own types
        # A harness that is killed while it waits is what some tests are about; all else is a mistake here.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One send for head and body, and no Nagle: else a harness with delayed ACKs waits 40 ms for each reply.
    wbufsize = 1 << 22
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self._exchange(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self) -> None:
        self._exchange({})

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal belongs to pytest."""

    def _exchange(self, body: Json) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        arrived = Request(self.command, self.path, headers, body)
        answer = cast("_Listener", self.server).model.answer(arrived)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
