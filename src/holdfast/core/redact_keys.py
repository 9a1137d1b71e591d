"""Private keys: blocks between a BEGIN and an END line, and the private half of PuTTY's files.

A block goes whole, with its lines, so that nothing of it is left. What was cut off goes as far as it goes.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from holdfast.core.redact_page import Page
from holdfast.core.redact_spans import Rank, Span

KIND: Final = "private-key"
LONGEST: Final = 20_000

_EDGE: Final = re.compile(
    r"-{4,5} ?(?P<edge>BEGIN|END)[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)? ?-{4,5}", re.IGNORECASE
)
# A key that was cut off: base64 in lines, with whatever a diff, a log or a string literal puts around a line.
_REST: Final = re.compile(
    r"""(?:(?:[\s"'`+|>#*,;:)(]|\\[nrt"']|\\u000[aAdD]){0,40}+[A-Za-z0-9+/=]{16,200}+){1,400}+"""
)
_MATERIAL: Final = re.compile(r"[A-Za-z0-9+/]{16}")
# PuTTY's own format keeps the private half after a line that counts its lines.
_PUTTY: Final = re.compile(
    r"""private-lines:[ ]?\d{1,3}(?:\s|\\[nr]){1,4}+
        (?P<lines>(?:[A-Za-z0-9+/=]{1,64}+(?![\w:-])(?:\s|\\[nr]){0,4}+){1,200}+)""",
    re.IGNORECASE | re.VERBOSE,
)


def private_keys(page: Page) -> Iterator[Span]:
    """All private keys of a text. Mere talk of them holds no key."""
    if b"private key" in page.lower:
        yield from _blocks(page.text)
    if b"private-lines" in page.lower:
        yield from (Span(*found.span("lines"), KIND, Rank.CERTAIN) for found in _PUTTY.finditer(page.text))


def _blocks(text: str) -> Iterator[Span]:
    edges = list(_EDGE.finditer(text))
    for edge, following in zip_longest(edges, edges[1:]):
        if edge["edge"].upper() == "END":
            continue
        closed = following and following["edge"].upper() == "END" and following.end() - edge.end() < LONGEST
        rest = following if closed else _REST.match(text, edge.end())
        if rest and _MATERIAL.search(text, edge.end(), rest.end()):
            yield Span(edge.start(), rest.end(), KIND, Rank.CERTAIN)
