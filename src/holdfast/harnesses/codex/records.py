"""Records: the lines of a Codex rollout, with only the fields that Holdfast reads.

Also what later records need to know of earlier ones, and what the user typed, without what Codex added.

There are three generations: bare items, items in a typed envelope, and envelopes with an ordinal whose forks
point into their parent. `transcript` and `tools` interpret the records. An item is decoded
together with its record, because all of it is used; other payloads are decoded on use.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from holdfast.core.events.event import MAIN, Action, Skipped
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.fields import NOTHING, decoded, items, mapping, read_object, text, value_of


class Metadata(msgspec.Struct):
    """What Codex notes beside an item."""

    is_compaction_output: bool | None = msgspec.field(default=None, name="compaction_output")


class Envelope(msgspec.Struct):
    """The fields around every payload."""

    timestamp: str | None = None
    ordinal: int | None = None
    metadata: Metadata | None = None


class Record(Envelope):
    """One line: an envelope with a payload, or a bare item of the first generation."""

    type: str = ""
    payload: msgspec.Raw = NOTHING


class HistoryBase(msgspec.Struct):
    """Where a fork left its parent."""

    thread: str | None = msgspec.field(default=None, name="thread_id")
    end_ordinal: int | None = msgspec.field(default=None, name="end_ordinal_exclusive")
    end_byte: int | None = msgspec.field(default=None, name="end_byte_offset")


class Meta(msgspec.Struct):
    """Whose rollout it is."""

    id: str | None = None
    session: str | None = msgspec.field(default=None, name="session_id")
    parent: str | None = msgspec.field(default=None, name="parent_thread_id")
    cwd: str | None = None
    source: msgspec.Raw = NOTHING
    thread_source: str | None = None
    forked_from: str | None = msgspec.field(default=None, name="forked_from_id")
    forked_at_ordinal: int | None = msgspec.field(default=None, name="forked_from_ordinal_exclusive")
    history_base: HistoryBase | None = None


class TurnContext(msgspec.Struct):
    turn: str | None = msgspec.field(default=None, name="turn_id")
    cwd: str | None = None
    model: str | None = None


class Passthrough(msgspec.Struct):
    """Which turn a message belongs to and, block by block, who wrote it."""

    turn: str | None = msgspec.field(default=None, name="turn_id")
    kinds: list[str | None] | None = msgspec.field(default=None, name="content_item_kinds")


class Item(msgspec.Struct):
    """What the model was sent or answered: a message, a tool call, a tool's output."""

    type: str = ""
    id: str | None = None
    role: str | None = None
    content: object = None
    name: str | None = None
    namespace: str | None = None
    arguments: object = None
    input: object = None
    call_id: str | None = None
    output: object = None
    action: object = None
    passthrough: Passthrough | None = msgspec.field(
        default=None, name="internal_chat_message_metadata_passthrough"
    )

    @property
    def call(self) -> str:
        """The id that the call and its output share."""
        return self.call_id or self.id or ""


class ItemRecord(Envelope, kw_only=True):
    """A line that holds an item, with the item already decoded."""

    type: Literal["response_item"]
    payload: Item


class Tokens(msgspec.Struct):
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None


class TokenInfo(msgspec.Struct):
    total: Tokens | None = msgspec.field(default=None, name="total_token_usage")
    last: Tokens | None = msgspec.field(default=None, name="last_token_usage")
    window: int | None = msgspec.field(default=None, name="model_context_window")


class Report(msgspec.Struct):
    """One of the most frequent events: a token count, or a message."""

    type: str = ""
    info: TokenInfo | None = None
    message: str | None = None
    turn: str | None = msgspec.field(default=None, name="turn_id")


class ReportRecord(Envelope, kw_only=True):
    """A line that holds such an event, already decoded."""

    type: Literal["event_msg"]
    payload: Report


class TokenCount(msgspec.Struct):
    info: TokenInfo | None = None


class Summary(msgspec.Struct):
    """A compaction: what replaces the history, readable only if Codex wrote it itself."""

    message: str | None = None


class Kind(msgspec.Struct):
    type: str = ""


RECORD = msgspec.json.Decoder(Record)
_ITEM_RECORD = msgspec.json.Decoder(ItemRecord)
_REPORT_RECORD = msgspec.json.Decoder(ReportRecord)
META = msgspec.json.Decoder(Meta)
TURN_CONTEXT = msgspec.json.Decoder(TurnContext)
ITEM = msgspec.json.Decoder(Item)
TOKEN_COUNT = msgspec.json.Decoder(TokenCount)
SUMMARY = msgspec.json.Decoder(Summary)
KIND = msgspec.json.Decoder(Kind)

READ_TYPES: frozenset[str] = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
)
"""The types of envelope that are read."""

PASSED_OVER: frozenset[str] = frozenset(
    """world_state token_usage_record inter_agent_communication inter_agent_communication_metadata
    session_state ghost_snapshot""".split()
)
"""The types that say nothing about the work, or only what another record says too."""

ITEMS: frozenset[str] = frozenset(
    """message function_call function_call_output local_shell_call local_shell_call_output
    custom_tool_call custom_tool_call_output web_search_call""".split()
)
"""The types of item that are read."""

SILENT_ITEMS: frozenset[str] = frozenset(
    """reasoning tool_search_call tool_search_output image_generation_call compaction context_compaction
    compaction_summary ghost_snapshot other""".split()
)
"""The types of item that say nothing about the work."""

# These match only an envelope's beginning: inside a text every quote is escaped.
_SILENT = re.compile(
    rb'"type": ?"(?:world_state|token_usage_record)"|"payload": ?{"type": ?"(?:agent_)?reasoning"'
)
_REPORT = re.compile(rb'"payload": ?{"type": ?"(?:token_count|agent_message|user_message)"')
_ENVELOPE = 160

ENDS: frozenset[str] = frozenset(
    """exec_command_end patch_apply_end mcp_tool_call_end
    CommandExecution FileChange McpToolCall""".split()
)
"""The types of event, and of completed item, that say how a call ended."""

EVENTS: frozenset[str] = ENDS | frozenset(
    "task_started turn_started user_message agent_message item_completed context_compacted "
    "thread_name_updated".split()
)
"""The types of event that are read, besides token counts."""


def is_silent(line: bytes) -> bool:
    """Whether a line can be ignored without decoding it: such lines are the longest."""
    head = line[:_ENVELOPE]
    # Searching for a name is several times as fast as for the pattern, and most lines have none.
    if head.find(b'reasoning"') < 0 and head.find(b'world_state"') < 0 and head.find(b"token_usage_") < 0:
        return False
    return _SILENT.search(head) is not None


def record_in(line: bytes) -> ItemRecord | ReportRecord | Record | Skipped:
    """The record on this line. Most hold an item, or an event that is as common, decoded in the same pass."""
    try:
        if line.find(b'"response_item"', 0, _ENVELOPE) >= 0:
            return _ITEM_RECORD.decode(line)
        return (_REPORT_RECORD if _REPORT.search(line, 0, _ENVELOPE) else RECORD).decode(line)
    except (ValueError, RecursionError):
        # If the envelope alone can be decoded, its payload is what cannot be read.
        return decoded(RECORD, line)


def fields_of(raw: msgspec.Raw | bytes) -> Mapping[str, object]:
    """The JSON object in these bytes, also if it is inside a JSON text; otherwise an empty one."""
    return fields_in(value_of(raw))


def fields_in(value: object) -> Mapping[str, object]:
    """The value if it is an object, also if it is JSON in a text; otherwise an empty one."""
    return object_in(value) if isinstance(value, str) else mapping(value)


def object_in(text: str) -> Mapping[str, object]:
    """The JSON object in a text; an empty one if there is none."""
    if not text.lstrip().startswith("{"):
        return {}
    value = read_object(text.encode(errors="replace"))
    return {} if isinstance(value, Skipped) else value


def texts(content: object) -> list[str]:
    """The texts of a content that is a text or a list of blocks; a block without text gives an empty one."""
    if isinstance(content, str):
        return [content]
    return [block if isinstance(block, str) else text(mapping(block), "text") for block in items(content)]


OWN = -1
"""The stage in which a session's own file is read; earlier stages are the files it was forked from."""

_MESSAGES_KEPT = 16
_CALLS_KEPT = 64
_ENDED_KEPT = 16


class DeliveredMessage(msgspec.Struct, array_like=True):
    """A message, and the kinds of record that reported it."""

    mark: int
    ways: list[str]


class Call(msgspec.Struct, array_like=True):
    """A call that has not ended: what it does, a subagent's task, the questions for the user."""

    action: Action
    task: str = ""
    questions: dict[str, str] = {}


class RecordContext(msgspec.Struct):
    """What a record may take over from earlier ones."""

    place: str = ""
    stage: int = 0
    thread: str = ""
    agent: str = MAIN
    alone: bool = False
    """Whether a subagent's rollout is read with that subagent as the main agent."""
    cwd: str = ""
    model: str = ""
    turn: str = ""
    at: int = 0
    tokens: tuple[int, int] = (-1, -1)
    boundary: str = ""
    """The kind of record that reported the last compaction, until the other kind has reported it too."""
    messages: list[DeliveredMessage] = msgspec.field(default_factory=list[DeliveredMessage], name="heard")
    """The last messages; stored under the name that older cursors have."""
    open: dict[str, Call] = {}
    ended: list[str] = []
    polls: dict[str, str] = {}
    """Calls that wait for a process started earlier, and its number."""
    running: dict[str, str] = {}
    """Processes that outlived the call that started them, and that call."""

    @property
    def is_main(self) -> bool:
        """Whether this belongs to the main agent, the one that the user talks to."""
        return self.agent == MAIN

    def is_news(self, way: str, role: str, text: str) -> bool:
        """Whether a message is new; the same words in another kind of record are not."""
        mark = _mark(role, text)
        for message in self.messages:
            if message.mark == mark and way not in message.ways:
                message.ways.append(way)
                return False
        self.messages.append(DeliveredMessage(mark, [way]))
        del self.messages[:-_MESSAGES_KEPT]
        return True

    def is_new_boundary(self, way: str) -> bool:
        """Whether a compaction is reported for the first time: it has both a record and an event."""
        if self.boundary not in ("", way):
            self.boundary = ""
            return False
        self.boundary = way
        return True

    def opened(self, call: str, opened: Call) -> None:
        """Note a call whose end is expected from now on."""
        self.open[call] = opened
        _bound(self.open)

    def closed(self, call: str) -> Call | None:
        """The call that ends now; None if it was not open."""
        open_call = self.open.pop(call, None)
        self.ended.append(call)
        del self.ended[:-_ENDED_KEPT]
        return open_call

    def outlived(self, process: str, call: str) -> None:
        """Note a process that is still running although its call has returned."""
        self.running[process] = call
        _bound(self.running)

    def polled(self, call: str, process: str) -> None:
        """Note that the call's output will be that of a process started earlier."""
        self.polls[call] = process
        _bound(self.polls)


_CURSOR = msgspec.json.Decoder(RecordContext)


def parse_cursor(cursor: str) -> RecordContext:
    """The context in a cursor; an invalid cursor means from the start."""
    try:
        return _CURSOR.decode(cursor)
    except (ValueError, RecursionError):
        return RecordContext()


def render_cursor(reached: RecordContext) -> str:
    """The context as a cursor."""
    return msgspec.json.encode(reached).decode()


@lru_cache(maxsize=4)  # two records that report the same message are close to each other
def _mark(role: str, text: str) -> int:
    """A hash of a message that ignores white space."""
    return zlib.crc32(" ".join((role, *text.split())).encode(errors="replace"))


def _bound(calls: dict[str, Call] | dict[str, str]) -> None:
    while len(calls) > _CALLS_KEPT:
        calls.pop(next(iter(calls)))


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


def typed_text(blocks: Iterable[tuple[str, str]]) -> str:
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
