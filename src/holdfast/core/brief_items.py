"""What a brief may say: each fact of a trail as one item, with the features by which it is weighed.

Nothing is chosen here; `brief` does that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from holdfast.core import prose, shell
from holdfast.core.events import Action
from holdfast.core.lines import command_line, file_line, git_lines, ran
from holdfast.core.text import elapsed, one_line, shortened
from holdfast.core.told import (
    COMMANDS,
    DECISIONS,
    FILES,
    GOAL,
    OPEN,
    OTHERS,
    RULES,
    SINCE,
    STATE,
    WORDS,
    Item,
    Told,
)
from holdfast.core.trail import FileTouch, Mention, Note, NoteKind, Said
from holdfast.core.weights import WEIGHTS, score

Weights: TypeAlias = Mapping[str, float]

GOAL_CHARS = 320
PROMPT_CHARS = 220
STATEMENT_CHARS = 320
NOTE_CHARS = 260
WORDS_CHARS = 800
NAMES_SHOWN = 5


def candidates(told: Told, weights: Weights = WEIGHTS) -> Iterator[Item]:
    """Everything that could be said of the session, weighed."""
    yield from _world(told, weights)
    yield from _asked(told, weights)
    yield from _noted(told, weights)
    yield from _state(told, weights)
    yield from _files(told, weights)
    yield from _commands(told, weights)
    yield from _names(told, weights)


def news(told: Told) -> Iterator[Item]:
    """What a model with its whole history cannot know."""
    yield from _world(told, WEIGHTS)
    for path, mark in told.marks.items():
        yield _weighed(Item(SINCE, f"{relative(path, told)}: {mark}", told.now, "world", "since"), WEIGHTS)


def _weighed(item: Item, weights: Weights, **features: float) -> Item:
    return replace(item, key=item.key or item.text, score=score(item.kind, features, weights))


def _world(told: Told, weights: Weights) -> Iterator[Item]:
    for notice in told.notices:
        yield _weighed(Item(SINCE, f"UNCONFIRMED: {notice}", told.now, "world", "since"), weights)
    for neighbour in told.neighbours:
        yield _weighed(Item(OTHERS, neighbour, told.now, "store", "neighbour"), weights)


def _asked(told: Told, weights: Weights) -> Iterator[Item]:
    trail, key = told.session.trail, told.session.key
    goal, first = trail.goal, trail.first_prompt
    if goal:
        bare = shortened(one_line(goal.text), GOAL_CHARS)
        yield _weighed(Item(GOAL, f"“{bare}”", goal.at, key, "goal", bare), weights)
    rules = [note.text for note in trail.noted(NoteKind.CONSTRAINT)]
    if first and first != goal and (rest := _without(first, rules)):
        yield _weighed(Item(GOAL, f"At first: “{rest}”", first.at, key, "first_prompt", rest), weights)
    later = [said for said in reversed(trail.prompts) if said not in (goal, first)]
    for place, said in enumerate(later):
        if rest := _without(said, rules):
            item = Item(GOAL, f"Also asked: “{rest}”", said.at, key, "prompt", rest)
            yield _weighed(item, weights, recency=_recency(place))


def _without(said: Said, rules: list[str]) -> str:
    """What a prompt asked beside the rules in it, which stand in a section of their own."""
    text = one_line(said.text)
    for rule in rules:
        text = text.replace(one_line(rule), "")
    return shortened(one_line(text), PROMPT_CHARS)


_NOTES = (
    (NoteKind.DECISION, "decision", DECISIONS, ""),
    (NoteKind.NEXT, "next", STATE, "Next: "),
    (NoteKind.CONFIRMED, "confirmed", STATE, "Done: "),
    (NoteKind.MEASURED, "measured", STATE, "Measured: "),
    (NoteKind.FAILED, "tried", STATE, "Tried and failed: "),
    (NoteKind.UNTRIED, "untried", STATE, "Not tried yet: "),
    (NoteKind.QUESTION, "question", OPEN, ""),
)


def _noted(told: Told, weights: Weights) -> Iterator[Item]:
    for place, said in enumerate(told.words):
        text = f"({elapsed(told.now - said.at)} ago) {shortened(said.text, WORDS_CHARS)}"
        yield _weighed(Item(WORDS, text, said.at, "checkpoint", "words"), weights, recency=_recency(place))
    rules = told.session.trail.noted(NoteKind.CONSTRAINT)
    for place, note in enumerate(rules):
        # The first rules and the latest bind most: what stands between was said in passing.
        nearest = min(place, len(rules) - 1 - place)
        yield _weighed(_note(note, "constraint", RULES, ""), weights, recency=_recency(nearest))
    for kind, name, section, label in _NOTES:
        for place, note in enumerate(reversed(told.session.trail.noted(kind))):
            yield _weighed(_note(note, name, section, label), weights, recency=_recency(place))


def _note(note: Note, kind: str, section: str, label: str) -> Item:
    bare = shortened(one_line(note.text), NOTE_CHARS)
    # Some sentences bring their label with them.
    labelled = bare if bare.lower().startswith(label.rstrip(": ").lower()) else label + bare
    return Item(section, labelled, note.at, note.record, kind, bare)


def _state(told: Told, weights: Weights) -> Iterator[Item]:
    trail, key, at = told.session.trail, told.session.key, told.session.changed_at
    for place, todo in enumerate(todo for todo in trail.todos if todo.status != "completed"):
        text = f"To do ({todo.status.replace('_', ' ')}): {shortened(one_line(todo.text), NOTE_CHARS)}"
        yield _weighed(Item(STATE, text, at, key, "todo"), weights, recency=_recency(place))
    for place, said in enumerate(reversed(trail.statements)):
        bare = shortened(one_line(said.text), STATEMENT_CHARS)
        if place and prose.is_narration(bare):
            continue
        text = f"{'Before that' if place else 'Last said'}: {bare}"
        item = Item(STATE, text, said.at, said.record, "statement", bare)
        yield _weighed(item, weights, recency=_recency(place))
    for line in git_lines(told.session.git):
        yield _weighed(Item(STATE, line, at, "git", "git"), weights)


def _files(told: Told, weights: Weights) -> Iterator[Item]:
    git, key = told.session.git, told.session.key
    dirty = frozenset(git.dirty if git else ())
    seen: set[str] = set()
    changed = [touch for touch in told.session.trail.files if touch.action is not Action.READ]
    for touch in reversed(told.session.trail.files):
        path = relative(touch.path, told)
        features = {
            "freshness": _freshness(touch.step, told),
            "frequency": _frequency(touch.times),
            "in_diff": float(path in dirty),
            "latest": float(touch is changed[-1]) if changed else 0.0,
        }
        if touch.action is Action.READ and touch.path not in told.marks:
            yield _weighed(
                Item(FILES, path, touch.at, key, "read_file", lead="Only read"), weights, **features
            )
            continue
        about = tuple(name for name in reversed(touch.names) if name not in seen)[:NAMES_SHOWN]
        seen.update(about)
        kind = "gone_file" if touch.action is Action.DELETE else "changed_file"
        yield _weighed(Item(FILES, _file(touch, told, about), touch.at, key, kind), weights, **features)
    for touch in reversed(told.session.trail.subagent_files):
        if touch.action is not Action.READ:
            item = Item(FILES, f"{_file(touch, told, ())} (by a subagent)", touch.at, key, "subagent_file")
            yield _weighed(item, weights, freshness=_freshness(touch.step, told))


def _file(touch: FileTouch, told: Told, about: tuple[str, ...]) -> str:
    renamed = relative(touch.renamed_to, told) if touch.renamed_to else ""
    line = file_line(replace(touch, path=relative(touch.path, told), renamed_to=renamed), about)
    mark = told.marks.get(touch.path)
    return f"{line} — UNCONFIRMED: {mark}" if mark else line


def _commands(told: Told, weights: Weights) -> Iterator[Item]:
    """Failures each in a line; of what passed, the latest run of each program, behind one label."""
    key = told.session.key
    known: set[str] = set()
    failures = [run for run in told.session.trail.commands if run.ok is False]
    for run in reversed(told.session.trail.commands):
        features = {
            "freshness": _freshness(run.step, told),
            "frequency": _frequency(run.times),
            "latest": float(run is failures[-1]) if failures else 0.0,
        }
        program = shell.program(run.command)
        if run.ok is False:
            item = Item(COMMANDS, command_line(run), run.at, key, "failed_command")
            yield _weighed(item, weights, **features)
        elif program and program not in known:
            lead = "Started" if run.ok is None else "Passed"
            yield _weighed(Item(COMMANDS, ran(run), run.at, key, "command", lead=lead), weights, **features)
            known.add(program)


def _names(told: Told, weights: Weights) -> Iterator[Item]:
    key, at = told.session.key, told.session.changed_at
    for mention in reversed(told.session.trail.names):
        yield _weighed(
            Item(FILES, mention.name, at, key, "name", lead="Names in this work"),
            weights,
            name_freshness=_freshness(mention.step, told),
            name_frequency=_frequency(mention.times),
            rarity=_rarity(mention),
        )


def relative(path: str, told: Told) -> str:
    """The path as the agent would type it in the project; other paths stay whole."""
    project = told.session.project
    for root in (project.root, project.normalized, project.path):
        if root not in ("", "/") and path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def _recency(place: int) -> float:
    """Of things that are told in order: 0 for the newest, less for each that came after it."""
    return -math.log1p(place / 2)


def _freshness(step: int, told: Told) -> float:
    """Of things that come up in the work: 0 for the last step, less for each step since."""
    return -math.log1p(max(told.session.trail.steps - step, 0) / 40)


def _frequency(times: int) -> float:
    return math.log(times)


def _rarity(mention: Mention) -> float:
    """A long name with several humps is rare and says much; a short one may be anything."""
    humps = sum(char in "_.:-" or char.isupper() or char.isdigit() for char in mention.name[1:])
    return min(len(mention.name) / 24, 1) + min(humps, 3) / 3
