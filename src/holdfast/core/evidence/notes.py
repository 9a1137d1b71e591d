"""Notes: the sentences of a session that are worth storing, and for how long.

`prose` reads what the sentences say. This module decides what becomes a note, which older note it replaces,
and which note is dropped if there are too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from holdfast.core.events.event import AssistantText, Prompt, Replied
from holdfast.core.evidence.kinds import KINDS, Ending, Merge, NoteKind
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import TEXT_KEPT, Note, OpenCall, Trail, Utterance
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import content_words, one_line, query_terms, shortened

Notes: TypeAlias = tuple[Note, ...]


def with_notes(notes: Notes, new: Iterable[Note]) -> Notes:
    """The notes with new ones, merged as the table says; the user's decisions outlive the agent's."""
    for note in new:
        row = KINDS[note.kind]
        known = tuple(other for other in notes if not _supersedes(note, other))
        if row.merge is Merge.FIRST_STAYS and len(known) < len(notes):
            continue
        same = [other for other in known if other.kind is note.kind]
        if len(same) >= row.stored:
            passing = [other for other in same if not other.by_user] or same
            victim = same[len(same) // 2] if row.merge is Merge.FIRST_STAYS else passing[0]
            known = tuple(other for other in known if other is not victim)
        notes = (*known, note)
    return notes


def notes_to_show(kind: NoteKind, trail: Trail) -> Notes:
    """The notes of one kind, oldest first; without questions and remarks that are only worded like a rule."""
    return tuple(
        note
        for note in trail.noted(kind)
        if kind is not NoteKind.CONSTRAINT or note.by_user or not reader.is_remark(note.text)
    )


def after_statement(notes: Notes, event: AssistantText, step: int) -> Notes:
    """The notes after one more statement: with what it says, without what it makes obsolete."""
    new = [Note(kind, text, event.at, event.record, step) for kind, text in _classified(event.text)]
    finished = {_label(match[1]) for match in _FINISHED.finditer(event.text)}
    if not new and not finished:
        return notes
    replaced_kinds = {note.kind for note in new if KINDS[note.kind].merge is Merge.NEWEST_REPLACES}
    remaining = tuple(
        note
        for note in notes
        if note.kind not in replaced_kinds and not _is_over(note, new) and not _is_finished(note, finished)
    )
    return with_notes(remaining, new)


def after_user(notes: Notes, new: Iterable[Note]) -> Notes:
    """The notes after the user wrote something: earlier questions are no longer open."""
    remaining = tuple(note for note in notes if KINDS[note.kind].ends is not Ending.USER_WRITES)
    return with_notes(remaining, new)


def prompt_notes(event: Prompt, constraints: tuple[str, ...], step: int) -> Iterator[Note]:
    """The constraints of a prompt, and its further statements of the kinds that users make too."""
    yield from (Note(NoteKind.CONSTRAINT, text, event.at, event.record, step) for text in constraints)
    for kind in (row.kind for row in KINDS.values() if row.in_prompts):
        others = (text for text in reader.statements_of(kind, event.text) if text not in constraints)
        yield from (Note(kind, text, event.at, event.record, step) for text in others)


def answer_notes(notes: Notes, event: Prompt, asked: Utterance | None, step: int) -> Iterator[Note]:
    """The user's answer to the agent's last question, if the question or the choice is specific enough."""
    questions = [note.text for note in notes if note.kind is NoteKind.QUESTION and _is_in(note, asked)]
    if asked is None or not questions or not reader.is_answer(event.text):
        return
    chosen = reader.chosen_option(event.text, asked.text)
    specific = [text for text in questions if len(query_terms(text).split()) >= _TELLING_TERMS]
    if not chosen and not specific:
        return
    reply_text = shortened(one_line(event.text), _ANSWER_KEPT)
    choice = f" ({shortened(chosen, _QUESTION_KEPT)})" if chosen else ""
    question = shortened(one_line((specific or questions)[-1]), _QUESTION_KEPT)
    text = f"The user answered “{reply_text}”{choice}{_TO}{question}”"
    yield Note(NoteKind.DECISION, text, event.at, event.record, step, by_user=True)


def _is_in(note: Note, utterance: Utterance | None) -> bool:
    return utterance is not None and note.record == utterance.record


def rules_in_prompt(prompt: str) -> tuple[str, ...]:
    """The user's rules: what reads as a constraint, and other sentences worded like one.

    Repeating a remark costs a line; forgetting a rule costs the user's trust. But a long prompt often
    contains a page of some manual, where a sentence that is only worded like a rule is none.
    """
    worded = (
        sentence
        for sentence in reader.sentences(_own_words(prompt))
        if RULE_WORDS.search(sentence) and _SHORTEST_RULE <= len(sentence.split()) <= _LONGEST_RULE
    )
    typed, pasted = _parted(prompt)
    beside = (text for text in reader.constraints(pasted) if _SPEAKS.search(text))
    candidates = dict.fromkeys((*reader.constraints(typed), *beside, *worded))
    return tuple(sentence for sentence in candidates if not _PASTED.search(sentence))


def _own_words(prompt: str) -> str:
    """What the user typed; of a long prompt only the first and last paragraph and all lists."""
    typed, _ = _parted(prompt)
    if len(typed) <= _PASTES:
        return typed
    first, *between = _PARAGRAPH.split(typed.strip())
    last = between.pop() if between else ""
    return "\n\n".join((first, *(part for part in between if _LIST.search(part)), last))


def _parted(prompt: str) -> tuple[str, str]:
    """A prompt up to where it announces pasted text, and the text after that."""
    announced = _ANNOUNCED.search(prompt)
    return (prompt[: announced.start()], prompt[announced.end() :]) if announced else (prompt, "")


def reply_note(event: Replied, refused: OpenCall | None, step: int) -> Note:
    """The user's reply to a call as a note: an answer is a decision, the reason for a refusal is a rule."""
    reply_text = shortened(one_line(event.text), TEXT_KEPT)
    if event.question:
        question = shortened(one_line(event.question), _QUESTION_KEPT)
        text = f"The user answered “{reply_text}”{_TO}{question}”"
        return Note(NoteKind.DECISION, text, event.at, event.record, step, by_user=True)
    text = reply_text + _on_refusing(refused)
    return Note(NoteKind.CONSTRAINT, text, event.at, event.record, step, by_user=True)


RULE_WORDS: Final = compiled(r"\b(?:must|never|always|don['’]t|do not|only|instead)\b", re.IGNORECASE)
_SHORTEST_RULE, _LONGEST_RULE = 4, 60
_PASTED: Final = compiled(r'["}\]]\s?[,:]\s?["{\[]|\{\s?"')
"""A sentence that is part of some JSON was written by a program."""
_ANNOUNCED: Final = compiled(
    r"^[^\S\n]*(?:\S{1,40} ){0,4}(?:man ?page|docs? page|documentation|stack ?trace|trace ?back|har|"
    r"transcript|(?:the|this|full|my|build|error|console|server) (?:logs?|output|errors?|response|diff)|"
    r"(?:手册|文档|日志|输出|报错)(?:如下)?)[^\S\n]*[:：][^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that announces pasted text: "Man page:"."""
_SPEAKS: Final = compiled(
    r"\b(?:i|we|us|me|my|our|you|your|please|let['’]?s)\b|^\W*(?:never|always|do not|don['’]t|only|make sure|"
    r"ensure|avoid|keep|must|no)\b|[请你您我]|不要|必须|禁止|务必",
    re.IGNORECASE,
)
"""Words that address the reader, which pasted text rarely does."""
_PASTES: Final = 1_500
"""A prompt longer than this was probably not all typed by hand."""
_PARAGRAPH: Final = compiled(r"\n[^\S\n]*\n")
_LIST: Final = compiled(r"^[^\S\n]*(?:[-*+•]|\d{1,3}[.)])[^\S\n]", re.MULTILINE)
_TO: Final = " to “"
_QUESTION_KEPT: Final = 100
_REFUSED_KEPT: Final = 60
_ANSWER_KEPT: Final = 60
_TELLING_TERMS: Final = 3
"""A question with fewer content words only refers to the text before it: "Want me to fix this?"."""


def _on_refusing(refused: OpenCall | None) -> str:
    """The refused call in words, if it is known."""
    if refused and refused.command:
        return f" (said on refusing `{shortened(one_line(refused.command), _REFUSED_KEPT)}`)"
    return f" (said on refusing to change {refused.changes[0].path})" if refused and refused.changes else ""


def _classified(text: str) -> Iterator[tuple[NoteKind, str]]:
    statements = reader.read_statements(text)
    next_steps = statements[NoteKind.NEXT]
    for kind, sentences in statements.items():
        for sentence in sentences:
            # A failure that is to be fixed next is a step.
            if kind is not NoteKind.FAILED or sentence not in next_steps:
                yield kind, sentence


def _is_over(note: Note, new: Sequence[Note]) -> bool:
    """Whether newer notes say that a step is done, or that a failure is gone or has changed."""
    ends = KINDS[note.kind].ends
    if ends not in (Ending.DONE, Ending.FIXED):
        return False
    done = [other.text for other in new if other.kind is NoteKind.CONFIRMED]
    if ends is Ending.DONE:
        return _is_done(note.text, done)
    results = [other.text for other in new if other.kind in (NoteKind.CONFIRMED, NoteKind.FAILED)]
    if not results or not reader.is_failing(note.text):
        return False
    return _is_done(note.text, done) or any(checks_in(note.text) & checks_in(text) for text in results)


def _is_finished(note: Note, finished: set[str]) -> bool:
    """Whether a next step has numbers that are all reported as done."""
    if KINDS[note.kind].ends is not Ending.DONE or not finished:
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
    """The kinds of checks that a text mentions: tests, a build, a linter, types, CI."""
    return frozenset(match.lastindex for match in _CHECK.finditer(text))


_CHECK: Final = compiled(
    r"(\b(?:doc)?tests?\b|\bspecs?\b|\bsuites?\b|\bfailures?\b|测试|用例)|(\bbuilds?\b|\bcompil|构建|编译)|"
    r"(\blint|\bformatting\b)|(\btype[- ]?check)|(\bci\b)",
    re.IGNORECASE,
)


def _is_done(step: str, done: list[str]) -> bool:
    """Whether enough content words of a next step occur in what is now reported to work."""
    if not done:
        return False
    step_terms = set(query_terms(step.lower(), len(step)).split())
    done_terms = set(query_terms(" ".join(done).lower(), 200).split())
    return bool(step_terms) and len(step_terms & done_terms) >= max(2, _DONE_SHARE * len(step_terms))


_DONE_SHARE: Final = 0.3
_NUMBERS: Final = compiled(r"\d[\d.,]*")


def _supersedes(note: Note, other: Note) -> bool:
    """Whether a note repeats another one, as far as the table says for its kind."""
    if note.kind is not other.kind:
        return False
    match KINDS[note.kind].merge:
        case Merge.SAME_SUBJECT if note.by_user and other.by_user:
            return note.text.partition(_TO)[2] == other.text.partition(_TO)[2]
        case Merge.SAME_SUBJECT if not (note.by_user or other.by_user):
            return _is_of_same(note.text, other.text)
        case Merge.SAME_BUT_NUMBERS:
            return _NUMBERS.sub("0", note.text) == _NUMBERS.sub("0", other.text)
        case _:
            return note.text == other.text


def _is_of_same(text: str, other: str) -> bool:
    """Whether two sentences share most content words of the shorter one."""
    late, early = content_words(text), content_words(other)
    return text == other or len(late & early) >= max(_FEWEST_SHARED, _SAME_SHARE * min(len(late), len(early)))


_FEWEST_SHARED: Final = 4
_SAME_SHARE: Final = 0.6
