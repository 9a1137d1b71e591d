"""Replies: what the user replied to a tool call in Claude Code: answers, plan approval, a refusal's reason.

They are in the tool's result. `tools` says what the tool was asked to do.
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
"""Between 2.1.39 and 2.1.325, where records began to say who refused and whether the text is the user's."""
_REFUSED: Final = re.compile(
    r"\A(?:The user doesn't want to (?:proceed with this tool use|take this action right now)"
    r"|Permission for this tool use was denied)\."
)
_WORDS: Final = re.compile(r"(?:[Tt]he user said|the following reason for the rejection):\s*+(.*)", re.DOTALL)
_ADVICE: Final = re.compile(r"\n\nNote: The user's next message may contain .*", re.DOTALL)
_APPROVED: Final = "User has approved your plan"
_HEADING: Final = re.compile(r"^[#\s]*+(\S.*)$", re.MULTILINE)


def refusal(result_text: str, record: Record) -> str | None:
    """What the user said when refusing a call, empty if nothing; None if the user did not refuse it.

    A tool can print the same text, so it counts only if the record confirms it.
    """
    wrapped = _REFUSED.match(result_text)
    if not _by_user(record) and not (wrapped and _version(record.version or "") < _MARKED_SINCE):
        return None
    if not wrapped:
        return result_text if record.holds_words else ""
    words = _WORDS.search(result_text)
    return _ADVICE.sub("", words[1]).strip() if words else ""


def _by_user(record: Record) -> bool:
    decided = record.decision.source if record.decision else ""
    return record.denial == "user-rejected" or decided == "user_reject"


def replied(call: str, result_text: str, outcome: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """The user's answers to a call's questions, and the approval of its plan."""
    if answer_texts := mapping(outcome.get("answers")):
        questions = (text(mapping(entry), "question") for entry in items(outcome.get("questions")))
        yield from answers(call, ((question, answer_texts.get(question)) for question in questions), frame)
    elif result_text.startswith(_APPROVED) and (plan := text(outcome, "plan")):
        title, path = _HEADING.search(plan), text(outcome, "filePath")
        plan_title = title[1].strip().removeprefix("Plan: ") if title else ""
        question = f"Plan: {plan_title}{f' ({path})' if path else ''}"
        yield from reply(call, "approved", frame, question)


def _version(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split(".")[:3] if number.isdecimal())
