"""Codes: PINs, recovery codes and passwords for once, which are too short to be known by anything but a name.

What other numbers are called so, the pins of a chip or of a map, has fewer digits.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction.randomness import is_code_name
from holdfast.core.redaction.rules import Rule
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.redaction.tables import column_at
from holdfast.core.text.patterns import compiled

_BINDS: Final = r"""["'`*\])]{0,3}[ \t]{0,4}
    (?:[:=]{1,2}>?|->|→|\||,|\b(?:is|was|are|were|to)(?:[ ](?:now|set[ ]to))?[ :])[ \t]{0,4}"""
_PIN: Final = compiled(
    rf"""(?: pin(?:[ _-]?(?:code|number|no\.?))?(?:[ ]for[ ][^\n:=]{{1,40}})?(?:{_BINDS})
          | (?-i:PIN)(?:[ ]code)?[ ] )
        [\\"'`(*]{{0,4}}(?P<value>\d{{4,8}}|\d{{2,4}}[ -]\d{{2,4}})(?![\w-]|\.\d)""",
    re.IGNORECASE | re.VERBOSE,
)
_NAME: Final = compiled(
    rf"""[\w-]{{0,30}}[ _-]?(?:codes?|pass(?:word|code)s?|otp)?[ ]?(?:\([^()\n]{{0,40}}\))?[ ]?
        (?:for[ ][^\n:=]{{1,40}})?(?:{_BINDS}|[ ](?=\d{{6}}))?\s{{0,20}}""",
    re.IGNORECASE | re.VERBOSE,
)
# One code, in groups or not; what parts one from the next, numbers of a list too.
_CODE: Final = compiled(
    r"""(?:\d{4,8}(?:[ -]\d{3,8}){1,5}+|[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){1,7}+|[A-Za-z0-9]{6,24})
        (?![\w-])""",
    re.ASCII | re.VERBOSE,
)
_BETWEEN: Final = compiled(r"""(?:[\s,;"'`|*•·\[\](){}\\-]|\d{1,2}[.)][ ]){0,40}+""")
_DIGITS: Final = frozenset("0123456789")
_MOST: Final = 40


def _pin(text: str, place: int) -> Iterator[Span]:
    before = text[place - 1 : place]
    # `mapping: 1234`, but `userPin`, `card_pin`.
    if before.isalpha() and text[place] != "P":
        return
    yield from column_at(text, place)
    if found := _PIN.match(text, place):
        yield Span(*found.span("value"), "pin", Rank.NAME)


def _codes(text: str, place: int) -> Iterator[Span]:
    """All codes of a list; a word among them ends it."""
    yield from column_at(text, place)
    name = _NAME.match(text, place)
    if name is None or text[place - 1 : place].isalpha():
        return
    end, seen = name.end(), 0
    while seen < _MOST:
        between = _BETWEEN.match(text, end)
        code = _CODE.match(text, between.end() if between else end)
        if (
            code is None
            or is_code_name(code[0])
            or (_DIGITS.isdisjoint(code[0]) and not (seen and "-" in code[0]))
        ):
            return
        yield Span(*code.span(), "recovery-code", Rank.NAME)
        end, seen = code.end(), seen + 1


_OF_CODES: Final = (
    rb"""[ _-]?(?:codes?|passcodes?)\b[^\n]{0,60}(?:[:=|>]|\b(?:is|are)\b|[ ]\d{6}|[,;\t]|\r?\n)"""
)
CODE_RULES: Final = (
    Rule(
        b"pin",
        rb"(?:[ _-]?(?:code|number|no))?(?:[^\n]{1,60}?\d{2}|s?[ \t\"'`*]{0,4}(?:[|,;\t]|\r?\n))",
        _pin,
    ),
    *(
        Rule(kind, _OF_CODES, _codes)
        for kind in (
            b"recovery",
            b"backup",
            b"scratch",
            b"one-time",
            b"one time",
            b"verification",
            b"2fa",
            b"mfa",
        )
    ),
    Rule(b"otp", rb"""[ _-]?(?:code)?["'`*]{0,2}[ ]{0,3}(?:[:=]|is\b)[ ]{0,3}["'`]?\d{4}""", _codes),
)
