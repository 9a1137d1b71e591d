"""What a brief may say: each fact of a trail as one item, with the features by which it is weighed.

Nothing is chosen here; `brief` does that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from holdfast.core import ledger_told, prose, shell
from holdfast.core.brief_things import Naming, recency, relative, short_paths, things
from holdfast.core.events import Action
from holdfast.core.lines import git_lines
from holdfast.core.notes import RULE_WORDS
from holdfast.core.text import elapsed, in_sentences, one_line, shortened, without_marks
from holdfast.core.todos import COMPLETED, IN_PROGRESS
from holdfast.core.told import (
    DECISIONS,
    GOAL,
    LEDGER,
    OPEN,
    OTHERS,
    REPORTED,
    RULES,
    SINCE,
    STATE,
    WORDS,
    Item,
    Reason,
    Told,
)
from holdfast.core.trail import TEXT_KEPT, Note, NoteKind, Said, Trail
from holdfast.core.weights import WEIGHTS, Weights, weighed

GOAL_CHARS = 240
PROMPT_CHARS = 220
STATEMENT_CHARS = 140
NOTE_CHARS = 260
WORDS_CHARS = 800
RUNNING_CHARS = 60


def candidates(told: Told, weights: Weights = WEIGHTS, naming: Naming = short_paths) -> Iterator[Item]:
    """Everything that could be said of the session, weighed."""
    yield from _led(told)
    yield from _world(told, weights)
    gone = _gone(told.session.trail)
    for sentence in chain(_asked(told, weights), _noted(told, weights), _state(told, weights)):
        dated = _dated(sentence, gone)
        if dated is sentence or sentence.kind not in _OVERTAKEN:
            yield dated
    # What was run with a file that is no more cannot be run again.
    yield from (
        thing
        for thing in things(told, weights, naming)
        if thing.kind != "command" or thing is _dated(thing, gone)
    )


_OVERTAKEN = frozenset({"decision", "next", "untried"})
"""What binds nobody once the file that it was about is no more."""


def _led(told: Told) -> Iterator[Item]:
    """What the ledger says that leads, if one does."""
    if told.lead is None:
        return
    for line in ledger_told.lines(told.lead, told.now):
        yield Item(
            LEDGER, line.text, told.lead.saved_at, told.lead.path, line.kind, line.key, score=line.score
        )


def news(told: Told) -> Iterator[Item]:
    """What a model with its whole history cannot know."""
    yield from _world(told, WEIGHTS)
    for path, mark in told.marks.items():
        yield weighed(Item(SINCE, f"{relative(path, told)}: {mark}", told.now, "world", "since"), WEIGHTS)


def _gone(trail: Trail) -> dict[str, re.Pattern[str]]:
    """The names of files that are no more, each with what finds it; not one that another file has as well.

    A name without an ending is a word like any other, and a sentence with that word need not mean the file.
    """
    lost = {touch.path for touch in trail.files if touch.action is Action.DELETE or touch.renamed_to}
    there = {_name(touch.path) for touch in trail.files if touch.path not in lost}
    names = sorted({_name(path) for path in lost} - there)
    return {name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") for name in names if "." in name[1:]}


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _dated(item: Item, gone: Mapping[str, re.Pattern[str]]) -> Item:
    """A sentence that was said of files which are no more says so."""
    named = [name for name, found in gone.items() if found.search(item.text)]
    return replace(item, text=f"{item.text} (by now gone: {', '.join(named)})") if named else item


def _world(told: Told, weights: Weights) -> Iterator[Item]:
    for notice in told.notices:
        yield weighed(Item(SINCE, f"UNCONFIRMED: {notice}", told.now, "world", "since"), weights)
    for neighbour in told.neighbours:
        yield weighed(Item(OTHERS, neighbour, told.now, "store", "neighbour"), weights)


def _asked(told: Told, weights: Weights) -> Iterator[Item]:
    trail, key = told.session.trail, told.session.key
    goal, first = trail.goal, trail.first_prompt
    if goal:
        bare = shortened(one_line(goal.text), GOAL_CHARS)
        yield weighed(Item(GOAL, f"“{bare}”", goal.at, key, "goal", bare), weights)
    if told.kept.prompts:
        return
    rules = [note.text for note in trail.noted(NoteKind.CONSTRAINT)]
    if first and first != goal and (rest := _without(first, rules)):
        yield weighed(Item(GOAL, f"At first: “{rest}”", first.at, key, "first_prompt", rest), weights)
    later = [said for said in reversed(trail.prompts) if said not in (goal, first)]
    for place, said in enumerate(said for said in later if not prose.is_generic(said.text)):
        if rest := _without(said, rules):
            item = Item(GOAL, f"Also asked: “{rest}”", said.at, key, "prompt", rest)
            yield weighed(item, weights, recency=recency(place))


def _without(said: Said, others: list[str], limit: int = PROMPT_CHARS) -> str:
    """What is said beside the sentences in it that are told by themselves."""
    text = one_line(said.text)
    for other in others:
        text = text.replace(one_line(other), "")
    rest = one_line(text)
    # A command of the harness says nothing without what stands behind it: `/init`.
    return "" if rest.startswith("/") and " " not in rest else shortened(rest, limit)


def _telling(trail: Trail) -> list[Said]:
    """What the agent said beside what is told by itself, the newest first; mere narration only if last."""
    found: list[Said] = []
    for said in reversed(trail.statements):
        noted = [note.text for note in trail.notes if note.record == said.record]
        bare = replace(said, text=without_marks(said.text))
        rest = in_sentences(_without(bare, noted, TEXT_KEPT), STATEMENT_CHARS)
        if rest and (said is trail.statements[-1] or not prose.is_narration(rest)):
            found.append(replace(said, text=rest))
    return found


_NOTES = (
    (NoteKind.DECISION, "decision", DECISIONS, ""),
    (NoteKind.NEXT, "next", STATE, "Next: "),
    (NoteKind.CONFIRMED, "confirmed", STATE, "Done: "),
    (NoteKind.MEASURED, "measured", STATE, "Measured: "),
    (NoteKind.FAILED, "tried", STATE, "Tried and failed: "),
    (NoteKind.UNTRIED, "untried", STATE, "Not tried yet: "),
    (NoteKind.NEED, "need", STATE, "Needs: "),
    (NoteKind.QUESTION, "question", OPEN, ""),
)


def _noted(told: Told, weights: Weights) -> Iterator[Item]:
    for place, said in enumerate(told.words):
        # Indented, so that no line of it can pass for one of ours.
        words = shortened(said.text, WORDS_CHARS).replace("\n", "\n  ")
        text = f"({elapsed(told.now - said.at)} ago) {words}"
        yield weighed(Item(WORDS, text, said.at, "checkpoint", "words"), weights, recency=recency(place))
    rules = [note for note in told.session.trail.noted(NoteKind.CONSTRAINT) if not note.by_user]
    first = next((place for place, note in enumerate(rules) if RULE_WORDS.search(note.text)), 0)
    for place, note in enumerate(rules):
        # The first rules and the latest bind most: what stands between was said in passing.
        nearest = min(abs(place - first), len(rules) - 1 - place)
        rule = _note(note, "first_rule" if place == first else "constraint", RULES, "")
        yield weighed(rule, weights, standing=recency(nearest))
    yield from _replies(told, weights)
    for kind, name, section, label in _NOTES:
        notes = [note for note in reversed(told.session.trail.noted(kind)) if not note.by_user]
        for place, note in enumerate(_latest_of_tests(notes)):
            age = _age(note, told) if kind in _PASSING else 0.0
            yield weighed(_note(note, name, section, label), weights, recency=recency(place), age=age)


def _latest_of_tests(notes: Iterable[Note]) -> Iterator[Note]:
    """The notes, newest first, but of those that tell how the tests went only the newest."""
    known = False
    for note in notes:
        of_tests = note.kind in _COUNTS and _TESTS.search(note.text) is not None
        if not (of_tests and known):
            yield note
        known = known or of_tests


_COUNTS = frozenset({NoteKind.CONFIRMED, NoteKind.MEASURED})
_TESTS = re.compile(r"\b(?:tests?|doctests?|specs?|failures?)\b|测试", re.IGNORECASE)


def _replies(told: Told, weights: Weights) -> Iterator[Item]:
    """What the user said to tools; the last word, if it came after the goal, is where the work goes now."""
    trail = told.session.trail
    since = trail.goal.at if trail.goal else 0
    for place, note in enumerate(reversed([note for note in trail.notes if note.by_user])):
        section = RULES if note.kind is NoteKind.CONSTRAINT else DECISIONS
        kind = "answer" if place or note.at < since else "last_answer"
        yield weighed(_note(note, kind, section, ""), weights, standing=recency(place))


def _running(told: Told, weights: Weights) -> Iterator[Item]:
    """What goes on in the background, and the subagents that can be asked again: elsewhere neither holds."""
    here = told.reason in _SAME_PROCESS
    for place, one in enumerate(reversed(told.session.trail.running)):
        what = f"`{shell.shown(one_line(one.command), RUNNING_CHARS)}`" if one.command else f"“{one.task}”"
        if not one.over:
            text = f"Left running: {what} ({one.handle})" if here else f"Was left running: {what}"
            item = Item(STATE, text, one.at, one.call, "running", what)
            yield weighed(item, weights, standing=recency(place))
        elif here:
            item = Item(STATE, f"{one.handle} ({one.task})", one.at, one.call, "reported", lead=REPORTED)
            yield weighed(item, weights, standing=recency(place))


_SAME_PROCESS = frozenset({Reason.COMPACT, Reason.LATE, Reason.CLEAR, Reason.SUMMARY, Reason.ASKED})
"""Why a brief is given to the very process that has left something running."""
_PASSING = frozenset({NoteKind.NEXT, NoteKind.QUESTION, NoteKind.CONFIRMED})
"""What was so when it was said, and may be otherwise many steps later."""


def _age(note: Note, told: Told) -> float:
    """0 for what was just said, less for each step since; sessions of old do not say at which step it was."""
    steps = told.session.trail.steps - note.step if note.step else 0
    return -math.log1p(max(steps, 0) / _STEPS_FRESH)


_STEPS_FRESH = 40


def _note(note: Note, kind: str, section: str, label: str) -> Item:
    bare = in_sentences(one_line(note.text), NOTE_CHARS).removeprefix(f"{section.removesuffix('s')}: ")
    # Some sentences bring their label with them.
    labelled = bare if bare.lower().startswith(label.rstrip(": ").lower()) else label + bare
    return Item(section, labelled, note.at, note.record, kind, bare)


def _state(told: Told, weights: Weights) -> Iterator[Item]:
    trail, key, at = told.session.trail, told.session.key, told.session.changed_at
    for place, todo in enumerate(todo for todo in trail.todos if todo.status != COMPLETED):
        label = "Doing" if todo.status == IN_PROGRESS else "To do"
        text = f"{label}: {shortened(one_line(todo.text), NOTE_CHARS)}"
        yield weighed(Item(STATE, text, at, key, "todo"), weights, standing=recency(place))
    yield from _running(told, weights)
    for place, said in enumerate(_telling(trail)):
        last = said.record == trail.statements[-1].record
        text = f"{'Last said' if last else 'Before that'}: {said.text}"
        kind = "last_said" if last else "statement"
        item = Item(STATE, text, said.at, said.record, kind, said.text)
        yield weighed(item, weights, recency=recency(place))
    for line in git_lines(told.session.git):
        yield weighed(Item(STATE, line, at, "git", "git"), weights)
