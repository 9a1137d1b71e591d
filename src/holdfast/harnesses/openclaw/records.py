"""Records: the lines of a pi or OpenClaw session file, with only the fields that Holdfast reads.

Also what the user wrote, without what OpenClaw or pi added to a text in the user's role.

`transcript` and `tools` interpret them. Large parts, and those whose form differs by version or plugin, stay
undecoded until they are used.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.fields import NOTHING

Moment: TypeAlias = str | int | float | None
"""A time as it is written: ISO 8601, or milliseconds since 1970."""


class Block(msgspec.Struct):
    """One block of a message: text, a tool call, or something that is ignored (thinking, images)."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = NOTHING


class Tokens(msgspec.Struct, rename={"cache_read": "cacheRead", "cache_written": "cacheWrite"}):
    input: int | float | None = None
    output: int | float | None = None
    cache_read: int | float | None = None
    cache_written: int | float | None = None


class Provenance(msgspec.Struct):
    """Where a text in the user's role came from, if the message says so."""

    kind: str | None = None


class Message(msgspec.Struct):
    """What was said or done: by the user, the agent, a tool, the harness, or a command that the user ran."""

    role: str = ""
    content: str | list[Block] | None = None
    timestamp: Moment = None
    provider: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    stop: str | None = msgspec.field(default=None, name="stopReason")
    provenance: Provenance | None = None
    call: str | None = msgspec.field(default=None, name="toolCallId")
    tool: str | None = msgspec.field(default=None, name="toolName")
    is_error: bool | None = msgspec.field(default=None, name="isError")
    details: msgspec.Raw = NOTHING
    custom_type: str | None = msgspec.field(default=None, name="customType")
    command: str | None = None
    output: str | None = None
    exit_code: int | float | None = msgspec.field(default=None, name="exitCode")
    cancelled: bool | None = None


class Details(msgspec.Struct):
    """What a tool's result says besides its text; most of it, such as whole diffs, is not read."""

    status: str | None = None
    exit_code: int | float | None = msgspec.field(default=None, name="exitCode")
    process: str | None = msgspec.field(default=None, name="sessionId")
    """The id of a command that is still running in the background."""


class Checkpoint(msgspec.Struct):
    """A summary that was written during the session."""

    summary: str | None = None
    topics: list[str] | None = None
    decisions: list[str] | None = msgspec.field(default=None, name="keyDecisions")
    questions: list[str] | None = msgspec.field(default=None, name="openQuestions")


class Record(msgspec.Struct):
    """One line. The oldest files have neither ids nor parents."""

    type: str = ""
    id: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentId")
    timestamp: Moment = None
    cwd: str | None = None
    origin: str | None = msgspec.field(default=None, name="parentSession")
    """On the first line of a fork: what it was forked from."""
    model: str | None = msgspec.field(default=None, name="modelId")
    message: Message | None = None
    summary: str | None = None
    tokens_before: int | float | None = msgspec.field(default=None, name="tokensBefore")
    tokens_after: int | float | None = msgspec.field(default=None, name="tokensAfter")
    checkpoint: Checkpoint | None = None
    content: str | list[Block] | None = None
    name: msgspec.Raw = NOTHING


RECORD = msgspec.json.Decoder(Record)
DETAILS = msgspec.json.Decoder(Details)

READ_TYPES: frozenset[str] = frozenset(
    "session message compaction checkpoint model_change custom_message reset session_info".split()
)
"""The types of record that are read."""

PASSED_OVER: frozenset[str] = frozenset(
    """branch_summary thinking_level_change custom label context_transform ephemeral
    leaf""".split()
)
"""The types that say nothing new: a branch's summary, for example, repeats records that were read."""

PASSED_OVER_UNREAD: tuple[bytes, ...] = tuple(f'{{"type":"{name}"'.encode() for name in sorted(PASSED_OVER))
"""How lines of such a type begin if the type is written first: they need no decoding."""


_CONTEXT_MARK = "⟦openclaw:ctx⟧"
_QUEUED = "[Queued messages while agent was busy]"
_QUEUED_ITEM = re.compile(r"^---\nQueued #\d+[^\n]*\n", re.MULTILINE)
_CURRENT = "[Current message - respond to this]"

_DATE = r"\d{4}-\d{2}-\d{2}"
# `[Telegram Ann id:7 +2m 2026-03-01T10:00Z] `, `[Sun 2026-03-01 10:00 UTC] `. A bracket without a time is an
# envelope only if it begins with a channel's name and holds an address: users write brackets too.
_ENVELOPE = re.compile(
    rf"""\A\[(?:
      (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ ]{_DATE}[ ]\d\d:\d\d[^\]\n]*
    | [A-Za-z][^\]\n]*[ ]{_DATE}(?:T\d\d:\d\dZ|[ ]\d\d:\d\d(?:[ ][^\]\s]+)?)
    | (?:WebChat|WhatsApp|Telegram|Signal|Slack|Discord|Google[ ]Chat|iMessage|Teams|Matrix|Zalo|BlueBubbles)
      [ ][^\]\n]*?(?:\bid:|[@\#]|\+\d)[^\]\n]*
    )\][ ]*""",
    re.VERBOSE,
)
# No pattern looks past the next beginning of its own kind, so a text of any size is read in one pass. All but
# the first stand at the start of a line, which is checked once for all of them.
_ADDED = re.compile(
    rf"""<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?(?:<<<END_OPENCLAW_INTERNAL_CONTEXT>>>|\Z)
    | ^(?:
      (?:Context:[ ]*\n)?<(?P<memory>active_memory_plugin|relevant-memories)>[ ]*\n
      (?:(?!<(?P=memory)>)[^\n]*\n)*?</(?P=memory)>
    # What is known of the sender and of the messages around this one: a header, and a block or some lines.
    | [^\n]{{1,200}}[ ](?:
        \(untrusted(?:[ ]metadata|,[ ]for[ ]context|,[ ]chronological[^)\n]*)\):|{_CONTEXT_MARK})[ ]*\n
      (?:```json\n(?:(?!```)[^\n]*\n)*```[ ]*$|(?:[^\n]+(?:\n|\Z))+)
    | Untrusted[ ]context[ ]\(metadata,[^\n]*\n.*\Z
    | \[Replying[ ]to[ ][^\]\n]*\]\n(?:(?!\[/?Replying)[^\n]*\n)*\[/Replying\][ ]*$
    | System(?:[ ]\(untrusted\))?:[ ]\[[^\n]*$
    | [ ]*\[(?:\w+[ ])?message[_ ]id:[^\]\n]*\][ ]*$
    | \[from:[ ][^\]\n]*\][ ]*$
    | \[media[ ]attached(?:[ ]\d+/\d+)?:[^\n]*\][ ]*$
    | To[ ]send[ ]an[ ]image[ ]back,[ ]prefer[ ]the[ ]message[ ]tool[^\n]*$
    | Delivery:[ ][^\n]*`message`[ ]tool[^\n]*$
    )""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# What pi puts before the user's words: a named file's content, or a skill's in place of its name.
_FILE = re.compile(r'\A(?:<file name="[^"\n]*">.*?</file>\s*)+', re.DOTALL)
_SKILL = re.compile(r'\A<skill name="(?P<name>[^"\n]*)"[^>\n]*>.*?</skill>\s*', re.DOTALL)

_NOT_TYPED = (
    "Read HEARTBEAT.md if it exists",
    "[OpenClaw heartbeat poll]",
    "Pre-compaction memory flush",
    "[SYSTEM:",
    "[System Message]",
    "[cron:",
    "[Subagent Context]",
    "[Subagent Task]",
    "[Inter-session message]",
    "[Room observation]",
    "[Internal task completion event]",
    "[Post-compaction context refresh]",
    "Agent-to-agent announce step",
    "Agent-to-agent message context",
    "Agent-to-agent reply step",
    "An async command you ran earlier has completed",
    "A scheduled reminder has been triggered",
    "Continue where you left off. The previous model attempt failed",
    "You are running a boot check",
)
_STARTUP = re.compile(r"^A new session was started via /new or /reset\b", re.MULTILINE)
_HEARTBEAT = "If nothing needs attention, reply HEARTBEAT_OK"
_NAME = re.compile(r"/(?P<name>[\w-]+)(?!\S)")
_RUN_BY_ITSELF = frozenset(
    """activation changelog clone compact copy elevated exit export fork help hotkeys login logout model name
    new queue quit reasoning reload reset restart resume send session settings share status stop think tree
    trust usage verbose whoami""".split()
)
_DIRECTIVE = re.compile(r"\[\[(?:reply_to_current|reply_to:[^\]\n]*|audio_as_voice)\]\][ ]*")
_SILENT = frozenset({"NO_REPLY", "HEARTBEAT_OK"})


def typed_text(text: str) -> str:
    """What the user wrote, a command as `/name arguments`; empty if nothing."""
    text = without_injected_text(text).replace("\r\n", "\n").strip()
    if text.startswith(_QUEUED):
        # Several queued messages; before the first stands a count of those that were dropped.
        return "\n\n".join(filter(None, map(_single, _QUEUED_ITEM.split(text)[1:])))
    return _single(text)


def agent_text(text: str) -> str:
    """What the agent said, without delivery markers; empty if it chose to say nothing."""
    text = _DIRECTIVE.sub("", without_injected_text(text)).strip()
    return "" if text in _SILENT else text


def _single(text: str) -> str:
    text = text.rpartition(_CURRENT)[2].strip()
    # An envelope may stand around the rest or inside of it.
    text = _ADDED.sub("", _ENVELOPE.sub("", text)).strip()
    text = _ENVELOPE.sub("", text).strip()
    text = _SKILL.sub(lambda skill: f"/skill:{skill['name']} ", _FILE.sub("", text)).strip()
    return "" if _by_harness(text) else text


def _by_harness(text: str) -> bool:
    command = _NAME.match(text)
    return (
        text.startswith(_NOT_TYPED)
        or _HEARTBEAT in text
        or _STARTUP.search(text) is not None
        or (command is not None and command["name"] in _RUN_BY_ITSELF)
    )
