"""Render a session's work state as the entries of a ledger.

`observed_ledger` is also what a handoff is made from, with more room, so that the two cannot disagree.
`ledger_update` merges a ledger with its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Final

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
from holdfast.core.events.event import Action
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import has_failed
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.mentions import use_at
from holdfast.core.evidence.trail import CommandRun, FileTouch, Thing, Trail
from holdfast.core.session.session import Session
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.state import Statement, WorkState, best_of
from holdfast.core.work.written import sections_in
from holdfast.lazy_dataclass import dataclass

ENTRY_CHARS: Final = 260
LONG_COMMAND: Final = 120
GIT_SOURCE: Final = "git"
"""The source of statements about branch and commit."""


@dataclass(frozen=True, slots=True)
class SessionContent:
    """What a ledger or a handoff of a session is made from."""

    session: Session
    state: WorkState
    digest: Ledger = Ledger()
    """What the agent last wrote down in its own words."""
    marks: Mapping[str, str] = field(default_factory=lambda: {})
    """What changed, for each file that differs from how the session left it."""
    notices: tuple[str, ...] = ()
    """What else differs from how the session left it: branch, HEAD."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much a document shows."""

    entries: Mapping[LedgerPart, int]
    failures: int
    goal_chars: int
    entry_chars: int


LEDGER_ROOM: Final = Room(
    {
        LedgerPart.GOAL: 2,
        LedgerPart.CONSTRAINTS: 20,
        LedgerPart.DECISIONS: 10,
        LedgerPart.DONE: 10,
        LedgerPart.NOW: 4,
        LedgerPart.NEXT: 5,
        LedgerPart.QUESTIONS: 6,
        LedgerPart.FILES: 12,
        LedgerPart.IDS: 8,
        LedgerPart.COMMANDS: 6,
    },
    failures=2,
    goal_chars=300,
    entry_chars=ENTRY_CHARS,
)
_SECTIONS: Final = {
    LedgerPart.CONSTRAINTS: Section.RULES,
    LedgerPart.DECISIONS: Section.DECISIONS,
    LedgerPart.DONE: Section.DONE,
    LedgerPart.NOW: Section.NOW,
    LedgerPart.NEXT: Section.NEXT,
    LedgerPart.QUESTIONS: Section.QUESTIONS,
}


def fill_ledger(content: SessionContent) -> Ledger:
    """The ledger of a session, with marks on what the user has not confirmed."""
    observed = observed_ledger(content, LEDGER_ROOM)
    # The user's rules need no confirmation; what the agent inferred does.
    marked = mark_unconfirmed(replace(observed, constraints=()), content.session.trail, content.state)
    rules = _each_once((*observed.constraints, *inferred_rules(content)))
    most = LEDGER_ROOM.entries[LedgerPart.CONSTRAINTS]
    return marked.having(LedgerPart.CONSTRAINTS, tuple(rules)[:most])


def observed_ledger(content: SessionContent, room: Room) -> Ledger:
    """The statements worth most of each section, and the agent's own words; nothing is both done and open."""
    finished = frozenset(
        map(_key, (*_texts(content.state, Section.DONE), *_entry_texts(content.digest.done)))
    )
    now = (*_part(content, LedgerPart.NOW, room, finished), *_failures(content.state, room, finished))
    now = now[: room.entries[LedgerPart.NOW]]
    following = _part(content, LedgerPart.NEXT, room, finished.union(map(_key, _entry_texts(now))))
    trail = content.session.trail
    return Ledger(
        goal=_goal(content.state, room) or content.digest.goal,
        constraints=_part(replace(content, digest=Ledger()), LedgerPart.CONSTRAINTS, room),
        decisions=_part(content, LedgerPart.DECISIONS, room),
        done=_part(content, LedgerPart.DONE, room),
        now=now,
        next=following,
        questions=_part(content, LedgerPart.QUESTIONS, room, finished),
        files=_some(_files(content), LedgerPart.FILES, room),
        ids=_some(_ids(content, room), LedgerPart.IDS, room),
        commands=_some(_commands(trail), LedgerPart.COMMANDS, room),
    )


def inferred_rules(content: SessionContent) -> tuple[LedgerEntry, ...]:
    """The rules in the agent's own words, marked unless the user stated them."""
    own = Ledger(constraints=content.digest.constraints)
    return mark_unconfirmed(own, content.session.trail, content.state).constraints


def ids_in_words(content: SessionContent) -> Iterator[LedgerEntry]:
    """The ids, ports and places that the agent wrote down, without those that are known better."""
    return (entry for entry in content.digest.ids if not _KNOWN_BETTER.match(entry.text))


_KNOWN_BETTER: Final = compiled(r"(?:branch|commit|session) \S+$")


def ledger_in_words(words: str) -> Ledger:
    """The ledger in an agent's own words, which are a ledger file or a digest with headings or labels."""
    if words.strip() and is_ledger(words):
        return read(parse(words))
    ledger = Ledger()
    for section, text in sections_in(words):
        # What stands below no heading says where the work stands.
        part = _PARTS_OF_WORDS[section or Section.NOW]
        entry = entry_of(shortened(text, ENTRY_CHARS))
        ledger = ledger.having(part, (*ledger.of(part), replace(entry, text=_item_text(part, entry.text))))
    return ledger


_PARTS_OF_WORDS: Final = {
    **{section: part for part, section in _SECTIONS.items()},
    Section.GOAL: LedgerPart.GOAL,
    # What blocks the agent waits for somebody, as a question does.
    Section.FAILURES: LedgerPart.QUESTIONS,
    Section.WHERE: LedgerPart.IDS,
}


def changed_files(trail: Trail) -> list[FileTouch]:
    """The files that were edited or written, the latest first."""
    changed = [touch for touch in trail.files if touch.action in (Action.EDIT, Action.WRITE)]
    return sorted(changed, key=lambda touch: -touch.step)


def references(trail: Trail) -> Iterator[str]:
    """The tickets, commits and pages that the work is about, quoted, the most used first."""
    named = [mention for mention in trail.mentions if mention.thing is Thing.REFERENCE]
    for mention in sorted(named, key=lambda mention: -use_at(mention, trail.steps)):
        if reference := _quoted(mention.name):
            yield reference


def _part(
    content: SessionContent, part: LedgerPart, room: Room, finished: frozenset[str] = frozenset()
) -> tuple[LedgerEntry, ...]:
    """The agent's own words and the best statements of a part, without what is finished."""
    most = room.entries[part]
    words = [entry for entry in _each_once(content.digest.of(part)) if _key(entry.text) not in finished]
    words = words[:most]
    shown = finished.union(map(_key, _entry_texts(words)))
    statements = (one for one in content.state.section(_SECTIONS[part]) if _key(one.text) not in shown)
    chosen = best_of(_latest_of_each(statements), most - len(words))
    entries = [LedgerEntry(_line(statement.text, room.entry_chars)) for statement in chosen]
    # Of what goes on, the agent's own words come first; of what has happened, the newest come last.
    return (*words, *entries) if part in _GOING_ON else (*entries, *words)


_GOING_ON: Final = (LedgerPart.NOW, LedgerPart.NEXT)


def _failures(state: WorkState, room: Room, finished: frozenset[str]) -> Iterator[LedgerEntry]:
    failures = (one for one in state.section(Section.FAILURES) if _key(one.text) not in finished)
    for statement in best_of(_latest_of_each(failures), room.failures):
        text = statement.text if statement.text.lower().startswith("fail") else f"Failed: {statement.text}"
        yield LedgerEntry(_line(text, room.entry_chars))


def _goal(state: WorkState, room: Room) -> tuple[LedgerEntry, ...]:
    """What the user wants now, then the larger aims behind it."""
    goals = state.best(Section.GOAL, room.entries[LedgerPart.GOAL])
    latest = max((goal.at for goal in goals), default=0)
    now = [_line(goal.text, room.goal_chars) for goal in goals if goal.at == latest]
    before = [f"At first: {_line(goal.text, room.goal_chars)}" for goal in goals if goal.at < latest]
    return tuple(_each_once(map(LedgerEntry, (*now, *before))))


def _files(content: SessionContent) -> Iterator[LedgerEntry]:
    for touch in changed_files(content.session.trail):
        if path := _quoted(content.session.project.relative(touch.path)):
            why = content.marks.get(touch.path, "")
            yield LedgerEntry(path, unconfirmed=bool(why), why=why)


def _ids(content: SessionContent, room: Room) -> Iterator[LedgerEntry]:
    git = content.session.git
    if git and (branch := _quoted(git.branch)):
        yield LedgerEntry(f"branch {branch}")
    if git and git.head:
        yield LedgerEntry(f"commit `{git.head[:10]}`")
    if key := _quoted(content.session.key):
        yield LedgerEntry(f"session {key}")
    yield from ids_in_words(content)
    # Branch and commit stand above in a form that can be compared with the worktree.
    where = (one for one in content.state.section(Section.WHERE) if one.source != GIT_SOURCE)
    for statement in best_of(where, room.entries[LedgerPart.IDS]):
        yield LedgerEntry(_item_text(LedgerPart.IDS, _line(statement.text, room.entry_chars)))
    yield from map(LedgerEntry, references(content.session.trail))


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


def _item_text(part: LedgerPart, text: str) -> str:
    """A text as one item of its part; commas separate the items of the working set."""
    if part is not LedgerPart.IDS:
        return text
    return _COMMA.sub(lambda match: ";" if match[0] == "," else match[0], text)


_COMMA: Final = compiled(r"`[^`]*`|,")


def _texts(state: WorkState, section: Section) -> Iterator[str]:
    return (statement.text for statement in state.section(section))


def _entry_texts(entries: Iterable[LedgerEntry]) -> Iterator[str]:
    return (entry.text for entry in entries)


def _some(entries: Iterable[LedgerEntry], part: LedgerPart, room: Room) -> tuple[LedgerEntry, ...]:
    return tuple(_each_once(entries))[: room.entries[part]]


def _each_once(entries: Iterable[LedgerEntry]) -> Iterator[LedgerEntry]:
    seen: set[str] = set()
    for entry in entries:
        key = _key(entry.text)
        if key and key not in seen:
            seen.add(key)
            yield entry


def _latest_of_each(statements: Iterable[Statement]) -> list[Statement]:
    by_key = {_key(statement.text): statement for statement in statements}
    return [statement for key, statement in by_key.items() if key]


def _key(text: str) -> str:
    """What statements are compared by, however much of them a document shows."""
    return key_of(_line(text, ENTRY_CHARS))


def _line(text: str, limit: int) -> str:
    return shortened(one_line(text), limit)
