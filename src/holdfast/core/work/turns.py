"""The story of a session, turn by turn: what was asked, what failed on the way, what it came to.

For a document that somebody reads from the beginning. What of it is told, and how long, is
`handoff_filled`'s matter.
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
_INSIDE: Final = "<tool_use_error>"
"""How a harness tells its agent that a tool was used wrongly: nobody else has to know, if it was mended."""
_CHANGES: Final = frozenset({Action.EDIT, Action.WRITE})


@dataclass(frozen=True, slots=True)
class Turn:
    """One prompt and what came of it."""

    prompt: str
    statements: tuple[Utterance, ...]
    failures: tuple[str, ...]
    """Each once."""
    delegated: tuple[str, ...] = ()
    """What subagents were given to do."""

    @property
    def conclusion(self) -> Utterance:
        """What the agent said last that tells something; an empty text if it said nothing."""
        telling = [said for said in self.statements if not reader.is_narration(one_line(said.text))]
        return (telling or self.statements or (Utterance("", 0),))[-1]

    @property
    def cause(self) -> str:
        """What the agent found to be the cause of what it then mended; empty if it did not say."""
        found = [
            said.text for said in self.statements if said != self.conclusion and _CAUSE.search(said.text)
        ]
        return found[-1] if found else ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A file as the agent last wrote it, as far as that was kept."""

    path: str
    text: str


def turns(events: Sequence[Event]) -> list[Turn]:
    """The turns of a session's own agent, oldest first; a prompt that is told twice counts once."""
    own = [event for event in events if event.agent == MAIN]
    calls = {event.call: event for event in own if isinstance(event, ToolCalled)}
    found: list[tuple[str, list[Event]]] = []
    for event in own:
        if isinstance(event, Prompt) and event.origin is Origin.HUMAN:
            if not found or found[-1][0] != event.text.strip():
                found.append((event.text.strip(), []))
        elif found:
            found[-1][1].append(event)
    return [
        Turn(
            prompt,
            tuple(_said(after)),
            tuple(dict.fromkeys(_failures(after, calls))),
            tuple(dict.fromkeys(_delegated(after))),
        )
        for prompt, after in found
    ]


def edits(events: Iterable[Event]) -> dict[str, Edit]:
    """For each file what the agent wrote there last."""
    calls: dict[str, ToolCalled] = {}
    found: dict[str, Edit] = {}
    for event in events:
        if isinstance(event, ToolCalled) and event.action in (Action.EDIT, Action.WRITE, Action.OTHER):
            calls[event.call] = event
        elif isinstance(event, ToolReturned) and event.ok and event.call in calls:
            for edit in _edited(calls.pop(event.call)):
                if edit.text:
                    found[edit.path] = edit
    return found


_CAUSE: Final = compiled(
    r"\b(?:the|main|real|root|actual|core) (?:issue|problem|cause|culprit|reason)(?: here| now)?"
    r" (?:is|was|must be)\b"
    r"|\broot cause\b|\bthis (?:fails|failed|happens|happened|breaks) because\b|原因是|问题在于",
    re.IGNORECASE,
)


def _said(events: Iterable[Event]) -> Iterator[Utterance]:
    for event in events:
        if isinstance(event, AssistantText) and event.text.strip():
            yield Utterance(event.text.strip(), event.at, event.record)


def _delegated(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, SubagentStarted) and event.task.strip():
            yield shortened(one_line(event.task), TASK_CHARS)


def _failures(events: Sequence[Event], calls: Mapping[str, ToolCalled]) -> Iterator[str]:
    returns = [event for event in events if isinstance(event, ToolReturned) and event.call in calls]
    # The last word on each file: a change that was used wrongly and then made is nobody's business.
    last = {calls[event.call].subject: event for event in returns if calls[event.call].action in _CHANGES}
    for event in returns:
        is_inside = event.text.lstrip().startswith(_INSIDE)
        if not is_inside or last.get(calls[event.call].subject) is event:
            failure = _failure(calls[event.call], event)
            yield from (failure,) if failure else ()


def _failure(call: ToolCalled, returned: ToolReturned) -> str:
    """What failed and why, in a line; empty if it did not fail."""
    text = returned.text.lstrip().removeprefix(_INSIDE)
    run_for = aim(call.subject) if call.action is Action.RUN else Purpose.DO
    end = ending(call.subject, run_for, text, returned.exit_status, ok=returned.ok)
    if run_for is Purpose.LOOK or not end.went_wrong:
        return ""
    reason = shortened(end.reason or one_line(text), FAILURE_CHARS)
    if not reason:
        return ""
    subject = shell.shown(one_line(call.subject), COMMAND_CHARS)
    return f"`{subject}`: {reason}" if subject and "`" not in subject else reason


def _edited(call: ToolCalled) -> Iterator[Edit]:
    """What a call wrote into which files: the added lines of a patch, or a whole text."""
    changes = patched(call.detail)
    if not changes:
        if call.action is not Action.OTHER and call.subject:
            yield Edit(call.subject, call.detail.strip("\n"))
        return
    for change in changes:
        yield Edit(change.renamed_to or change.path, _added(call.detail, change.path))


_HEADER: Final = compiled(r"^(?:\*\*\* (?:Add|Update|Delete) File: *|\+\+\+ (?:b/)?)(\S.*)$")


def _added(patch: str, path: str) -> str:
    """The lines that a patch adds to one file."""
    lines: list[str] = []
    inside = False
    for line in patch.splitlines():
        if header := _HEADER.match(line):
            inside = header[1].strip() == path or path.endswith(header[1].strip())
        elif inside and line.startswith("+"):
            lines.append(line[1:])
    return "\n".join(lines).strip("\n")
