"""What a session's ledger should say: from its evidence, and from what its agent wrote down.

Only what is known of one session; how that joins what stands in the file is `ledger_merge`'s work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from holdfast.core.brief.brief_input import BriefInput
from holdfast.core.brief.named_things import relative
from holdfast.core.documents.ledger import Entry, Ledger, Part, entry_of, is_ledger, key_of, parse, read
from holdfast.core.documents.unconfirmed import doubted
from holdfast.core.events.event import Action, Todo
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import has_failed
from holdfast.core.evidence.mentions import use_at
from holdfast.core.evidence.one_line import REASON_CHARS
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.statements import told_as
from holdfast.core.evidence.todos import still_open
from holdfast.core.evidence.trail import CommandRun, NoteKind, Thing, Trail
from holdfast.core.text.strings import one_line, shortened

GOAL_CHARS: Final = 300
ENTRY_CHARS: Final = 260
LONG_COMMAND: Final = 120
MOST: Final = {
    Part.CONSTRAINTS: 20,
    Part.DECISIONS: 10,
    Part.DONE: 10,
    Part.NOW: 4,
    Part.NEXT: 5,
    Part.QUESTIONS: 6,
    Part.FILES: 12,
    Part.IDS: 8,
    Part.COMMANDS: 6,
}


def filled(told: BriefInput) -> Ledger:
    """The ledger of a session as its evidence and its agent's last digest have it."""
    trail = told.session.trail
    digest = told_in(told.words[0].text) if told.words else Ledger()
    seen = Ledger(
        goal=_goal(trail) or digest.goal,
        constraints=_some(_rules(trail), Part.CONSTRAINTS),
        decisions=_last(_notes(trail, NoteKind.DECISION), digest, Part.DECISIONS),
        done=_last(
            (*_entries(trail.todos, "completed"), *_notes(trail, NoteKind.CONFIRMED)), digest, Part.DONE
        ),
        now=_first(_now(trail), digest, Part.NOW),
        next=_first(
            (*reversed(_notes(trail, NoteKind.NEXT)), *_entries(still_open(trail), "pending")),
            digest,
            Part.NEXT,
        ),
        questions=_last(_open(trail), digest, Part.QUESTIONS),
        files=_some(_files(told), Part.FILES),
        ids=_some(_ids(told), Part.IDS),
        commands=_some(_commands(trail), Part.COMMANDS),
    )
    # What the user ruled needs no confirmation; what the agent only gathered does.
    said = doubted(replace(seen, constraints=digest.constraints), trail)
    return said.having(Part.CONSTRAINTS, _some((*seen.constraints, *said.constraints), Part.CONSTRAINTS))


def told_in(words: str) -> Ledger:
    """What an agent's own words say: a ledger in its format, or a digest with its labels."""
    if words.strip() and is_ledger(words):
        return read(parse(words))
    ledger, part = Ledger(), Part.NOW
    for line in words.splitlines():
        label, bare = _LABEL.match(line), _BULLET.sub("", line).strip()
        if label:
            part, bare = _PARTS[label[1].lower()], line[label.end() :].strip()
        if bare:
            ledger = ledger.having(part, (*ledger.of(part), entry_of(shortened(bare, ENTRY_CHARS))))
    return ledger


_LABEL: Final = re.compile(r"(State|Next|Decisions|Blockers|Open questions):[ \t]*", re.IGNORECASE)
_BULLET: Final = re.compile(r"^\s*[-*+]\s+")
_PARTS: Final = {
    "state": Part.NOW,
    "next": Part.NEXT,
    "decisions": Part.DECISIONS,
    "blockers": Part.QUESTIONS,
    "open questions": Part.QUESTIONS,
}


def _goal(trail: Trail) -> tuple[Entry, ...]:
    """What was asked for last, and what it began with."""
    goal, first = trail.goal, trail.first_prompt
    if goal is None or reader.is_generic(goal.text):
        return ()
    begun = first is not None and first != goal and not reader.is_generic(first.text)
    begin = (Entry(f"At first: {_line(first.text, GOAL_CHARS)}"),) if first and begun else ()
    return (Entry(_line(goal.text, GOAL_CHARS)), *begin)


def _rules(trail: Trail) -> Iterator[Entry]:
    """The first rules, and the latest: what stands between was said in passing."""
    rules = _notes(trail, NoteKind.CONSTRAINT)
    most = MOST[Part.CONSTRAINTS]
    yield from rules if len(rules) <= most else (*rules[: most // 2], *rules[-most // 2 :])


def _notes(trail: Trail, kind: NoteKind) -> tuple[Entry, ...]:
    return tuple(Entry(_line(note.text)) for note in told_as(kind, trail))


def _entries(todos: Iterable[Todo], status: str) -> Iterator[Entry]:
    yield from (Entry(_line(todo.text)) for todo in todos if todo.status == status)


def _now(trail: Trail) -> Iterator[Entry]:
    yield from _entries(still_open(trail), "in_progress")
    asked = trail.prompts[-1] if trail.prompts else None
    if asked and asked != trail.first_prompt and not reader.is_generic(asked.text):
        yield Entry(f"Asked last: “{_line(asked.text)}”")
    said = [said for said in trail.statements if not reader.is_narration(one_line(said.text))]
    if said:
        yield Entry(f"Said last: {_line(said[-1].text)}")
    for run in [run for run in trail.commands if has_failed(run)][-2:]:
        reason = f": {shortened(run.reason, REASON_CHARS)}" if run.reason else ""
        if command := _command(run):
            yield Entry(f"Failing: {command}{reason}")


def _open(trail: Trail) -> Iterator[Entry]:
    yield from _notes(trail, NoteKind.QUESTION)
    yield from (Entry(f"Not tried yet: {_line(note.text)}") for note in trail.noted(NoteKind.UNTRIED))


def _files(told: BriefInput) -> Iterator[Entry]:
    changed = [touch for touch in told.session.trail.files if touch.action in (Action.EDIT, Action.WRITE)]
    for touch in sorted(changed, key=lambda touch: -touch.step):
        if path := _quoted(relative(touch.path, told)):
            why = told.marks.get(touch.path, "")
            yield Entry(path, unconfirmed=bool(why), why=why)


def _ids(told: BriefInput) -> Iterator[Entry]:
    git, trail = told.session.git, told.session.trail
    if git and (branch := _quoted(git.branch)):
        yield Entry(f"branch {branch}")
    if git and git.head:
        yield Entry(f"commit `{git.head[:10]}`")
    if key := _quoted(told.session.key):
        yield Entry(f"session {key}")
    named = [mention for mention in trail.mentions if mention.thing is Thing.REFERENCE]
    for mention in sorted(named, key=lambda mention: -use_at(mention, trail.steps)):
        if reference := _quoted(mention.name):
            yield Entry(reference)


def _commands(trail: Trail) -> Iterator[Entry]:
    """What failed last, then what checks the work: tests, and what was run again and again."""
    newest = list(reversed(trail.commands))
    failed = [run for run in newest if has_failed(run)]
    checks = [run for run in newest if run.ok and (run.tests or run.times > 1)]
    for run in (*failed[:2], *checks):
        if command := _command(run):
            yield Entry(f"{command} fails" if has_failed(run) else command)


def _command(run: CommandRun) -> str:
    return _quoted(shell.shown(one_line(run.command), LONG_COMMAND))


def _quoted(name: str) -> str:
    """A name as code; empty for one that cannot be quoted."""
    return f"`{name}`" if name and "`" not in name and name.isprintable() else ""


def _first(entries: Iterable[Entry], digest: Ledger, part: Part) -> tuple[Entry, ...]:
    """The agent's own words first, then what was seen."""
    return _some((*digest.of(part), *entries), part)


def _last(entries: Iterable[Entry], digest: Ledger, part: Part) -> tuple[Entry, ...]:
    """The newest of what was seen, and the agent's own words."""
    every = tuple(_each_once((*entries, *digest.of(part))))
    return every[-MOST[part] :]


def _some(entries: Iterable[Entry], part: Part) -> tuple[Entry, ...]:
    return tuple(_each_once(entries))[: MOST[part]]


def _each_once(entries: Iterable[Entry]) -> Iterator[Entry]:
    seen: set[str] = set()
    for entry in entries:
        key = key_of(entry.text)
        if key and key not in seen:
            seen.add(key)
            yield entry


def _line(text: str, limit: int = ENTRY_CHARS) -> str:
    return shortened(one_line(text), limit)
