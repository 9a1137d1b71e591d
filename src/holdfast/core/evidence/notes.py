"""Notes: the sentences of a session that are worth storing, and for how long.

`prose` reads what the sentences say. This module decides what becomes a note and what a later message, prompt
or check makes of it: a note that is finished, overturned, refuted or answered goes, so that nothing is told
as standing that is over. Which of the notes a reader needs is decided in `core.work`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias

from holdfast.core.events.event import Action, AssistantText, Compacted, Prompt, Replied, SubagentStopped
from holdfast.core.evidence import substance
from holdfast.core.evidence.kinds import KINDS, Ending, EvidenceKind, Merge, NoteKind, Section
from holdfast.core.evidence.prose import choices, cues, offers, reader
from holdfast.core.evidence.prose.cues import Cue
from holdfast.core.evidence.trail import TEXT_KEPT, Note, NoteSource, OpenCall, Trail, Utterance
from holdfast.core.memory.memory import asked_to_remember
from holdfast.core.text import names
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import content_words, one_line, query_terms, shortened

Notes: TypeAlias = tuple[Note, ...]


def with_notes(notes: Notes, new: Iterable[Note]) -> Notes:
    """The notes with new ones, merged as the table says."""
    coming = tuple(new)
    by_kind = {kind: [note for note in notes if note.kind is kind] for kind in {one.kind for one in coming}}
    added: list[Note] = []
    gone: set[int] = set()
    for note in coming:
        row, same = KINDS[note.kind], by_kind[note.kind]
        superseded = _superseded(note, same, row.merge)
        if superseded and row.merge is Merge.FIRST_STAYS:
            continue
        surplus = [_least(same, row)] if len(same) - len(superseded) >= row.stored else []
        out = {id(other) for other in (*superseded, *surplus)}
        if out:
            gone |= out
            same[:] = [other for other in same if id(other) not in out]
        same.append(note)
        added.append(note)
    together = (*notes, *added)
    return tuple(note for note in together if id(note) not in gone) if gone else together


def _least(same: Sequence[Note], row: EvidenceKind) -> Note:
    """The note of a kind to drop for another: inherited, said in passing, ending a turn, by the user last."""
    inherited = [note for note in same if note.inherited and not note.by_user]
    if inherited:
        return inherited[0]
    if row.merge is Merge.FIRST_STAYS:
        return same[len(same) // 2]
    passing = next((note for note in same if note.source is NoteSource.MESSAGE), None)
    return passing or next((note for note in same if not note.by_user), same[0])


def after_reply(notes: Notes, new: Iterable[Note]) -> Notes:
    """The notes after the user replied to a tool call: earlier questions are no longer open."""
    remaining = tuple(note for note in notes if KINDS[note.kind].ends is not Ending.USER_WRITES)
    return with_notes(remaining, new)


def answer_notes(notes: Notes, event: Prompt, asked: Utterance | None, step: int) -> Iterator[Note]:
    """The user's answer to the agent's last question, if the question or the choice is specific enough."""
    questions = [note.text for note in notes if note.kind is NoteKind.QUESTION and _is_in(note, asked)]
    if asked is None or not questions:
        return
    chosen = reader.chosen_option(event.text, asked.text)
    if not chosen and not reader.is_answer(event.text):
        return
    specific = [text for text in questions if len(query_terms(text).split()) >= _TELLING_TERMS]
    if not chosen and not specific:
        return
    reply_text = shortened(one_line(event.text), _ANSWER_KEPT)
    choice = f" ({shortened(chosen, _QUESTION_KEPT)})" if chosen else ""
    question = shortened(one_line((specific or questions)[-1]), _QUESTION_KEPT)
    text = f"The user answered “{reply_text}”{choice}{_TO}{question}”"
    yield Note(NoteKind.DECISION, text, event.at, event.record, step, by_user=True, source=NoteSource.REPLY)


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
    return typed if len(typed) <= _PASTES else _outer(typed, lambda part: bool(_LIST.search(part)))


def _typed(prompt: str) -> str:
    """What the user typed, as far as that can be told from what was pasted: a terminal, a manual, a log."""
    typed, _ = _parted(_TERMINAL.sub("", prompt))
    is_written_whole = len(typed) <= _TYPED_CHARS or len(_HEADING_LINE.findall(typed)) > 1
    if is_written_whole:
        return typed
    return _outer(typed, lambda part: bool(_LIST.search(part) or _SPEAKS.search(part)))


def _outer(text: str, is_typed: Callable[[str], bool]) -> str:
    """The first and the last paragraph of a text, which are seldom pasted, and those between that pass."""
    first, *between = _PARAGRAPH.split(text.strip())
    last = between.pop() if between else ""
    return "\n\n".join((first, *filter(is_typed, between), last))


_TYPED_CHARS: Final = 1_200
_HEADING_LINE: Final = compiled(r"^#{1,4} \S", re.MULTILINE)
_TERMINAL: Final = compiled(r"^.*\S[^\S\n]{10,}$\n?|^(?:[➜❯$%] |\S+@\S+ .{0,80}[%$#] ).*$\n?", re.MULTILINE)
"""Lines that were copied from a terminal: filled up with spaces, or a shell's prompt with a command."""


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
        return Note(
            NoteKind.DECISION, text, event.at, event.record, step, by_user=True, source=NoteSource.REPLY
        )
    text = reply_text + _on_refusing(refused)
    return Note(
        NoteKind.CONSTRAINT, text, event.at, event.record, step, by_user=True, source=NoteSource.REPLY
    )


def with_plan(trail: Trail, outline: str, event: Replied) -> Notes:
    """The notes after the user approved a plan, which is the request now."""
    text = f"Approved plan: {shortened(outline, NOTE_KEPT)}"
    request = Note(
        NoteKind.REQUEST,
        text,
        event.at,
        event.record,
        trail.steps,
        source=NoteSource.PLAN,
        turn=trail.turns,
    )
    others = tuple(note for note in trail.notes if note.record != event.record)
    return with_notes(others, (request,))


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


def _is_over(note: Note, done: list[str], failed: list[str]) -> bool:
    """Whether newer notes say that a step is done, or that a failure is gone or has changed."""
    match KINDS[note.kind].ends:
        case Ending.DONE:
            return is_done(note.text, done)
        case Ending.FIXED if (done or failed) and reader.is_failing(note.text):
            checks = checks_in(note.text)
            return is_done(note.text, done) or any(checks & checks_in(text) for text in (*done, *failed))
        case _:
            return False


def _is_finished(note: Note, finished: set[str]) -> bool:
    """Whether a next step has numbers that are all reported as done."""
    if KINDS[note.kind].ends is not Ending.DONE:
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


@lru_cache(cues.REMEMBERED)  # every report is compared with all earlier failures
def checks_in(text: str) -> frozenset[int | None]:
    """The kinds of checks that a text mentions: tests, a build, a linter, types, CI."""
    return frozenset(match.lastindex for match in _CHECK.finditer(text))


_CHECK: Final = compiled(
    r"(\b(?:doc)?tests?\b|\bspecs?\b|\bsuites?\b|\bfailures?\b|测试|用例)|(\bbuilds?\b|\bcompil|构建|编译)|"
    r"(\blint|\bformatting\b)|(\btype[- ]?check)|(\bci\b)",
    re.IGNORECASE,
)


def confirmed_in(notes: Notes, record: str) -> list[str]:
    """What the statement with this record reports as done."""
    return [note.text for note in notes if note.kind is NoteKind.CONFIRMED and note.record == record]


def is_done(step: str, done: list[str]) -> bool:
    """Whether enough content words of a next step occur in what is now reported to work."""
    if not done:
        return False
    step_terms = _terms(step.lower(), len(step))
    done_terms = _terms(" ".join(done).lower(), _DONE_TERMS)
    return bool(step_terms) and len(step_terms & done_terms) >= max(2, _DONE_SHARE * len(step_terms))


@lru_cache(cues.REMEMBERED)  # every report is compared with all earlier steps
def _terms(text: str, limit: int) -> frozenset[str]:
    return frozenset(query_terms(text, limit).split())


_DONE_SHARE: Final = 0.3
_DONE_TERMS: Final = 200
_NUMBERS: Final = compiled(r"\d[\d.,]*")


def _superseded(note: Note, same: Sequence[Note], merge: Merge) -> list[Note]:
    """The notes of its kind that a note repeats, as far as the table says."""
    text = note.text
    match merge:
        case Merge.SAME_SUBJECT:
            return [other for other in same if _is_of_same_subject(note, other)]
        case Merge.SAME_BUT_NUMBERS:
            bare = _without_numbers(text)
            return [other for other in same if _without_numbers(other.text) == bare]
        case _:
            return [other for other in same if other.text == text]


def _is_of_same_subject(note: Note, other: Note) -> bool:
    if note.by_user and other.by_user:
        return note.text.partition(_TO)[2] == other.text.partition(_TO)[2]
    if note.by_user or other.by_user:
        return note.text == other.text
    return _is_of_same(note.text, other.text)


@lru_cache(cues.REMEMBERED)  # every new note is compared with all of its kind
def _without_numbers(text: str) -> str:
    return _NUMBERS.sub("0", text)


_content_words: Final = lru_cache(cues.REMEMBERED)(content_words)


def _is_of_same(text: str, other: str) -> bool:
    """Whether two sentences share most content words of the shorter one."""
    late, early = _content_words(text), _content_words(other)
    return text == other or len(late & early) >= max(_FEWEST_SHARED, _SAME_SHARE * min(len(late), len(early)))


_FEWEST_SHARED: Final = 4
_SAME_SHARE: Final = 0.6


# ---------------------------------------------------------------- what a message leaves of earlier notes


def after_statement(trail: Trail, event: AssistantText, step: int) -> Notes:
    """The notes after one more message of the agent: with what it says, without what it makes obsolete."""
    earlier = tuple(note for note in trail.notes if note.record != event.record)
    new = tuple(message_notes(event, step, trail.turns))
    last = trail.statements[-1].record if trail.statements else ""
    finished = {_label(match[1]) for match in _FINISHED.finditer(event.text)}
    replaced_kinds = {note.kind for note in new if KINDS[note.kind].merge is Merge.NEWEST_REPLACES}
    done = [note.text for note in new if note.kind is NoteKind.CONFIRMED]
    failed = [note.text for note in new if note.kind is NoteKind.FAILED]
    passes = any(cues.states_pass(note.text) for note in new)
    status = any(cues.states_status(note.text) for note in new)
    edited_at = last_edit(trail)
    rejected = _rejected(note.text for note in new if note.kind is NoteKind.DECISION)
    may_end_any = bool(rejected or finished or replaced_kinds or done or failed or passes or status)

    def stands(note: Note) -> bool:
        if note.source not in BY_AGENT:
            return True
        if note.kind is NoteKind.DECISION and choices.is_rejected(note.text, rejected):
            return False
        if note.record == last and note.source is NoteSource.MESSAGE and is_passing(note):
            return False
        if note.kind in replaced_kinds or (finished and _is_finished(note, finished)):
            return False
        if (done or failed) and _is_over(note, done, failed):
            return False
        if passes and is_resolved(note, edited_at):
            return False
        return not (status and cues.states_status(note.text))

    standing = (note for note in earlier if (not may_end_any and note.record != last) or stands(note))
    return with_notes(tuple(standing), new)


def message_notes(event: AssistantText, step: int, turn: int) -> Iterator[Note]:
    """What a message of the agent says, sentence by sentence."""
    units = reader.units(event.text)
    for unit in units:
        text = _bare(unit)
        if not substance.tells(text, is_row=unit.is_row) and unit is not units[-1]:
            continue
        kind = _kind_of(unit, text)
        yield Note(
            kind,
            text,
            event.at,
            event.record,
            step,
            turn=turn,
            place=unit.place,
            heading=shortened(unit.heading, _HEADING_KEPT),
            is_last=unit is units[-1],
        )
    for heading, command in reader.commands_in(event.text):
        text = f"Command: `{command}`"
        yield Note(
            NoteKind.NEED, text, event.at, event.record, step, turn=turn, heading=heading[:_HEADING_KEPT]
        )


def _bare(unit: reader.Unit) -> str:
    """The text of a unit without what says nothing; "Done: " above a cell of a table does."""
    bare = cues.without_pictures(unit.text).strip() if unit.is_row else cues.without_filler(unit.text)
    return shortened(bare, NOTE_KEPT)


_FEWEST_CONTENT: Final = 3
"""A remark with fewer content words says nothing without what it answered: "this is acceptable"."""


def _kind_of(unit: reader.Unit, text: str) -> NoteKind:
    """The kind of a unit: by a sure rule, otherwise by its heading, otherwise by its cues."""
    if unit.kind is not None:
        ends = unit.kind is NoteKind.CONFIRMED and not unit.is_item
        return NoteKind.DOING if ends and substance.is_under_way(text) else unit.kind
    hint = _BY_SECTION.get(cues.heading_hint(unit.heading) or Section.WHERE)
    if hint and not (hint is NoteKind.FINDING and unit.is_item and cues.is_imperative(text)):
        return _under_heading(hint, text)
    if cues.announces(text) or cues.announces(unit.text) or substance.is_under_way(text):
        return NoteKind.DOING
    if unit.is_item and cues.is_imperative(text):
        return NoteKind.NEXT
    hints = cues.cues_in(text)
    if Cue.FAIL in hints and not substance.states_failure(text):
        hints -= {Cue.FAIL}
    kind = next((kind for cue, kind in _BY_CUE.items() if cue in hints), NoteKind.FINDING)
    return NoteKind.QUESTION if kind is NoteKind.FAILED and text.endswith(("?", "？")) else kind


def _under_heading(kind: NoteKind, text: str) -> NoteKind:
    """The kind that a heading hints at; below "Errors and fixes" there is also what was done about them."""
    if kind is not NoteKind.FAILED:
        return kind
    if text.endswith(("?", "？")):
        return NoteKind.QUESTION
    if substance.reports_work(text):
        return NoteKind.CONFIRMED
    return kind if cues.states_problem(text) else NoteKind.FINDING


_BY_SECTION: Final = {
    Section.DONE: NoteKind.CONFIRMED,
    Section.NEXT: NoteKind.NEXT,
    Section.DECISIONS: NoteKind.FINDING,
    Section.FAILURES: NoteKind.FAILED,
    Section.NOW: NoteKind.DOING,
}
_BY_CUE: Final = {
    Cue.FINDING: NoteKind.FINDING,
    Cue.CHOICE: NoteKind.FINDING,
    Cue.DONE: NoteKind.CONFIRMED,
    Cue.FAIL: NoteKind.FAILED,
    Cue.NEXT: NoteKind.NEXT,
}
BY_AGENT: Final = frozenset({NoteSource.MESSAGE, NoteSource.CLOSING, NoteSource.SUMMARY, NoteSource.SUBAGENT})


def is_passing(note: Note) -> bool:
    """Whether a note of the agent at work holds for the moment only: an intention, a guess, a lead-in."""
    # "I'll use two tables, because rows are limited" announces a choice, which stays.
    return note.kind is not NoteKind.DECISION and (
        note.kind in (NoteKind.DOING, NoteKind.QUESTION)
        or note.text.endswith((":", "：", "?", "？"))
        or cues.announces(note.text)
        or cues.is_imperative(note.text)
        or cues.is_momentary(note.text)
    )


def is_resolved(note: Note, edited_at: int) -> bool:
    """Whether a problem that the agent named is over, once files were edited since and a check passes."""
    widely = note.source is NoteSource.MESSAGE
    if (
        note.source not in BY_AGENT
        or note.kind is NoteKind.DECISION  # a problem may be its reason
        or note.step >= edited_at
        or not cues.states_problem(note.text, widely=widely)
    ):
        return False
    return not cues.states_lesson(note.text)


def last_edit(trail: Trail) -> int:
    """The step of the last change of a file."""
    return max((touch.step for touch in trail.files if touch.action is not Action.READ), default=-1)


# ---------------------------------------------------------------- what a prompt leaves of earlier notes


def after_prompt(trail: Trail, event: Prompt, *, goes_on: bool) -> Notes:
    """The notes after a prompt: the last message is now the end of its turn, and partly answered."""
    asked = trail.statements[-1] if trail.statements else None
    answers = tuple(answer_notes(trail.notes, event, asked, trail.steps))
    declined = offers.declined(event.text, asked.text) if asked and answers else ()
    last, goal = asked.record if asked else "", trail.goal.record if trail.goal else ""
    objected, complains = cues.objects(event.text), cues.complains(event.text)
    only_asked = cues.only_asks(event.text)
    ruled = [
        names for unit in reader.units(event.text) if cues.rules(unit.text) for names in [_names(unit.text)]
    ]
    forbidden = [_stems(clause[1]) for clause in _FORBIDS.finditer(event.text)]
    rejected = _rejected(reader.sentences(_own_words(event.text)))
    earlier = (
        note
        for note in trail.notes
        if (note.kind not in _CHOICES or not choices.is_rejected(note.text, rejected))
        and not (note.record == last and any(note.text.rstrip(".") in option for option in declined))
    )
    turn = trail.turns + 1
    is_interrupted = _is_at_work(trail)

    def stands(note: Note) -> bool:
        if note.record == event.record or KINDS[note.kind].ends is Ending.USER_WRITES:
            return False
        if note.source in (NoteSource.PROMPT, NoteSource.PLAN):
            is_current = note.record == goal and (goes_on or is_interrupted)
            return is_current or _still_asked(note, turn)
        if note.source not in BY_AGENT:
            return True
        if note.kind in _OPINIONS and (_is_overruled(note, ruled) or _is_forbidden(note, forbidden)):
            return False
        if goes_on or (only_asked and note.kind is NoteKind.NEXT):
            return True
        if _ends_with_turn(note):
            return False
        if note.record != last:
            return True
        if complains and note.kind is NoteKind.CONFIRMED:
            return False
        return not (_is_settled(note) or (objected and note.kind in _OPINIONS))

    standing = (
        replace(note, source=NoteSource.CLOSING) if note.record == last else note
        for note in earlier
        if stands(note)
    )
    return with_notes(tuple(standing), (*answers, *prompt_notes(event, trail.steps, turn)))


def _is_at_work(trail: Trail) -> bool:
    """Whether the agent has called a tool since its last message, so that its turn was not over."""
    last = trail.statements[-1].record if trail.statements else ""
    said_at = max((note.step for note in trail.notes if note.record == last), default=trail.steps)
    return trail.steps > said_at


def _ends_with_turn(note: Note) -> bool:
    """Whether a sentence of the agent is over once the user asks for something else."""
    if note.kind is NoteKind.NEXT or note.text.endswith(("?", "？")) or _is_shown_command(note):
        return True
    if note.source is NoteSource.SUBAGENT:
        # The closing message says what became of the work; what was found out stays.
        return note.kind not in _OPINIONS
    return note.source is NoteSource.SUMMARY and note.kind is NoteKind.DOING


def _still_asked(note: Note, turn: int) -> bool:
    """Whether something that the user asked or said earlier still counts after another prompt."""
    if cues.is_for_the_moment(note.text):
        return False
    if note.turn <= 1 and turn <= _AIM_TURNS:
        return True  # also if it is a polite question: "can you look through the readers?"
    if cues.asks(note.text) or len(content_words(note.text)) < _FEWEST_CONTENT:
        return False
    is_lasting = note.kind is NoteKind.CONSTRAINT or note.source is NoteSource.PLAN
    return is_lasting or not cues.is_bare_request(note.text)


_AIM_TURNS: Final = 3
"""In so short a session the first request is still the aim behind the current one."""


def _is_shown_command(note: Note) -> bool:
    """Whether a note is a command that a message only showed, perhaps to propose it."""
    return note.kind is NoteKind.NEED and note.text.startswith("Command: ")


def _is_settled(note: Note) -> bool:
    """Whether a sentence at the end of a turn is over with it: what was announced, guessed or waited for."""
    passing = note.kind is NoteKind.DOING or cues.announces(note.text) or note.text.endswith((":", "："))
    proposes = cues.recommends(note.text) or (cues.is_imperative(note.text) and not note.heading)
    return passing or proposes or cues.is_momentary(note.text)


_OPINIONS: Final = frozenset({NoteKind.DECISION, NoteKind.FINDING, NoteKind.UNTRIED})
_CHOICES: Final = _OPINIONS | {NoteKind.CONSTRAINT}
"""What the user ends by deciding against it, also a rule of their own."""


def _rejected(sentences: Iterable[str]) -> frozenset[str]:
    """What the sentences decide against."""
    return frozenset(phrase for sentence in sentences for phrase in choices.rejected(sentence))


def _is_overruled(note: Note, ruled: Sequence[frozenset[str]]) -> bool:
    """Whether the user has laid down something about the same things."""
    if not any(ruled):
        return False
    about = _names(note.text)
    return any(len(about & names) >= 1 and len(about & names) * 2 >= len(about) for names in ruled)


def _is_forbidden(note: Note, forbidden: Sequence[frozenset[str]]) -> bool:
    """Whether the user has ruled out, word for word, what the agent decided or says that it does."""
    if not any(len(clause) >= _FEWEST_FORBIDDEN for clause in forbidden) or _negates(note.text):
        return False
    stems = _stems(note.text)
    return any(len(clause) >= _FEWEST_FORBIDDEN and clause <= stems for clause in forbidden)


@lru_cache(cues.REMEMBERED)  # every rule of the user is compared with all earlier notes
def _negates(text: str) -> bool:
    return _NEGATES.search(text) is not None


@lru_cache(cues.REMEMBERED)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_INFLECTION.sub("", word) for word in content_words(text))


_FORBIDS: Final = compiled(
    r"\b(?:don['’]?t|do not|never|not|instead of|rather than)\s+([^.,:;!?\n]{3,80})", re.IGNORECASE
)
_NEGATES: Final = compiled(r"\b(?:not|never|no|instead of|rather than|without)\b|n['’]t\b", re.IGNORECASE)
_INFLECTION: Final = compiled(r"(?<=[a-z]{3})(?:ing|ed|es|e|s)$")
_FEWEST_FORBIDDEN: Final = 2
"""A rule of one content word ("don't commit") may speak of something else."""


@lru_cache(cues.REMEMBERED)
def _names(text: str) -> frozenset[str]:
    return frozenset(
        name.lower() for name in (*names.names(text), *names.paths(text), *names.references(text))
    )


def prompt_notes(event: Prompt, step: int, turn: int) -> Iterator[Note]:
    """What the user's prompt says, sentence by sentence: rules, and what is asked for.

    Of what is to be remembered, only rules count.
    """
    remembers = bool(asked_to_remember(event.text))
    # A question or a report may be worded like a rule.
    constraints = [rule for rule in rules_in_prompt(event.text) if not reader.is_remark(rule)]
    is_long = len(event.text) > _PASTES
    source = NoteSource.PLAN if is_long else NoteSource.PROMPT
    units = reader.units(_typed(reader.request_in(event.text)))
    for unit in units[:_PROMPT_UNITS]:
        if reader.is_generic(unit.text) or reader.is_bare_command(unit.text):
            continue
        if substance.is_pasted_field(unit.text):
            continue
        is_rule = any(rule in unit.text for rule in constraints) or (
            cues.rules(unit.text) and any(unit.text in rule for rule in constraints)
        )
        text = shortened(unit.text, NOTE_KEPT)
        kind = NoteKind.CONSTRAINT if is_rule and not reader.is_remark(unit.text) else NoteKind.REQUEST
        if unit.kind is NoteKind.NEED and not is_rule:
            kind = NoteKind.NEED
        if remembers and not is_rule:
            continue
        yield Note(
            kind,
            text,
            event.at,
            event.record,
            step,
            source=source,
            turn=turn,
            place=unit.place,
            heading=shortened(unit.heading, _HEADING_KEPT),
            is_last=unit is units[-1],
        )
    for heading, command in reader.commands_in(event.text):
        text = f"{heading.capitalize() or 'Command'}: `{command}`"
        yield Note(NoteKind.NEED, text, event.at, event.record, step, source=source, turn=turn)
    texts = [unit.text for unit in units[:_PROMPT_UNITS]]
    for rule in constraints:
        if not any(rule in text or text in rule for text in texts):
            yield Note(NoteKind.CONSTRAINT, rule, event.at, event.record, step, source=source, turn=turn)


# ---------------------------------------------------------------- summaries


def after_summary(trail: Trail, event: Compacted) -> Notes:
    """The notes after a compaction: its summary tells the story so far, and replaces an earlier summary."""
    others = tuple(note for note in trail.notes if note.source is not NoteSource.SUMMARY)
    new: list[Note] = []
    for unit in reader.units(event.summary):
        text = _bare(unit)
        hint = _SUMMARY_KINDS.get(cues.heading_hint(unit.heading) or Section.DECISIONS, NoteKind.FINDING)
        kind = unit.kind or _under_heading(hint, text)
        if _LISTS_MESSAGES.search(unit.heading):
            continue  # every request of the session, as if all were open
        if substance.tells(text) and not text.rstrip('"”').endswith(("?", "？")):
            new.append(_unit_note(unit, kind, text, event, trail, NoteSource.SUMMARY))
    # A summary may still tell what the user has ruled out.
    rules = (note.text for note in others if note.kind is NoteKind.CONSTRAINT)
    forbidden = [_stems(clause[1]) for rule in rules for clause in _FORBIDS.finditer(rule)]
    allowed = [note for note in new if not _is_forbidden(note, forbidden)]
    return with_notes(others, allowed[:_SUMMARY_UNITS])


def _unit_note(
    unit: reader.Unit,
    kind: NoteKind,
    text: str,
    event: Compacted | SubagentStopped,
    trail: Trail,
    source: NoteSource,
) -> Note:
    """A sentence of a summary or report as a note."""
    return Note(
        kind,
        text,
        event.at,
        event.record,
        trail.steps,
        source=source,
        turn=trail.turns,
        place=unit.place,
        heading=shortened(unit.heading, _HEADING_KEPT),
    )


# ---------------------------------------------------------------- reports of subagents


def after_report(trail: Trail, event: SubagentStopped) -> Notes:
    """The notes after a subagent reported: what was done, decided, found out or left open.

    Most reports describe code that was searched, which nobody decided. So a sentence becomes a note only if
    its heading says what it is, or if a rule is sure of it and it stands in the first or last paragraph.
    """
    units = reader.units(event.text)
    ends = {unit.text for unit in reader.units(_outer(event.text, lambda _: False))}
    new: list[Note] = []
    for unit in units:
        kind = _reported_kind(unit, is_at_end=unit.text in ends)
        text = _bare(unit)
        if kind is not None and substance.tells(text):
            note = _unit_note(unit, kind, text, event, trail, NoteSource.SUBAGENT)
            new.append(replace(note, is_last=unit is units[-1]))
    # The same report comes from a hook event and from the transcript.
    known = {note.text for note in trail.notes if note.source is NoteSource.SUBAGENT}
    return with_notes(trail.notes, [note for note in new[:_REPORT_UNITS] if note.text not in known])


def _reported_kind(unit: reader.Unit, *, is_at_end: bool) -> NoteKind | None:
    """The kind of a sentence in a report, if it is sure; what a subagent asks or announces is over."""
    is_over = unit.kind is NoteKind.QUESTION or cues.announces(unit.text)
    if is_over or unit.is_row or unit.text.endswith((":", "：", "?", "？")):
        return None
    headed = next((kind for pattern, kind in _REPORT_HEADINGS if pattern.match(unit.heading)), None)
    if headed is NoteKind.CONFIRMED and unit.kind in (NoteKind.DECISION, NoteKind.MEASURED):
        return headed
    return unit.kind or headed if headed or is_at_end else None


_REPORT_HEADINGS: Final = (
    (
        compiled(
            r"(?:what (?:was|i|we) (?:done|did|changed)|done|completed|implemented|fix(?:ed|es)|verified|"
            r"(?:additional |summary of )?changes|(?:tests?|files?) (?:added|created|changed|modified)|"
            r"(?:batch|part|phase|step|task) \d{1,3} (?:changes|fixes)|完成|已完成|修改)(?!\w| well)"
        ),
        NoteKind.CONFIRMED,
    ),
    (
        compiled(
            r"(?:(?:key |main )?findings?|verdict|root causes?|conclusions?|decisions?|结论|原因)(?!\w)"
        ),
        NoteKind.FINDING,
    ),
    (
        compiled(r"(?:next|remaining|still (?:open|to)|follow-?ups?|to-? ?do|not done|下一步|待办)(?!\w)"),
        NoteKind.NEXT,
    ),
)
_REPORT_UNITS: Final = 12
_LISTS_MESSAGES: Final = compiled(r"\buser(?:['’]s)? (?:messages|prompts)\b", re.IGNORECASE)
_SUMMARY_KINDS: Final = {**_BY_SECTION, Section.GOAL: NoteKind.REQUEST, Section.RULES: NoteKind.REQUEST}
NOTE_KEPT: Final = 420
_HEADING_KEPT: Final = 60
_PROMPT_UNITS: Final = 50
_SUMMARY_UNITS: Final = 80
