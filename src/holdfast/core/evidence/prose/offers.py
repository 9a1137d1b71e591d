"""Offers: the options that an agent's message lists, and which of them the user's reply chooses.

A reply chooses by number, letter, place ("the second one"), "both" or "all", or by a word that only one of
the options has. A choice stands at the beginning of a sentence; a question or a refusal chooses nothing.
Not here: yes and no, and what the agent asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.markdown import Block, BlockKind, blocks
from holdfast.core.text.strings import content_words, one_line


def chosen(reply: str, message: str) -> tuple[str, ...]:
    """The options of a message that a reply chooses, as they are written there; empty if not sure."""
    reply = reply[:_LONGEST]
    sentences = [part.strip() for part in _SENTENCE.split(reply) if part.strip()]
    groups = [] if not sentences or _ANSWERS_SEVERAL.search(reply) else _groups(message)
    if not groups:
        return ()
    asks = _ASKS.search(message[-_END:]) is not None
    for sentence in sentences:
        options = _by_label(sentence, groups, asks=asks) or _by_place(sentence, groups[-1])
        if options:
            return options
    return _by_words(reply, groups[-1]) if asks and len(sentences) == 1 else ()


def declined(reply: str, message: str) -> tuple[str, ...]:
    """The options that stood beside those that a reply chooses."""
    taken = chosen(reply, message)
    groups = [[option.text for option in group.options] for group in _groups(message)] if taken else []
    return tuple(
        option
        for group in groups
        if not set(taken).isdisjoint(group)
        for option in group
        if option not in taken
    )


_LONGEST: Final = 400
_END: Final = 300
_SENTENCE: Final = compiled(r"(?<=[!?？。；])\s*|(?<=\D\.)\s+|;\s+|\n+")
_ANSWERS_SEVERAL: Final = compiled(r"(?:^|\s)(?:1[.)]\s.*\s2|a[.)]\s.*\sb)[.)]\s", re.DOTALL | re.IGNORECASE)
"""Answers to several questions, one for each number or letter."""
_ASKS: Final = compiled(r"[?？]|\b(?:options?|which|prefer|would you like|let me know|lean)\b", re.IGNORECASE)


# ---------------------------------------------------------------- the reply

_POLITE: Final = (
    r"\W*(?:(?:yes|yeah|yep|yup|ok(?:ay)?|sure|great|cool|alright|hmm+|so|then|and|please|pls|now|let'?s|just|"
    r"go|going|ahead|with|for|do|take|use|try|pick|choose|tackle|start|fix|implement|address|make|the|a|i'd|"
    r"i'll|i|we|would|think|prefer|want|like|can|could|you|should|say|definitely|probably)(?![\w'])[\s,:]*|"
    r"(?:我?选择?|用|方案|第)){0,8}"
)
_ONE: Final = r"\#?(?:\d{1,2}|[a-h])(?![\w'])"
_LABELS: Final = compiled(
    rf"{_POLITE}(?:(?:options?|numbers?|variants?|approach|items?|points?|no\.)\s)?\*{{0,2}}"
    rf"(?P<labels>{_ONE}(?:(?:\s*(?:,|&|\+|/|,? and|then)\s*){_ONE}){{0,8}})\*{{0,2}}(?P<sign>[).]?)"
    r"(?P<tail>\W*$|[,:!—–-]|(?<=[.)])\s|\s+(?:[(—–-]|(?:seems?|sounds?|looks?|is|are|please|pls|first|then|"
    r"for now|too|also|as well|only|it is|makes sense|instead|now|thanks|next|but)\b)|个|种|项)",
    re.IGNORECASE,
)
_SINGLE: Final = compiled(r"\d{1,2}|(?<![a-z])[a-h](?![a-z])", re.IGNORECASE)
_ARTICLE: Final = compiled(r"\ba\b\s+\w", re.IGNORECASE)


class _Option(NamedTuple):
    """One option; a bullet has no label."""

    label: str
    text: str


class _Group(NamedTuple):
    """Options that are listed together."""

    style: str
    options: list[_Option]


def _by_label(sentence: str, groups: Sequence[_Group], *, asks: bool) -> tuple[str, ...]:
    match = _LABELS.match(sentence)
    rest = sentence[match.end() :] if match else ""
    if (
        match is None
        or _NEGATED.match(match["tail"] + rest)
        or ("?" in rest and not _ENDS.match(match["tail"]))
    ):
        return ()
    labels = [label.upper() for label in _SINGLE.findall(_AND.sub(", ", match["labels"]))]
    # "a" is a word, unless it stands alone or has a sign behind it.
    if "a" in match["labels"] and _ARTICLE.search(sentence[match.start("labels") :]):
        return ()
    for group in reversed(groups):
        texts = {option.label: option.text for option in group.options if option.label}
        if all(label in texts for label in labels):
            options = tuple(texts[label] for label in labels)
            return options if match["sign"] != "." or not rest or (asks and _speaks_of(rest, options)) else ()
    return ()


_AND: Final = compiled(r",? and |,? then ")
_ENDS: Final = compiled(r"\s*[,—–-]")
_NEGATED: Final = compiled(
    r"\s*(?:is|are|seems?|sounds?|looks?)(?:n't| not| wrong| bad| worse| risky| overkill| too)\b",
    re.IGNORECASE,
)


def _speaks_of(rest: str, options: Sequence[str]) -> bool:
    """Whether the words after "2." are about the option: they may also be an item of another list."""
    words = content_words(rest)
    return not words or rest.startswith("-") or any(words & content_words(option) for option in options)


_PLACES: Final = {
    "first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "latter": -1,
}  # fmt: skip
_PLACE: Final = compiled(
    rf"{_POLITE}(?P<place>{'|'.join(_PLACES)})"
    r"(?: (?:one|option|approach|variant|choice|solution|alternative|idea|suggestion|version)\b|(?=\W*$))"
    r"(?=\W*$|[,.:!—–-]|\s+(?:please|pls|for now|seems?|sounds?|is|looks?|then)\b)",
    re.IGNORECASE,
)
_ALL: Final = compiled(
    rf"{_POLITE}(?:(?P<both>both)(?: of (?:them|those|these))?|all(?: of (?:them|those|these|the above))?"
    r"(?: (?P<count>\d{1,2}|two|three|four|five|six))?(?: (?:options|items|of them))?)"
    r"(?=\W*$|[,.:!—–-]|\s+(?:please|pls|then|now)\W*$)",
    re.IGNORECASE,
)
_COUNTS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def _by_place(sentence: str, group: _Group) -> tuple[str, ...]:
    texts = [option.text for option in group.options]
    if sentence[-1] in "?？":
        return ()
    if match := _PLACE.match(sentence):
        place = _PLACES[match["place"].lower()]
        if place < len(texts) and (match["place"].lower() not in {"former", "latter"} or len(texts) == 2):
            return (texts[place],)
    elif match := _ALL.match(sentence):
        count = match["count"] or ("two" if match["both"] else "")
        if not count or len(texts) == (_COUNTS.get(count.lower()) or int(count)):
            return tuple(texts)
    return ()


_FEW: Final = 8
_SMALL_WORDS: Final = frozenset(
    """yes yeah ok okay sure please let lets do go use take with option options prefer want would think one
    make just only then now fine good great""".split()
)
_REFUSES: Final = compiled(
    r"\b(?:no|not|don't|dont|never|neither|none|without|but|why|what|how|nope)\b|[?？]", re.IGNORECASE
)


def _by_words(reply: str, group: _Group) -> tuple[str, ...]:
    """The only option that has all the words of a short reply."""
    words = content_words(reply) - _SMALL_WORDS
    if not words or len(reply.split()) > _FEW or _REFUSES.search(reply):
        return ()
    titles = [content_words(_TITLE.split(option.text, maxsplit=1)[0]) for option in group.options]
    fits = [
        option.text
        for option, title in zip(group.options, titles, strict=True)
        if words <= title and len(words) * 2 >= len(title)
    ]
    elsewhere = [option.text for option in group.options if words & content_words(option.text)]
    return tuple(fits) if len(fits) == 1 and len(elsewhere) == 1 else ()


# ---------------------------------------------------------------- the message

_NOUN: Final = r"(?:option|choice|approach|variant|alternative|path)"
_LABEL: Final = compiled(
    rf"[*_]{{0,2}}(?:{_NOUN}\s+\#?(?P<of_noun>\d{{1,2}}|[A-H])\b[*_]{{0,2}}(?:\s*(?:[-–—:.)]|\((?=\w)))?"
    r"|\(?(?P<bare>\d{1,2}|[A-H])(?P<sign>[.):])|\(?(?P<small>[a-h])\))[*_]{0,2}\s*",
    re.IGNORECASE,
)
_INLINE: Final = compiled(
    r"(?<!\w)\((?P<label>[a-h]|\d)\)\s+(?P<text>[^()\n]{2,200}?)(?=[,;]?\s+(?:or|and)?\s*\([a-h\d]\)\s|[.?;\n]|$)",
    re.IGNORECASE,
)
_TICKET: Final = compiled(r"(?<!\w)\#(?P<label>\d{1,2})\s+\((?P<text>[^()\n]{3,120})\)")


def _groups(message: str) -> list[_Group]:
    """The lists of options in a message; the one that ends last comes last."""
    groups: list[_Group] = []
    is_open = is_described = False
    for block in blocks(message):
        if block.kind is BlockKind.BLANK:
            continue
        options = list(_options(block))
        if is_described and all(option.label == "" for _, option in options) and block.kind is BlockKind.ITEM:
            continue  # bullets below an option describe it
        for style, option in options:
            group = _open_group(groups, style, option, is_open=is_open)
            group.options.append(option)
            groups.append(group)
            is_open = True
        is_open = bool(options or block.depth)
        is_described = bool(options) and block.kind is not BlockKind.ITEM
    return [group for group in groups if len(group.options) > 1]


def _open_group(groups: list[_Group], style: str, option: _Option, *, is_open: bool) -> _Group:
    """The group that an option continues, taken from the list, or a new one."""
    for place in range(len(groups) - 1, max(-1, len(groups) - 3), -1):
        group = groups[place]
        if group.style != style:
            continue
        if option.label not in {one.label for one in group.options} if option.label else is_open:
            return groups.pop(place)
        break
    return _Group(style, [])


def _options(block: Block) -> Iterator[tuple[str, _Option]]:
    match block.kind:
        case BlockKind.ITEM:
            yield from _item(block)
        case BlockKind.TABLE_ROW:
            yield from _row(block.text)
        case BlockKind.HEADING:
            yield from _line(block.text)
        case BlockKind.PARAGRAPH:
            for line in block.text.split("\n"):
                options = list(_line(line.strip()))
                yield from options or _inline(line)
        case _:
            return


def _item(block: Block) -> Iterator[tuple[str, _Option]]:
    text = one_line(block.text)
    labelled = list(_line(text))
    if labelled:
        yield from labelled
    elif block.depth == 1 and text:
        label = block.mark[:-1] if block.number is not None else ""
        yield ("1" if label else "-"), _Option(label, _plain(text))


def _line(text: str) -> Iterator[tuple[str, _Option]]:
    """The option that a line or heading begins."""
    match = _LABEL.match(text)
    if match is None or (match["sign"] == ":" and not match["bare"].isupper()):
        return
    label = match["of_noun"] or match["bare"] or match["small"]
    plain = _plain(text[match.end() :])
    if plain:
        style = "option" if match["of_noun"] else "1" if label.isdecimal() else "a"
        yield style, _Option(label.upper(), plain)


def _inline(line: str) -> Iterator[tuple[str, _Option]]:
    """The options inside a line: "(a) … or (b) …", or "#2 (…), #3 (…)"."""
    for style, pattern in (("(", _INLINE), ("#", _TICKET)):
        options = [
            (style, _Option(one["label"].upper(), _plain(one["text"]))) for one in pattern.finditer(line)
        ]
        if len(options) > 1:
            yield from options
            return


def _row(text: str) -> Iterator[tuple[str, _Option]]:
    """A table's row whose first cell is a label."""
    first, *cells = [_plain(cell) for cell in text.split("\n", 1)[0].strip().strip("|").split("|")]
    label = _CELL.fullmatch(first)
    if label and cells:
        yield "|", _Option(label["label"].upper(), " - ".join(cell for cell in cells if cell))


_CELL: Final = compiled(rf"(?:{_NOUN} )?\#?(?P<label>\d{{1,2}}|[A-H])[.)]?", re.IGNORECASE)
_EMPHASIS: Final = compiled(r"\*\*|__|\*(?=\S)|(?<=\S)\*")
_TITLE: Final = compiled(r" [-–—] |[:.] ")


def _plain(text: str) -> str:
    return one_line(_EMPHASIS.sub("", text)).strip(" -–—:").removesuffix(" or").rstrip(",;")
