"""Notes: the sentences of a session that are worth keeping, and how long each is kept.

What the sentences say is read by `prose`. Here is decided what becomes a note, which older one it takes the
place of, and which goes where there are too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from holdfast.core import prose
from holdfast.core.events import AssistantText, Prompt, Replied
from holdfast.core.text import one_line, query_terms, shortened
from holdfast.core.trail import NOTES_KEPT, TEXT_KEPT, Note, NoteKind, OpenCall

Notes: TypeAlias = tuple[Note, ...]


def noted(notes: Notes, found: Iterable[Note]) -> Notes:
    """With more notes; one that was made before moves to the end, and each kind keeps its newest.

    Of the user's constraints the oldest are kept: they were given first, and nothing has taken them back.
    What the user decided outlives what the agent did.
    """
    for note in found:
        known = tuple(other for other in notes if not _supersedes(note, other))
        if note.kind is NoteKind.CONSTRAINT and len(known) < len(notes):
            continue
        same = [other for other in known if other.kind is note.kind]
        if len(same) >= NOTES_KEPT[note.kind]:
            passing = [other for other in same if not other.by_user] or same
            victim = same[len(same) // 2] if note.kind is NoteKind.CONSTRAINT else passing[0]
            known = tuple(other for other in known if other is not victim)
        notes = (*known, note)
    return notes


def after_statement(notes: Notes, event: AssistantText, step: int) -> Notes:
    """The notes after one more statement: what it says, without what is no longer so."""
    found = [Note(kind, text, event.at, event.record, step) for kind, text in _spoken(event.text)]
    renewed = {note.kind for note in found} & _PASSING
    done = [note.text for note in found if note.kind is NoteKind.CONFIRMED]
    kept = tuple(
        note
        for note in notes
        if note.kind not in renewed and not (note.kind is NoteKind.NEXT and _is_done(note.text, done))
    )
    return noted(kept, found)


def after_user(notes: Notes, found: Iterable[Note]) -> Notes:
    """The notes after the user said something: what they were asked before is no longer open."""
    return noted(tuple(note for note in notes if note.kind is not NoteKind.QUESTION), found)


def in_prompt(event: Prompt, ruled: tuple[str, ...], step: int) -> Iterator[Note]:
    """What a prompt rules, and what else it says must be there."""
    yield from (Note(NoteKind.CONSTRAINT, text, event.at, event.record, step) for text in ruled)
    needed = (text for text in prose.needs(event.text) if text not in ruled)
    yield from (Note(NoteKind.NEED, text, event.at, event.record, step) for text in needed)


def rules(prompt: str) -> tuple[str, ...]:
    """What a person ruled: what reads as a constraint, and whatever else is worded like one.

    Repeating a remark costs a line; forgetting a rule costs the user's trust.
    """
    worded = (
        sentence
        for sentence in prose.sentences(prompt)
        if RULE_WORDS.search(sentence) and _SHORTEST_RULE <= len(sentence.split()) <= _LONGEST_RULE
    )
    found = dict.fromkeys((*prose.constraints(prompt), *worded))
    return tuple(sentence for sentence in found if not _PASTED.search(sentence))


def reply(event: Replied, refused: OpenCall | None, step: int) -> Note:
    """What the user said to a call: an answer is the user's decision, words at a refusal are a rule."""
    said = shortened(one_line(event.text), TEXT_KEPT)
    if event.question:
        asked = shortened(one_line(event.question), _QUESTION_KEPT)
        text = f"The user answered “{said}”{_TO}{asked}”"
        return Note(NoteKind.DECISION, text, event.at, event.record, step, by_user=True)
    text = said + _on_refusing(refused)
    return Note(NoteKind.CONSTRAINT, text, event.at, event.record, step, by_user=True)


RULE_WORDS: Final = re.compile(r"\b(?:must|never|always|don['’]t|do not|only|instead)\b", re.IGNORECASE)
_SHORTEST_RULE, _LONGEST_RULE = 4, 60
_PASTED: Final = re.compile(r'["}\]]\s?[,:]\s?["{\[]|\{\s?"')
"""Where a sentence is part of some JSON, a program has written it."""
_TO: Final = " to “"
_QUESTION_KEPT: Final = 100
_REFUSED_KEPT: Final = 60
_PASSING: Final = frozenset({NoteKind.NEXT, NoteKind.QUESTION})
"""What the newest statement that has any replaces: yesterday's next step is not today's."""


def _on_refusing(refused: OpenCall | None) -> str:
    """What the user refused with these words, as far as that can be said."""
    if refused and refused.command:
        return f" (said on refusing `{shortened(one_line(refused.command), _REFUSED_KEPT)}`)"
    return f" (said on refusing to change {refused.changes[0].path})" if refused and refused.changes else ""


def _spoken(text: str) -> Iterator[tuple[NoteKind, str]]:
    said = prose.spoken(text)
    for kind, sentences in (
        (NoteKind.DECISION, said.decisions),
        (NoteKind.NEXT, said.next_steps),
        (NoteKind.UNTRIED, said.untried),
        (NoteKind.CONFIRMED, said.confirmed),
        (NoteKind.FAILED, tuple(text for text in said.failures if text not in said.next_steps)),
        (NoteKind.MEASURED, said.measurements),
        (NoteKind.QUESTION, said.questions),
        (NoteKind.NEED, said.needs),
    ):
        yield from ((kind, sentence) for sentence in sentences)


def _is_done(step: str, done: list[str]) -> bool:
    """Whether what was to come next is by what words it names among what is now said to work."""
    wanted = set(query_terms(step.lower(), len(step)).split())
    told = set(query_terms(" ".join(done).lower(), 200).split())
    return bool(wanted) and len(wanted & told) >= max(2, _DONE_SHARE * len(wanted))


_DONE_SHARE: Final = 0.3
_NUMBERS: Final = re.compile(r"\d[\d.,]*")


def _supersedes(note: Note, other: Note) -> bool:
    """Whether it says the same again; of a measurement, whether it is the same one taken later.

    What the user answers to a question takes the place of what they answered to it before.
    """
    if note.kind is not other.kind:
        return False
    if note.kind is NoteKind.DECISION and note.by_user and other.by_user:
        return note.text.partition(_TO)[2] == other.text.partition(_TO)[2]
    if note.kind in (NoteKind.MEASURED, NoteKind.CONFIRMED):
        return _NUMBERS.sub("0", note.text) == _NUMBERS.sub("0", other.text)
    return note.text == other.text
