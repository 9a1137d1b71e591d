"""Fill a handoff from a session's evidence, its turns, and its agent's own words.

A handoff is read once, by an agent that knows nothing of the work: it may be long, but every line must be
useful. The agent's own words, where it wrote any, come first in each section. A turn is one prompt and what
followed it: what failed on the way, and how it ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from holdfast.core.brief.brief_input import BriefInput
from holdfast.core.brief.named_things import relative
from holdfast.core.documents.handoff import Check, Doubt, Handoff, HandoffHead, doubt_line
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
from holdfast.core.evidence.commands.exit_meaning import has_failed, interpret_exit
from holdfast.core.evidence.commands.purpose import Purpose, purpose_of
from holdfast.core.evidence.fact_lines import command_line, file_line, git_lines
from holdfast.core.evidence.kinds import KINDS, KindTable, Place
from holdfast.core.evidence.mentions import use_at
from holdfast.core.evidence.notes import notes_to_show
from holdfast.core.evidence.patches import changes_in_patch
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import CommandRun, FileTouch, Thing, Trail, Utterance, open_todos
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.markdown import blocks, lines_of
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.ledger_content import ledger_in_words
from holdfast.lazy_dataclass import dataclass

STORY_CHARS: Final = 10_000
TURNS_MOST: Final = 30
LEAST_OF_A_TURN: Final = 280
MOST_OF_A_TURN: Final = 1_800
LAST_TURN: Final = 2_400
PROMPT_CHARS: Final = 500
NOTE_CHARS: Final = 300
FILES_MOST: Final = 14
SNIPPETS: Final = 8
SNIPPET_LINES: Final = 10
SNIPPET_CHARS: Final = 600
NAMES_MOST: Final = 16
COMMANDS_MOST: Final = 10
FAILURES_OF_A_TURN: Final = 3
TASKS_OF_A_TURN: Final = 10
CAUSE_CHARS: Final = 500
CHECKS: Final = 12
FAILURE_CHARS: Final = 200
COMMAND_CHARS: Final = 120
TASK_CHARS: Final = 80


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


def fill_handoff(
    brief_input: BriefInput,
    events: Sequence[Event],
    head: HandoffHead,
    words: HandoffWords,
    kinds: KindTable = KINDS,
) -> Handoff:
    """The handoff of a session, from everything that is recorded of it."""
    story = turns_of(events)
    last_edits = {relative(path, brief_input): edit for path, edit in last_edits_of(events).items()}
    sections = (
        (*words.request, *_request(brief_input.session.trail, story, kinds)),
        (*words.concepts, *_concepts(brief_input, kinds)),
        (*words.files, *_files(brief_input, last_edits)),
        (*words.solved, *_solved(story)),
        (*words.pending, *_pending(brief_input, kinds)),
        (*words.current, *_current(brief_input, story)),
        (*words.next, *_next(brief_input, story, kinds)),
    )
    return Handoff(head, sections, tuple(_checks(brief_input, last_edits))[:CHECKS])


def _notes(trail: Trail, part: str, kinds: KindTable, since: int = 0) -> Iterator[tuple[Place, str]]:
    """The texts of every kind of note that the table puts into this part, with its place."""
    for row in kinds.values():
        if (place := row.handoff) and place.part == part:
            notes = notes_to_show(row.kind, trail)
            yield from ((place, _line(note.text, NOTE_CHARS)) for note in notes if note.at >= since)


def _request(trail: Trail, story: Sequence[SessionTurn], kinds: KindTable) -> Iterator[str]:
    """Every prompt that asks for something, and every rule that is in none of those prompts."""
    requests = [turn.prompt for turn in story if not reader.is_generic(turn.prompt)]
    shown = [f"“{_text_within(prompt, PROMPT_CHARS)}”" for prompt in requests]
    yield from shown
    for place, rule in _notes(trail, "request", kinds):
        if not any(rule in one_line(text) for text in shown):
            yield place.labelled(rule)


def _concepts(brief_input: BriefInput, kinds: KindTable) -> Iterator[str]:
    trail = brief_input.session.trail
    yield from (place.labelled(text) for place, text in _notes(trail, "concepts", kinds))
    for thing, label in ((Thing.NAME, "Names"), (Thing.REFERENCE, "References"), (Thing.FOLDER, "Folders")):
        mentions = [
            mention for mention in trail.mentions if mention.thing is thing and "`" not in mention.name
        ]
        mentions.sort(key=lambda mention: -use_at(mention, trail.steps))
        names = [f"`{mention.name}`" for mention in mentions[:NAMES_MOST]]
        if names:
            yield f"{label} in use: {', '.join(names)}"


def _files(brief_input: BriefInput, last_edits: Mapping[str, Edit]) -> Iterator[str]:
    trail = brief_input.session.trail
    for number, touch in enumerate(_changed(trail)[:FILES_MOST]):
        path = relative(touch.path, brief_input)
        mark = brief_input.marks.get(touch.path)
        line = file_line(FileTouch(f"`{path}`", touch.action, touch.times, touch.at))
        line = doubt_line(Doubt(line, mark)) if mark else line
        snippet = _snippet(last_edits[path].text) if number < SNIPPETS and path in last_edits else ""
        yield f"{line}\n{snippet}" if snippet else line
    gone = [relative(touch.path, brief_input) for touch in trail.files if touch.action is Action.DELETE]
    if gone:
        yield f"Deleted: {', '.join(f'`{path}`' for path in gone[-FILES_MOST:])}"
    read = [touch for touch in trail.files if touch.action is Action.READ]
    if read:
        names = [
            f"`{relative(touch.path, brief_input)}`" for touch in sorted(read, key=lambda touch: -touch.step)
        ]
        yield f"Only read: {', '.join(names[:FILES_MOST])}"


def _changed(trail: Trail) -> list[FileTouch]:
    changed = [touch for touch in trail.files if touch.action in (Action.EDIT, Action.WRITE)]
    return sorted(changed, key=lambda touch: -touch.step)


def _snippet(text: str) -> str:
    """The first lines of what was written last, as a code block."""
    lines = [line.rstrip() for line in text.splitlines()]
    short = "\n".join(lines[:SNIPPET_LINES])[:SNIPPET_CHARS].rstrip()
    return f"```\n{short}\n```" if short.strip() and "```" not in short else ""


def _solved(story: Sequence[SessionTurn]) -> Iterator[str]:
    """The conclusion of each turn but the last, and what failed on the way."""
    turns_shown = [turn for turn in story[:-1] if turn.statements or turn.failures][-TURNS_MOST:]
    share = STORY_CHARS // max(len(turns_shown), 1)
    chars = min(max(share, LEAST_OF_A_TURN), MOST_OF_A_TURN)
    for turn in turns_shown:
        request = f"“{shortened(one_line(turn.prompt), 120)}”"
        failed = "".join(f"\nFailed on the way: {text}" for text in turn.failures[:FAILURES_OF_A_TURN])
        conclusion = _text_within(turn.conclusion.text, chars)
        yield f"{request}\n{_cause(turn)}{conclusion}{failed}{_delegated(turn)}"


def _delegated(turn: SessionTurn) -> str:
    return f"\nGiven to subagents: {'; '.join(turn.delegated[:TASKS_OF_A_TURN])}" if turn.delegated else ""


def _cause(turn: SessionTurn) -> str:
    return f"Cause: {_line(turn.cause, CAUSE_CHARS)}\n" if turn.cause else ""


def _pending(brief_input: BriefInput, kinds: KindTable) -> Iterator[str]:
    """What is left to do; questions and failures only from the last turn."""
    trail = brief_input.session.trail
    since = trail.prompts[-1].at if trail.prompts else 0
    for todo in open_todos(trail):
        yield f"To do ({todo.status.replace('_', ' ')}): {_line(todo.text, NOTE_CHARS)}"
    yield from (place.labelled(text) for place, text in _notes(trail, "pending", kinds))
    yield from (place.labelled(text) for place, text in _notes(trail, "open", kinds, since))
    failed = [run for run in trail.commands if has_failed(run) and run.at >= since and _does_something(run)]
    yield from (command_line(run) for run in failed[-3:])


def _current(brief_input: BriefInput, story: Sequence[SessionTurn]) -> Iterator[str]:
    if story:
        last = story[-1]
        yield f"Asked last: “{_text_within(last.prompt, PROMPT_CHARS)}”"
        yield from (_cause(last).strip(),) if last.cause else ()
        yield from (_text_within(last.conclusion.text, LAST_TURN),) if last.statements else ()
        yield from (f"Failed on the way: {text}" for text in last.failures[-FAILURES_OF_A_TURN:])
        yield from (_delegated(last).strip(),) if last.delegated else ()
    done = [run for run in brief_input.session.trail.commands if run.ok and _does_something(run)]
    yield from (command_line(run) for run in done[-COMMANDS_MOST:])
    yield from git_lines(brief_input.session.git)
    yield from (doubt_line(Doubt(notice)) for notice in brief_input.notices)


def _next(brief_input: BriefInput, story: Sequence[SessionTurn], kinds: KindTable) -> Iterator[str]:
    """The next steps named at the very end; those named earlier may be done by now."""
    trail = brief_input.session.trail
    since = story[-1].conclusion.at if story else 0
    digest = ledger_in_words(brief_input.words[0].text) if brief_input.words else None
    steps = [entry.text for entry in digest.next] if digest else []
    steps += [place.labelled(text) for place, text in _notes(trail, "next", kinds, since)]
    steps += [todo.text for todo in open_todos(trail) if todo.status in ("in_progress", "pending")]
    yield from dict.fromkeys(_line(step, NOTE_CHARS) for step in steps[:6])
    if not steps and story and story[-1].statements:
        closing = _text_within(story[-1].conclusion.text, LAST_TURN).rsplit("\n", 1)[-1]
        yield f"No next step was named. The agent's last words were: {_line(closing, NOTE_CHARS)}"


# ---------------------------------------------------------------- what can be verified

_DEFINES: Final = re.compile(
    r"\s*(?:export\s+|public\s+|async\s+|pub\s+|static\s+)*"
    r"(?:def|class|func|function|fn|const|let|var|type|interface|struct|enum|impl|module|#+)\s+\S"
)
_SHORTEST, _LONGEST = 8, 110


def _checks(brief_input: BriefInput, last_edits: Mapping[str, Edit]) -> Iterator[Check]:
    for touch in _changed(brief_input.session.trail):
        path = relative(touch.path, brief_input)
        if "`" not in path and path[:1] not in "/~" and path.isprintable():
            yield Check(path, recognisable_line(last_edits[path].text) if path in last_edits else "")


def recognisable_line(text: str) -> str:
    """The line by which a text can be recognised: a definition if there is one, else its longest line."""
    lines = [line.strip() for line in text.splitlines()]
    usable = [line for line in lines if _SHORTEST <= len(line) <= _LONGEST and "`" not in line]
    return next((line for line in usable if _DEFINES.match(line)), max(usable, key=len, default=""))


# ---------------------------------------------------------------- words


def _does_something(run: CommandRun) -> bool:
    """Whether a command did more than read or search."""
    return purpose_of(run.command) is not Purpose.LOOK


def _text_within(text: str, limit: int) -> str:
    """A text of several lines without the marks of its headings and blank lines, within the limit."""
    bare = text.strip()
    lines = [line.rstrip() for line in lines_of(bare)]
    for block in blocks(bare):
        if block.divides:
            lines[block.first] = block.text
    return shortened(_GAPS.sub("\n", "\n".join(lines)), limit)


_GAPS: Final = re.compile(r"\n(?:[ \t]*\n)+")


def _line(text: str, limit: int) -> str:
    return shortened(one_line(text), limit)


# ---------------------------------------------------------------- turns

_TOOL_MISUSE: Final = "<tool_use_error>"
"""How a harness tells its agent that it used a tool wrongly; not worth reporting if the next try worked."""
_CHANGES: Final = frozenset({Action.EDIT, Action.WRITE})


@dataclass(frozen=True, slots=True)
class SessionTurn:
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


def turns_of(events: Sequence[Event]) -> list[SessionTurn]:
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
        SessionTurn(
            prompt,
            tuple(_statements(after)),
            tuple(dict.fromkeys(_failures(after, calls))),
            tuple(dict.fromkeys(_delegated_tasks(after))),
        )
        for prompt, after in by_prompt
    ]


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


def _delegated_tasks(events: Iterable[Event]) -> Iterator[str]:
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
    purpose = purpose_of(call.subject) if call.action is Action.RUN else Purpose.DO
    outcome = interpret_exit(call.subject, purpose, text, returned.exit_status, ok=returned.ok)
    if purpose is Purpose.LOOK or not outcome.went_wrong:
        return ""
    reason = shortened(outcome.reason or one_line(text), FAILURE_CHARS)
    if not reason:
        return ""
    subject = shell.display_form(one_line(call.subject), COMMAND_CHARS)
    return f"`{subject}`: {reason}" if subject and "`" not in subject else reason


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
