"""Prompts: separate what the user wrote from what OpenClaw or pi added to a text in the user's role.

OpenClaw carries messages from many channels, each in an envelope, and wakes its agent by itself: heartbeats,
schedules, finished commands, the flush before a compaction. `transcript` knows which records may hold a
prompt.
"""

from __future__ import annotations

import re

from holdfast.core.text.untrusted import without_injected_text

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


def typed(text: str) -> str:
    """What the user wrote, a command as `/name arguments`; empty if nothing."""
    text = without_injected_text(text).replace("\r\n", "\n").strip()
    if text.startswith(_QUEUED):
        # Several queued messages; before the first stands a count of those that were dropped.
        return "\n\n".join(filter(None, map(_single, _QUEUED_ITEM.split(text)[1:])))
    return _single(text)


def said(text: str) -> str:
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
