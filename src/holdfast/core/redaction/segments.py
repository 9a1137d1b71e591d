"""Segments: how a long text is cut, so that it can be redacted as it comes.

A segment is some whole lines. Where it ends depends on what the text says, never on the pieces it arrived in;
it is read together with the end of the one before, and does not end inside of a private key.
"""

import re
from typing import Final

from holdfast.core.redaction.blocks import LONGEST
from holdfast.core.redaction.documents import may_go_on
from holdfast.core.redaction.views import WIDTHS

SEGMENT: Final = 1 << 16
LONGEST_LINE: Final = 1 << 22
"""A line of more characters is cut at a blank, or anywhere."""
CONTEXT: Final = 1 << 11
"""How much of what stands before a segment is read with it."""


def segment_end(text: str, start: int) -> int | None:
    """Where the segment ends that begins here; None if that needs more text."""
    newline = text.find("\n", start + SEGMENT - 1, start + LONGEST_LINE)
    if newline >= 0:
        end = before_open_key(text, start, newline + 1)
        held = before_open_line(text, start, end)
        return held if held > start else end
    if len(text) < start + LONGEST_LINE:
        return None
    blank = text.rfind(" ", start + LONGEST_LINE - CONTEXT, start + LONGEST_LINE)
    return blank + 1 if blank >= 0 else start + LONGEST_LINE


def context_start(text: str, start: int) -> int:
    """From where a segment is read: the beginning of a line some way before it."""
    earliest = start - CONTEXT
    return 0 if earliest < 0 else max(earliest, text.find("\n", earliest, start) + 1)


def before_open_key(text: str, start: int, end: int) -> int:
    """The same end, or the beginning of the line where a private key begins whose end has not come."""
    for begins, ends in _BRACKETS:
        begin = text.rfind(begins, max(start, end - LONGEST), end)
        if begin >= 0 and text.find(ends, begin, end) < 0:
            line = text.rfind("\n", start, begin) + 1
            end = line if line > start else end
    return end


def before_open_line(text: str, start: int, end: int) -> int:
    """The same end, or the beginning of the first of the last lines that go on in the next one.

    Such a line ends with a string that is joined to another or with a backslash, is as wide as a terminal, or
    may be one of a document's.
    """
    while end > start:
        line = max(start, text.rfind("\n", start, end - 1) + 1)
        full = end - 1 - line in WIDTHS and _ENDS_IN_TOKEN.search(text, end - 5, end)
        if (
            not full
            and not _GOES_ON.search(text, max(start, end - _LONGEST_SEAM), end)
            and not may_go_on(text, end)
        ):
            return end
        end = line
    return end


_ENDS_IN_TOKEN: Final = re.compile(r"[A-Za-z0-9_+/-]{4}\n\Z", re.ASCII)


_GOES_ON: Final = re.compile(r"""[\w+/=.~-](?:["'`][ \t]{0,3}(?:[+.&<>|]{1,2}[ \t]{0,3})?\\?|\\)\r?\n\Z""")
_LONGEST_SEAM: Final = 20
# What begins and ends a private key: in PEM, and the lines of PuTTY's own format.
_BRACKETS: Final = (("-----BEGIN ", "-----END "), ("Private-Lines:", "Private-MAC:"))
