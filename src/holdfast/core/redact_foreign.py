"""Foreign: values behind a word for password that is not written in ASCII alone.

Such a word is found by its flat spelling, where a question mark stands for every character that is not ASCII.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redact_around import trimmed
from holdfast.core.redact_names import Proof
from holdfast.core.redact_page import Page
from holdfast.core.redact_spans import Rank, Span
from holdfast.core.redact_values import is_secret_unquoted

_SCRIPTS: Final = "비밀번호 패스워드 암호 비번 パスワード 暗証番号 密码 密碼 口令 пароль סיסמה كلمة".split()
_ACCENTED: Final = ("contraseña", "lösenord", "hasło", "şifre", "jelszó", "mật khẩu")
_FLAT_ACCENTED: Final = tuple((word, word.encode("ascii", "replace")) for word in _ACCENTED)
_FOREIGN: Final = re.compile(rb"\?++")
_VALUE: Final = re.compile(
    r"""(?: [ \t]{0,4}[:=：(（–—→-]{1,2} | [는은이가是为為はが] | [ ](?:es|é|är|is)(?=[ ]) )?
        [ \t]{0,4}["'`]?(?P<value>[!-&*-~]{6,100})""",
    re.VERBOSE,
)


def by_foreign_name(page: Page) -> Iterator[Span]:
    """The values behind all such words of a text."""
    for end in _ends_of_words(page):
        found = _VALUE.match(page.text, end)
        value = trimmed(found["value"]) if found else ""
        if found and is_secret_unquoted(value, Proof.NONE):
            yield Span(found.start("value"), found.start("value") + len(value), "password", Rank.NAME)


def _ends_of_words(page: Page) -> Iterator[int]:
    place = page.flat.find(b"??")
    while place >= 0:
        run = _FOREIGN.match(page.flat, place)
        end = run.end() if run else place + 2
        said = page.text[place:end].lower()
        yield from (place + len(word) for word in _SCRIPTS if said.startswith(word))
        place = page.flat.find(b"??", end)
    for word, flat in _FLAT_ACCENTED:
        place = page.lower.find(flat)
        while place >= 0:
            if page.text[place : place + len(word)].lower() == word:
                yield place + len(word)
            place = page.lower.find(flat, place + 1)
