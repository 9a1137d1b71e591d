"""The fence: the one place where recalled text is marked as data.

Everything that we hand to a model stands between these marks, so that the model can tell a record from an
instruction, and we can tell our own words from a person's when they come back in a transcript. What stands
inside is defanged, and cannot spell the marks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.text.defang import RECALL, defanged, folded

_OPEN: Final = f"<{RECALL}>"
_CLOSE: Final = f"</{RECALL}>"
_OURS: Final = re.compile(rf"{_OPEN}.*?(?:{_CLOSE}|\Z)", re.DOTALL)

TITLE: Final = "## Session Recovery Context"
"""How a brief begins."""
OVERHEAD: Final = len(f"{_OPEN}\n\n{_CLOSE}")
"""How many characters the marks cost."""


def fence(text: str) -> str:
    """The text between our marks: defanged, never longer than it was, with nothing that could step out."""
    return f"{_OPEN}\n{disarmed(defanged(text))}\n{_CLOSE}"


def is_ours(text: str) -> bool:
    """Whether some of this text was injected by us."""
    return _OPEN in text


def is_brief(text: str) -> bool:
    """Whether a brief is in this text; a memory that went with a prompt is ours as well, and none."""
    return f"{_OPEN}\n{TITLE}" in text


def without_ours(text: str) -> str:
    """The text without what we injected; an open fence runs to the end."""
    return _OURS.sub("", text) if _OPEN in text else text


def is_own_tool(name: str) -> bool:
    """Whether a tool, under whatever name a harness calls it by, is ours: what it returns is what we told."""
    return _OWN_TOOL.search(name) is not None


def is_own_command(command: str) -> bool:
    """Whether a shell command runs our own program: what it prints is what we told."""
    return "holdfast" in command and _OWN_COMMAND.search(command) is not None


_OWN_TOOL: Final = re.compile(r"(?:\A|_)holdfast_{1,2}[a-z]")
_OWN_COMMAND: Final = re.compile(r"(?:^|[;&|(`\n])\s*+(?:\S*/)?holdfast\s")


def disarmed(text: str) -> str:
    """The text with our marks made harmless, however they are spelled."""
    if _NAME.search(_read(text)) is None:
        return text
    pieces = list(_pieces(text))
    read = [_read(piece) for piece in pieces]
    # For each letter that is read, the piece that it comes from.
    source = [nth for nth, hook_events in enumerate(read) for _ in hook_events]
    for nth in {source[place] for place in _places("".join(read))}:
        pieces[nth] = html.unescape(pieces[nth]).translate(_HARMLESS)
    return "".join(pieces)


# Whatever stands between two letters of the name, a lenient reader reads over it.
_NAME: Final = re.compile(r"[\W_]*+".join(RECALL.replace("-", "")) + r"(?:\s*+>)?")
_HYPHENATED: Final = re.compile(RECALL.replace("-", "-{1,4}+"))
_PIECE: Final = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)|.", re.DOTALL)
_HARMLESS: Final = str.maketrans("<＜﹤>＞﹥-‐‑‒–—―−－﹣﹘", "‹‹‹›››           ")


def _places(read: str) -> Iterator[int]:
    """Where brackets and hyphens stand that make the name, as it is read, one of our marks."""
    done = 0
    for found in _NAME.finditer(read):
        start, end = found.span()
        before = start
        while before > done and not read[before - 1].isalnum():
            before -= 1
        if "<" in read[before:start] or _HYPHENATED.match(found[0]):
            yield from (place for place in range(before, start) if read[place] == "<")
            yield from (place for place in range(start, end) if read[place] in "<>-")
        done = end


def _pieces(text: str) -> Iterator[str]:
    """The text's characters; one that is written as an entity is one piece."""
    for found in _PIECE.finditer(text):
        piece = found[0]
        # Not every ampersand begins an entity.
        yield from (piece,) if html.unescape(piece) != piece else piece


def _read(text: str) -> str:
    """The text as a lenient reader takes it."""
    return folded(html.unescape(text))
