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
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.prose import offers, prompt_rules, statement_rules
from holdfast.core.evidence.prose.cues import REMEMBERED
from holdfast.core.evidence.prose.statement_rules import ProseRule, cached_pattern
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.markdown import BlockKind, blocks
from holdfast.core.text.strings import one_line

LONGEST_SENTENCE: Final = 1_200
"""A sentence longer than this is pasted text; no rule is applied to it."""
_WORDS: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|[一-鿿]")


def statements_of(kind: NoteKind, text: str) -> tuple[str, ...]:
    """The statements of one kind in a text."""
    return _chosen(_candidates(text), _RULES[kind])


class Unit(NamedTuple):
    """What can be told by itself: a sentence, a list item, or a lead-in with its few short items."""

    text: str
    kind: NoteKind | None
    """Its kind, if a rule is sure of it."""
    heading: str
    """The heading or lead-in above it, in lower case."""
    is_item: bool
    place: int
    """Its place among the units of the text."""
    is_row: bool = False
    """Whether it is the row of a table."""


def units(text: str) -> list[Unit]:
    """The units of a text, in order; a row of a table is one too."""
    candidates = _all_candidates(text) or _all_candidates(_EDGE_MARKS.sub("", text))
    result: list[Unit] = []
    at = 0
    while at < len(candidates):
        candidate = candidates[at]
        items = _short_items(candidates, at)
        statement = candidate.statement
        whole = f"{statement.text.rstrip(':：')}: {'; '.join(items)}" if items else statement.text
        kind = next((kind for kind, applies in _RULES.items() if applies(candidate)), None)
        heading = statement.under[-1] if statement.under else ""
        for part in [statement.labelled] if statement.labelled else _parts(whole):
            result.append(Unit(part, kind, heading, statement.is_item, len(result), statement.is_row))
        at += 1 + len(items)
    return result


def _parts(sentence: str) -> list[str]:
    """A sentence that is a whole list, in its parts."""
    if len(sentence) <= LONG_SENTENCE:
        return [sentence]
    parts: list[str] = []
    for part in cached_pattern(_PART).split(sentence):
        joined = f"{parts[-1]} {part}" if parts else part
        if parts and len(joined) <= LONG_SENTENCE:
            parts[-1] = joined
        elif part.strip():
            parts.append(part)
    return parts


LONG_SENTENCE: Final = 240
_PART: Final = r"(?<=;)\s+|\s+[—–]\s+|\s+(?=\([a-z0-9]\)\s)|(?<=[,，])\s*(?=(?:and|then|but|plus) )|(?<=；)"


def commands_in(text: str) -> Iterator[tuple[str, str]]:
    """The short commands that a text shows in code blocks, each with the heading above it."""
    if "```" not in text:
        return
    for block in blocks(text):
        lines = block.text.strip().split("\n")
        is_short = len(lines) <= _COMMAND_LINES and len(block.text) <= _COMMAND_CHARS
        if block.is_fenced and block.language in _SHELLS and is_short and lines[0]:
            heading = _name(block.under[-1]) if block.under else ""
            yield from ((heading, line.strip().removeprefix("$ ")) for line in lines if line.strip())


_SHELLS: Final = frozenset({"bash", "sh", "shell", "console", "zsh"})
_COMMAND_LINES: Final = 3
_COMMAND_CHARS: Final = 240


def _short_items(candidates: Sequence[_Candidate], at: int) -> list[str]:
    """The items that a lead-in announces, if they are few and short; otherwise none."""
    if not candidates[at].statement.is_lead_in or candidates[at].statement.is_item:
        return []
    items: list[str] = []
    for candidate in candidates[at + 1 :]:
        if candidate.statement.labelled:
            return []  # its heads would be lost among those of the other rows
        if not candidate.statement.is_item:
            break
        items.append(candidate.statement.text.rstrip(".;"))
        if len(items) > _MOST_ITEMS or len(items[-1]) > _ITEM_CHARS:
            return []
    return items if len(items) > 1 and sum(map(len, items)) <= _ITEMS_CHARS else []


_EDGE_MARKS: Final = compiled(r"^[#*\s]+|[*\s]+$")
"""The marks around a text that is nothing but a heading."""
_MOST_ITEMS: Final = 7
_ITEM_CHARS: Final = 110
_ITEMS_CHARS: Final = 360


def sentences(text: str) -> tuple[str, ...]:
    """The sentences and list items of a text; code, tables, logs, quoted blocks and headings are left out."""
    return _each_once(statement.text for statement in _sentences_of(text) if not statement.is_row)


def constraints(prompt: str) -> tuple[str, ...]:
    """The sentences of a prompt that are rules for the work; no questions, no reports."""
    return _chosen(_candidates(prompt), _matches(prompt_rules.CONSTRAINT))


def decisions(text: str) -> tuple[str, ...]:
    """The sentences that state a choice, with its reason if there is one."""
    return statements_of(NoteKind.DECISION, text)


@lru_cache(REMEMBERED)  # every report is compared with all earlier failures
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


def plan_outline(plan: str) -> str:
    """What a plan is for: its title, and the first sentence below that or below a heading such as "Goal"."""
    title, aim = "", ""
    for block in blocks(plan):
        if block.kind is BlockKind.HEADING and not title:
            title = _PLAN_LABEL.sub("", one_line(block.text)).strip()
        elif block.kind is BlockKind.PARAGRAPH and not aim:
            heading = block.under[-1] if len(block.under) > 1 else ""
            if not heading or _PLAN_AIM.match(heading):
                aim = next(iter(_split(_plain(one_line(block.text)))), "")
    return f"{title}: {aim}" if title and aim else title or aim


_PLAN_LABEL: Final = compiled(
    r"^(?:(?:implementation |refactoring |fix )?plan\s*[:：–—-]\s*)+", re.IGNORECASE
)
_PLAN_AIM: Final = compiled(
    r"(?:goals?|aim|overview|context|summary|problem|objective|purpose|background|目标|概述)\b", re.IGNORECASE
)


def is_generic(prompt: str) -> bool:
    """Whether a prompt says nothing about the work: it only says to continue, or asks about the progress."""
    if len(prompt) > prompt_rules.LONGEST_GENERIC:
        return False
    folded = _folded(prompt)
    return any(
        cached_pattern(pattern).fullmatch(folded) for pattern in (prompt_rules.GENERIC, prompt_rules.PASSING)
    )


def is_bare_command(prompt: str) -> bool:
    """Whether a prompt is a command of the harness without arguments, such as `/init`."""
    return prompt_rules.BARE_COMMAND.fullmatch(prompt.strip()) is not None


def goes_on(prompt: str) -> bool:
    """Whether a prompt leaves the goal unchanged: it only says to go on, or how.

    A sentence with a rule may also ask for work: "can you list them, and make sure none is missing?"
    """
    rest = one_line(prompt)
    for rule in constraints(prompt):
        if not is_request(rule):
            rest = rest.replace(one_line(rule), "")
    if is_generic(prompt):
        return True
    return _word_count(rest) < _FEWEST_WORDS and _TASK_BY_ID.fullmatch(_folded(rest)) is None


def _word_count(text: str) -> int:
    """The number of words in a text; in scripts without spaces, two characters count as a word."""
    return len(_SPACED.findall(text)) + len(_UNSPACED.findall(text)) // 2


_FEWEST_WORDS: Final = 3
_TASK_BY_ID: Final = compiled(
    r"(?:(?:implement|tackle|resolve|finish|close|fix|debug|review|investigate)\s+"
    r"(?:#\d+|[a-z][a-z0-9_]*-\d+)"
    r"|(?:implement|tackle|resolve|finish|close)\s+[a-z][a-z0-9_]*-[a-z0-9]{2,8}(?:\.\d+)*)[.!]?",
    re.IGNORECASE,
)
"""A request of two words that names its task by the id of a tracker: "Implement shop-x4f", "fix #123"."""
_UNSPACED: Final = compiled(r"[\u3040-\u30ff\u3400-\u9fff]")
_SPACED: Final = compiled(r"[^\s\u3000-\u30ff\u3400-\u9fff\uff00-\uff65]+")


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
    """The options of an offer that a prompt chooses, each by its first sentence; empty if it chooses none."""
    options = (sentences(option) for option in offers.chosen(prompt, offer))
    return "; ".join(parts[0] for parts in options if parts)


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
    is_last: bool
    """Whether nothing follows it in the text."""


def _candidates(text: str) -> list[_Candidate]:
    """The sentences and list items of a text, to which rules apply."""
    return [candidate for candidate in _all_candidates(text) if not candidate.statement.is_row]


@lru_cache(maxsize=8)  # several rules in turn read the same prompt or message
def _all_candidates(text: str) -> tuple[_Candidate, ...]:
    """The same with the rows of tables."""
    statements = [statement for statement in _sentences_of(text) if len(statement.text) <= LONGEST_SENTENCE]
    return tuple(
        _Candidate(
            statement,
            folded := _folded(statement.text),
            frozenset(_WORDS.findall(folded)),
            statement is statements[-1],
        )
        for statement in statements
    )


def _folded(text: str) -> str:
    return text.lower().replace("’", "'").strip()


def _matches(rule: ProseRule) -> Callable[[_Candidate], bool]:
    """A predicate: whether a statement matches the rule, or is under a heading of the rule."""

    def matches(candidate: _Candidate) -> bool:
        statement, folded, words, _ = candidate
        return not statement.is_lead_in and (
            rule.matches(folded, words)
            or bool(statement.under and rule.matches_heading(statement.under, folded))
        )

    return matches


def _is_decision(candidate: _Candidate) -> bool:
    """Like `_matches`, but includes lead-ins, which may give the reason for a choice."""
    statement, folded, words, _ = candidate
    if statement_rules.DECISION.matches(folded, words) and not statement_rules.POINTS_ON.search(folded):
        return True
    headed = statement.under and not statement.is_lead_in
    return bool(headed) and statement_rules.DECISION.matches_heading(statement.under, folded)


def _is_next_step(candidate: _Candidate) -> bool:
    statement, folded, words, _ = candidate
    if statement.is_lead_in:
        return False
    if statement.box:
        return statement.box == " " and not statement.explains
    names_one = not statement.explains and not statement_rules.NO_STEP.match(folded)
    headed = names_one and statement_rules.NEXT_STEP.matches_heading(statement.under, folded)
    return (
        headed or statement_rules.NEXT_STEP.matches(folded, words)
    ) and not statement_rules.NARRATION.match(folded)


def _is_question(candidate: _Candidate) -> bool:
    statement, folded, _, is_last = candidate
    return (
        statement_rules.asks_user(folded)
        or (folded[-1] in "?？" and is_last and not statement_rules.is_idle(folded))
        or not statement_rules.OPEN_QUESTIONS.isdisjoint(statement.under)
    )


def _is_measured(candidate: _Candidate) -> bool:
    statement = candidate.statement
    return not statement.is_lead_in and statement_rules.states_measure(statement.text)


def _chosen(candidates: Sequence[_Candidate], applies: Callable[[_Candidate], bool]) -> tuple[str, ...]:
    """The statements that a rule applies to."""
    return _each_once(candidate.statement.text for candidate in candidates if applies(candidate))


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


_RULES: Final[Mapping[NoteKind, Callable[[_Candidate], bool]]] = {
    NoteKind.QUESTION: _is_question,
    NoteKind.NEXT: _is_next_step,
    NoteKind.DECISION: _is_decision,
    NoteKind.UNTRIED: _matches(statement_rules.UNTRIED),
    NoteKind.FAILED: _matches(statement_rules.FAILURE),
    NoteKind.CONFIRMED: _matches(statement_rules.CONFIRMED),
    NoteKind.NEED: _matches(statement_rules.NEED),
    NoteKind.MEASURED: _is_measured,
}
"""The rule for each kind, the most telling first; constraints are read by `notes`, from prompts only."""


# ---------------------------------------------------------------- how a text is split, in linear time


class _Sentence(NamedTuple):
    """A sentence or list item, the headings and lead-ins above it in lower case, and its checkbox mark."""

    text: str
    under: tuple[str, ...]
    box: str
    explains: bool
    """Whether it is a further sentence of a list item, which explains the first one."""
    is_item: bool
    is_row: bool
    """Whether it is the row of a table; such a row counts as an item."""
    labelled: str = ""
    """A row as it can be told without its table: its cells with the heads above them."""

    @property
    def is_lead_in(self) -> bool:
        """Whether it only announces what follows."""
        return self.text[-1] in ":："


class _Kind(Enum):
    GAP = auto()
    HEADING = auto()
    ITEM = auto()
    ROW = auto()
    TEXT = auto()


class _Block(NamedTuple):
    """A heading, list item or paragraph, with its indent; a gap if something was left out."""

    kind: _Kind
    text: str = ""
    indent: int = 0
    box: str = ""
    labelled: str = ""


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
_BOLD_HEADING: Final = compiled(r"\*\*(?:[^*]|\*(?!\*)){1,80}(?<![.!?。！？*])\*\*[:：]?")
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
        is_row = block.kind is _Kind.ROW
        is_item = is_row or block.kind is _Kind.ITEM
        level = block.indent if is_item else -1
        while leads and leads[-1][0] >= level:
            leads.pop()
        under = (*heading, *(lead for _, lead in leads)) if leads else heading
        plain = _plain(block.text)
        pieces = _split(plain)
        if block.labelled and pieces:
            row = _Sentence(plain, under, "", explains=False, is_item=True, is_row=True)
            result.append(row._replace(labelled=_plain(block.labelled)))
            continue
        result += [
            _Sentence(piece, under, block.box, is_item and place > 0, is_item, is_row)
            for place, piece in enumerate(pieces)
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
    """Each line as a block; what is no heading, list item, paragraph or row below a table's head is a gap."""
    heads: list[str] = []
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
        elif kind is BlockKind.TABLE_ROW and block.first == block.last:
            yield _row(_cells(block.text), heads)
        elif kind is BlockKind.TABLE_ROW:
            heads = _cells(block.text.split("\n")[0])
            yield _GAP
        else:
            yield _GAP


def _cells(row: str) -> list[str]:
    bare = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in bare.split("|")]


def _row(cells: Sequence[str], heads: Sequence[str]) -> _Block:
    """A row of a table in one piece; its cells tell little one by one, or without their heads."""
    text = " | ".join(cell for cell in cells if cell)
    labelled = _labelled(cells, heads)
    return _Block(_Kind.ROW, text, labelled=labelled if len(labelled) <= LONG_SENTENCE else "")


def _labelled(cells: Sequence[str], heads: Sequence[str]) -> str:
    """The cells of a row with the heads above them; empty if they do not belong together.

    "Before | After" above "it rounded twice | it rounds once" says which of the two still holds.
    """
    if len(cells) != len(heads) or len(cells) < _FEWEST_COLUMNS or not all(heads[1:]):
        return ""
    pairs = [
        f"{head}: {_MARKS.get(cell, cell)}" for head, cell in zip(heads, cells, strict=True) if head and cell
    ]
    names_nothing = not _LETTER.search(cells[0]) or cells[0].lower() in ("yes", "no")
    if len(cells) == _FEWEST_COLUMNS or names_nothing:
        return "; ".join(pairs)
    return f"{cells[0]} ({'; '.join(pairs[1 if heads[0] else 0 :])})"


_FEWEST_COLUMNS: Final = 2
_MARKS: Final = {**dict.fromkeys("✅✓✔☑", "yes"), **dict.fromkeys("❌✗✘", "no")}


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
