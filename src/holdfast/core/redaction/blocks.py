"""Private keys: blocks between a BEGIN and an END line, and the private half of PuTTY's files.

A block goes whole, with its lines, so that nothing of it is left. What was cut off goes as far as it goes.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction.rules import Rule
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.text.patterns import compiled

KIND: Final = "private-key"
LONGEST: Final = 20_000
_LONGEST_EDGE: Final = 80

_EDGE: Final = compiled(
    r"-{4,5} ?(?P<edge>BEGIN|END)[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)? ?-{4,5}", re.IGNORECASE
)
# A key that was cut off: base64 in lines, with whatever a diff, a log, a listing with numbers or a string
# literal puts around a line, and the lines that some formats put before it.
_REST: Final = compiled(
    r"""(?: (?: [\s"'`+|>#*,;:)(→]|\\[nrt"'\\]|\\u[0-9a-fA-F]{4}|<br>|\d{1,6}(?=[\s→:|\\])
              | (?:Version|Comment|Charset|Hash|Proc-Type|DEK-Info):[^\n\\"']{0,100} ){0,40}+
            [A-Za-z0-9+/=]{16,200}+ ){1,400}+""",
    re.VERBOSE,
)
_MATERIAL: Final = compiled(r"[A-Za-z0-9+/]{16}")
# PuTTY's own format keeps the private half after a line that counts its lines.
_PUTTY: Final = compiled(
    r"""private-lines:[ ]?\d{1,3}(?:\s|\\[nr]){1,4}+
        (?P<lines>(?:[A-Za-z0-9+/=]{1,64}+(?![\w:-])(?:\s|\\[nr]){0,4}+){1,200}+)""",
    re.IGNORECASE | re.VERBOSE,
)


def _block(text: str, place: int) -> Iterator[Span]:
    """The block that begins with a line which says PRIVATE KEY here. Mere talk of one holds no key."""
    edge = _EDGE.search(text, max(0, place - _LONGEST_EDGE), place + _LONGEST_EDGE)
    if edge is None or edge.start() > place or edge["edge"].upper() == "END":
        return
    following = _EDGE.search(text, edge.end(), edge.end() + LONGEST)
    closed = following and following["edge"].upper() == "END"
    rest = following if closed else _REST.match(text, edge.end())
    if rest and _MATERIAL.search(text, edge.end(), rest.end()):
        yield Span(edge.start(), rest.end(), KIND, Rank.CERTAIN)


def _putty(text: str, place: int) -> Iterator[Span]:
    if found := _PUTTY.match(text, place):
        yield Span(*found.span("lines"), KIND, Rank.CERTAIN)


KEY_RULES: Final = (
    Rule(b"private key", rb"(?:\ block)?\ ?----", _block),
    Rule(b"private-lines:", b"", _putty),
)
