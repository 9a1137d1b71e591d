"""The fence: the one place where recalled text is marked as data.

All text that Holdfast gives to a model is between these marks. So the model can tell a record from an
instruction, and Holdfast recognises its own text when it comes back in a transcript. The text inside is
defanged, and cannot contain the marks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.text.defang import RECALL, defanged, folded

_OPEN: Final = f"<{RECALL}>"
_CLOSE: Final = f"</{RECALL}>"
_FENCED: Final = re.compile(rf"{_OPEN}.*?(?:{_CLOSE}|\Z)", re.DOTALL)

TITLE: Final = "## Session Recovery Context"
"""How a brief begins."""
OVERHEAD: Final = len(f"{_OPEN}\n\n{_CLOSE}")
"""The length of the marks in characters."""


def fence(text: str) -> str:
    """The text between the marks: defanged, not made longer by that, and unable to close the fence."""
    return f"{_OPEN}\n{disarmed(defanged(text))}\n{_CLOSE}"


def is_ours(text: str) -> bool:
    """Whether some of this text was injected by Holdfast."""
    return _OPEN in text


def is_brief(text: str) -> bool:
    """Whether this text contains a brief; memories given with a prompt are fenced too, but are none."""
    return f"{_OPEN}\n{TITLE}" in text


def without_ours(text: str) -> str:
    """The text without what Holdfast injected; an open fence runs to the end."""
    return _FENCED.sub("", text) if _OPEN in text else text


def is_own_tool(name: str) -> bool:
    """Whether a tool is Holdfast's, whatever a harness calls it; its results are Holdfast's own text."""
    return _OWN_TOOL.search(name) is not None


def is_own_command(command: str) -> bool:
    """Whether a shell command runs `holdfast`; its output is Holdfast's own text."""
    return "holdfast" in command and _OWN_COMMAND.search(command) is not None


_OWN_TOOL: Final = re.compile(r"(?:\A|_)holdfast_{1,2}[a-z]")
_OWN_COMMAND: Final = re.compile(r"(?:^|[;&|(`\n])\s*+(?:\S*/)?holdfast\s")


def disarmed(text: str) -> str:
    """The text with the marks made harmless, however they are spelled."""
    if _NAME.search(_read(text)) is None:
        return text
    pieces = list(_pieces(text))
    readings = [_read(piece) for piece in pieces]
    # For each character of the reading, the piece that it comes from.
    source = [nth for nth, reading in enumerate(readings) for _ in reading]
    for nth in {source[place] for place in _places("".join(readings))}:
        pieces[nth] = html.unescape(pieces[nth]).translate(_HARMLESS)
    return "".join(pieces)


# A lenient reader ignores anything between two letters of the name.
_NAME: Final = re.compile(r"[\W_]*+".join(RECALL.replace("-", "")) + r"(?:\s*+>)?")
_HYPHENATED: Final = re.compile(RECALL.replace("-", "-{1,4}+"))
_PIECE: Final = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)|.", re.DOTALL)
_HARMLESS: Final = str.maketrans("<＜﹤>＞﹥-‐‑‒–—―−－﹣﹘", "‹‹‹›››           ")


def _places(read: str) -> Iterator[int]:
    """The positions of brackets and hyphens that make the name a mark to a lenient reader."""
    done = 0
    for match in _NAME.finditer(read):
        start, end = match.span()
        before = start
        while before > done and not read[before - 1].isalnum():
            before -= 1
        if "<" in read[before:start] or _HYPHENATED.match(match[0]):
            yield from (place for place in range(before, start) if read[place] == "<")
            yield from (place for place in range(start, end) if read[place] in "<>-")
        done = end


def _pieces(text: str) -> Iterator[str]:
    """The text's characters; an HTML entity is one piece."""
    for match in _PIECE.finditer(text):
        piece = match[0]
        # Not every ampersand begins an entity.
        yield from (piece,) if html.unescape(piece) != piece else piece


def _read(text: str) -> str:
    """The text as a lenient reader understands it."""
    return folded(html.unescape(text))
