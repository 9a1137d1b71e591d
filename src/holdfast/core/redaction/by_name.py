"""By name: every place in a text where a name may say secret, in any alphabet, and what stands behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from holdfast.core.redaction.assignments import assigned_at, column_at, trim_value
from holdfast.core.redaction.names import FOREIGN_ANCHORS, NAME_ANCHORS, Proof, announced_by
from holdfast.core.redaction.prefilter import Rule, TextPage
from holdfast.core.redaction.sentences import passphrase_at, sentence_secret_at
from holdfast.core.redaction.spans import VARIABLE, Rank, Span
from holdfast.core.redaction.values import is_secret_unquoted
from holdfast.core.text.lazy_patterns import compiled

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


def by_foreign_name(page: TextPage) -> Iterator[Span]:
    """The values behind all such words of a text."""
    for end, kind in _words(page):
        match = _VALUE.match(page.text, end)
        value = trim_value(match["value"]) if match else ""
        # Much is said of keys and tokens; only of a password it is said what it is without a sign between.
        proof = Proof.NONE if kind == "password" else Proof.DIGITS
        if match and (match["bind"] or kind == "password") and is_secret_unquoted(value, proof):
            yield Span(match.start("value"), match.start("value") + len(value), kind, Rank.NAME)


def _words(page: TextPage) -> Iterator[tuple[int, str]]:
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

    def spans_at(text: str, place: int) -> Iterator[Span]:
        match = _VALUE_OF_ESCAPED.match(text, place + len(word))
        value = trim_value(match["value"]) if match else ""
        if match and is_secret_unquoted(value, proof):
            yield Span(match.start("value"), match.start("value") + len(value), kind, Rank.NAME)

    return spans_at


def _escaped(word: str) -> bytes:
    return "".join(each if each.isascii() else f"\\u{ord(each):04x}" for each in word).encode()


FOREIGN_RULES: Final = tuple(
    Rule(escaped, b"", _after(escaped, kind))
    for kind, words in _ESCAPED
    for escaped in map(_escaped, words.split())
)


_VARIABLE: Final = re.compile(r"\$(?P<name>[A-Z][A-Z0-9_]{2,60})(?![\w(]|[ \t]{0,4}=)", re.ASCII)
# Where the shell is, not what opens a door.
_PLACES: Final = frozenset(("PWD", "OLDPWD"))
_LONGEST_NAME: Final = 30


def _referred(text: str, place: int) -> Iterator[Span]:
    match = _VARIABLE.match(text, place)
    if match is None or match["name"] in _PLACES:
        return
    announced = announced_by(match["name"])
    if announced and announced.proof is not Proof.MACHINE_MADE:
        name = match["name"].lower().replace("_", "-").strip("-")[:_LONGEST_NAME]
        yield Span(*match.span(), VARIABLE + name, Rank.HINT)


VARIABLE_RULES: Final = (Rule(b"$", rb"(?=\w{0,60}(?:secret|token|pass|pw|key|cred|auth))[a-z]", _referred),)


# How a name goes on if anything is bound to it or said of it; most talk of tokens and keys says nothing of
# the sort. Read over small letters, where a question mark stands for any sign that is not ASCII.
_GOES_ON: Final = rb"""(?:
    # a flag, or the end of a longer name, and its value right after it
    (?<=[\w/-]%b)[\w-]{0,58}+[ \t]{1,4}(?!(?:is|are|was|and|or|to|for|in|of|with|from|as|by|if|has|must)\b)
      \\{0,3}["']?[^\s"'`<>]
    # the last heading of a table
  | (?:(?<=[|,;\t"_]%b)|(?<=[|,;\t][ ]%b))\w{0,12}["'`*]{0,3}[ \t|]{0,9}\r?\n
  | [\w-]{0,58}+(?:
        # what closes the name, and what binds the value to it
        [^\w\s:=>|?({,;.]{0,9}+(?:\[\d{0,4}\])?(?:[ \t]{0,20}(?:!?[:=|?]{1,3}>?|<-|->)[ \t*]{0,22}|>)
          (?!\$\{\{)[^\s.,;)\]}<*]
      | [ ]\d{1,2}:
      | \\u003 | %%3[ad] | &\#61 | &gt;
      | (?:\\{0,7}["'`])?(?: [ ]?,\s{0,9}\\{0,3}["'] | [ ]\w{1,20}= | \s?\{\s )
      | \](?:\\{0,7}["'`]),\s{0,9}\\{0,3}["']
      | (?:\\{0,7}["'])?(?:,\s{0,40}|\s{1,40})\\{0,3}["']?(?:value|content|secure|default)\b
      | <\\?/\w{1,20}>
      | \([^()\n"']{0,160}["']
      | ["']\)\.\w{1,20}\(["']
      | [ ](?:or[ ])?\\{0,3}["'`(]
        # the heading of a column
      | ["'`*]{0,3}[ \t]{0,20}[|,;\t][\w \t|,;"'`*-]{1,200}\r?\n
        # a sentence, or the next word, with something in it that words do not have
      | :[ \t]{0,4}\r?\n[ \t]{0,8}(?=\S{0,60}[\d!@\#$%%^&*])\S{6}
      | [ ](?:for|of|on|to)[ ][^\n"'`:=,;.]{1,60}(?::|[ ]?=)[ ]?\\{0,3}["'`]?[^\s"'`<>]{4}
      | ["'`*]{0,2}(?:[ ](?:for|of)[ ][^\n"'`]{1,60}?)?
        [ ](?:is|are|was|will|has|had|should|must|to|as|es|est|ist|lautet|\?|-{1,2})[ ]
        (?:[a-z]{2,8}:?[ ]){0,3}+\\{0,3}(?:["'`]|(?=[^\s"'`<>\\]{0,60}[\d!@\#$%%^&*?~+])[^\s"'`<>]{4})
      | [ \t]{1,4}(?:\w{1,12}:?[ \t]{1,4})?(?=[^\s"'`<>,;()]{0,60}\d)[^\s"'`<>,;()]{4}
    )
)"""


def _named_at(text: str, place: int) -> Iterable[Span]:
    """What is bound to the name at this place, or said of it."""
    assigned = assigned_at(text, place)
    return chain(column_at(text, place), sentence_secret_at(text, place) if assigned is None else assigned)


def _sentence_at(text: str, place: int) -> Iterable[Span]:
    """The same, and words that a sentence gives as a password."""
    return chain(passphrase_at(text, place), _named_at(text, place))


NAME_RULES: Final = (
    Rule(b"pass", rb"(?:word|phrase|code)[ ](?:is|was|for|of)[ ][\"'`a-z0-9@#$*]", _sentence_at),
    *(
        Rule(anchor, b"(?!" + another_word + b")" + _GOES_ON % (anchor, anchor, anchor), _named_at)
        for anchor, another_word in NAME_ANCHORS
    ),
    *(
        Rule(anchor, rb"""["'`]?(?:[ \t]{0,4}[:=-]|[ ](?:es|ist|is|\?)[ ])""", _named_at)
        for anchor in FOREIGN_ANCHORS
    ),
)
