"""Render a session's work state as a handoff, with its files, what was written there, and its agent's words.

A handoff is read once, by an agent that knows nothing of the work: a page or two, in which every line must be
useful. It shows what a ledger shows, with more room. The agent's own words, where it wrote any, come first in
each section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from holdfast.core.documents.handoff import Check, Doubt, Handoff, HandoffHead, doubt_line
from holdfast.core.documents.ledger import Ledger, LedgerEntry, LedgerPart, key_of
from holdfast.core.documents.ledger_content import (
    Room,
    SessionContent,
    changed_files,
    ids_in_words,
    inferred_rules,
    observed_ledger,
    references,
)
from holdfast.core.events.event import Action, Event, ToolCalled, ToolReturned
from holdfast.core.evidence.fact_lines import file_line
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.patches import changes_in_patch
from holdfast.core.evidence.trail import FileTouch
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.state import best_of
from holdfast.lazy_dataclass import dataclass

HANDOFF_ROOM: Final = Room(
    {
        LedgerPart.GOAL: 4,
        LedgerPart.CONSTRAINTS: 12,
        LedgerPart.DECISIONS: 8,
        LedgerPart.DONE: 8,
        LedgerPart.NOW: 4,
        LedgerPart.NEXT: 8,
        LedgerPart.QUESTIONS: 4,
        LedgerPart.FILES: 8,
        LedgerPart.IDS: 4,
        LedgerPart.COMMANDS: 3,
    },
    failures=3,
    goal_chars=400,
    entry_chars=240,
)
"""A page or two: about a hundred lines."""
STEPS_FIRST: Final = 3
"""How many next steps are named as such; further ones are pending."""
FILES_MOST: Final = 8
SNIPPETS: Final = 3
SNIPPET_LINES: Final = 6
SNIPPET_CHARS: Final = 400
NAMES_MOST: Final = 6
WHERE_MOST: Final = 4
CHECKS: Final = 8


@dataclass(frozen=True, slots=True)
class HandoffWords:
    """What the agent or the user wrote for each section."""

    request: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    solved: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    current: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """What the agent last wrote into a file, as far as it was recorded."""

    path: str
    text: str


def fill_handoff(
    content: SessionContent, events: Sequence[Event], head: HandoffHead, words: HandoffWords
) -> Handoff:
    """The handoff of a session, from its work state and from what its events wrote into files."""
    project = content.session.project
    last_edits = {project.relative(path): edit for path, edit in last_edits_of(events).items()}
    observed = _without(words, observed_ledger(content, HANDOFF_ROOM))
    sections = (
        (*words.request, *_request(content, observed)),
        (*words.current, *_current(content, observed)),
        (*words.next, *_texts(observed.next[:STEPS_FIRST])),
        (*words.pending, *_pending(observed)),
        (*words.solved, *_texts(observed.done)),
        (*words.concepts, *_concepts(content, observed)),
        (*words.files, *_files(content, last_edits)),
    )
    return Handoff(head, sections, tuple(_checks(content, last_edits))[:CHECKS])


def _without(words: HandoffWords, observed: Ledger) -> Ledger:
    """What was observed without what the words repeat or contradict: they were written last."""
    written = (*words.solved, *words.pending, *words.current, *words.next)
    keys = {key_of(one_line(text)) for text in written}
    for part in (LedgerPart.DONE, LedgerPart.NOW, LedgerPart.NEXT):
        observed = observed.having(part, (one for one in observed.of(part) if key_of(one.text) not in keys))
    return observed


def _texts(entries: Iterable[LedgerEntry]) -> Iterator[str]:
    return (entry.text for entry in entries)


def _request(content: SessionContent, observed: Ledger) -> Iterator[str]:
    """What is wanted, and every rule that does not stand there already."""
    goals = tuple(_texts(observed.goal))
    yield from goals
    for rule in _texts(observed.constraints):
        if not any(rule in goal for goal in goals):
            yield f"Rule: {rule}"
    for entry in inferred_rules(content):
        rule = f"Rule: {entry.text}"
        yield doubt_line(Doubt(rule, entry.why)) if entry.unconfirmed else rule


def _concepts(content: SessionContent, observed: Ledger) -> Iterator[str]:
    for text in _texts(observed.decisions):
        yield text if text.lower().startswith("deci") else f"Decided: {text}"
    if names := tuple(references(content.session.trail))[:NAMES_MOST]:
        yield f"References: {', '.join(names)}"
    yield from (f"Command: {text}" for text in _texts(observed.commands))


def _files(content: SessionContent, last_edits: Mapping[str, Edit]) -> Iterator[str]:
    trail, relative = content.session.trail, content.session.project.relative
    for number, touch in enumerate(changed_files(trail)[:FILES_MOST]):
        path = relative(touch.path)
        mark = content.marks.get(touch.path)
        line = file_line(FileTouch(f"`{path}`", touch.action, touch.times, touch.at))
        line = doubt_line(Doubt(line, mark)) if mark else line
        snippet = _snippet(last_edits[path].text) if number < SNIPPETS and path in last_edits else ""
        yield f"{line}\n{snippet}" if snippet else line
    gone = [f"`{relative(touch.path)}`" for touch in trail.files if touch.action is Action.DELETE]
    if gone:
        yield f"Deleted: {', '.join(gone[-FILES_MOST:])}"
    read = sorted((touch for touch in trail.files if touch.action is Action.READ), key=lambda one: -one.step)
    if read:
        yield f"Only read: {', '.join(f'`{relative(touch.path)}`' for touch in read[:NAMES_MOST])}"


def _snippet(text: str) -> str:
    """The first lines of what was written last, as a code block."""
    lines = [line.rstrip() for line in text.splitlines()]
    short = "\n".join(lines[:SNIPPET_LINES])[:SNIPPET_CHARS].rstrip()
    return f"```\n{short}\n```" if short.strip() and "```" not in short else ""


def _pending(observed: Ledger) -> Iterator[str]:
    """The steps after the next ones, and what waits for the user."""
    yield from _texts(observed.next[STEPS_FIRST:])
    yield from (f"Open: {text}" for text in _texts(observed.questions))


def _current(content: SessionContent, observed: Ledger) -> Iterator[str]:
    yield from _texts(observed.now)
    yield from _texts(ids_in_words(content))
    files = {content.session.project.relative(touch.path) for touch in content.session.trail.files}
    # A file by its name alone is among the files below.
    places = (one for one in content.state.section(Section.WHERE) if one.text.strip("`") not in files)
    for statement in best_of(places, WHERE_MOST):
        yield shortened(one_line(statement.text), HANDOFF_ROOM.entry_chars)
    yield from (doubt_line(Doubt(notice)) for notice in content.notices)


# ---------------------------------------------------------------- what can be verified

_DEFINES: Final = re.compile(
    r"\s*(?:export\s+|public\s+|async\s+|pub\s+|static\s+)*"
    r"(?:def|class|func|function|fn|const|let|var|type|interface|struct|enum|impl|module|#+)\s+\S"
)
_SHORTEST, _LONGEST = 8, 110


def _checks(content: SessionContent, last_edits: Mapping[str, Edit]) -> Iterator[Check]:
    for touch in changed_files(content.session.trail):
        path = content.session.project.relative(touch.path)
        if "`" not in path and path[:1] not in "/~" and path.isprintable():
            yield Check(path, recognisable_line(last_edits[path].text) if path in last_edits else "")


def recognisable_line(text: str) -> str:
    """The line by which a text can be recognised: a definition if there is one, else its longest line."""
    lines = [line.strip() for line in text.splitlines()]
    usable = [line for line in lines if _SHORTEST <= len(line) <= _LONGEST and "`" not in line]
    return next((line for line in usable if _DEFINES.match(line)), max(usable, key=len, default=""))


# ---------------------------------------------------------------- what was written into files


def last_edits_of(events: Iterable[Event]) -> dict[str, Edit]:
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


def _edits_of(call: ToolCalled) -> Iterator[Edit]:
    """What a call wrote into each file: the added lines of a patch, or a whole text."""
    changes = changes_in_patch(call.detail)
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
