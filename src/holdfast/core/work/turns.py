"""Divide a session into turns: what was asked, what failed on the way, and how it ended.

`handoff_content` decides how much of this a handoff contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from holdfast.core.events.event import (
    MAIN,
    Action,
    AssistantText,
    Event,
    Origin,
    Prompt,
    SubagentStarted,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import ending
from holdfast.core.evidence.commands.purpose import Purpose, aim
from holdfast.core.evidence.patches import patched
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import Utterance
from holdfast.core.text.patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass

FAILURE_CHARS: Final = 200
COMMAND_CHARS: Final = 120
TASK_CHARS: Final = 80
_TOOL_MISUSE: Final = "<tool_use_error>"
"""How a harness tells its agent that it used a tool wrongly; not worth reporting if the next try worked."""
_CHANGES: Final = frozenset({Action.EDIT, Action.WRITE})


@dataclass(frozen=True, slots=True)
class Turn:
    """One prompt and what followed it."""

    prompt: str
    statements: tuple[Utterance, ...]
    failures: tuple[str, ...]
    """Without repetitions."""
    delegated: tuple[str, ...] = ()
    """The tasks given to subagents."""

    @property
    def conclusion(self) -> Utterance:
        """The agent's last statement that is more than narration; an empty text if it said nothing."""
        telling = [
            statement for statement in self.statements if not reader.is_narration(one_line(statement.text))
        ]
        return (telling or self.statements or (Utterance("", 0),))[-1]

    @property
    def cause(self) -> str:
        """What the agent named as the cause of the problem; empty if it named none."""
        causes = [
            statement.text
            for statement in self.statements
            if statement != self.conclusion and _CAUSE.search(statement.text)
        ]
        return causes[-1] if causes else ""


@dataclass(frozen=True, slots=True)
class Edit:
    """What the agent last wrote into a file, as far as it was recorded."""

    path: str
    text: str


def turns(events: Sequence[Event]) -> list[Turn]:
    """The turns of the session's main agent, oldest first; a prompt that is repeated at once counts once."""
    own = [event for event in events if event.agent == MAIN]
    calls = {event.call: event for event in own if isinstance(event, ToolCalled)}
    by_prompt: list[tuple[str, list[Event]]] = []
    for event in own:
        if isinstance(event, Prompt) and event.origin is Origin.HUMAN:
            if not by_prompt or by_prompt[-1][0] != event.text.strip():
                by_prompt.append((event.text.strip(), []))
        elif by_prompt:
            by_prompt[-1][1].append(event)
    return [
        Turn(
            prompt,
            tuple(_statements(after)),
            tuple(dict.fromkeys(_failures(after, calls))),
            tuple(dict.fromkeys(_delegated(after))),
        )
        for prompt, after in by_prompt
    ]


def edits(events: Iterable[Event]) -> dict[str, Edit]:
    """What the agent last wrote into each file."""
    calls: dict[str, ToolCalled] = {}
    latest: dict[str, Edit] = {}
    for event in events:
        if isinstance(event, ToolCalled) and event.action in (Action.EDIT, Action.WRITE, Action.OTHER):
            calls[event.call] = event
        elif isinstance(event, ToolReturned) and event.ok and event.call in calls:
            for edit in _edits_of(calls.pop(event.call)):
                if edit.text:
                    latest[edit.path] = edit
    return latest


_CAUSE: Final = compiled(
    r"\b(?:the|main|real|root|actual|core) (?:issue|problem|cause|culprit|reason)(?: here| now)?"
    r" (?:is|was|must be)\b"
    r"|\broot cause\b|\bthis (?:fails|failed|happens|happened|breaks) because\b|原因是|问题在于",
    re.IGNORECASE,
)


def _statements(events: Iterable[Event]) -> Iterator[Utterance]:
    for event in events:
        if isinstance(event, AssistantText) and event.text.strip():
            yield Utterance(event.text.strip(), event.at, event.record)


def _delegated(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, SubagentStarted) and event.task.strip():
            yield shortened(one_line(event.task), TASK_CHARS)


def _failures(events: Sequence[Event], calls: Mapping[str, ToolCalled]) -> Iterator[str]:
    returns = [event for event in events if isinstance(event, ToolReturned) and event.call in calls]
    # The last outcome for each file: a misused edit that then succeeded is not worth reporting.
    last = {calls[event.call].subject: event for event in returns if calls[event.call].action in _CHANGES}
    for event in returns:
        is_misuse = event.text.lstrip().startswith(_TOOL_MISUSE)
        if not is_misuse or last.get(calls[event.call].subject) is event:
            failure = _failure(calls[event.call], event)
            yield from (failure,) if failure else ()


def _failure(call: ToolCalled, returned: ToolReturned) -> str:
    """What failed and why, in a line; empty if it did not fail."""
    text = returned.text.lstrip().removeprefix(_TOOL_MISUSE)
    purpose = aim(call.subject) if call.action is Action.RUN else Purpose.DO
    outcome = ending(call.subject, purpose, text, returned.exit_status, ok=returned.ok)
    if purpose is Purpose.LOOK or not outcome.went_wrong:
        return ""
    reason = shortened(outcome.reason or one_line(text), FAILURE_CHARS)
    if not reason:
        return ""
    subject = shell.shown(one_line(call.subject), COMMAND_CHARS)
    return f"`{subject}`: {reason}" if subject and "`" not in subject else reason


def _edits_of(call: ToolCalled) -> Iterator[Edit]:
    """What a call wrote into each file: the added lines of a patch, or a whole text."""
    changes = patched(call.detail)
    if not changes:
        if call.action is not Action.OTHER and call.subject:
            yield Edit(call.subject, call.detail.strip("\n"))
        return
    for change in changes:
        yield Edit(change.renamed_to or change.path, _added_lines(call.detail, change.path))


_HEADER: Final = compiled(r"^(?:\*\*\* (?:Add|Update|Delete) File: *|\+\+\+ (?:b/)?)(\S.*)$")


def _added_lines(patch: str, path: str) -> str:
    """The lines that a patch adds to one file."""
    lines: list[str] = []
    inside = False
    for line in patch.splitlines():
        if header := _HEADER.match(line):
            inside = header[1].strip() == path or path.endswith(header[1].strip())
        elif inside and line.startswith("+"):
            lines.append(line[1:])
    return "\n".join(lines).strip("\n")
