"""Lists: a user's list or an approved plan as items, and what an agent's message says about each of them.

A list counts as a request if its lead-in or its items ask for something: answers, scenarios and logs are also
written as lists. An item's state is read only where the message names the item by its label, or repeats its
words. Not here: which list is in force, and what becomes of its items.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.markdown import Block, BlockKind, blocks
from holdfast.core.text.strings import content_words, one_line
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item: `3`, `B`, `Phase 2`, or `•3` for the third of a list without labels."""

    label: str
    text: str


class ItemState(StrEnum):
    """How far an item is, as far as the agent says."""

    OPEN = "open"
    STARTED = "started"
    DONE = "done"


def items_in(prompt: str) -> tuple[ListItem, ...]:
    """The items of the list that a prompt asks to work through; empty if its lists ask for nothing."""
    plan = _PLAN_FOLLOWS.match(prompt)
    if plan:
        return plan_steps(prompt[plan.end() :])
    groups = [group for group in _groups(_typed(prompt)) if len(group.entries) > 1 and _is_request(group)]
    headed = [group for group in groups if group.style.startswith("#")]
    return _items(entry for group in headed or groups for entry in group.entries if entry.box.lower() != "x")


def plan_steps(plan: str) -> tuple[ListItem, ...]:
    """The steps of a plan: its numbered headings, else those below "Changes", else a numbered list."""
    groups = [group for group in _groups(plan) if not _is_aside(group.under)]
    for level in sorted({group.style for group in groups if group.style.startswith("#")}):
        steps = [entry for group in groups if group.style == level for entry in group.entries]
        if len(steps) > 1:
            return _items(steps)
    below = _items(_headings_of_work(plan))
    if len(below) > 1:
        return below
    listed = [group for group in groups if len(group.entries) > 1]
    listed = [group for group in listed if not any(map(_FILES.search, group.under))]
    of_work = [group for group in listed if any(map(_WORK.match, group.under))]
    numbered = [group for group in (*of_work, *listed) if group.style != "-"]
    chosen = next(iter((*numbered, *of_work)), None)
    return _items(chosen.entries) if chosen else ()


def taken_up(items: Sequence[ListItem], text: str) -> Mapping[str, ItemState]:
    """The items that a message speaks of, each with the state that it says last."""
    if not items:
        return {}
    index = _Index(items)
    states: dict[str, ItemState] = {}
    unmarked: list[str] = []
    for block in blocks(text):
        if block.kind in {BlockKind.CODE, BlockKind.COMMENT, BlockKind.QUOTE}:
            continue
        for line in _lines_of(block):
            headed = _headed(index, block, line)
            if headed:
                label, state = headed
                if state is None:
                    unmarked.append(label)
                else:
                    states[label] = state
            else:
                states.update(_stated(index, line))
    # A message with one such heading works on that item; with several, it may only discuss them.
    if len(set(unmarked)) == 1:
        states.setdefault(unmarked[0], ItemState.STARTED)
    return states


# ---------------------------------------------------------------- lists


def _typed(prompt: str) -> str:
    """A prompt up to the first line of a pasted log or patch."""
    paste = _PASTE.search(prompt)
    return prompt[: paste.start()] if paste else prompt


_PASTE: Final = compiled(
    r"^(?:\s*(?:diff --git |@@ |={3,} |-{3} |\+{3} |Traceback |[$❯] |at \S+ \()"
    r"|[A-Z][a-z]{2} +\d+ \d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d)",
    re.MULTILINE,
)


class _Entry(NamedTuple):
    """A line or heading with a label; empty for a bullet."""

    label: str
    text: str
    box: str = ""


class _Group(NamedTuple):
    """Entries of one style that follow each other: the `#` of headings, `-`, or the form of the label."""

    style: str
    lead: str
    under: tuple[str, ...]
    entries: list[_Entry]


_NOUN: Final = r"item|step|phase|task|part|point|stage|milestone|pr|component|feature|bug|issue|fix|section"
_LABEL: Final = compiled(
    rf"[*_]{{0,2}}(?:(?P<noun>{_NOUN}) ?\#?(?P<of_noun>\d{{1,2}}[a-z]?|[A-H])\b(?:[.):]|\s*[-–—])?"
    r"|(?P<number>\d{1,2})[.)]|\(?(?P<letter>[a-hA-H])\))[*_]{0,2}(?:\s*[-–—:]\s+|\s+|$)",
    re.IGNORECASE,
)
_BOX: Final = compiled(r"\[(?P<box>[ xX])\]\s+")
_PLAN_FOLLOWS: Final = compiled(
    r"\s*(?:please |now |ok(?:ay)?,? )*(?:implement|execute|carry out|follow|do|work through)"
    r" (?:the following|this|the) (?:\w+ )?plan\b[^\n]{0,80}\n",
    re.IGNORECASE,
)
_ASIDE: Final = compiled(
    r"\b(?:context|background|problem|goals?|summary|overview|verif\w*|risks?|non-?goals?|edge cases?|scope|"
    r"notes?|questions?|examples?|limitations?|alternatives?|rationale|current|expected|references?|success|"
    r"why|decisions?|behaviou?r|format|issues?|findings?)\b|\btest(?:s|ing| plan)?$",
    re.IGNORECASE,
)
_FILES: Final = compiled(r"\bfiles\b", re.IGNORECASE)
_WORK: Final = compiled(
    r"(?:the |proposed |recommended |required |detailed |implementation |code |key )*"
    r"(?:changes?|implementation|steps?|plan|approach|tasks?|phases?|to-?dos?|solution|fix|order)\b"
    r"(?: (?:steps?|plan|order|details?|to make|required))*\W*$",
    re.IGNORECASE,
)


def _is_aside(under: Sequence[str]) -> bool:
    """Whether headings lead to a part without steps; the title of a whole plan does not count."""
    return any(map(_ASIDE.search, under[1:] if len(under) > 1 else under))


def _groups(text: str) -> list[_Group]:
    """The lists of a text, in order, with the line before each."""
    groups: list[_Group] = []
    lead = ""
    is_open = False
    for block in blocks(text):
        entries = list(_entries(block))
        if not entries:
            if block.kind is BlockKind.HEADING or (block.kind is BlockKind.PARAGRAPH and not block.depth):
                is_open = is_open and block.kind is not BlockKind.HEADING
                lead = one_line(block.text)
            continue
        for style, entry in entries:
            if not style:
                lead = entry.text
            elif is_open and _continues(groups[-1], style, entry, block):
                groups[-1].entries.append(entry)
            else:
                groups.append(_Group(style, lead, block.under, [entry]))
                is_open = True
        if block.kind is BlockKind.HEADING:
            lead = entries[-1][1].text
    return groups


def _continues(group: _Group, style: str, entry: _Entry, block: Block) -> bool:
    restarts = bool(entry.label) and entry.label == group.entries[0].label
    is_heading = block.kind is BlockKind.HEADING
    return group.style == style and not restarts and (is_heading or group.under == block.under)


def _entries(block: Block) -> Iterator[tuple[str, _Entry]]:
    """The labelled lines of a block, with their style; a line before the first has none."""
    if block.depth > 1:
        return
    if block.kind is BlockKind.ITEM:
        box = _BOX.match(block.text)
        text = one_line(block.text[box.end() :] if box else block.text)
        label = _LABEL.match(text)
        if label and label["noun"]:
            yield _style(label), _Entry(_label(label), text[label.end() :])
        elif text:
            number = block.mark[:-1] if block.number is not None else ""
            yield block.mark[-1] if number else "-", _Entry(number, text, box["box"] if box else "")
    elif block.kind is BlockKind.HEADING and block.mark[0] == "#":
        label = _LABEL.match(block.text)
        if label:
            yield block.mark, _Entry(_label(label), one_line(block.text[label.end() :]))
    elif block.kind is BlockKind.PARAGRAPH and not block.depth:
        yield from _labelled_lines(block.text.split("\n"))


def _labelled_lines(lines: Sequence[str]) -> Iterator[tuple[str, _Entry]]:
    """The lines of a paragraph that begin with a label, each with the lines that follow it."""
    starts = [(place, label) for place, line in enumerate(lines) if (label := _LABEL.match(line.strip()))]
    if not starts:
        return
    if starts[0][0]:
        yield "", _Entry("", one_line(" ".join(lines[: starts[0][0]])))
    ends = [place for place, _ in starts[1:]] + [len(lines)]
    for (place, label), end in zip(starts, ends, strict=True):
        text = lines[place].strip()[label.end() :]
        yield _style(label), _Entry(_label(label), one_line(" ".join([text, *lines[place + 1 : end]])))


def _style(label: re.Match[str]) -> str:
    return label["noun"].lower() if label["noun"] else "." if label["number"] else ")"


def _label(label: re.Match[str]) -> str:
    if label["noun"]:
        return f"{label['noun'].capitalize()} {label['of_noun']}"
    return label["number"] or label["letter"].upper()


def _headings_of_work(plan: str) -> Iterator[_Entry]:
    """The headings right below one such as "Changes"."""
    for block in blocks(plan):
        is_below = block.kind is BlockKind.HEADING and block.under and _WORK.match(block.under[-1])
        if is_below and not _is_aside((*block.under, block.text)):
            yield _Entry("", one_line(block.text))


def _items(entries: Iterable[_Entry]) -> tuple[ListItem, ...]:
    """Each label once; entries without a label get their place."""
    items: dict[str, ListItem] = {}
    for place, entry in enumerate(entries, 1):
        text = _EMPHASIS.sub("", entry.text).strip()
        label = entry.label or f"•{place}"
        if text and label not in items:
            items[label] = ListItem(label, text)
    return tuple(items.values())


_EMPHASIS: Final = compiled(r"\*\*|__")


# ---------------------------------------------------------------- which lists ask for something

_ORDER: Final = compiled(
    r"\W*(?:(?:please|also|then|now|just|first|next|finally|maybe|and|ok(?:ay)?|let'?s|"
    r"(?:can|could|would) (?:you|we)|i want(?: you)? to|i'd like(?: you)? to|"
    r"we (?:should|need to|want to|could|can)(?: also)?|you should|need to|to)[,:]? )*"
    r"(?:add|address|adjust|allow|apply|ask|avoid|build|bump|change|check|clean|close|combine|commit|compare|"
    r"confirm|configure|consolidate|convert|copy|create|debug|define|delete|deploy|design|disable|do|document|"
    r"drop|edit|enable|ensure|execute|expand|explain|explore|export|extend|extract|figure|find|fix|flatten|"
    r"generate|get|give|group|handle|hide|hook|implement|import|improve|include|inline|install|integrate|"
    r"introduce|investigate|keep|limit|list|log|look|make|measure|mend|merge|migrate|modify|move|open|"
    r"optimi[sz]e|parse|pin|port|print|publish|push|put|read|rebase|record|reduce|refactor|release|remove|"
    r"rename|render|reorder|replace|report|reset|resolve|restore|restrict|retain|return|reuse|revert|review|"
    r"revise|rewrite|run|save|search|send|set|ship|show|simplify|skip|sort|split|start|stop|store|strengthen|"
    r"strip|support|switch|test|track|try|tune|turn|unify|update|upgrade|use|validate|verify|wire|wrap|write)\b",
    re.IGNORECASE,
)
_ASKS: Final = compiled(
    r"\b(?:please|(?:can|could|would) (?:you|we)|let'?s|(?:i|we)(?:'d| would)? (?:want|like|need|should)|"
    r"you (?:need|should|must)|need(?:s|ed)? to|to-?dos?|tasks?|your job|requirements?|must|should|remaining|"
    r"what'?s left|next steps?|work through|in (?:this )?order)\b",
    re.IGNORECASE,
)
_TELLS: Final = compiled(
    r"\b(?:for example|e\.g|such as|scenarios?|possibilit\w+|already (?:done|there)|done so far|question|"
    r"(?:i|we) (?:do|did|ran|run|tried|see|saw|have|had|get|got) the following|reproduc\w+|repro|understand|"
    r"because|warning|happen\w*|i (?:noticed|realized|realised)|what (?:works|changed)|known|by doing)\b|"
    r"\b(?:options?|steps i took|i did)\W*$|[?]\W*$",
    re.IGNORECASE,
)
"""A lead-in after which a list tells something: examples, what happened, what one could do."""
_ANSWERS: Final = compiled(
    r"\W*(?:yes|yeah|yup|yep|no|nah|nope|ok(?:ay)?|agreed?|correct|right|sure|true|false|good|sounds|"
    r"not sure|hmm+|maybe|ha)\b|[?] (?:yes|no|yup|sure)\b",
    re.IGNORECASE,
)
_QUESTION: Final = compiled(r"[?]\W*$")


def _is_request(group: _Group) -> bool:
    """Whether a list asks for work: by its lead-in, or by most of its items."""
    texts = [entry.text for entry in group.entries]
    orders = [bool(_ORDER.match(text)) for text in texts]
    questions = [_QUESTION.search(text) and not order for text, order in zip(texts, orders, strict=True)]
    if _ANSWERS.match(texts[0]) or any(map(_ANSWERS.search, (text[:80] for text in texts if "? " in text))):
        return False
    if sum(map(bool, questions)) * 2 > len(texts) or _TELLS.search(group.lead):
        return False
    if any(entry.box == " " for entry in group.entries):
        return True
    return sum(orders) * 2 > len(texts) or bool(_ASKS.search(group.lead) or _ORDER.match(group.lead))


# ---------------------------------------------------------------- what a message says about items


class _Index:
    """The items by their labels, and the words of each."""

    def __init__(self, items: Sequence[ListItem]) -> None:
        self.labels = {item.label.lower(): item.label for item in items}
        self.words = {item.label: _stems(item.text) for item in items}

    def item(self, noun: str, label: str, after: str) -> str:
        """The item that a label names, with the words after it; empty if another list may be meant."""
        own = self.labels.get(f"{noun} {label}".lower(), "")
        if own:
            return own if not _LETTERS.search(after) or self.words[own] & _stems(after) else ""
        plain = self.labels.get(label.lower(), "")
        if plain and noun.lower() in {"item", "point"}:
            return plain
        return plain if plain and (self.repeats(plain, after)) else ""

    def repeats(self, label: str, text: str) -> bool:
        """Whether a text has at least half of an item's words, and two of them."""
        words = self.words[label]
        common = len(words & _stems(text))
        return common * 2 >= len(words) and common > 1

    def repeated(self, text: str) -> str:
        """The only item most of whose words are in a text."""
        spoken = _stems(text)
        alike = [
            label
            for label, words in self.words.items()
            if len(words & spoken) >= _TELLING and len(words & spoken) * 3 >= len(words) * 2
        ]
        return alike[0] if len(alike) == 1 else ""


def _stems(text: str) -> frozenset[str]:
    """The content words of a text without their endings: "Fixed" repeats "Fix"."""
    return frozenset(_INFLECTION.sub("", word) for word in content_words(text))


_INFLECTION: Final = compiled(r"(?<=[a-z]{3})(?:ing|ed|es|e|s)$")
_TELLING: Final = 3
_LETTERS: Final = compiled(r"[^\W\d_]{2}")
_TICK: Final = compiled(r"[✅☑✔✓]|\[x\]", re.IGNORECASE)
_DONE_WORD: Final = (
    r"(?:done|complete|completed|finished|fixed|implemented|resolved|addressed|merged|shipped|landed)"
)
_CHECKED: Final = compiled(r"\W{0,6}(?:[✅☑✔✓]|\[x\])\W{0,6}", re.IGNORECASE)
_UNCHECKED: Final = compiled(r"\W{0,4}(?:\[ \]|[⏳❌🔲⬜☐])\W{0,6}")


def _lines_of(block: Block) -> list[str]:
    prefix = f"{block.mark} " if block.kind is BlockKind.ITEM and block.number is not None else ""
    first, *rest = block.text.split("\n")
    return [prefix + first, *rest]


def _headed(index: _Index, block: Block, line: str) -> tuple[str, ItemState | None] | None:
    """The item that a heading, a ticked line or a row is about, and its state where the line has a mark."""
    if block.kind is BlockKind.TABLE_ROW:
        return _in_row(index, line)
    checked, unchecked = _CHECKED.match(line), _UNCHECKED.match(line)
    marked = checked or unchecked
    rest = line[marked.end() :] if marked else line.strip()
    label = _LABEL.match(rest)
    after = rest[label.end() :] if label else rest
    is_done = bool(checked or _TICK.match(after) or _ENDS_DONE.search(rest.strip(" *#")))
    is_heading = block.kind is BlockKind.HEADING or rest.startswith("**")
    reports = _REPORTS.match(after)
    ticked = label and (_TICK.match(after) or _ENDS_TICKED.search(rest) or _IS_DONE.match(after))
    if not (is_heading or marked or reports or ticked):
        return None
    if label:
        number = label["of_noun"] or label["number"] or label["letter"]
        if _IS_DONE.match(after) and number.lower() in index.labels:
            return index.labels[number.lower()], ItemState.DONE
        item = index.item(label["noun"] or "", number, _TICK.sub("", after))
    elif reports:
        item = index.repeated(rest)
    else:
        item = _bare_item(index, rest) or index.repeated(rest) if marked else ""
    if not item:
        return None
    if is_done or (reports and not unchecked):
        return item, ItemState.DONE
    return (item, ItemState.OPEN) if unchecked else (item, None) if is_heading else None


def _bare_item(index: _Index, rest: str) -> str:
    return index.labels.get(rest.strip(" *#.").lower(), "")


_REPORTS: Final = compiled(
    r"\W*(?:(?:i(?:'ve| have)?|now|also|successfully) )*(?:(?!need|want|relat|us|fail|tri|attempt|start|"
    r"plann|skipp|look|check|review|investigat|notic|expect|consider|propos|block|defer|unchang|partial|mov)"
    r"[a-z]{2,}ed|rewrote|wrote|made|built|split)\b(?![:?])(?!.*\?\W*$)",
    re.IGNORECASE,
)
"""Begins with what was done: "Fixed the parser"."""
_IS_DONE: Final = compiled(rf"\W*{_DONE_WORD}(?=\W*$|[:.,;!]| [—–-] )", re.IGNORECASE)
_ENDS_TICKED: Final = compiled(r"\s[✅☑✔✓]\W*$")
_ENDS_DONE: Final = compiled(rf"[\s(—–:-]+(?:{_DONE_WORD}|[✅☑✔✓]+)\W*$", re.IGNORECASE)


def _in_row(index: _Index, line: str) -> tuple[str, ItemState | None] | None:
    """The item of a table's row: its label in the first cell, and a tick in another."""
    cells = [cell.strip() for cell in line.split("\n", 1)[0].strip().strip("|").split("|")]
    label = _CELL.fullmatch(cells[0])
    if label is None or len(cells) < 2 or not any(_TICK.match(cell) for cell in cells[1:]):
        return None
    item = index.item(label["noun"] or "", label["label"], " ".join(cells[1:]))
    return (item, ItemState.DONE) if item else None


_CELL: Final = compiled(
    rf"[*_]{{0,2}}(?:(?P<noun>{_NOUN}) )?\#?(?P<label>\d{{1,2}}|[A-H])[.)]?[*_]{{0,2}}", re.IGNORECASE
)

_ONE: Final = r"\#?(?:\d{1,2}[a-z]?|[A-H](?![\w'])(?! [a-z]))"
_JOINED: Final = r"\s*(?:,|&|\+|-|–|,? and|through|to)\s*"
_SOME: Final = rf"(?P<labels>{_ONE}(?:{_JOINED}{_ONE}){{0,12}})(?![\w.%:]*\w)"
_NAMED: Final = rf"(?:(?P<noun>{_NOUN})s?\s+)"
_BEGINS: Final = r"(?:^|(?<=[.;,:!(]\s)|\band\s|[—–]\s*)\W*"
_GOES_ON: Final = (
    r"\b(?:moving (?:on )?to|move on to|on to|continu(?:e|ing) with|start(?:ing)? (?:with|on)|"
    r"proceed(?:ing)? (?:to|with)|now for|(?:now )?(?:let me|i'll) (?:do|tackle|start|implement|fix|address|"
    r"work on)|next up:?|working on|starting|now)"
)
_STATEMENTS: Final = (
    (
        compiled(
            rf"{_BEGINS}{_NAMED}?{_SOME}\**\s*(?:\([^)\n]{{0,60}}\)\s*)?(?:is|are|—|–|:)?\s*"
            rf"(?:now |all |both |already |fully )*{_DONE_WORD}\b(?! (?:by|when|once|if|after))",
            re.IGNORECASE,
        ),
        ItemState.DONE,
    ),
    (
        # Nothing is left to do for an item that turned out to be in order.
        compiled(
            rf"{_BEGINS}{_NAMED}{_SOME}\**\s*(?:\([^)\n]{{0,60}}\)\s*)?(?:is|are)\s+(?:also |already |all )*"
            r"(?:fine|ok(?:ay)?|in order|unnecessary|not needed)\b",
            re.IGNORECASE,
        ),
        ItemState.DONE,
    ),
    (
        compiled(
            r"\b(?:done|finished|completed|i(?:'ve| have) (?:fixed|implemented))(?: with)?:? "
            rf"{_NAMED}?{_SOME}",
            re.IGNORECASE,
        ),
        ItemState.DONE,
    ),
    (compiled(rf"{_GOES_ON} {_NAMED}?{_SOME}", re.IGNORECASE), ItemState.STARTED),
    (
        compiled(
            rf"{_BEGINS}{_NAMED}?{_SOME} (?:is|are|remains?|stays?) (?:still )?"
            r"(?:open|pending|not (?:done|started|yet)|outstanding|deferred|unresolved|left|to do)\b",
            re.IGNORECASE,
        ),
        ItemState.OPEN,
    ),
)
_UNSURE: Final = compiled(
    r"(?:\b(?:not|once|when|if|until|before|unless|should|would|could|will be|to be|want|shall|after)|"
    r"n't)\b[^.;!]{0,60}$",
    re.IGNORECASE,
)
_SINGLE: Final = compiled(r"\d{1,2}[a-z]?|[A-H]", re.IGNORECASE)
_RANGE: Final = compiled(r"(\d{1,2})\s*(?:-|–|through|to)\s*\#?(\d{1,2})")


def _stated(index: _Index, line: str) -> Iterator[tuple[str, ItemState]]:
    """What the sentences of a line say of items, in the order in which they say it."""
    line = _BY_PLACE.sub(lambda match: f"item {_PLACES.index(match[1].lower()) + 1}", line)
    if not _MAY_STATE.search(line):
        return
    statements = [(match, state) for pattern, state in _STATEMENTS for match in pattern.finditer(line)]
    for match, state in sorted(statements, key=lambda statement: statement[0].start()):
        before = line[max(0, match.start() - 80) : match.end("labels")]
        after = line[match.end() : match.end() + 120]
        clause = _CLAUSE_END.split(after, maxsplit=1)[0]
        if _UNSURE.search(before) or "?" in after:
            continue
        labels = list(_labels(match["labels"]))
        if match["noun"]:
            named = (index.item(match["noun"], label, clause) for label in labels)
        else:
            named = (index.labels.get(label.lower(), "") for label in labels if _is_bare(match, state))
        yield from ((item, state) for item in named if item)


_CLAUSE_END: Final = compiled(r"[.!;](?:\s|$)")
_PLACES: Final = ("first", "second", "third", "fourth", "fifth", "sixth")
_BY_PLACE: Final = compiled(rf"\bthe ({'|'.join(_PLACES)}) (?:item|point)\b", re.IGNORECASE)
_MAY_STATE: Final = compiled(r"\d|\b[A-H]\b")


def _is_bare(match: re.Match[str], state: ItemState) -> bool:
    """Whether numbers without a noun are items: "Done with 1 and 2", "moving on to 3"."""
    words = match[0].lower()
    return words.startswith(("done", "finished", "completed", "mov", "on to")) or (
        state is ItemState.DONE and " and " in words
    )


def _labels(text: str) -> Iterator[str]:
    """The labels in "1, 2 and 4", "#3" or "2-4"."""
    span = _RANGE.fullmatch(text.replace("#", ""))
    if span and int(span[1]) < int(span[2]):
        yield from map(str, range(int(span[1]), int(span[2]) + 1))
    else:
        yield from _SINGLE.findall(text.replace(" and ", " ").replace(" to ", " ").replace("through", " "))
