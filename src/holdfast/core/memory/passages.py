"""Passages: sessions and Markdown files as short texts, each of which can be found and read alone.

A passage of a session begins with a prompt, or where the previous one is full. It contains what was said, and
of tool calls only the request and the outcome: file contents and long output are of little use later. Text
that Holdfast itself recalled is left out. A Markdown file is divided at its headings; the text of a section
stays as it was written. `engine.index` makes both searchable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from holdfast.core.events.event import (
    MAIN,
    Action,
    AssistantText,
    Compacted,
    DigestGiven,
    Event,
    Origin,
    Prompt,
    Replied,
    SubagentStopped,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.text.markdown import blocks, lines_of
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import is_own_command, is_own_tool
from holdfast.lazy_dataclass import dataclass

LENGTH: Final = 1_000
"""The most characters of a passage: enough to be understood, few enough to be about one thing."""
SAID_MOST: Final = 12_000
REPORT_MOST: Final = 2_000
SUBJECT: Final = 200
OUTPUT: Final = 300
_MARGIN: Final = 400
"""Extra characters kept at a cut before redaction, because a secret is recognised by its surroundings."""
SECTION_LENGTH: Final = 2_000
"""A longer section is continued in another piece with the same headings."""
HEADING_SHOWN: Final = 80


class PassageKind(StrEnum):
    """The kind of a passage, as `engine.memory.recall` shows it."""

    RECORD = "record"
    DIGEST = "digest"
    """A summary that the agent itself wrote."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a session, oldest first, starting at that time."""

    at: int
    text: str
    kind: PassageKind = PassageKind.RECORD
    begins: str = ""
    """The record with which it begins, if that is a prompt, an answer or a summary; else empty."""


@dataclass(frozen=True, slots=True)
class MarkdownSection:
    """A part of a file, and the headings above it, the highest level first."""

    headings: tuple[str, ...]
    text: str


def relevant_events(events: Iterable[Event]) -> list[Event]:
    """The events that passages are made of, with no more text than those may need."""
    events_kept: list[Event] = []
    calls: dict[str, ToolCalled] = {}
    for event in events:
        if event.agent != MAIN or event.origin is Origin.HOLDFAST:
            continue
        match event:
            case Prompt(text=text) | AssistantText(text=text) | DigestGiven(text=text) | Replied(text=text):
                events_kept.append(
                    event if len(text) <= SAID_MOST else replace(event, text=_head(text, SAID_MOST))
                )
            case ToolCalled() if not is_own_tool(event.tool):
                calls[event.call] = event
                events_kept.append(replace(event, subject=_head(event.subject, SUBJECT + _MARGIN), detail=""))
            case ToolReturned(call=call):
                if text := _outcome(calls.pop(call, None), event):
                    events_kept.append(replace(event, text=text))
            case Compacted(summary=summary) if summary:
                events_kept.append(replace(event, summary=_head(summary, SAID_MOST)))
            case SubagentStopped(text=text) if text:
                events_kept.append(replace(event, text=_head(text, REPORT_MOST)))
            case _:
                pass
    return events_kept


def passages(events: Iterable[Event], root: str = "") -> list[Passage]:
    """The passages of these `relevant_events` events; paths below the root become relative to it."""
    finished: list[Passage] = []
    at, begins, lines = 0, "", list[str]()
    for event in events:
        if isinstance(event, DigestGiven):
            finished.append(Passage(event.at, event.text, PassageKind.DIGEST))
            continue
        for piece, line in enumerate(_lines(event, root)):
            if lines and (isinstance(event, Prompt) or _is_full(lines, line)):
                finished.append(Passage(at, "\n".join(lines), begins=begins))
                lines = []
            if not lines:
                at = event.at
                begins = event.record if not piece and isinstance(event, _SPOKEN) else ""
            lines = _joined(lines, line)
    return [*finished, Passage(at, "\n".join(lines), begins=begins)] if lines else finished


def markdown_sections(text: str) -> list[MarkdownSection]:
    """The sections of a file that are not empty, in order."""
    return [
        MarkdownSection(headings, piece)
        for headings, lines in _divided(text)
        for piece in _section_pieces("\n".join(lines).strip())
    ]


SPEAKER: Final = re.compile("(?:User|Agent|Summary|Subagent): ")
"""How a spoken line of a passage begins, also where it continues in the next passage."""
_SPOKEN: Final = (Prompt, AssistantText, Compacted)


def _is_full(lines: list[str], line: str) -> bool:
    return sum(map(len, lines)) + len(lines) + len(line) > LENGTH


def _outcome(call: ToolCalled | None, returned: ToolReturned) -> str:
    """The end of a tool's output, if it shows an outcome; empty if it only shows content."""
    if call is None or is_own_command(call.subject):
        return ""
    if returned.ok and (call.action not in (Action.RUN, Action.OTHER) or _LOOKS.match(call.subject)):
        return ""
    return _tail(returned.text, OUTPUT + _MARGIN) or ("failed" if not returned.ok else "")


_LOOKS: Final = re.compile(
    r"\s*+(?:cd \S+ *(?:&&|;) *)?"
    r"(?:git (?:diff|show|log|grep)|sed -n|cat|head|tail|nl|ls|tree|find|grep|rg|jq)\b"
)
"""Commands that only show content."""


def _head(text: str, limit: int) -> str:
    """The beginning of the text within the limit, cut at a line, else at a word; never inside a word."""
    if len(text) <= limit:
        return text
    cut = max(text.rfind("\n", 0, limit), 0) or max(text.rfind(" ", 0, limit), 0)
    return text[:cut]


def _tail(text: str, limit: int) -> str:
    """The text's last whole lines within the limit."""
    text = text.rstrip()
    if len(text) <= limit:
        return text
    # The end alone of one of these cannot be recognised as a secret.
    folded = text.lower()
    if any(sign in folded for sign in _ENCLOSED):
        return ""
    start = text.find("\n", len(text) - limit)
    return text[start + 1 :] if start >= 0 else ""


_ENCLOSED: Final = ("private key", "private-lines", "<private", "u003cprivate")


def _lines(event: Event, root: str) -> Iterator[str]:
    match event:
        case Prompt(text=text):
            return _pieces("User", text)
        case Replied(text=text, question=question):
            return _pieces("User", f"{text} (asked: {_head(question, SUBJECT)})" if question else text)
        case AssistantText(text=text):
            return _pieces("Agent", text)
        case Compacted(summary=text):
            return _pieces("Summary", text)
        case SubagentStopped(text=text):
            return _pieces("Subagent", text)
        case ToolCalled():
            return iter((_call_line(event, root),))
        case ToolReturned(ok=ok, text=text):
            return iter((f"→ {'' if ok else 'failed: '}{_ending(text)}",))
        case _:
            return iter(())


def _pieces(who: str, text: str) -> Iterator[str]:
    """A spoken text in pieces that fit into a passage, each with its speaker."""
    rest = text.strip()
    most = LENGTH - len(who) - 2
    while len(rest) > most:
        cut = max(rest.rfind("\n\n", 0, most), rest.rfind("\n", most // 2, most))
        cut = cut if cut > 0 else rest.rfind(" ", 0, most)
        cut = cut if cut > 0 else most
        yield f"{who}: {rest[:cut].rstrip()}"
        rest = rest[cut:].lstrip()
    if rest:
        yield f"{who}: {rest}"


def _call_line(call: ToolCalled, root: str) -> str:
    subject = shortened(one_line(call.subject), SUBJECT)
    if call.action in _ABOUT_FILES and root:
        subject = subject.removeprefix(root.rstrip("/") + "/")
    return _WORDS[call.action](call.tool, subject).rstrip(" :")


_WORDS: Final[Mapping[Action, Callable[[str, str], str]]] = {
    Action.RUN: lambda _, subject: f"Ran: {subject}",
    Action.READ: lambda _, subject: f"Read {subject}",
    Action.WRITE: lambda _, subject: f"Wrote {subject}",
    Action.EDIT: lambda _, subject: f"Edited {subject}",
    Action.DELETE: lambda _, subject: f"Deleted {subject}",
    Action.SEARCH: lambda _, subject: f"Searched: {subject}",
    Action.DELEGATE: lambda _, subject: f"Asked a subagent: {subject}",
    Action.ASK: lambda _, subject: f"Asked the user: {subject}",
    Action.OTHER: lambda tool, subject: f"Called {tool}: {subject}",
}
_ABOUT_FILES: Final = frozenset({Action.READ, Action.WRITE, Action.EDIT, Action.DELETE})
_FILE_VERBS: Final = frozenset({"Read", "Wrote", "Edited", "Deleted"})


def _joined(lines: list[str], line: str) -> list[str]:
    """The lines with one more, or with a file added to the last line if the same was done to it."""
    verb, _, name = line.partition(" ")
    if not lines or verb not in _FILE_VERBS or not lines[-1].startswith(f"{verb} "):
        return [*lines, line]
    known = lines[-1].removeprefix(f"{verb} ").split(", ")
    return lines if name in known else [*lines[:-1], f"{lines[-1]}, {name}"]


def _ending(text: str) -> str:
    """The last lines of an output as one line, within the limit."""
    lines, room = list[str](), OUTPUT
    for line in reversed(text.splitlines()):
        text_line = one_line(line)
        if len(text_line) > room:
            break
        lines.append(text_line)
        room -= len(text_line) + 1
    text_line = " ".join(filter(None, reversed(lines)))
    return text_line or shortened(one_line(text), OUTPUT)


def _divided(text: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    above: list[tuple[int, str]] = []
    lines, begin = lines_of(text), 0
    for heading in filter(lambda block: block.divides, blocks(text)):
        yield tuple(title for _, title in above), lines[begin : heading.first]
        title = shortened(one_line(heading.text), HEADING_SHOWN)
        above = [*(higher for higher in above if higher[0] < heading.level), (heading.level, title)]
        begin = heading.last + 1
    yield tuple(title for _, title in above), lines[begin:]


def _section_pieces(text: str) -> Iterator[str]:
    while len(text) > SECTION_LENGTH:
        cut = max(
            text.rfind("\n\n", 0, SECTION_LENGTH), text.rfind("\n", SECTION_LENGTH // 2, SECTION_LENGTH)
        )
        cut = cut if cut > 0 else text.rfind(" ", 0, SECTION_LENGTH)
        cut = cut if cut > 0 else SECTION_LENGTH
        yield text[:cut].rstrip()
        text = text[cut:].lstrip()
    if text:
        yield text
