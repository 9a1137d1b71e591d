"""Markdown as HTML: headings, lists, paragraphs, code and quotes. Everything else in it is shown as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from holdfast.core.text.markdown import Block, BlockKind, blocks
from holdfast.daemon.dashboard.frame import pre, with_code
from holdfast.daemon.dashboard.html import Html, el

_FRONT_MATTER: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
ITEMS_OPEN: Final = 8
"""How many items of a list are shown at once; the others are folded."""
_UNSHOWN: Final = frozenset({BlockKind.BLANK, BlockKind.COMMENT, BlockKind.RULE})


def rendered(text: str) -> Html:
    """The document without its front matter, title, comments and empty sections."""
    filled = [block for block in blocks(_FRONT_MATTER.sub("", text)) if block.kind not in _UNSHOWN]
    shown = [block for block, after in zip(filled, [*filled[1:], None], strict=False) if _says(block, after)]
    if shown and shown[0].kind is BlockKind.HEADING and shown[0].level == 1:
        shown = shown[1:]  # The document's title: the page says it.
    return el("div", list(_elements(shown)), class_="document")


def _says(block: Block, after: Block | None) -> bool:
    """Whether a block says something: not a heading with nothing below it."""
    if block.kind is not BlockKind.HEADING:
        return True
    return after is not None and (after.kind is not BlockKind.HEADING or after.level > block.level)


def _elements(shown: Sequence[Block]) -> Iterator[Html]:
    for is_item, group in groupby(shown, lambda block: block.kind is BlockKind.ITEM):
        if is_item:
            yield _list(list(group))
        else:
            yield from map(_element, group)


def _list(items: Sequence[Block]) -> Html:
    """Items as one list; those of an inner list are indented."""
    kind = "ol" if items[0].number is not None else "ul"
    listed = [el("li", _inline(item.text), class_="inner" if item.depth > 1 else None) for item in items]
    if len(listed) <= ITEMS_OPEN + 1:
        return el(kind, listed)
    first, others = listed[:ITEMS_OPEN], listed[ITEMS_OPEN:]
    start = ITEMS_OPEN + 1 if kind == "ol" else None
    rest = el("details", el("summary", f"{len(others)} more"), el(kind, others, start=start))
    return el("div", el(kind, first), rest)


def _inline(text: str) -> Html:
    """A text with its code, and without the marks of what is bold or slanted."""
    plain = _CODE_OR_BOLD.sub(lambda match: match[1] or match[2], text)
    return with_code(_SLANTED.sub(r"\1", plain))


_CODE_OR_BOLD: Final = re.compile(r"(`[^`]*`)|\*\*([^*`]+)\*\*")
_SLANTED: Final = re.compile(r"\A_([^_`]+)_\Z")


def _element(block: Block) -> Html:
    match block.kind:
        case BlockKind.HEADING:
            return el("h3" if block.level <= _HIGH else "h4", _inline(block.text))
        case BlockKind.CODE:
            return pre(block.text)
        case BlockKind.QUOTE:
            return el("blockquote", with_code(block.text))
        case _:
            return el("p", _inline(block.text))


_HIGH: Final = 2
