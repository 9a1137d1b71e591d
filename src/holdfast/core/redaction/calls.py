"""Calls: functions that take a secret as an argument without calling it one.

`jwt.sign(payload, "…")`, `createHmac("sha256", "…")`, `connect(host, "me", "…")`.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction import values
from holdfast.core.redaction.names import Proof
from holdfast.core.redaction.rules import Rule
from holdfast.core.redaction.spans import Rank, Span

_STRING: Final = r"""\\{0,3}["'`](?P<value>[^"'`\s\\]{4,200})\\{0,3}["'`]"""
_ANY_STRING: Final = r"""\\{0,3}(?:"[^"\n]{0,200}"|'[^'\n]{0,200}')"""
_SIGNED: Final = re.compile(
    rf"""(?: jwt\.(?:sign|verify|encode|decode)\([^"'`\n()]{{1,160}}(?:\([^"'`\n()]{{0,60}}\))?,\s{{0,40}}
           | fernet\( | (?:aes|des3?|arc4|chacha20)\.new\(
           | hmac(?:\.new|[\w.]{{0,24}})\(\s{{0,40}}(?:{_ANY_STRING},\s{{0,40}})? )
        b?{_STRING}""",
    re.VERBOSE | re.IGNORECASE,
)
_CIPHERED: Final = re.compile(rf"cipheriv\({_ANY_STRING},\s{{0,40}}{_STRING}", re.IGNORECASE)
_CONNECTED: Final = re.compile(
    rf"""(?:connect\w{{0,6}}|pdo)\(\s{{0,40}}(?:[^,()"'\n]{{1,80}}|{_ANY_STRING}),\s{{0,40}}{_ANY_STRING},\s{{0,40}}{_STRING}""",
    re.VERBOSE | re.IGNORECASE,
)


def _signed(text: str, place: int) -> Iterator[Span]:
    yield from _given(_SIGNED.match(text, place), "secret")


def _ciphered(text: str, place: int) -> Iterator[Span]:
    """The key of a cipher that is made: `createCipheriv("aes-256-cbc", "…", iv)`."""
    yield from _given(_CIPHERED.match(text, place), "key")


def _connected(text: str, place: int) -> Iterator[Span]:
    yield from _given(_CONNECTED.match(text, place), "password")


def _given(found: re.Match[str] | None, kind: str) -> Iterator[Span]:
    if found and values.is_secret(found["value"], Proof.NONE):
        yield Span(*found.span("value"), kind, Rank.PLACE)


CALL_RULES: Final = (
    Rule(b"jwt.", rb"[sved][a-z]{3,5}\(", _signed),
    Rule(b"hmac", rb"[\w.]{0,24}\(", _signed),
    Rule(b"fernet(b", rb"""["']""", _signed),
    Rule(b"aes.new(b", rb"""["']""", _signed),
    Rule(b"cipheriv(", rb"""["']""", _ciphered),
    Rule(b"pdo(", rb"""[^\n]{0,200}["']""", _connected),
    Rule(b"connect", rb"""\w{0,6}\([^\n]{0,200}["']""", _connected),
)
