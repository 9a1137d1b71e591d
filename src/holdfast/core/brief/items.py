"""What a brief may say: each fact of a trail as one item, with the features by which it is weighed.

Nothing is chosen here; `brief` does that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from holdfast.core.brief.brief_input import (
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
    BriefInput,
    Item,
    Reason,
)
from holdfast.core.brief.deleted_files import gone_names, names_in
from holdfast.core.brief.named_things import Naming, recency, relative, short_paths, things
from holdfast.core.brief.weights import WEIGHTS, Weights, weighed
from holdfast.core.documents import ledger_sentences
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.purpose import Purpose
from holdfast.core.evidence.one_line import git_lines
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.statements import RULE_WORDS, checks_in
from holdfast.core.evidence.todos import IN_PROGRESS, still_open
from holdfast.core.evidence.trail import Note, NoteKind, Trail, Utterance
from holdfast.core.text.strings import content_words, elapsed, in_sentences, one_line, shortened

GOAL_CHARS = 240
PROMPT_CHARS = 220
BEFORE_CHARS = 140
STATEMENT_CHARS = 140
NOTE_CHARS = 260
WORDS_CHARS = 800
RUNNING_CHARS = 60


def candidates(told: BriefInput, weights: Weights = WEIGHTS, naming: Naming = short_paths) -> Iterator[Item]:
    """Everything that could be said of the session, weighed."""
    yield from _led(told)
    yield from _world(told, weights)
    gone = gone_names(told.session.trail)
    for sentence in chain(_asked(told, weights), _noted(told, weights), _state(told, weights)):
        dated = _dated(sentence, gone)
        if dated is sentence or sentence.kind not in _OVERTAKEN:
            yield dated
    # What was run with a file that is no more cannot be run again.
    for thing in things(told, weights, naming):
        if thing.kind not in _RUN or thing is _dated(thing, gone):
            yield thing


_RUN = frozenset({"command", "earlier_command"})
_OVERTAKEN = frozenset({"decision", "next", "untried"})
"""What binds nobody once the file that it was about is no more."""


def _led(told: BriefInput) -> Iterator[Item]:
    """What the ledger says that leads, if one does."""
    if told.lead is None:
        return
    for line in ledger_sentences.lines(told.lead, told.now):
        yield Item(
            LEDGER, line.text, told.lead.saved_at, told.lead.path, line.kind, line.key, score=line.score
        )


def news(told: BriefInput) -> Iterator[Item]:
    """What a model with its whole history cannot know."""
    yield from _world(told, WEIGHTS)
    for path, mark in told.marks.items():
        yield weighed(Item(SINCE, f"{relative(path, told)}: {mark}", told.now, "world", "since"), WEIGHTS)


def _dated(item: Item, gone: Mapping[str, re.Pattern[str]]) -> Item:
    """A sentence that was said of files which are no more says so."""
    named = names_in(item.text, gone)
    return replace(item, text=f"{item.text} (by now gone: {', '.join(named)})") if named else item


def _world(told: BriefInput, weights: Weights) -> Iterator[Item]:
    for notice in told.notices:
        yield weighed(Item(SINCE, f"UNCONFIRMED: {notice}", told.now, "world", "since"), weights)
    for neighbour in told.neighbours:
        yield weighed(Item(OTHERS, neighbour, told.now, "store", "neighbour"), weights)


def _asked(told: BriefInput, weights: Weights) -> Iterator[Item]:
    trail, key = told.session.trail, told.session.key
    goal, first = trail.goal, trail.first_prompt
    if goal and (bare := shortened(one_line(_RULED.sub(" ", goal.text)), GOAL_CHARS)):
        yield weighed(Item(GOAL, f"“{bare}”", goal.at, key, "goal", bare), weights)
    if told.kept.prompts:
        return
    rules = [note.text for note in trail.noted(NoteKind.CONSTRAINT)]
    later = [said for said in reversed(trail.prompts) if said not in (goal, first)]
    before = _before(goal, [*later, *([first] if first else [])])
    if first and first not in (goal, before) and (rest := _without(first, rules)):
        yield weighed(Item(GOAL, f"At first: “{rest}”", first.at, key, "first_prompt", rest), weights)
    if before and (rest := _without(before, rules, BEFORE_CHARS)):
        yield weighed(Item(GOAL, f"Before that: “{rest}”", before.at, key, "prompt_before", rest), weights)
    others = (said for said in later if said is not before and not reader.is_generic(said.text))
    for place, said in enumerate(others):
        if rest := _without(said, rules):
            item = Item(GOAL, f"Also asked: “{rest}”", said.at, key, "prompt", rest)
            yield weighed(item, weights, recency=recency(place))


_RULED = re.compile(r"[─━═╌┄_=*~#-]{4,}")
"""Lines that are drawn say nothing."""
_FEW_WORDS = 8


def _before(goal: Utterance | None, earlier: Iterable[Utterance]) -> Utterance | None:
    """What a short goal goes on from: "do it all" says little without what was asked before it."""
    if goal is None or len(goal.text.split()) >= _FEW_WORDS:
        return None
    asked = (said for said in earlier if said.at <= goal.at and not reader.is_generic(said.text))
    return next((said for said in asked if len(said.text.split()) >= _FEW_WORDS), None)


def _without(said: Utterance, others: list[str], limit: int = PROMPT_CHARS) -> str:
    """What is said beside the sentences in it that are told by themselves."""
    text = one_line(said.text)
    for other in others:
        text = text.replace(one_line(other), "")
    rest = one_line(_RULED.sub(" ", text))
    # A command of the harness says nothing without what stands behind it: `/init`.
    return "" if rest.startswith("/") and " " not in rest else shortened(rest, limit)


def _statements(trail: Trail) -> list[Utterance]:
    """What the agent said beside what is told by itself, the newest first; mere narration only if last."""
    found: list[Utterance] = []
    for said in reversed(trail.statements):
        noted = frozenset(note.text for note in trail.notes if note.record == said.record)
        sentences = reader.sentences(said.text)
        rest = _in_short([sentence for sentence in sentences if sentence not in noted])
        if said is trail.statements[-1]:
            # The last is told in any case; "Let me fix this" needs what stands before it.
            rest = _in_short(sentences) if rest and _says_little(rest) else rest
        elif (_says_little(rest) and not _NAME.search(rest)) or reader.is_narration(rest):
            continue
        if rest:
            found.append(replace(said, text=rest))
    return found


def _says_little(text: str) -> bool:
    """Whether hardly a word of a text has content, and none is in code: "Good idea." "Let me fix this:"."""
    words = len(content_words(text)) + len(_UNSPACED.findall(text)) // 2
    return words < _FEWEST_TELLING and "`" not in text


_FEWEST_TELLING = 3
_NAME = re.compile(r"\w_\w|[a-z][A-Z]|[A-Za-z]-?\d|#\d|\w[./]\w")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def _in_short(sentences: Sequence[str]) -> str:
    """As many of the first sentences as a line holds; what only announces the next one needs that with it."""
    telling = [sentence for sentence in sentences if not _CHEER.fullmatch(sentence)]
    # An item of a list ends without a mark; a line may also end in the middle of a sentence.
    ends = (
        "" if sentence[-1] in _ENDS or following[:1].islower() else ";"
        for sentence, following in zip(telling, (*telling[1:], "a"), strict=False)
    )
    whole = one_line(" ".join(f"{sentence}{end}" for sentence, end in zip(telling, ends, strict=True)))
    short = in_sentences(whole, STATEMENT_CHARS)
    return shortened(whole, STATEMENT_CHARS) if short.endswith(": …") else short


_ENDS = ".!?:;…。！？："
_CHEER = re.compile(r"[A-Z]\w+(?: \w+)?!")
"""Perfect! Great progress!"""


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


def _noted(told: BriefInput, weights: Weights) -> Iterator[Item]:
    for place, said in enumerate(told.words):
        # Indented, so that no line of it can pass for one of ours.
        words = shortened(said.text, WORDS_CHARS).replace("\n", "\n  ")
        text = f"({elapsed(told.now - said.at)} ago) {words}"
        yield weighed(Item(WORDS, text, said.at, "checkpoint", "words"), weights, recency=recency(place))
    yield from _ruled(told, weights)
    yield from _replies(told, weights)
    for kind, name, section, lead in _NOTES:
        notes = [note for note in reversed(told.session.trail.noted(kind)) if not note.by_user]
        for place, note in enumerate(_beside_runs(_latest_of_checks(notes), told.session.trail)):
            label = "Failing: " if kind is NoteKind.FAILED and reader.is_failing(note.text) else lead
            passing, steps = PASSING.get(kind, 0.0), _steps_since(note, told)
            if passing * steps <= _STEPS_STALE and not _is_overtaken(note, told):
                age = -passing * math.log1p(steps / _STEPS_FRESH)
                yield weighed(_note(note, name, section, label), weights, recency=recency(place), age=age)


def _ruled(told: BriefInput, weights: Weights) -> Iterator[Item]:
    """What the user ruled; what was only asked or told in the words of a rule is told as that."""
    notes = [note for note in told.session.trail.noted(NoteKind.CONSTRAINT) if not note.by_user]
    remarks = frozenset(note.text for note in notes if reader.is_remark(note.text))
    worded = [place for place, note in enumerate(notes) if RULE_WORDS.search(note.text)]
    binding = [place for place in worded if notes[place].text not in remarks]
    first = next(iter(worded), 0)
    for place, note in enumerate(notes):
        # The first rules and the latest bind most: what stands between was said in passing.
        nearest = min(abs(place - first), len(notes) - 1 - place)
        kind = "first_rule" if place == first or place in binding[:1] else "constraint"
        rule = _note(note, kind, RULES, "")
        if note.text in remarks:
            label = "Also asked" if reader.asks(note.text) else "Also said"
            rule = replace(rule, section=GOAL, text=f"{label}: “{rule.key}”")
        yield weighed(rule, weights, standing=recency(nearest))


def _beside_runs(notes: Iterable[Note], trail: Trail) -> Iterator[Note]:
    """The notes without those that only say of a check that it passes, where runs tell how checks went.

    What was said of them holds until the next edit; a run is told with its outcome, and again if it fails.
    """
    known = any(run.tests or (run.ok is not None and run.aim is Purpose.CHECK) for run in trail.commands)
    return (note for note in notes if not (known and note.kind in _COUNTS and reader.is_check(note.text)))


def _latest_of_checks(notes: Iterable[Note]) -> Iterator[Note]:
    """The notes, newest first, but of those that tell how the tests or the build went only the newest."""
    known = frozenset[int | None]()
    for note in notes:
        checks = checks_in(note.text) if note.kind in _COUNTS else frozenset[int | None]()
        if not checks or not checks <= known:
            yield note
        known |= checks


_COUNTS = frozenset({NoteKind.CONFIRMED, NoteKind.MEASURED})


def _replies(told: BriefInput, weights: Weights) -> Iterator[Item]:
    """What the user said to tools; the last word, if it came after the goal, is where the work goes now."""
    trail = told.session.trail
    since = trail.goal.at if trail.goal else 0
    prompts = frozenset(said.record for said in trail.prompts)
    for place, note in enumerate(reversed([note for note in trail.notes if note.by_user])):
        section = RULES if note.kind is NoteKind.CONSTRAINT else DECISIONS
        kind = "answer" if place or note.at < since else "last_answer"
        # A "yes" to what the agent offered is as old as the offer; what was asked by a tool is settled.
        steps = _steps_since(note, told) if note.record in prompts else 0
        if steps <= _STEPS_STALE:
            age = -math.log1p(steps / _STEPS_FRESH)
            yield weighed(_note(note, kind, section, ""), weights, standing=recency(place), age=age)


def _running(told: BriefInput, weights: Weights) -> Iterator[Item]:
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
PASSING: Final = {
    NoteKind.NEXT: 1.0,
    NoteKind.QUESTION: 1.0,
    NoteKind.CONFIRMED: 1.0,
    NoteKind.FAILED: 0.5,
    NoteKind.DECISION: 0.25,
}
"""What was so when it was said, and may be otherwise many steps later; an attempt teaches for longer.

A decision holds, but the work goes on from the latest.
"""


def _steps_since(note: Note, told: BriefInput) -> int:
    """How long ago a sentence was said; sessions of old do not say at which step it was."""
    return max(told.session.trail.steps - note.step, 0) if note.step else 0


def _is_overtaken(note: Note, told: BriefInput) -> bool:
    """Whether a step was to be next before the user asked for something else, and long enough ago."""
    goal = told.session.trail.goal
    asked_since = goal is not None and note.at < goal.at
    return note.kind is NoteKind.NEXT and asked_since and _steps_since(note, told) > _STEPS_FRESH


_STEPS_FRESH = 40
_STEPS_STALE = 160
"""What was to be done then is done, or was given up."""


def _note(note: Note, kind: str, section: str, label: str) -> Item:
    bare = in_sentences(one_line(note.text), NOTE_CHARS).removeprefix(f"{section.removesuffix('s')}: ")
    # Some sentences bring their label with them.
    labelled = bare if bare.lower().startswith(label.rstrip(": ").lower()) else label + bare
    return Item(section, labelled, note.at, note.record, kind, bare)


def _state(told: BriefInput, weights: Weights) -> Iterator[Item]:
    trail, key, at = told.session.trail, told.session.key, told.session.changed_at
    for place, todo in enumerate(still_open(trail)):
        label = "Doing" if todo.status == IN_PROGRESS else "To do"
        text = f"{label}: {shortened(one_line(todo.text), NOTE_CHARS)}"
        yield weighed(Item(STATE, text, at, key, "todo"), weights, standing=recency(place))
    yield from _running(told, weights)
    for place, said in enumerate(_statements(trail)):
        last = said.record == trail.statements[-1].record
        text = f"{'Last said' if last else 'Before that'}: {said.text}"
        kind = "last_said" if last else "statement"
        item = Item(STATE, text, said.at, said.record, kind, said.text)
        yield weighed(item, weights, recency=recency(place))
    for line in git_lines(told.session.git):
        yield weighed(Item(STATE, line, at, "git", "git"), weights)
