"""Foreign: values behind a word for password that is not written in ASCII alone.

Such a word is found by its flat spelling, where a question mark stands for every character that is not ASCII;
in JSON that has escaped them all, by their escapes.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from holdfast.core.redaction.around import trimmed
from holdfast.core.redaction.names import Proof
from holdfast.core.redaction.rules import Page, Rule
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.redaction.values import is_secret_unquoted
from holdfast.core.text.patterns import compiled

# What they say, and in which scripts; a key must then show that it is one.
_SCRIPTS: Final = compiled(
    r"""(?P<password>비밀번호|패스워드|암호|비번|パスワード|暗証番号|密码|密碼|口令|пароль|סיסמה|كلمة)
      | (?P<token>令牌|凭证|凭据|憑證|토큰|トークン|токен|رمز)
      | (?P<key>密钥|密鑰|金鑰|秘钥|シークレット|キー|ключ|مفتاح)""",
    re.VERBOSE | re.IGNORECASE,
)
# Each of these words has such a letter; most of what is not ASCII is lines, arrows and signs, and has none.
_LETTERS: Final = re.compile(r"[\u0400-\u06ff\u3000-\ud7ff]")


def _from_sign(flat: bytes) -> bytes:
    """How a flat word goes on after its first sign, and what stands before that."""
    place = flat.index(b"?")
    return re.escape(flat[place + 1 :]) + (b"(?<=%b)" % re.escape(flat) if place else b"")


_ACCENTED: Final = ("contraseña", "lösenord", "hasło", "şifre", "jelszó", "mật khẩu")
_FLAT_ACCENTED: Final = tuple((word, word.encode("ascii", "replace")) for word in _ACCENTED)
# Whether one of these is there at all; it begins with the sign, because that is found fastest.
_PERHAPS_ACCENTED: Final = compiled(
    rb"\?(?:" + b"|".join(_from_sign(flat) for _, flat in _FLAT_ACCENTED) + rb")"
)
_FOREIGN: Final = compiled(rb"\?++")
_VALUE: Final = compiled(
    r"""(?P<bind> [ \t]{0,4}[:=：(（–—→-]{1,2} | [는은이가是为為はが设設改成]{1,3}[:：]?
          | [ ](?:es|é|är|is|это)(?=[ ]) )?
        [ \t]{0,4}["'`「]?(?P<value>[!-&*-;=?-~]{6,100})""",
    re.VERBOSE,
)


def by_foreign_name(page: Page) -> Iterator[Span]:
    """The values behind all such words of a text."""
    for end, kind in _words(page):
        found = _VALUE.match(page.text, end)
        value = trimmed(found["value"]) if found else ""
        # Much is said of keys and tokens; only of a password it is said what it is without a sign between.
        proof = Proof.NONE if kind == "password" else Proof.DIGITS
        if found and (found["bind"] or kind == "password") and is_secret_unquoted(value, proof):
            yield Span(found.start("value"), found.start("value") + len(value), kind, Rank.NAME)


def _words(page: Page) -> Iterator[tuple[int, str]]:
    """Where each word ends, and what it says."""
    place = page.flat.find(b"??")
    while place >= 0:
        run = _FOREIGN.match(page.flat, place)
        end = run.end() if run else place + 2
        if _LETTERS.search(page.text, place, end):
            for word in _SCRIPTS.finditer(page.text, place, end):
                yield word.end(), word.lastgroup or "password"
        place = page.flat.find(b"??", end)
    if not _PERHAPS_ACCENTED.search(page.lower):
        return
    for accented, flat in _FLAT_ACCENTED:
        place = page.lower.find(flat)
        while place >= 0:
            if page.text[place : place + len(accented)].lower() == accented:
                yield place + len(accented), "password"
            place = page.lower.find(flat, place + 1)


# The same words where JSON has escaped them, and what then stands between them and a value.
_ESCAPED: Final = (
    ("password", "密码 密碼 口令 パスワード 비밀번호 암호 пароль contraseña"),
    ("token", "令牌 토큰 トークン токен"),
    ("key", "密钥 密鑰 金鑰 ключ"),
)
_VALUE_OF_ESCAPED: Final = compiled(
    r"""(?:\\u[0-9a-fA-F]{4}|[ ](?:es|is)[ ]|[ :=]){0,6}+(?P<value>[!\#-&*-\[\]-~]{6,100})""",
    re.VERBOSE,
)


def _after(word: bytes, kind: str) -> Callable[[str, int], Iterator[Span]]:
    """What finds the value behind this word."""
    proof = Proof.NONE if kind == "password" else Proof.DIGITS

    def found_at(text: str, place: int) -> Iterator[Span]:
        found = _VALUE_OF_ESCAPED.match(text, place + len(word))
        value = trimmed(found["value"]) if found else ""
        if found and is_secret_unquoted(value, proof):
            yield Span(found.start("value"), found.start("value") + len(value), kind, Rank.NAME)

    return found_at


def _escaped(word: str) -> bytes:
    return "".join(each if each.isascii() else f"\\u{ord(each):04x}" for each in word).encode()


FOREIGN_RULES: Final = tuple(
    Rule(escaped, b"", _after(escaped, kind))
    for kind, words in _ESCAPED
    for escaped in map(_escaped, words.split())
)
