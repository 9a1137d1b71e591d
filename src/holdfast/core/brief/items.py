"""List everything that a brief may say about a session: one item per fact, each with its score.

`compose` selects among them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from holdfast.core.brief.brief_input import (
    GOAL,
    LEDGER,
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
from holdfast.core.brief.named_things import (
    Naming,
    deleted_names,
    names_in,
    recency,
    relative,
    short_paths,
    things,
)
from holdfast.core.brief.weights import WEIGHTS, Weights, with_score
from holdfast.core.documents import ledger_brief
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.purpose import Purpose
from holdfast.core.evidence.fact_lines import git_lines
from holdfast.core.evidence.kinds import KINDS, Ending, EvidenceKind, KindTable, Merge, NoteKind
from holdfast.core.evidence.notes import RULE_WORDS, checks_in
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import IN_PROGRESS, Note, Trail, Utterance, open_todos
from holdfast.core.text.strings import content_words, elapsed, in_sentences, one_line, shortened

GOAL_CHARS = 240
PROMPT_CHARS = 220
BEFORE_CHARS = 140
STATEMENT_CHARS = 140
NOTE_CHARS = 260
WORDS_CHARS = 800
RUNNING_CHARS = 60


def candidates(
    brief_input: BriefInput,
    weights: Weights = WEIGHTS,
    naming: Naming = short_paths,
    kinds: KindTable = KINDS,
) -> Iterator[Item]:
    """Everything that could be said about the session, with scores."""
    yield from _ledger_lines(brief_input)
    yield from _world(brief_input, weights)
    deleted = deleted_names(brief_input.session.trail)
    need_files = frozenset(row.item for row in kinds.values() if row.needs_files)
    for sentence in chain(
        _requests(brief_input, weights), _notes(brief_input, weights, kinds), _state(brief_input, weights)
    ):
        marked = _with_deleted_marked(sentence, deleted)
        if marked is sentence or sentence.kind not in need_files:
            yield marked
    # A command that names a deleted file cannot be run again.
    for thing in things(brief_input, weights, naming):
        if thing.kind not in _RUN or thing is _with_deleted_marked(thing, deleted):
            yield thing


_RUN = frozenset({"command", "earlier_command"})


def _ledger_lines(brief_input: BriefInput) -> Iterator[Item]:
    """The lines of the leading ledger, if there is one."""
    if brief_input.leading_ledger is None:
        return
    for line in ledger_brief.ledger_lines(brief_input.leading_ledger, brief_input.now):
        yield Item(
            LEDGER,
            line.text,
            brief_input.leading_ledger.saved_at,
            brief_input.leading_ledger.path,
            line.kind,
            line.key,
            score=line.score,
        )


def news(brief_input: BriefInput) -> Iterator[Item]:
    """What a model with its whole history cannot know."""
    yield from _world(brief_input, WEIGHTS)
    for path, mark in brief_input.marks.items():
        yield with_score(
            Item(SINCE, f"{relative(path, brief_input)}: {mark}", brief_input.now, "world", "since"), WEIGHTS
        )


def _with_deleted_marked(item: Item, deleted: Mapping[str, re.Pattern[str]]) -> Item:
    """The item with a note of the deleted files that it mentions; the same item if it mentions none."""
    named = names_in(item.text, deleted)
    return replace(item, text=f"{item.text} (by now gone: {', '.join(named)})") if named else item


def _world(brief_input: BriefInput, weights: Weights) -> Iterator[Item]:
    for notice in brief_input.notices:
        yield with_score(Item(SINCE, f"UNCONFIRMED: {notice}", brief_input.now, "world", "since"), weights)
    for neighbour in brief_input.neighbours:
        yield with_score(Item(OTHERS, neighbour, brief_input.now, "store", "neighbour"), weights)


def _requests(brief_input: BriefInput, weights: Weights) -> Iterator[Item]:
    trail, key = brief_input.session.trail, brief_input.session.key
    goal, first = trail.goal, trail.first_prompt
    if goal and (bare := shortened(one_line(_RULED.sub(" ", goal.text)), GOAL_CHARS)):
        yield with_score(Item(GOAL, f"“{bare}”", goal.at, key, "goal", bare), weights)
    if brief_input.kept_by_harness.prompts:
        return
    rules = [note.text for note in trail.noted(NoteKind.CONSTRAINT)]
    later = [prompt for prompt in reversed(trail.prompts) if prompt not in (goal, first)]
    before = _before(goal, [*later, *([first] if first else [])])
    if first and first not in (goal, before) and (rest := _without(first, rules)):
        yield with_score(Item(GOAL, f"At first: “{rest}”", first.at, key, "first_prompt", rest), weights)
    if before and (rest := _without(before, rules, BEFORE_CHARS)):
        yield with_score(Item(GOAL, f"Before that: “{rest}”", before.at, key, "prompt_before", rest), weights)
    others = (prompt for prompt in later if prompt is not before and not reader.is_generic(prompt.text))
    for place, prompt in enumerate(others):
        if rest := _without(prompt, rules):
            item = Item(GOAL, f"Also asked: “{rest}”", prompt.at, key, "prompt", rest)
            yield with_score(item, weights, recency=recency(place))


_RULED = re.compile(r"[─━═╌┄_=*~#-]{4,}")
"""A drawn line, which says nothing."""
_FEW_WORDS = 8


def _before(goal: Utterance | None, earlier: Iterable[Utterance]) -> Utterance | None:
    """The request that a short goal builds on: "do it all" says little without what was asked before."""
    if goal is None or len(goal.text.split()) >= _FEW_WORDS:
        return None
    requests = (prompt for prompt in earlier if prompt.at <= goal.at and not reader.is_generic(prompt.text))
    return next((prompt for prompt in requests if len(prompt.text.split()) >= _FEW_WORDS), None)


def _without(prompt: Utterance, others: list[str], limit: int = PROMPT_CHARS) -> str:
    """The prompt's text without the sentences that have items of their own."""
    text = one_line(prompt.text)
    for other in others:
        text = text.replace(one_line(other), "")
    rest = one_line(_RULED.sub(" ", text))
    # A harness's command says nothing without arguments: `/init`.
    return "" if rest.startswith("/") and " " not in rest else shortened(rest, limit)


def _statements(trail: Trail) -> list[Utterance]:
    """The agent's statements without the sentences that have items of their own, newest first.

    Mere narration is included only if it is the last statement.
    """
    statements: list[Utterance] = []
    for statement in reversed(trail.statements):
        noted = frozenset(note.text for note in trail.notes if note.record == statement.record)
        sentences = reader.sentences(statement.text)
        rest = _in_short([sentence for sentence in sentences if sentence not in noted])
        if statement is trail.statements[-1]:
            # The last statement is always included; "Let me fix this" needs the sentences before it.
            rest = _in_short(sentences) if rest and _says_little(rest) else rest
        elif (_says_little(rest) and not _NAME.search(rest)) or reader.is_narration(rest):
            continue
        if rest:
            statements.append(replace(statement, text=rest))
    return statements


def _says_little(text: str) -> bool:
    """Whether a text has few content words and no code: "Good idea." "Let me fix this:"."""
    words = len(content_words(text)) + len(_UNSPACED.findall(text)) // 2
    return words < _FEWEST_TELLING and "`" not in text


_FEWEST_TELLING = 3
_NAME = re.compile(r"\w_\w|[a-z][A-Z]|[A-Za-z]-?\d|#\d|\w[./]\w")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def _in_short(sentences: Sequence[str]) -> str:
    """As many of the first sentences as fit into a line, but not ending with one that announces the next."""
    telling = [sentence for sentence in sentences if not _CHEER.fullmatch(sentence)]
    # A list item ends without punctuation; a line may also end in the middle of a sentence.
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


def _notes(brief_input: BriefInput, weights: Weights, kinds: KindTable) -> Iterator[Item]:
    for place, utterance in enumerate(brief_input.words):
        # Indented, so that none of its lines can pass for one of Holdfast's.
        words = shortened(utterance.text, WORDS_CHARS).replace("\n", "\n  ")
        text = f"({elapsed(brief_input.now - utterance.at)} ago) {words}"
        yield with_score(
            Item(WORDS, text, utterance.at, "checkpoint", "words"), weights, recency=recency(place)
        )
    yield from _rules(brief_input, weights)
    yield from _replies(brief_input, weights, kinds)
    for row in kinds.values():
        if row.kind is not NoteKind.CONSTRAINT:
            yield from _notes_of(row, brief_input, weights)


def _notes_of(row: EvidenceKind, brief_input: BriefInput, weights: Weights) -> Iterator[Item]:
    """The agent's notes of one kind that still apply."""
    trail = brief_input.session.trail
    notes: Iterable[Note] = [note for note in reversed(trail.noted(row.kind)) if not note.by_user]
    if row.merge is Merge.SAME_BUT_NUMBERS:
        notes = _beside_runs(_latest_of_checks(notes), trail)
    for place, note in enumerate(notes):
        is_failing = row.ends is Ending.FIXED and reader.is_failing(note.text)
        steps = _steps_since(note, brief_input)
        is_overtaken = row.ends is Ending.DONE and _is_overtaken(note, brief_input)
        if row.ages * steps <= _STEPS_STALE and not is_overtaken:
            item = _note(note, row.item, row.brief.part, "Failing: " if is_failing else row.brief.label)
            age = -row.ages * math.log1p(steps / _STEPS_FRESH)
            yield with_score(item, weights, recency=recency(place), age=age)


def _rules(brief_input: BriefInput, weights: Weights) -> Iterator[Item]:
    """The user's rules; a question or remark that is only worded like a rule is labelled as such."""
    notes = [note for note in brief_input.session.trail.noted(NoteKind.CONSTRAINT) if not note.by_user]
    remarks = frozenset(note.text for note in notes if reader.is_remark(note.text))
    worded = [place for place, note in enumerate(notes) if RULE_WORDS.search(note.text)]
    binding = [place for place in worded if notes[place].text not in remarks]
    first = next(iter(worded), 0)
    for place, note in enumerate(notes):
        # The first and the latest rules matter most; those between were said in passing.
        nearest = min(abs(place - first), len(notes) - 1 - place)
        kind = "first_rule" if place == first or place in binding[:1] else "constraint"
        rule = _note(note, kind, RULES, "")
        if note.text in remarks:
            label = "Also asked" if reader.is_request(note.text) else "Also said"
            rule = replace(rule, section=GOAL, text=f"{label}: “{rule.key}”")
        yield with_score(rule, weights, standing=recency(nearest))


def _beside_runs(notes: Iterable[Note], trail: Trail) -> Iterator[Note]:
    """The notes, without claims that a check passes where recorded runs show how the checks went.

    Such a claim is outdated by the next edit, while a run is shown with its outcome.
    """
    known = any(run.tests or (run.ok is not None and run.aim is Purpose.CHECK) for run in trail.commands)
    return (note for note in notes if not (known and reader.is_check(note.text)))


def _latest_of_checks(notes: Iterable[Note]) -> Iterator[Note]:
    """The notes, newest first; of those about the tests or the build only the newest of each."""
    known = frozenset[int | None]()
    for note in notes:
        checks = checks_in(note.text)
        if not checks or not checks <= known:
            yield note
        known |= checks


def _replies(brief_input: BriefInput, weights: Weights, kinds: KindTable) -> Iterator[Item]:
    """The user's answers; the last one, if newer than the goal, says where the work goes now."""
    trail = brief_input.session.trail
    since = trail.goal.at if trail.goal else 0
    prompts = frozenset(prompt.record for prompt in trail.prompts)
    for place, note in enumerate(reversed([note for note in trail.notes if note.by_user])):
        kind = "answer" if place or note.at < since else "last_answer"
        # A "yes" in a prompt ages with the offer that it answers; an answer to a tool's question stays valid.
        steps = _steps_since(note, brief_input) if note.record in prompts else 0
        if steps <= _STEPS_STALE:
            age = -math.log1p(steps / _STEPS_FRESH)
            reply = _note(note, kind, kinds[note.kind].brief.part, "")
            yield with_score(reply, weights, standing=recency(place), age=age)


def _running(brief_input: BriefInput, weights: Weights) -> Iterator[Item]:
    """Background commands, and subagents that can be asked again; another process can reach neither."""
    here = brief_input.reason in _SAME_PROCESS
    for place, task in enumerate(reversed(brief_input.session.trail.running)):
        what = (
            f"`{shell.display_form(one_line(task.command), RUNNING_CHARS)}`"
            if task.command
            else f"“{task.task}”"
        )
        if not task.over:
            text = f"Left running: {what} ({task.handle})" if here else f"Was left running: {what}"
            item = Item(STATE, text, task.at, task.call, "running", what)
            yield with_score(item, weights, standing=recency(place))
        elif here:
            item = Item(STATE, f"{task.handle} ({task.task})", task.at, task.call, "reported", lead=REPORTED)
            yield with_score(item, weights, standing=recency(place))


_SAME_PROCESS = frozenset({Reason.COMPACT, Reason.LATE, Reason.CLEAR, Reason.SUMMARY, Reason.ASKED})
"""The reasons for which a brief goes to the same process that left something running."""


def _steps_since(note: Note, brief_input: BriefInput) -> int:
    """How many steps ago a note was made; 0 for old sessions, which did not record the step."""
    return max(brief_input.session.trail.steps - note.step, 0) if note.step else 0


def _is_overtaken(note: Note, brief_input: BriefInput) -> bool:
    """Whether a next step is from before the user's current goal, and no longer recent."""
    goal = brief_input.session.trail.goal
    asked_since = goal is not None and note.at < goal.at
    return asked_since and _steps_since(note, brief_input) > _STEPS_FRESH


_STEPS_FRESH = 40
_STEPS_STALE = 160
"""After so many steps, a planned step is done or was given up."""


def _note(note: Note, kind: str, section: str, label: str) -> Item:
    bare = in_sentences(one_line(note.text), NOTE_CHARS).removeprefix(f"{section.removesuffix('s')}: ")
    # Some sentences already start with their label.
    labelled = bare if bare.lower().startswith(label.rstrip(": ").lower()) else label + bare
    return Item(section, labelled, note.at, note.record, kind, bare)


def _state(brief_input: BriefInput, weights: Weights) -> Iterator[Item]:
    trail, key, at = brief_input.session.trail, brief_input.session.key, brief_input.session.changed_at
    for place, todo in enumerate(open_todos(trail)):
        label = "Doing" if todo.status == IN_PROGRESS else "To do"
        text = f"{label}: {shortened(one_line(todo.text), NOTE_CHARS)}"
        yield with_score(Item(STATE, text, at, key, "todo"), weights, standing=recency(place))
    yield from _running(brief_input, weights)
    for place, statement in enumerate(_statements(trail)):
        last = statement.record == trail.statements[-1].record
        text = f"{'Last said' if last else 'Before that'}: {statement.text}"
        kind = "last_said" if last else "statement"
        item = Item(STATE, text, statement.at, statement.record, kind, statement.text)
        yield with_score(item, weights, recency=recency(place))
    for line in git_lines(brief_input.session.git):
        yield with_score(Item(STATE, line, at, "git", "git"), weights)
