"""Fill a handoff from a session's evidence, its turns, and its agent's own words.

A handoff is read once, by an agent that knows nothing of the work: it may be long, but every line must be
useful. The agent's own words, where it wrote any, come first in each section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from holdfast.core.brief.brief_input import BriefInput
from holdfast.core.brief.named_things import relative
from holdfast.core.documents.handoff import Check, Doubt, Handoff, Head, doubted
from holdfast.core.events.event import Action, Event
from holdfast.core.evidence.commands.exit_meaning import has_failed
from holdfast.core.evidence.commands.purpose import Purpose, aim
from holdfast.core.evidence.mentions import use_at
from holdfast.core.evidence.one_line import command_line, file_line, git_lines
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.statements import told_as
from holdfast.core.evidence.todos import still_open
from holdfast.core.evidence.trail import CommandRun, FileTouch, NoteKind, Thing, Trail
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.ledger_content import told_in
from holdfast.core.work.turns import Edit, Turn, edits, turns
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


@dataclass(frozen=True, slots=True)
class Words:
    """What the agent or the user wrote for each section."""

    request: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    solved: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    current: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


def filled(brief_input: BriefInput, events: Sequence[Event], head: Head, words: Words) -> Handoff:
    """The handoff of a session, from everything that is recorded of it."""
    story = turns(events)
    last_edits = {relative(path, brief_input): edit for path, edit in edits(events).items()}
    sections = (
        (*words.request, *_request(brief_input.session.trail, story)),
        (*words.concepts, *_concepts(brief_input)),
        (*words.files, *_files(brief_input, last_edits)),
        (*words.solved, *_solved(story)),
        (*words.pending, *_pending(brief_input)),
        (*words.current, *_current(brief_input, story)),
        (*words.next, *_next(brief_input, story)),
    )
    return Handoff(head, sections, tuple(_checks(brief_input, last_edits))[:CHECKS])


def _request(trail: Trail, story: Sequence[Turn]) -> Iterator[str]:
    """Every prompt that asks for something, and every rule that is in none of those prompts."""
    requests = [turn.prompt for turn in story if not reader.is_generic(turn.prompt)]
    shown = [f"“{_text(prompt, PROMPT_CHARS)}”" for prompt in requests]
    yield from shown
    for note in told_as(NoteKind.CONSTRAINT, trail):
        rule = _line(note.text, NOTE_CHARS)
        if not any(rule in one_line(text) for text in shown):
            yield f"Rule: {rule}"


def _concepts(brief_input: BriefInput) -> Iterator[str]:
    trail = brief_input.session.trail
    for note in trail.noted(NoteKind.DECISION):
        yield _labelled("Decided", "deci", note.text)
    for note in trail.noted(NoteKind.MEASURED):
        yield _labelled("Measured", "measured", note.text)
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
        line = doubted(Doubt(line, mark)) if mark else line
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


def _solved(story: Sequence[Turn]) -> Iterator[str]:
    """The conclusion of each turn but the last, and what failed on the way."""
    turns_shown = [turn for turn in story[:-1] if turn.statements or turn.failures][-TURNS_MOST:]
    room = STORY_CHARS // max(len(turns_shown), 1)
    room = min(max(room, LEAST_OF_A_TURN), MOST_OF_A_TURN)
    for turn in turns_shown:
        request = f"“{shortened(one_line(turn.prompt), 120)}”"
        failed = "".join(f"\nFailed on the way: {text}" for text in turn.failures[:FAILURES_OF_A_TURN])
        yield f"{request}\n{_cause(turn)}{_text(turn.conclusion.text, room)}{failed}{_delegated(turn)}"


def _delegated(turn: Turn) -> str:
    return f"\nGiven to subagents: {'; '.join(turn.delegated[:TASKS_OF_A_TURN])}" if turn.delegated else ""


def _cause(turn: Turn) -> str:
    return f"Cause: {_line(turn.cause, CAUSE_CHARS)}\n" if turn.cause else ""


def _pending(brief_input: BriefInput) -> Iterator[str]:
    """What is left to do; questions and failures only from the last turn."""
    trail = brief_input.session.trail
    since = trail.prompts[-1].at if trail.prompts else 0
    for todo in still_open(trail):
        yield f"To do ({todo.status.replace('_', ' ')}): {_line(todo.text, NOTE_CHARS)}"
    yield from (f"Not tried yet: {_line(note.text, NOTE_CHARS)}" for note in trail.noted(NoteKind.UNTRIED))
    for note in trail.noted(NoteKind.QUESTION):
        if note.at >= since:
            yield f"Open: {_line(note.text, NOTE_CHARS)}"
    failed = [run for run in trail.commands if has_failed(run) and run.at >= since and _does_something(run)]
    yield from (command_line(run) for run in failed[-3:])


def _current(brief_input: BriefInput, story: Sequence[Turn]) -> Iterator[str]:
    if story:
        last = story[-1]
        yield f"Asked last: “{_text(last.prompt, PROMPT_CHARS)}”"
        yield from (_cause(last).strip(),) if last.cause else ()
        yield from (_text(last.conclusion.text, LAST_TURN),) if last.statements else ()
        yield from (f"Failed on the way: {text}" for text in last.failures[-FAILURES_OF_A_TURN:])
        yield from (_delegated(last).strip(),) if last.delegated else ()
    done = [run for run in brief_input.session.trail.commands if run.ok and _does_something(run)]
    yield from (command_line(run) for run in done[-COMMANDS_MOST:])
    yield from git_lines(brief_input.session.git)
    yield from (doubted(Doubt(notice)) for notice in brief_input.notices)


def _next(brief_input: BriefInput, story: Sequence[Turn]) -> Iterator[str]:
    """The next steps named at the very end; those named earlier may be done by now."""
    trail = brief_input.session.trail
    since = story[-1].conclusion.at if story else 0
    digest = told_in(brief_input.words[0].text) if brief_input.words else None
    steps = [entry.text for entry in digest.next] if digest else []
    steps += [note.text for note in trail.noted(NoteKind.NEXT) if note.at >= since]
    steps += [todo.text for todo in still_open(trail) if todo.status in ("in_progress", "pending")]
    yield from dict.fromkeys(_line(step, NOTE_CHARS) for step in steps[:6])
    if not steps and story and story[-1].statements:
        closing = _text(story[-1].conclusion.text, LAST_TURN).rsplit("\n", 1)[-1]
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
            yield Check(path, pattern_in(last_edits[path].text) if path in last_edits else "")


def pattern_in(text: str) -> str:
    """The line by which a text can be recognised: a definition if there is one, else its longest line."""
    lines = [line.strip() for line in text.splitlines()]
    usable = [line for line in lines if _SHORTEST <= len(line) <= _LONGEST and "`" not in line]
    return next((line for line in usable if _DEFINES.match(line)), max(usable, key=len, default=""))


# ---------------------------------------------------------------- words


def _does_something(run: CommandRun) -> bool:
    """Whether a command did more than read or search."""
    return aim(run.command) is not Purpose.LOOK


def _text(text: str, limit: int) -> str:
    """A text of several lines without its headings and blank lines, within the limit."""
    lines = (_HEADING.sub("", line.rstrip()) for line in text.strip().splitlines())
    return shortened(_GAPS.sub("\n", "\n".join(lines)), limit)


_HEADING: Final = re.compile(r"^\s*#{1,6}\s+")
_GAPS: Final = re.compile(r"\n(?:[ \t]*\n)+")


def _labelled(label: str, stem: str, text: str) -> str:
    line = _line(text, NOTE_CHARS)
    # Some sentences already start with their label.
    return line if line.lower().startswith(stem) else f"{label}: {line}"


def _line(text: str, limit: int) -> str:
    return shortened(one_line(text), limit)
