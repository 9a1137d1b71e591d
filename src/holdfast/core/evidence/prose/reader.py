"""Prose: what users and agents say in a text, read by rule, in English and Chinese.

A text is split into sentences and list items, and the rules are applied to each. Functions that return
sentences return them whole and in order, each once, without bullets and emphasis. They are shown to an agent
as facts, so a rule matches only if it is sure. `statement_rules` and `prompt_rules` have the words that the
rules look for. Not here: who wrote a text, how long it matters, what it becomes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.prose import prompt_rules, statement_rules
from holdfast.core.evidence.prose.statement_rules import ProseRule, cached_pattern
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.markdown import BlockKind, blocks

LONGEST_SENTENCE: Final = 1_200
"""A sentence longer than this is pasted text; no rule is applied to it."""
_WORDS: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|[一-鿿]")


def read_statements(text: str) -> dict[NoteKind, tuple[str, ...]]:
    """All statements of an agent's text by kind, parsed once: cheaper than one kind at a time."""
    candidates = _candidates(text)
    return {kind: rule(candidates) for kind, rule in _RULES.items()}


def statements_of(kind: NoteKind, text: str) -> tuple[str, ...]:
    """The statements of one kind in a text."""
    return _RULES[kind](_candidates(text))


def sentences(text: str) -> tuple[str, ...]:
    """The sentences and list items of a text; code, tables, logs, quoted blocks and headings are left out."""
    return _each_once(statement.text for statement in _sentences_of(text))


def constraints(prompt: str) -> tuple[str, ...]:
    """The sentences of a prompt that are rules for the work; no questions, no reports."""
    return _matching(_candidates(prompt), prompt_rules.CONSTRAINT)


def decisions(text: str) -> tuple[str, ...]:
    """The sentences that state a choice, with its reason if there is one."""
    return statements_of(NoteKind.DECISION, text)


def is_failing(failure: str) -> bool:
    """Whether a failure is a current state, which may be fixed next, and not a failed attempt."""
    folded = _folded(failure)
    return statement_rules.FAILING.search(folded) is not None and not statement_rules.ATTEMPT.search(folded)


def is_check(sentence: str) -> bool:
    """Whether a sentence says only that tests, a linter or a build pass."""
    return statement_rules.CHECK.fullmatch(_folded(sentence)) is not None


def measurements(text: str) -> tuple[str, ...]:
    """Sentences with a measured number and its unit; not line numbers, versions, dates, ports or limits."""
    return statements_of(NoteKind.MEASURED, text)


def request_in(prompt: str) -> str:
    """The user's words in a prompt that a program wrapped in its own instructions; otherwise all of it."""
    wrapped = list(prompt_rules.WRAPPED.finditer(prompt))
    if not wrapped:
        return prompt
    quoted = '"' if prompt.startswith('"') else ""
    inside: str = wrapped[-1]["inside"] or prompt[wrapped[-1].end() :].rstrip().removesuffix(quoted)
    return inside.strip() or prompt


def is_generic(prompt: str) -> bool:
    """Whether a prompt says nothing about the work: it only says to continue, or asks about the progress."""
    if len(prompt) > prompt_rules.LONGEST_GENERIC:
        return False
    folded = _folded(prompt)
    return any(
        cached_pattern(pattern).fullmatch(folded) for pattern in (prompt_rules.GENERIC, prompt_rules.PASSING)
    )


def is_answer(prompt: str) -> bool:
    """Whether a prompt is an answer: yes or no, a choice, or a request to continue."""
    folded = _folded(prompt)
    if len(folded) > prompt_rules.LONGEST_GENERIC or folded[-1:] in ("", "?", "？"):
        return False
    agrees = cached_pattern(prompt_rules.GENERIC).fullmatch(folded) and cached_pattern(
        prompt_rules.AGREEING
    ).search(folded)
    return bool(agrees) or cached_pattern(prompt_rules.ANSWERING).match(folded) is not None


def chosen_option(prompt: str, offer: str) -> str:
    """The text of the numbered item that a prompt chooses from an offer; the last list counts first."""
    number = cached_pattern(prompt_rules.CHOICE).fullmatch(_folded(prompt))
    if number is None or len(prompt) > prompt_rules.LONGEST_GENERIC:
        return ""
    items: list[str] = cached_pattern(prompt_rules.OFFERED.format(re.escape(number[1]))).findall(offer)
    item_sentences = sentences(items[-1]) if items else ()
    return item_sentences[0] if item_sentences else ""


def is_request(sentence: str) -> bool:
    """Whether a user's sentence asks for work or an answer, even if it is worded like a rule."""
    return cached_pattern(prompt_rules.ASKING).search(_folded(sentence)) is not None


def is_remark(sentence: str) -> bool:
    """Whether a user's sentence is only a question or a report, even if it is worded like a rule."""
    return cached_pattern(prompt_rules.REMARK).search(_folded(sentence)) is not None and not constraints(
        sentence
    )


def is_narration(sentence: str) -> bool:
    """Whether a text begins with what the agent is doing or about to do."""
    folded = _folded(sentence)
    return (
        statement_rules.NARRATION.match(folded) is not None
        or cached_pattern(statement_rules.INTENT).match(folded) is not None
    )


class _Candidate(NamedTuple):
    """A statement, its folded form, which the rules are written for, and its words for a quick check."""

    statement: _Sentence
    folded: str
    words: frozenset[str]


def _candidates(text: str) -> list[_Candidate]:
    return [
        _Candidate(statement, folded := _folded(statement.text), frozenset(_WORDS.findall(folded)))
        for statement in _sentences_of(text)
        if len(statement.text) <= LONGEST_SENTENCE
    ]


def _folded(text: str) -> str:
    return text.lower().replace("’", "'").strip()


def _matching(candidates: Sequence[_Candidate], rule: ProseRule) -> tuple[str, ...]:
    """The statements that match the rule, or are under a heading of the rule."""
    return _each_once(
        statement.text
        for statement, folded, words in candidates
        if (
            rule.matches(folded, words) or (statement.under and rule.matches_heading(statement.under, folded))
        )
        and not statement.is_lead_in
    )


def _decisions(candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    """Like `_matching`, but includes lead-ins, which may give the reason for a choice."""
    return _each_once(
        statement.text
        for statement, folded, words in candidates
        if (statement_rules.DECISION.matches(folded, words) and not statement_rules.POINTS_ON.search(folded))
        or (
            statement.under
            and not statement.is_lead_in
            and statement_rules.DECISION.matches_heading(statement.under, folded)
        )
    )


def _next_steps(candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, folded, words in candidates
        if not statement.is_lead_in and _is_next_step(statement, folded, words)
    )


def _is_next_step(statement: _Sentence, folded: str, words: frozenset[str]) -> bool:
    if statement.box:
        return statement.box == " " and not statement.explains
    names_one = not statement.explains and not statement_rules.NO_STEP.match(folded)
    headed = names_one and statement_rules.NEXT_STEP.matches_heading(statement.under, folded)
    return (
        headed or statement_rules.NEXT_STEP.matches(folded, words)
    ) and not statement_rules.NARRATION.match(folded)


def _questions(candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, folded, _ in candidates
        if statement_rules.asks_user(folded)
        or (
            folded[-1] in "?？"
            and statement is candidates[-1].statement
            and not statement_rules.is_idle(folded)
        )
        or not statement_rules.OPEN_QUESTIONS.isdisjoint(statement.under)
    )


def _measurements(candidates: Sequence[_Candidate]) -> tuple[str, ...]:
    return _each_once(
        statement.text
        for statement, _, _ in candidates
        if not statement.is_lead_in and statement_rules.states_measure(statement.text)
    )


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


_RULES: Final[Mapping[NoteKind, Callable[[Sequence[_Candidate]], tuple[str, ...]]]] = {
    NoteKind.DECISION: _decisions,
    NoteKind.NEXT: _next_steps,
    NoteKind.UNTRIED: partial(_matching, rule=statement_rules.UNTRIED),
    NoteKind.CONFIRMED: partial(_matching, rule=statement_rules.CONFIRMED),
    NoteKind.FAILED: partial(_matching, rule=statement_rules.FAILURE),
    NoteKind.MEASURED: _measurements,
    NoteKind.QUESTION: _questions,
    NoteKind.NEED: partial(_matching, rule=statement_rules.NEED),
}
"""The rule for each kind of statement; constraints are read by `notes`, from prompts only."""


# ---------------------------------------------------------------- how a text is split, in linear time


class _Sentence(NamedTuple):
    """A sentence or list item, the headings and lead-ins above it in lower case, and its checkbox mark."""

    text: str
    under: tuple[str, ...]
    box: str
    explains: bool
    """Whether it is a further sentence of a list item, which explains the first one."""

    @property
    def is_lead_in(self) -> bool:
        """Whether it only announces what follows."""
        return self.text[-1] in ":："


class _Kind(Enum):
    GAP = auto()
    HEADING = auto()
    ITEM = auto()
    TEXT = auto()


class _Block(NamedTuple):
    """A heading, list item or paragraph, with its indent; a gap if something was left out."""

    kind: _Kind
    text: str = ""
    indent: int = 0
    box: str = ""


_GAP: Final = _Block(_Kind.GAP)
_CODE_INDENT: Final = 4
_SENTENCE_END: Final = ".!?…。！？:：;；"
_WRAP_WIDTHS: Final = range(50, 131)
"""A line of this length that ends in mid-sentence was wrapped by an editor."""

_BULLET: Final = compiled(
    r"""(?:(?:[-*+•‣◦–→]|\d{1,3}[.)]|[(（]\d{1,2}[)）]|[a-zA-Z]\))[ \t]+|\d{1,2}、[ \t]*|[①-⑳][ \t]*
        |\[(?P<box>[ xX])\][ \t]+)++""",
    re.VERBOSE,
)
_HEADING: Final = compiled(r"#{1,6}(?:\s|$)")
_BOLD_HEADING: Final = compiled(r"\*\*[^*]{1,80}(?<![.!?。！？])\*\*[:：]?")
_EMPHASIS: Final = compiled(
    r"(?<![A-Za-z0-9_*/.`])(\*{1,3})(?=[^\s*])([^*]+)(?<=\S)\1(?![A-Za-z0-9_*/`]|\.\w)"
    r"|(?<!\w)(__)(?=[^\s_])([^_`]* [^_`]*)(?<=\S)__(?!\w)"
)
_NOISE: Final = compiled(
    r"""[|>{}│├└┌─┃╭╰╔║❯➜⎿]|</?[a-zA-Z!]|[\])]+[,;]?$|[-=_*~+.]{3}|@@|"[^"]{1,60}"\s*:|[$%]\s+[a-z.]
    |\d{1,2}:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b[\]:]?\s
    |[\w.]{1,80}+(?:(?<=Error)|(?<=Exception)|(?<=Warning)):|(?:fatal|error|warning):\s|npm\s(?:ERR|WARN)
    |Traceback\s\(|File\s"|at\s\S{1,120}\s?\(|E\s{2,}\S|(?:PASSED|FAILED|PASS|FAIL)\s\S{1,200}[:/.]
    |diff\s--git|index\s[0-9a-f]{6,40}\.\.|[\w./-]{1,200}+:\d{1,6}:
    |[\w.-]{1,40}+@[\w.-]{1,60}+[:\s].{0,80}[$%\#]\s|(?:const|let|var)\s[\w{[]{1,60}+\s?[^=]{0,40}=
    |(?:async\s)?def\s\w+\(|class\s\w+[(:{]|(?:func|function|fn)\s\w+\(|[\w.]{1,60}+\s[:+]?=\s
    |import\s[\w.{},*\s]{1,80}(?:from\s|;|$)|from\s[\w.]{1,80}\simport\s""",
    re.VERBOSE,
)
"""The beginning of a line of code, a log, a table, a quotation or a horizontal rule."""
_CODE_END: Final = ("{", "=>", ");", "};", "},", "],")

_BOUNDARY: Final = compiled(
    r"[.!?…。！？]+[\"'”’)\]」』）]*(?:(?=\s|$)|(?<=[。！？])|(?<=[。！？][\"'”’」』）]))"
)
_CHINESE_END: Final = compiled(r"[。！？]")
_ABBREVIATION: Final = compiled(
    r"(?:^|[\s(\[\"'])(?:e\.?g|i\.?e|vs|cf|approx|incl|resp|fig|eq|a\.k\.a|w\.r\.t|mr|mrs|dr|st)$",
    re.IGNORECASE,
)
_MAY_END: Final = compiled(r"(?:^|[\s(])(?:etc|al|inc|ltd|\d{1,3})$", re.IGNORECASE)
_EDGES: Final = compiled(r"^[\W\d]+|\W+$")
_LETTER: Final = compiled(r"[^\W\d_]")


def _sentences_of(text: str) -> list[_Sentence]:
    """The statements of a text, in order."""
    result: list[_Sentence] = []
    heading: tuple[str, ...] = ()
    leads: list[tuple[int, str]] = []
    for block in _blocks(text):
        if block.kind is _Kind.HEADING:
            heading, leads = (_name(block.text),), []
            continue
        level = block.indent if block.kind is _Kind.ITEM else -1
        while leads and leads[-1][0] >= level:
            leads.pop()
        under = (*heading, *(lead for _, lead in leads)) if leads else heading
        pieces = _split(_plain(block.text))
        is_item = block.kind is _Kind.ITEM
        result += [
            _Sentence(piece, under, block.box, is_item and place > 0) for place, piece in enumerate(pieces)
        ]
        if pieces and result[-1].is_lead_in:
            leads.append((level, _name(pieces[-1])))
    return result


def _name(heading: str) -> str:
    return _EDGES.sub("", heading.lower().replace("’", "'"))


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks of a text; lines that an editor wrapped are joined."""
    first = _GAP
    parts: list[str] = []
    for line in _lines(text):
        if parts and line.kind is _Kind.TEXT and _wraps(parts[-1]):
            parts.append(line.text)
            continue
        if parts:
            yield first._replace(text=" ".join(parts)) if len(parts) > 1 else first
            parts = []
        if line.kind is _Kind.HEADING:
            yield line
        elif line.kind is not _Kind.GAP:
            first, parts = line, [line.text]
    if parts:
        yield first._replace(text=" ".join(parts))


def _wraps(line: str) -> bool:
    return line[-1] in ",，、" or (len(line) in _WRAP_WIDTHS and line[-1] not in _SENTENCE_END)


def _lines(text: str) -> Iterator[_Block]:
    """Each line as a block; what is no heading, list item or paragraph is a gap."""
    for block in blocks(text):
        kind = block.kind
        if kind is BlockKind.HEADING and block.mark[0] == "#" and block.text:
            yield _Block(_Kind.HEADING, block.text)
        elif kind is BlockKind.PARAGRAPH or kind is BlockKind.ITEM or kind is BlockKind.HEADING:
            # A line of dashes below a text makes it a heading too, but agents mean a rule by it.
            first, *below = block.text.split("\n")
            line = _line(first.strip(), block.indent, is_item=kind is BlockKind.ITEM)
            yield line
            if below:
                yield from _more_lines(below, line)
        else:
            yield _GAP


def _more_lines(lines: Iterable[str], above: _Block) -> Iterator[_Block]:
    for text in lines:
        line = _line(text.strip(), len(text) - len(text.lstrip()), is_item=False)
        if line.kind is _Kind.TEXT and line.indent >= _CODE_INDENT and above.kind is _Kind.GAP:
            line = _GAP  # more of the code above it
        above = line
        yield line


def _line(bare: str, indent: int, *, is_item: bool) -> _Block:
    """A line of text; agents also make headings of bold text, and items with other bullets."""
    if not bare or _is_noise(bare):
        return _GAP
    if not is_item and bare[:2] == "**" and _BOLD_HEADING.fullmatch(bare):
        return _Block(_Kind.HEADING, bare)
    bullet = _BULLET.match(bare)
    if bullet:
        bare = bare[bullet.end() :]
        if not bare or _is_noise(bare):
            return _GAP
    if bare[0] == "#" and _HEADING.match(bare):
        return _GAP
    if bullet or is_item:
        return _Block(_Kind.ITEM, bare, indent, (bullet["box"] or "") if bullet else "")
    return _Block(_Kind.TEXT, bare, indent)


def _is_noise(bare: str) -> bool:
    return _NOISE.match(bare) is not None or bare.endswith(_CODE_END)


def _plain(text: str) -> str:
    """The text without Markdown emphasis; asterisks in code spans and file patterns stay."""
    before = ""
    while before != text and ("*" in text or "__" in text):
        before = text
        text = _EMPHASIS.sub(r"\2\4", text)
    return text


def _split(text: str) -> list[str]:
    """The sentences of one block; a full stop in a name, number, abbreviation or code ends none."""
    match = _BOUNDARY.search(text)
    if match is None or match.end() == len(text):
        return [text] if _LETTER.search(text) else []
    ends = [0]
    ticks = seen = 0
    paired = text.count("`") % 2 == 0
    for match in _BOUNDARY.finditer(text):
        ticks += text.count("`", seen, match.start())
        seen = match.start()
        if not (paired and ticks % 2) and _ends_sentence(text, match, ends[-1]):
            ends.append(match.end())
    ends.append(len(text))
    return [whole for start, end in pairwise(ends) if (whole := _whole(text[start:end].strip()))]


def _ends_sentence(text: str, match: re.Match[str], start: int) -> bool:
    mark = match.group()
    if not mark.isascii() and _CHINESE_END.search(mark):
        return True
    following = text[match.end() : match.end() + 4].lstrip()[:1]
    if mark[-1] not in ".!?…":  # a bracket or quotation ends here, perhaps without the sentence around it
        return not following or following.isupper()
    goes_on = following.islower()
    if mark != ".":
        return not (goes_on and (mark[0] == "…" or mark[:2] == ".."))
    at = match.start()
    if text[start:at].strip().isdigit() or _ABBREVIATION.search(text, max(0, at - 10), at):
        return False
    return not (goes_on and _MAY_END.search(text, max(0, at - 10), at))


def _whole(piece: str) -> str:
    """The sentence without a bullet from the middle of a line; empty if it has no words."""
    bullet = _BULLET.match(piece)
    text = piece[bullet.end() :] if bullet else piece
    if not _LETTER.search(text) or _is_noise(text) or _HEADING.match(text):
        return ""
    return text
