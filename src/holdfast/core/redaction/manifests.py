"""Manifests: the values of a Kubernetes Secret, whatever they are called.

Only what stands after `kind: Secret`: a stream has already given what stands before. There, values behind
names that say secret are found as anywhere else.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction import values
from holdfast.core.redaction.names import Proof
from holdfast.core.redaction.rules import Rule
from holdfast.core.redaction.spans import Rank, Span

_NEWLINE: Final = r"(?:\r?\n|\\r|\\n)"
# Where somebody has made one line of it all, only the indent is left of a new line.
_BLOCK: Final = re.compile(
    rf"""\\{{0,3}}["']?(?P<plain>string)?data\\{{0,3}}["']?:[ ]?(?:\{{|{_NEWLINE}|[ ]{{2,40}}(?=\S))""",
    re.IGNORECASE,
)
_ENTRY: Final = re.compile(
    rf"""(?:{_NEWLINE}|,)?[ \t]{{0,40}}\\{{0,3}}["']?[\w.-]{{1,100}}\\{{0,3}}["']?:[ ]?
        (?:[>|][+-]?{_NEWLINE}[ \t]{{1,40}})?\\{{0,3}}["']?(?P<value>[^\s"'\\,}}]{{4,4000}})\\{{0,3}}["']?""",
    re.VERBOSE,
)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/]{4,4000}={0,2}\Z")
_LOOK_AHEAD: Final = 2_000
_MOST_ENTRIES: Final = 30


def _kept(text: str, place: int) -> Iterator[Span]:
    block = _BLOCK.search(text, place, place + _LOOK_AHEAD)
    entry = _ENTRY.match(text, block.end()) if block else None
    for _ in range(_MOST_ENTRIES):
        if block is None or entry is None:
            return
        value = entry["value"]
        if values.is_given(value, Proof.NONE) and (block["plain"] or _ENCODED.match(value)):
            yield Span(*entry.span("value"), "secret", Rank.PLACE)
        entry = _ENTRY.match(text, entry.end())


MANIFEST_RULES: Final = (
    Rule(b"secret", rb"""(?:(?<=kind:\ secret)|(?<=kind:\ "secret)|(?<=kind":\ "secret)|(?<=kind":"secret)
                           |(?<=kind\\":\ \\"secret)|(?<=kind\\":\\"secret))(?![\w-])""", _kept),
)  # fmt: skip
