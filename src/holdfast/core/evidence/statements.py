"""Notes: the sentences of a session that are worth keeping, and how long each is kept.

What the sentences say is read by `prose`. Here is decided what becomes a note, which older one it takes the
place of, and which goes where there are too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from holdfast.core.events.event import AssistantText, Prompt, Replied
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import NOTES_KEPT, TEXT_KEPT, Note, NoteKind, OpenCall, Trail, Utterance
from holdfast.core.text.patterns import compiled
from holdfast.core.text.strings import content_words, one_line, query_terms, shortened

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


def told_as(kind: NoteKind, trail: Trail) -> Notes:
    """The notes of one kind, oldest first; of rules not what was only asked or told in the words of one."""
    return tuple(
        note
        for note in trail.noted(kind)
        if kind is not NoteKind.CONSTRAINT or note.by_user or not reader.is_remark(note.text)
    )


def after_statement(notes: Notes, event: AssistantText, step: int) -> Notes:
    """The notes after one more statement: what it says, without what is no longer so."""
    found = [Note(kind, text, event.at, event.record, step) for kind, text in _spoken(event.text)]
    finished = {_label(match[1]) for match in _FINISHED.finditer(event.text)}
    if not found and not finished:
        return notes
    renewed = {note.kind for note in found} & _PASSING
    kept = tuple(
        note
        for note in notes
        if note.kind not in renewed and not _is_over(note, found) and not _is_finished(note, finished)
    )
    return noted(kept, found)


def after_user(notes: Notes, found: Iterable[Note]) -> Notes:
    """The notes after the user said something: what they were asked before is no longer open."""
    return noted(tuple(note for note in notes if note.kind is not NoteKind.QUESTION), found)


def in_prompt(event: Prompt, ruled: tuple[str, ...], step: int) -> Iterator[Note]:
    """What a prompt rules, and what else it says must be there."""
    yield from (Note(NoteKind.CONSTRAINT, text, event.at, event.record, step) for text in ruled)
    needed = (text for text in reader.needs(event.text) if text not in ruled)
    yield from (Note(NoteKind.NEED, text, event.at, event.record, step) for text in needed)


def answer(notes: Notes, event: Prompt, asked: Utterance | None, step: int) -> Iterator[Note]:
    """What a prompt answers to what the agent has asked last, where that says what it is about."""
    questions = [note.text for note in notes if note.kind is NoteKind.QUESTION and _is_in(note, asked)]
    if asked is None or not questions or not reader.answers(event.text):
        return
    chosen = reader.choice(event.text, asked.text)
    told = [text for text in questions if len(query_terms(text).split()) >= _TELLING_TERMS]
    if not chosen and not told:
        return
    said = shortened(one_line(event.text), _ANSWER_KEPT)
    choice = f" ({shortened(chosen, _QUESTION_KEPT)})" if chosen else ""
    question = shortened(one_line((told or questions)[-1]), _QUESTION_KEPT)
    text = f"The user answered “{said}”{choice}{_TO}{question}”"
    yield Note(NoteKind.DECISION, text, event.at, event.record, step, by_user=True)


def _is_in(note: Note, said: Utterance | None) -> bool:
    return said is not None and note.record == said.record


def rules(prompt: str) -> tuple[str, ...]:
    """What a person ruled: what reads as a constraint, and whatever else is worded like one.

    Repeating a remark costs a line; forgetting a rule costs the user's trust. But in the middle of a long
    prompt there is often a page of some manual, and what is only worded like a rule there binds nobody.
    """
    worded = (
        sentence
        for sentence in reader.sentences(_own_words(prompt))
        if RULE_WORDS.search(sentence) and _SHORTEST_RULE <= len(sentence.split()) <= _LONGEST_RULE
    )
    typed, pasted = _parted(prompt)
    beside = (text for text in reader.constraints(pasted) if _SPEAKS.search(text))
    found = dict.fromkeys((*reader.constraints(typed), *beside, *worded))
    return tuple(sentence for sentence in found if not _PASTED.search(sentence))


def _own_words(prompt: str) -> str:
    """What a person typed; of a long prompt the first and the last paragraph and all lists."""
    typed, _ = _parted(prompt)
    if len(typed) <= _PASTES:
        return typed
    first, *between = _PARAGRAPH.split(typed.strip())
    last = between.pop() if between else ""
    return "\n\n".join((first, *(part for part in between if _LIST.search(part)), last))


def _parted(prompt: str) -> tuple[str, str]:
    """A prompt up to where it announces a page that others wrote, and what stands behind that."""
    announced = _ANNOUNCED.search(prompt)
    return (prompt[: announced.start()], prompt[announced.end() :]) if announced else (prompt, "")


def reply(event: Replied, refused: OpenCall | None, step: int) -> Note:
    """What the user said to a call: an answer is the user's decision, words at a refusal are a rule."""
    said = shortened(one_line(event.text), TEXT_KEPT)
    if event.question:
        asked = shortened(one_line(event.question), _QUESTION_KEPT)
        text = f"The user answered “{said}”{_TO}{asked}”"
        return Note(NoteKind.DECISION, text, event.at, event.record, step, by_user=True)
    text = said + _on_refusing(refused)
    return Note(NoteKind.CONSTRAINT, text, event.at, event.record, step, by_user=True)


RULE_WORDS: Final = compiled(r"\b(?:must|never|always|don['’]t|do not|only|instead)\b", re.IGNORECASE)
_SHORTEST_RULE, _LONGEST_RULE = 4, 60
_PASTED: Final = compiled(r'["}\]]\s?[,:]\s?["{\[]|\{\s?"')
"""Where a sentence is part of some JSON, a program has written it."""
_ANNOUNCED: Final = compiled(
    r"^[^\S\n]*(?:\S{1,40} ){0,4}(?:man ?page|docs? page|documentation|stack ?trace|trace ?back|har|"
    r"transcript|(?:the|this|full|my|build|error|console|server) (?:logs?|output|errors?|response|diff)|"
    r"(?:手册|文档|日志|输出|报错)(?:如下)?)[^\S\n]*[:：][^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line of its own behind which a page of others is pasted: "Man page:"."""
_SPEAKS: Final = compiled(
    r"\b(?:i|we|us|me|my|our|you|your|please|let['’]?s)\b|^\W*(?:never|always|do not|don['’]t|only|make sure|"
    r"ensure|avoid|keep|must|no)\b|[请你您我]|不要|必须|禁止|务必",
    re.IGNORECASE,
)
"""What in a sentence speaks to somebody: of pasted text that is rarely so."""
_PASTES: Final = 1_500
"""A prompt longer than this was hardly typed by hand in whole."""
_PARAGRAPH: Final = compiled(r"\n[^\S\n]*\n")
_LIST: Final = compiled(r"^[^\S\n]*(?:[-*+•]|\d{1,3}[.)])[^\S\n]", re.MULTILINE)
_TO: Final = " to “"
_QUESTION_KEPT: Final = 100
_REFUSED_KEPT: Final = 60
_ANSWER_KEPT: Final = 60
_TELLING_TERMS: Final = 3
"""A question of fewer content words only points at what was said before it: "Want me to fix this?"."""
_PASSING: Final = frozenset({NoteKind.NEXT, NoteKind.QUESTION})
"""What the newest statement that has any replaces: yesterday's next step is not today's."""


def _on_refusing(refused: OpenCall | None) -> str:
    """What the user refused with these words, as far as that can be said."""
    if refused and refused.command:
        return f" (said on refusing `{shortened(one_line(refused.command), _REFUSED_KEPT)}`)"
    return f" (said on refusing to change {refused.changes[0].path})" if refused and refused.changes else ""


def _spoken(text: str) -> Iterator[tuple[NoteKind, str]]:
    said = reader.spoken(text)
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


def _is_over(note: Note, found: Sequence[Note]) -> bool:
    """Whether newer notes say that a step is done, or that what was failing works or fails in another way."""
    if note.kind not in (NoteKind.NEXT, NoteKind.FAILED):
        return False
    done = [other.text for other in found if other.kind is NoteKind.CONFIRMED]
    if note.kind is NoteKind.NEXT:
        return _is_done(note.text, done)
    told = [other.text for other in found if other.kind in (NoteKind.CONFIRMED, NoteKind.FAILED)]
    if not told or not reader.is_failing(note.text):
        return False
    return _is_done(note.text, done) or any(checks_in(note.text) & checks_in(text) for text in told)


def _is_finished(note: Note, finished: set[str]) -> bool:
    """Whether a next step is known by a number, and that is said to be done."""
    if note.kind is not NoteKind.NEXT or not finished:
        return False
    numbers = {_label(match[0]) for match in _NUMBERED.finditer(note.text)}
    return bool(numbers) and numbers <= finished


def _label(number: str) -> str:
    return one_line(number).lower()


_STEP: Final = (
    r"(?:\b[A-Z]{1,5}-?\d{1,4}\b|\b(?i:step|phase|task|part|milestone|stage) \d{1,3}\b"
    r"|(?:步骤|阶段|任务) ?\d{1,3})"
)
_NUMBERED: Final = compiled(_STEP)
_FINISHED: Final = compiled(
    rf"({_STEP})(?: (?:is|are|now|all|also)){{0,3}}"
    r"(?: (?:complete|completed|done|finished)\b|(?:已经?|都)?完成)"
)


def checks_in(text: str) -> frozenset[int | None]:
    """Which kinds of checks a text tells of: tests, a build, a linter, types, all of them elsewhere."""
    return frozenset(match.lastindex for match in _CHECK.finditer(text))


_CHECK: Final = compiled(
    r"(\b(?:doc)?tests?\b|\bspecs?\b|\bsuites?\b|\bfailures?\b|测试|用例)|(\bbuilds?\b|\bcompil|构建|编译)|"
    r"(\blint|\bformatting\b)|(\btype[- ]?check)|(\bci\b)",
    re.IGNORECASE,
)


def _is_done(step: str, done: list[str]) -> bool:
    """Whether what was to come next is by what words it names among what is now said to work."""
    if not done:
        return False
    wanted = set(query_terms(step.lower(), len(step)).split())
    told = set(query_terms(" ".join(done).lower(), 200).split())
    return bool(wanted) and len(wanted & told) >= max(2, _DONE_SHARE * len(wanted))


_DONE_SHARE: Final = 0.3
_NUMBERS: Final = compiled(r"\d[\d.,]*")


def _supersedes(note: Note, other: Note) -> bool:
    """Whether it says the same again; of a measurement, whether it is the same one taken later.

    What the user answers to a question takes the place of what they answered to it before, and what is
    decided of the same things that of what was decided of them.
    """
    if note.kind is not other.kind:
        return False
    if note.kind is NoteKind.DECISION and note.by_user and other.by_user:
        return note.text.partition(_TO)[2] == other.text.partition(_TO)[2]
    if note.kind is NoteKind.DECISION and not (note.by_user or other.by_user):
        return _is_of_same(note.text, other.text)
    if note.kind in (NoteKind.MEASURED, NoteKind.CONFIRMED):
        return _NUMBERS.sub("0", note.text) == _NUMBERS.sub("0", other.text)
    return note.text == other.text


def _is_of_same(text: str, other: str) -> bool:
    """Whether two sentences are mostly about the same things, by the words of the shorter one."""
    late, early = content_words(text), content_words(other)
    return text == other or len(late & early) >= max(_FEWEST_SHARED, _SAME_SHARE * min(len(late), len(early)))


_FEWEST_SHARED: Final = 4
_SAME_SHARE: Final = 0.6
