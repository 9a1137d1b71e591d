"""By name: every place in a text where a name may say secret, and what stands behind it.

The search only. What is assigned to a name is found by `core.redact_assignments`, what is said of one by
`core.redact_said`.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redact_assignments import assigned_at, owner_of, trimmed
from holdfast.core.redact_names import FOREIGN_PASSWORDS, NAME_ANCHORS, Proof
from holdfast.core.redact_page import Page
from holdfast.core.redact_said import said_at
from holdfast.core.redact_spans import Rank, Span
from holdfast.core.redact_values import is_secret_unquoted

_FOREIGN: Final = re.compile(rb"\?++")
_FOREIGN_VALUE: Final = re.compile(
    r"""[ \t]{0,4}[:=：는은(（]{0,2}[ \t]{0,4}["']?(?P<value>[!-&*-~]{6,100})"""
)


def by_foreign_name(page: Page) -> Iterator[Span]:
    """Values behind a word for password in another script."""
    # What is not ASCII is a question mark in the flat spelling; a word has several.
    place = -1 if page.text.isascii() else page.flat.find(b"??")
    while place >= 0:
        word = _FOREIGN.match(page.flat, place)
        end = word.end() if word else place + 2
        if page.text[place:end].lower() in FOREIGN_PASSWORDS:
            yield from _foreign(_FOREIGN_VALUE.match(page.text, end))
        place = page.flat.find(b"??", end)


def _foreign(found: re.Match[str] | None) -> Iterator[Span]:
    value = trimmed(found["value"]) if found else ""
    if found and is_secret_unquoted(value, Proof.NONE):
        yield Span(found.start("value"), found.start("value") + len(value), "password", Rank.NAME)


# How a name goes on if anything is bound to it or said of it: asked first, because most talk of tokens and
# keys says nothing of the sort.
_GOES_ON: Final = re.compile(
    r"""[\w-]{2,60}+(?:
        ["'`\\&%\])?!*:=>,|{(는은-]
      | [ \t]{1,20}["'`:=>!|*{?[–—→-]
      | [ ]\d{1,2}:
      | \s{1,40}\\{0,3}["']?(?:value|secure|default|or|is|was|to|as|for|of|will|has|type|class|id|name)\b
      | [ \t]{1,4}(?:\w{1,12}:?[ \t]{1,4})?(?=[^\s"'`<>,;()]{0,60}\d)[^\s"'`<>,;()]{4}
    )""",
    re.VERBOSE,
)


def _goes_on(text: str, place: int) -> bool:
    if _GOES_ON.match(text, place):
        return True
    return owner_of(text, place).startswith(("-", "/")) or "login" in text[max(0, place - 130) : place]


def by_name(page: Page) -> Iterator[Span]:
    """The values of all names in a text that say secret."""
    text, lower = page.text, page.lower
    for anchor, another_word in NAME_ANCHORS:
        place, length = lower.find(anchor), len(anchor)
        while place >= 0:
            end = place + length
            if not another_word.match(lower, end) and _goes_on(text, place):
                for span in assigned_at(text, place) or said_at(text, place):
                    yield span
                    # What stands in a value names nothing.
                    end = max(end, span.end)
            place = lower.find(anchor, end)
