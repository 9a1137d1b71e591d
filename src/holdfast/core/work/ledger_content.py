"""Fill a session's ledger from its evidence and from what its agent wrote down.

`ledger_update` merges this with the ledger's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from holdfast.core.brief.brief_input import BriefInput
from holdfast.core.brief.named_things import relative
from holdfast.core.documents.ledger import (
    Ledger,
    LedgerEntry,
    LedgerPart,
    entry_of,
    is_ledger,
    key_of,
    parse,
    read,
)
from holdfast.core.documents.ledger_update import mark_unconfirmed
from holdfast.core.events.event import Action, Todo
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import has_failed
from holdfast.core.evidence.fact_lines import REASON_CHARS
from holdfast.core.evidence.kinds import KINDS, KindTable
from holdfast.core.evidence.mentions import use_at
from holdfast.core.evidence.notes import notes_to_show
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import CommandRun, Thing, Trail, open_todos
from holdfast.core.text.strings import one_line, shortened

GOAL_CHARS: Final = 300
ENTRY_CHARS: Final = 260
LONG_COMMAND: Final = 120
MOST_ENTRIES: Final = {
    LedgerPart.CONSTRAINTS: 20,
    LedgerPart.DECISIONS: 10,
    LedgerPart.DONE: 10,
    LedgerPart.NOW: 4,
    LedgerPart.NEXT: 5,
    LedgerPart.QUESTIONS: 6,
    LedgerPart.FILES: 12,
    LedgerPart.IDS: 8,
    LedgerPart.COMMANDS: 6,
}


def fill_ledger(brief_input: BriefInput, kinds: KindTable = KINDS) -> Ledger:
    """The ledger of a session, from its evidence and its agent's last digest."""
    trail = brief_input.session.trail
    digest = ledger_in_words(brief_input.words[0].text) if brief_input.words else Ledger()
    noted = {part: tuple(_notes(trail, part, kinds)) for part in LedgerPart}
    done = (*_entries(trail.todos, "completed"), *noted[LedgerPart.DONE])
    steps = (*reversed(noted[LedgerPart.NEXT]), *_entries(open_todos(trail), "pending"))
    observed = Ledger(
        goal=_goal(trail) or digest.goal,
        constraints=_some(_rules(noted[LedgerPart.CONSTRAINTS]), LedgerPart.CONSTRAINTS),
        decisions=_last(noted[LedgerPart.DECISIONS], digest, LedgerPart.DECISIONS),
        done=_last(done, digest, LedgerPart.DONE),
        now=_first((*_now(trail), *noted[LedgerPart.NOW]), digest, LedgerPart.NOW),
        next=_first(steps, digest, LedgerPart.NEXT),
        questions=_last(noted[LedgerPart.QUESTIONS], digest, LedgerPart.QUESTIONS),
        files=_some(_files(brief_input), LedgerPart.FILES),
        ids=_some(_ids(brief_input), LedgerPart.IDS),
        commands=_some(_commands(trail), LedgerPart.COMMANDS),
    )
    # The user's rules need no confirmation; what the agent inferred does.
    unconfirmed = mark_unconfirmed(replace(observed, constraints=digest.constraints), trail)
    return unconfirmed.having(
        LedgerPart.CONSTRAINTS,
        _some((*observed.constraints, *unconfirmed.constraints), LedgerPart.CONSTRAINTS),
    )


def ledger_in_words(words: str) -> Ledger:
    """The ledger in an agent's own words, which are a ledger file or a digest with labels."""
    if words.strip() and is_ledger(words):
        return read(parse(words))
    ledger, part = Ledger(), LedgerPart.NOW
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
    "state": LedgerPart.NOW,
    "next": LedgerPart.NEXT,
    "decisions": LedgerPart.DECISIONS,
    "blockers": LedgerPart.QUESTIONS,
    "open questions": LedgerPart.QUESTIONS,
}


def _goal(trail: Trail) -> tuple[LedgerEntry, ...]:
    """The current goal, and the first prompt if it differs."""
    goal, first = trail.goal, trail.first_prompt
    if goal is None or reader.is_generic(goal.text):
        return ()
    begun = first is not None and first != goal and not reader.is_generic(first.text)
    begin = (LedgerEntry(f"At first: {_line(first.text, GOAL_CHARS)}"),) if first and begun else ()
    return (LedgerEntry(_line(goal.text, GOAL_CHARS)), *begin)


def _rules(rules: tuple[LedgerEntry, ...]) -> tuple[LedgerEntry, ...]:
    """The first rules and the latest; those between were said in passing."""
    most = MOST_ENTRIES[LedgerPart.CONSTRAINTS]
    return rules if len(rules) <= most else (*rules[: most // 2], *rules[-most // 2 :])


def _notes(trail: Trail, part: LedgerPart, kinds: KindTable) -> Iterator[LedgerEntry]:
    """The notes of every kind that the table puts into this part."""
    for row in kinds.values():
        if (place := row.ledger) and place.part == part:
            notes = notes_to_show(row.kind, trail)
            yield from (LedgerEntry(place.labelled(_line(note.text))) for note in notes)


def _entries(todos: Iterable[Todo], status: str) -> Iterator[LedgerEntry]:
    yield from (LedgerEntry(_line(todo.text)) for todo in todos if todo.status == status)


def _now(trail: Trail) -> Iterator[LedgerEntry]:
    yield from _entries(open_todos(trail), "in_progress")
    prompt = trail.prompts[-1] if trail.prompts else None
    if prompt and prompt != trail.first_prompt and not reader.is_generic(prompt.text):
        yield LedgerEntry(f"Asked last: “{_line(prompt.text)}”")
    statements = [
        statements for statements in trail.statements if not reader.is_narration(one_line(statements.text))
    ]
    if statements:
        yield LedgerEntry(f"Said last: {_line(statements[-1].text)}")
    for run in [run for run in trail.commands if has_failed(run)][-2:]:
        reason = f": {shortened(run.reason, REASON_CHARS)}" if run.reason else ""
        if command := _command(run):
            yield LedgerEntry(f"Failing: {command}{reason}")


def _files(brief_input: BriefInput) -> Iterator[LedgerEntry]:
    changed = [
        touch for touch in brief_input.session.trail.files if touch.action in (Action.EDIT, Action.WRITE)
    ]
    for touch in sorted(changed, key=lambda touch: -touch.step):
        if path := _quoted(relative(touch.path, brief_input)):
            why = brief_input.marks.get(touch.path, "")
            yield LedgerEntry(path, unconfirmed=bool(why), why=why)


def _ids(brief_input: BriefInput) -> Iterator[LedgerEntry]:
    git, trail = brief_input.session.git, brief_input.session.trail
    if git and (branch := _quoted(git.branch)):
        yield LedgerEntry(f"branch {branch}")
    if git and git.head:
        yield LedgerEntry(f"commit `{git.head[:10]}`")
    if key := _quoted(brief_input.session.key):
        yield LedgerEntry(f"session {key}")
    named = [mention for mention in trail.mentions if mention.thing is Thing.REFERENCE]
    for mention in sorted(named, key=lambda mention: -use_at(mention, trail.steps)):
        if reference := _quoted(mention.name):
            yield LedgerEntry(reference)


def _commands(trail: Trail) -> Iterator[LedgerEntry]:
    """The last failures, then the commands that check the work: tests, and what was run repeatedly."""
    newest = list(reversed(trail.commands))
    failed = [run for run in newest if has_failed(run)]
    checks = [run for run in newest if run.ok and (run.tests or run.times > 1)]
    for run in (*failed[:2], *checks):
        if command := _command(run):
            yield LedgerEntry(f"{command} fails" if has_failed(run) else command)


def _command(run: CommandRun) -> str:
    return _quoted(shell.display_form(one_line(run.command), LONG_COMMAND))


def _quoted(name: str) -> str:
    """A name as code; empty for one that cannot be quoted."""
    return f"`{name}`" if name and "`" not in name and name.isprintable() else ""


def _first(entries: Iterable[LedgerEntry], digest: Ledger, part: LedgerPart) -> tuple[LedgerEntry, ...]:
    """The agent's own words first, then the evidence; the first so many."""
    return _some((*digest.of(part), *entries), part)


def _last(entries: Iterable[LedgerEntry], digest: Ledger, part: LedgerPart) -> tuple[LedgerEntry, ...]:
    """The evidence first, then the agent's own words; the last so many."""
    every = tuple(_each_once((*entries, *digest.of(part))))
    return every[-MOST_ENTRIES[part] :]


def _some(entries: Iterable[LedgerEntry], part: LedgerPart) -> tuple[LedgerEntry, ...]:
    return tuple(_each_once(entries))[: MOST_ENTRIES[part]]


def _each_once(entries: Iterable[LedgerEntry]) -> Iterator[LedgerEntry]:
    seen: set[str] = set()
    for entry in entries:
        key = key_of(entry.text)
        if key and key not in seen:
            seen.add(key)
            yield entry


def _line(text: str, limit: int = ENTRY_CHARS) -> str:
    return shortened(one_line(text), limit)
