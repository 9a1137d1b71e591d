"""Phrases: the words that a wallet is recovered from, behind a name that says so.

Twelve to twenty-four plain words of three to eight letters, with no word among them that sentences need.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction.rules import Rule
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.text.patterns import compiled

_PHRASE: Final = compiled(
    r"""(?:mnemonic|phrase)[\w"'`\\\])]{0,12}[ \t]{0,4}(?:(?:is|=>|[:=>-])[ \t]{0,4}){0,2}+[\\"'`\[(]{0,6}
        (?P<words>[a-z]{3,8}(?:[ ,"']{1,4}+[a-z]{3,8}+){11,23}+)(?![ ]?[a-z])""",
    re.IGNORECASE | re.VERBOSE,
)
_OF_SENTENCES: Final = frozenset(
    """and are can for from has have into its mnemonic must not phrase that the this was when which will with
    you your""".split()
)


def _phrase(text: str, place: int) -> Iterator[Span]:
    found = _PHRASE.match(text, place)
    if found and _OF_SENTENCES.isdisjoint(re.findall(r"[a-z]{3,8}", found["words"])):
        yield Span(*found.span("words"), "mnemonic", Rank.NAME)


PHRASE_RULES: Final = (
    Rule(b"mnemonic", rb"[^\n]{1,40}?(?:[a-z]{3,8}+[ ,\"']{1,4}+){11}+", _phrase),
    Rule(b"phrase", rb"[^\n]{1,40}?(?:[a-z]{3,8}+[ ,\"']{1,4}+){11}+", _phrase),
)
