"""Sentences: secrets that prose, a flag or the arguments of a call name: passwords, PINs, recovery codes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from holdfast.core.redaction import names, values
from holdfast.core.redaction.assignments import (
    column_at,
    end_of,
    in_call,
    opening_before,
    owner_of,
    trim_value,
)
from holdfast.core.redaction.commands import positional_at
from holdfast.core.redaction.names import NameMeaning, Proof
from holdfast.core.redaction.prefilter import Rule
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.redaction.values import is_code_name, is_drawn
from holdfast.core.text.lazy_patterns import compiled

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
    match = _PHRASE.match(text, place)
    if match and _OF_SENTENCES.isdisjoint(re.findall(r"[a-z]{3,8}", match["words"])):
        yield Span(*match.span("words"), "mnemonic", Rank.NAME)


PHRASE_RULES: Final = (
    Rule(b"mnemonic", rb"[^\n]{1,40}?(?:[a-z]{3,8}+[ ,\"']{1,4}+){11}+", _phrase),
    Rule(b"phrase", rb"[^\n]{1,40}?(?:[a-z]{3,8}+[ ,\"']{1,4}+){11}+", _phrase),
)


_BINDS: Final = r"""["'`*\])]{0,3}[ \t]{0,4}
    (?:[:=]{1,2}>?|->|→|\||,|\b(?:is|was|are|were|to)(?:[ ](?:now|set[ ]to))?[ :])[ \t]{0,4}"""
_PIN: Final = compiled(
    rf"""(?: pin(?:[ _-]?(?:code|number|no\.?))?(?:[ ]for[ ][^\n:=]{{1,40}})?(?:{_BINDS})
          | (?-i:PIN)(?:[ ]code)?[ ] )
        [\\"'`(*]{{0,4}}(?P<value>\d{{4,8}}|\d{{2,4}}[ -]\d{{2,4}})(?![\w-]|\.\d)""",
    re.IGNORECASE | re.VERBOSE,
)
_CODE_NAME: Final = compiled(
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
    if match := _PIN.match(text, place):
        yield Span(*match.span("value"), "pin", Rank.NAME)


def _codes(text: str, place: int) -> Iterator[Span]:
    """All codes of a list; a word among them ends it."""
    yield from column_at(text, place)
    name = _CODE_NAME.match(text, place)
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


_Judge: TypeAlias = Callable[[str, NameMeaning], bool]
_Form: TypeAlias = tuple[re.Pattern[str], _Judge]


def _as_it_is(value: str, announced: NameMeaning) -> bool:
    return value.lower() not in _TALK and values.is_secret(value, announced.proof)


# What follows a flag that is only spoken of.
_TALK: Final = frozenset(
    """and argument arguments flag flags for from has if in instead into is on option options or parameter to
    via was when with""".split()
)


def _as_argument(value: str, announced: NameMeaning) -> bool:
    if announced.proof is Proof.NONE:
        return values.is_secret(value, announced.proof)
    return announced.opens and len(value) >= 16 and values.is_secret_unquoted(value, announced.proof)


def _among_words(value: str, announced: NameMeaning) -> bool:
    return not value.startswith("-") and values.is_secret_unquoted(value, announced.proof)


def _if_it_shows(value: str, announced: NameMeaning) -> bool:
    shows = values.is_made_up(value) or (announced.opens and len(value) >= 20 and is_drawn(value))
    return shows and values.is_secret_unquoted(value, announced.proof)


def _as_a_word_with_a_number(value: str, announced: NameMeaning) -> bool:
    if announced.proof is not Proof.NONE or value.lower().startswith(_NUMBERED):
        return _if_it_shows(value, announced)
    return len(value) >= 8 and values.is_secret_unquoted(value, announced.proof)


# What has a number in prose about passwords.
_NUMBERED: Final = tuple(
    """aes argon base bcrypt chapter hash hmac level line page pbkdf python rfc section sha step ubuntu utf
    version""".split()
)
_OF_WHOM: Final = r"""(?:(?:for|of)[ ][^\n"'`]{1,60}?[ ])?"""
_SAYS: Final = r"""(?:is|are|was|(?:will|should|must)[ ]be|ha[sd][ ]been|es|é|è|ist|est|lautet)
    (?:[ ](?:now|currently|still|simply|just|set|changed|reset|updated|rotated|to|as)){0,3}+:?[ ]"""
_VALUE: Final = r"""\\{0,3}(?P<value>[^\s"'`<>\\]{4,200})"""
# How a value is said of a name, and who judges it then. The first that fits counts.
_WAYS: Final[tuple[tuple[str, _Judge], ...]] = (
    # The password for the box is "…"; it was changed to …
    (rf"""[ ]{_OF_WHOM}{_SAYS}\\{{0,3}}["'`]{_VALUE}""", _as_it_is),
    (rf"[ ]{_OF_WHOM}{_SAYS}{_VALUE}", _among_words),
    # password for the staging box: …
    (rf"""[ ](?:for|of|on|to)[ ][^\n"'`:=,;.]{{1,60}}(?::|[ ]?=)[ ]?\\{{0,3}}["'`]?{_VALUE}""", _among_words),
    # Set the password to "…"; password - …
    (rf"""[ ]{_OF_WHOM}(?:to|as|[-–—→]{{1,4}})[ ]\\{{0,3}}["'`]?{_VALUE}""", _if_it_shows),
    # Password: and the value in the next line
    (r":[ \t]{0,4}\r?\n[ \t]{0,8}(?P<value>\S{6,200})[ \t]{0,8}(?=\r?\n|\Z)", _if_it_shows),
    # log in with password "…"
    (rf"""[ ]\\{{0,3}}(?P<quote>["']){_VALUE}\\{{0,3}}(?P=quote)""", _as_argument),
    # with the token `…`; the client secret (…)
    (r"""[ ][`(](?P<value>[^\s"'`<>()]{6,200})[`)]""", _among_words),
    # use the password dragon55
    (
        r"""[ ](?P<value>[A-Za-z]{3,20}(?:[_-][A-Za-z]{3,20})?\d{2,6}[!?.\#@$%*]{0,2})(?=[\s"',)\\]|\Z)""",
        _as_a_word_with_a_number,
    ),
    # use token …
    (
        r"""[ \t]{1,4}(?:\w{1,12}:?[ \t]{1,4})?(?P<value>[^\s"'`<>,;()\\]{8,200})(?=[\s"',)\\]|\Z)""",
        _if_it_shows,
    ),
)
_FORMS: Final = tuple((compiled(way, re.VERBOSE), judge) for way, judge in _WAYS)
# --password …, with anything in its place
_FLAG: Final = (
    compiled(r"""(?:["']?,)?[ \t]{1,4}\\{0,3}["']?(?P<value>[^\s"'`<>\\-][^\s"'`<>\\]{1,200}+)"""),
    _as_it_is,
)
_NAME: Final = compiled(r"[\w-]{2,60}+", re.ASCII)
# What a name may be closed with: `DB_PASSWORD` is `…`.
_CLOSES: Final = frozenset("`\"'*")
# Commands that have the word in their own name.
_COMMANDS: Final = ("htpasswd ", "mosquitto_passwd ", "change_password ", "set_password ", "wpa_passphrase ")
# What makes the next two words a name and its value: a line of a Dockerfile, of a shell.
_SETS: Final = ("ENV ", "set ", "setx ", "setenv ", "global ", "set -gx ", "set -x ")
# Lines of settings that have a name, a space and a value.
_DIRECTIVES: Final = frozenset("requirepass masterauth bindpw rootpw bindpasswd".split())


def sentence_secret_at(text: str, place: int) -> Iterator[Span]:
    """The secret that is said after the name at this place."""
    name = _NAME.match(text, place)
    if not name:
        return
    start = place - len(owner_of(text, place))
    if text.startswith("(", name.end()):
        if announced := _announced(text, start, name):
            yield from in_call(text, name.end(), announced)
    elif text.startswith(_COMMANDS, start):
        yield from positional_at(text, start)
    elif statement := _statement_after(
        text, start, name.end() + (text[name.end() : name.end() + 1] in _CLOSES)
    ):
        match, judge = statement
        value, announced = trim_value(match["value"]), _announced(text, start, name)
        if announced and judge(value, announced):
            place = match.start("value")
            yield Span(place, end_of(text, place, value), announced.kind, Rank.NAME)


# The password is correct horse battery staple: words to the end of the sentence.
_PASSPHRASE: Final = compiled(
    rf"""pass(?:word|phrase|code)["'`*]{{0,2}}[ ]{_OF_WHOM}{_SAYS}["'`]?
        (?P<words>[\w@\#$%^&*!+?-]{{2,30}}(?:[ ][\w@\#$%^&*!+?-]{{1,30}}){{0,7}}+)
        (?=[.!]?[ \t]{{0,3}}(?:["'`)]|\r?\n|\Z|[.][ ]))""",
    re.VERBOSE | re.IGNORECASE,
)
# What is most often said of a password in one word.
_STATES: Final = frozenset(
    """accepted blank correct different fine good gone hashed hidden known lost okay plain plaintext public
    random ready safe sent short shown strong temporary unique unknown unset visible wrong""".split()
)


def passphrase_at(text: str, place: int) -> Iterator[Span]:
    """The words that a sentence gives as the password named at this place."""
    match = _PASSPHRASE.match(text, place)
    if match is None:
        return
    words, sure = match["words"], text[place : place + 10].lower() == "passphrase"
    if words.isalpha():
        plain = len(words) >= 6 and words.islower() and words not in _STATES and values.is_alone(words)
        if plain:
            yield Span(*match.span("words"), "password", Rank.NAME)
    elif values.is_words(words, sure=sure):
        yield Span(*match.span("words"), "password", Rank.NAME)


def _announced(text: str, start: int, name: re.Match[str]) -> NameMeaning | None:
    return names.announced_by(opening_before(text, start) + text[start : name.end()])


def _statement_after(text: str, start: int, end: int) -> tuple[re.Match[str], _Judge] | None:
    """The words that state a value for the name at these offsets; what the name means is judged later."""
    name = text[start:end].lower()
    if text.startswith(("-", "/"), start) or text.endswith(_SETS, 0, start) or name in _DIRECTIVES:
        return _first((_FLAG,), text, end)
    # Who passes something says what, but not a password.
    return _first(_FORMS[-1:] if name == "pass" else _FORMS, text, end)


def _first(forms: Iterable[_Form], text: str, place: int) -> tuple[re.Match[str], _Judge] | None:
    return next(((match, judge) for form, judge in forms if (match := form.match(text, place))), None)
