"""Replies: what a person said to a tool's call in Claude Code: answers, an approved plan, words at a refusal.

They stand in the result of the tool, where nobody would look for a person's words. What the tool was to do
is the subject of `tools`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from holdfast.core.events.event import Event
from holdfast.harnesses.claude_code.records import Record
from holdfast.harnesses.fields import items, mapping, text
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.replies import answers, reply

_MARKED_SINCE: Final = (2, 1, 300)
"""2.1.325 says in the record who refused and whether these are a person's words; up to 2.1.39 nothing did."""
_REFUSED: Final = re.compile(
    r"\A(?:The user doesn't want to (?:proceed with this tool use|take this action right now)"
    r"|Permission for this tool use was denied)\."
)
_WORDS: Final = re.compile(r"(?:[Tt]he user said|the following reason for the rejection):\s*+(.*)", re.DOTALL)
_ADVICE: Final = re.compile(r"\n\nNote: The user's next message may contain .*", re.DOTALL)
_APPROVED: Final = "User has approved your plan"
_HEADING: Final = re.compile(r"^[#\s]*+(\S.*)$", re.MULTILINE)


def refusal(said: str, record: Record) -> str | None:
    """What a person said on refusing a call, empty where that was nothing; None where nobody refused it.

    A tool can print the same text, so that it counts only where the record vouches for it.
    """
    wrapped = _REFUSED.match(said)
    if not _by_user(record) and not (wrapped and _version(record.version or "") < _MARKED_SINCE):
        return None
    if not wrapped:
        return said if record.holds_words else ""
    words = _WORDS.search(said)
    return _ADVICE.sub("", words[1]).strip() if words else ""


def _by_user(record: Record) -> bool:
    decided = record.decision.source if record.decision else ""
    return record.denial == "user-rejected" or decided == "user_reject"


def replied(call: str, said: str, outcome: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """The answers that a person gave to a call's questions, and the approval of its plan."""
    if given := mapping(outcome.get("answers")):
        asked = (text(mapping(one), "question") for one in items(outcome.get("questions")))
        yield from answers(call, ((question, given.get(question)) for question in asked), frame)
    elif said.startswith(_APPROVED) and (plan := text(outcome, "plan")):
        title, path = _HEADING.search(plan), text(outcome, "filePath")
        named = title[1].strip().removeprefix("Plan: ") if title else ""
        question = f"Plan: {named}{f' ({path})' if path else ''}"
        yield from reply(call, "approved", frame, question)


def _version(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split(".")[:3] if number.isdecimal())
