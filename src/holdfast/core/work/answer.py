"""Check a model's answer, sentence by sentence, against the session that it was asked about.

A sentence goes if it names something that never occurred in the session, tells another outcome of a command
than its last run had, or tells something finished as open or the other way round. An answer that is empty,
too long or not in the sections is refused as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from holdfast.core.evidence.commands.exit_meaning import has_failed
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.notes import checks_in
from holdfast.core.evidence.trail import CommandRun, Trail
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.names import is_file_name, names, parts, paths, program_name, references
from holdfast.core.text.strings import content_words, one_line, shortened
from holdfast.core.work.question import ANSWER_CHARS
from holdfast.core.work.state import Statement, WorkState
from holdfast.core.work.written import sections_in
from holdfast.lazy_dataclass import dataclass

LONGEST_ANSWER: Final = 6_000
"""A longer answer is refused: it was not written to the question."""
OVER_BUDGET: Final = f"over {ANSWER_CHARS:,} characters"
DONE_ALREADY: Final = "told as open, but it is done"
STILL_OPEN: Final = "told as done, but it is open"
NO_SECTION: Final = "in none of the sections"


@dataclass(frozen=True, slots=True)
class RejectedSentence:
    """A sentence of an answer that is not used, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer cannot be used at all, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What an answer is held against."""

    state: WorkState
    commands: tuple[CommandRun, ...]
    """With their last outcome, oldest first."""
    spoken: str
    """Everything that was said, called and returned in the session, in one line and in lower case."""


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The sentences that hold, by section, and those that were left out."""

    statements: tuple[Statement, ...]
    left_out: tuple[RejectedSentence, ...] = ()

    @property
    def text(self) -> str:
        """The sections with their headings, as `written.sections_in` reads them."""
        return _rendered(self.statements)

    def of(self, section: Section) -> tuple[str, ...]:
        """The sentences of one section."""
        return tuple(one.text for one in self.statements if one.section is section)


def session_facts(state: WorkState, trail: Trail, texts: Iterable[str]) -> SessionFacts:
    """The facts of a session, from its work state, its evidence and all texts of its events."""
    known = (
        *(statement.text for statement in state.statements),
        *(run.command for run in trail.commands),
        *(touch.path for touch in trail.files),
        *(name for mention in trail.mentions for name in (mention.name, mention.shown)),
    )
    return SessionFacts(state, trail.commands, one_line("\n".join((*texts, *known))).lower())


def check_answer(text: str, facts: SessionFacts, at: int = 0) -> CheckedAnswer | Refused:
    """The part of an answer that holds, within the length that was asked for; or why there is none."""
    text = _unfenced(text)
    if not text:
        return Refused("the answer is empty")
    if len(text) > LONGEST_ANSWER:
        return Refused(f"the answer has {len(text):,} characters, more than {LONGEST_ANSWER:,}")
    rows = _rows(text)
    if not any(section for section, _ in rows):
        return Refused("the answer has none of the sections")
    holding: list[Statement] = []
    left_out: list[RejectedSentence] = []
    for section, sentence in rows:
        if reason := _fault(section, sentence, facts):
            left_out.append(RejectedSentence(sentence, reason))
        elif section:
            holding.append(Statement(section, sentence, at))
    if not holding:
        return Refused("no sentence of the answer agrees with the session")
    answer = _fitting(CheckedAnswer(_in_order(holding), tuple(left_out)))
    return answer if answer.statements else Refused(f"its only sentence is {OVER_BUDGET}")


def _rows(text: str) -> list[tuple[Section | None, str]]:
    """The sentences of an answer with their sections."""
    return [
        (section, sentence)
        for section, row in _paragraphs(text)
        for sentence in split_sentences(one_line(row))
    ]


def _unfenced(text: str) -> str:
    """The text without a code fence around all of it, which some models add."""
    match = _FENCED.fullmatch(text.strip())
    return (match[1] if match else text).strip()


_FENCED: Final = compiled(r"```[a-z]*\n(.*)\n```", re.DOTALL)


def _paragraphs(text: str) -> Iterable[tuple[Section | None, str]]:
    if text.startswith("{"):
        try:
            rows = msgspec.json.decode(text, type=dict[str, list[str]])
        except (ValueError, RecursionError):
            return ()
        return [(section, row) for section in Section for row in rows.get(section.value, ())]
    return sections_in(text)


def split_sentences(text: str) -> list[str]:
    """The sentences of a line; a full stop in code, a name, a number or an abbreviation ends none."""
    cuts = [0]
    for match in _END.finditer(text):
        in_code = text.count("`", 0, match.start()) % 2
        if not in_code and not _NO_END.search(text[cuts[-1] : match.start() + 1]):
            cuts.append(match.end())
    cuts.append(len(text))
    return [sentence for start, end in pairwise(cuts) if (sentence := text[start:end].strip())]


_END: Final = compiled(r"[.!?](?:[\"'”)*]+)?\s+(?=[\"'“(*]*[A-Z0-9/`])|[。！？]")
_NO_END: Final = compiled(r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|etc|approx|no|\d{1,2})\.$", re.IGNORECASE)


def _in_order(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    return tuple(one for section in Section for one in statements if one.section is section)


def _rendered(statements: Sequence[Statement]) -> str:
    lines: list[str] = []
    above: Section | None = None
    for one in statements:
        if one.section is not above:
            above = one.section
            lines.append(f"## {above.value.capitalize()}")
        lines.append(f"- {one.text}")
    return "\n".join(lines)


def _fitting(answer: CheckedAnswer) -> CheckedAnswer:
    """The answer without the last sentences of its longest sections, so that it is not too long."""
    statements, left_out = list(answer.statements), list(answer.left_out)
    while len(_rendered(statements)) > ANSWER_CHARS:
        sizes: dict[Section, int] = {}
        for one in statements:
            sizes[one.section] = sizes.get(one.section, 0) + len(one.text)
        longest = max(sizes, key=lambda section: sizes[section])
        last = max(place for place, one in enumerate(statements) if one.section is longest)
        left_out.append(RejectedSentence(statements.pop(last).text, OVER_BUDGET))
    return CheckedAnswer(tuple(statements), tuple(left_out))


def _fault(section: Section | None, sentence: str, facts: SessionFacts) -> str:
    """Why a sentence is not used; empty if nothing speaks against it."""
    if section is None:
        return NO_SECTION
    if unknown := unknown_name(sentence, facts.spoken):
        return f"`{shortened(unknown, _NAME_CHARS)}` does not occur in the session"
    return _wrong_outcome(section, sentence, facts.commands) or _wrong_state(section, sentence, facts.state)


_NAME_CHARS: Final = 80

# ---------------------------------------------------------------- names


def unknown_name(sentence: str, spoken: str) -> str:
    """The first path, identifier, reference or code of a sentence that does not occur; empty if all do."""
    code = [span for match in _CODE.finditer(sentence) if (span := one_line(match[1]))]
    prose = _PUNCTUATION.sub(" ", _CODE.sub(" ", sentence))
    checks: tuple[tuple[Iterable[str], Callable[[str, str], bool]], ...] = (
        (code, _occurs_as_code),
        (paths(prose), _occurs_as_path),
        (names(prose), _occurs_as_name),
        (references(prose), _occurs_as_reference),
    )
    return next((name for mentioned, occurs in checks for name in mentioned if not occurs(name, spoken)), "")


_CODE: Final = compiled(r"`+([^`]+)`+")
_PUNCTUATION: Final = compiled(r"[.,;:!?]+(?=\s|$)")
_SUFFIX: Final = compiled(r"(?::\d+(?:[-:]\d+)*|/\d|_?\*)$")
"""A line number, the number of a function's arguments, or a star for the rest."""
_EXPRESSION: Final = compiled(r"[(){}\[\]<>=%]")
_WORD: Final = compiled(r"[A-Za-z_]\w{2,}")
_COMMIT: Final = compiled(r"[0-9a-f]{7,40}")


def _occurs(name: str, spoken: str, *, as_beginning: bool = False) -> bool:
    """Whether a text has this name, not only as a part of a longer word; `test_a_b` also has `a_b`."""
    name = name.lower()
    start = spoken.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        before, behind = spoken[max(start - 1, 0) : start], spoken[end : end + 1]
        begins = not (before.isalnum() and name[0].isalnum())
        if begins and (as_beginning or not (behind.isalnum() and name[-1].isalnum())):
            return True
        start = spoken.find(name, start + 1)
    return False


def _occurs_as_code(code: str, spoken: str) -> bool:
    """Whether code occurs; a command also with its words in another order, an expression by its names."""
    if _occurs(code, spoken):
        return True
    words = code.split()
    if _EXPRESSION.search(code):
        return all(_occurs(word, spoken) for word in _WORD.findall(code))
    if len(words) == 1:
        bare = _SUFFIX.sub("", code)
        if "/" in bare or is_file_name(bare):
            return _occurs_as_path(bare, spoken)
        return _occurs_as_name(bare, spoken) or _occurs_as_reference(bare, spoken)
    return _occurs(program_name(words), spoken) and all(_occurs(word.strip("\"'"), spoken) for word in words)


def _occurs_as_path(path: str, spoken: str) -> bool:
    """Whether a path occurs; an absolute one also as a folder and a path below it."""
    path = path.removeprefix("./").rstrip("/")
    if _occurs(path, spoken):
        return True
    if path[:1] not in ("/", "~"):
        return False
    slashes = [place for place, character in enumerate(path) if character == "/" and place]
    return any(_occurs(path[:place], spoken) and _occurs(path[place + 1 :], spoken) for place in slashes)


def _occurs_as_name(name: str, spoken: str) -> bool:
    """Whether an identifier occurs; a qualified one also in parts, as after an import."""
    name = name.removesuffix("()")
    pieces = [piece for piece in parts(name) if piece]
    return _occurs(name, spoken) or (len(pieces) > 1 and all(_occurs(piece, spoken) for piece in pieces))


def _occurs_as_reference(reference: str, spoken: str) -> bool:
    """Whether a reference occurs; a number also without its sign, a commit also at greater length."""
    if _COMMIT.fullmatch(reference.lower()):
        return _occurs(reference, spoken, as_beginning=True)
    return _occurs(reference, spoken) or (
        reference[:1] in ("#", "v") and reference[1:2].isdigit() and _occurs(reference[1:], spoken)
    )


# ---------------------------------------------------------------- outcomes

_REPORTS: Final = frozenset((Section.DONE, Section.NOW, Section.FAILURES, Section.DECISIONS, Section.WHERE))
"""The sections whose sentences say how something ended; the others say how it should."""
_NONE: Final = compiled(
    r"\b(?:no|0|zero|without(?: any)?) (?:failures?|failed|failing|errors?)\b", re.IGNORECASE
)
_PASSED: Final = compiled(r"\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|clean)\b", re.IGNORECASE)
_FAILED: Final = compiled(
    r"\b(?:fail(?:s|ed)?|(?:is|are|keeps?|still) failing|broken|crash(?:es|ed)?|red)\b", re.IGNORECASE
)
_NO_REPORT: Final = compiled(
    r"\b(?:should|must|would|could|will|may|might|can|if|until|once|unless|to pass|needs?|not|never|cannot"
    r"|no longer|yet|expect(?:s|ed)?)\b|n't\b|n’t\b",
    re.IGNORECASE,
)
_PAST: Final = compiled(
    r"\b(?:fixed|resolved|solved|was|were|had|before|earlier|previously|first|initially|until|since|then|after"
    r"|because)\b",
    re.IGNORECASE,
)


def _wrong_outcome(section: Section, sentence: str, commands: Sequence[CommandRun]) -> str:
    """Why a sentence about the outcome of a command is wrong; empty if it is not, or says none."""
    outcome = _claimed(sentence) if section in _REPORTS else None
    run = _run_in(sentence, commands) if outcome is not None else None
    if run is None:
        return ""
    if outcome and has_failed(run):
        return "told as passed, but its last run failed"
    if not outcome and run.ok:
        return "told as failed, but its last run passed"
    return ""


def _claimed(sentence: str) -> bool | None:
    """Whether a sentence says that something passes now; None if it says neither that nor the opposite."""
    prose = _NONE.sub("passed", _CODE.sub(" ", sentence))
    passed, failed = bool(_PASSED.search(prose)), bool(_FAILED.search(prose))
    if passed == failed or _NO_REPORT.search(prose) or (failed and _PAST.search(prose)):
        return None
    return passed


def _run_in(sentence: str, commands: Sequence[CommandRun]) -> CommandRun | None:
    """The last run of the command that a sentence names, or of the kind of check that it speaks of."""
    known = [run for run in commands if run.ok is not None]
    code = [one_line(match[1]) for match in _CODE.finditer(sentence)]
    named = [run for run in known if any(_is_command(span, run) for span in code)]
    if not named and not (code or paths(sentence) or names(sentence)):
        kinds = checks_in(sentence)
        named = [run for run in known if len(kinds) == 1 and kinds <= _kinds_of(run)]
    return max(named, key=lambda run: (run.at, run.step), default=None)


def _is_command(span: str, run: CommandRun) -> bool:
    command = one_line(run.command).lower()
    return (
        _occurs(span, command) and _occurs(program_name(span.split()), command) and not span.startswith("-")
    )


def _kinds_of(run: CommandRun) -> frozenset[int | None]:
    return checks_in(f"{run.command} tests" if run.tests else run.command)


# ---------------------------------------------------------------- finished and open

_ALIKE: Final = 0.7
"""The share of their words that a sentence and an item have in common if they are about the same."""
_FEWEST: Final = 3
_PREFIX: Final = 4
"""How many letters of a word count, so that `add` and `added`, `write` and `written` are the same."""


def _wrong_state(section: Section, sentence: str, state: WorkState) -> str:
    """Why a sentence tells a wrong state of an item; empty if it does not."""
    if section not in _ITEM_SECTIONS:
        return ""
    alike = {_ITEM_SECTIONS[one.section] for one in _alike(sentence, state)}
    if alike != {not _ITEM_SECTIONS[section]}:
        return ""
    return STILL_OPEN if _ITEM_SECTIONS[section] else DONE_ALREADY


_ITEM_SECTIONS: Final[Mapping[Section, bool]] = {Section.DONE: True, Section.NOW: False, Section.NEXT: False}
"""Whether the items of a section are finished."""


def _alike(sentence: str, state: WorkState) -> Iterator[Statement]:
    """The finished and open items that a sentence is about."""
    words = _word_beginnings(sentence)
    for statement in state.statements:
        if statement.section in _ITEM_SECTIONS:
            others = _word_beginnings(statement.text)
            if len(others) >= _FEWEST and len(words & others) >= _ALIKE * len(words | others):
                yield statement


def _word_beginnings(text: str) -> frozenset[str]:
    return frozenset(
        _ENDING.sub("", word)[:_PREFIX] if word.isalpha() else word for word in content_words(text)
    )


_ENDING: Final = compiled(r"(?<=...)(?:ing|ed|es|s|e)$")
