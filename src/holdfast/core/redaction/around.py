"""Around: what belongs to a name or an unquoted value, and what only stands beside it.

Cuts names and values out of a text. What they mean is decided elsewhere.
"""

import re
import string
from typing import Final

from holdfast.core.redaction.names import OPENING
from holdfast.core.redaction.services import PROVIDERS

LONGEST_JUDGED: Final = 200
"""So many characters are enough to judge an unquoted value; what is redacted is all of it."""

_NAME_CHARACTERS: Final = string.ascii_letters + string.digits + "_-.$"
# What ends an unquoted value: the next pair of a list, a query or a connection string; punctuation.
_TRAILING: Final = re.compile(
    r"""(?: [,;&/][A-Za-z_][\w .-]{0,30}[=:][^=].*
          | (?<!&amp)(?<!&lt)(?<!&gt);.* | &(?=&|\Z).*
          | [,.)\]}:?]+ )\Z""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
_UNQUOTED_REST: Final = re.compile(r"""[^\s"'`<>\\,;&]*+""")


def owner_of(text: str, place: int) -> str:
    """What stands in the name before this place: `GITHUB_` of `GITHUB_TOKEN`."""
    before = text[max(0, place - 40) : place]
    rest = before.rstrip(_NAME_CHARACTERS)
    # The first letter after a backslash is that of an escaped newline.
    return before[len(rest) + rest.endswith("\\") :]


def opening_before(text: str, place: int) -> str:
    """The word before a name if it makes a key one that opens something: `API ` of `API key: …`."""
    if text[place - 1 : place] != " ":
        return ""
    before = text[max(0, place - 20) : place - 1]
    word = before[len(before.rstrip(string.ascii_letters)) :].lower()
    return f"{word} " if word in OPENING or word in PROVIDERS else ""


def trimmed(value: str) -> str:
    """An unquoted value without what only follows it."""
    return value if value.isalnum() else _TRAILING.sub("", value)


def end_of(text: str, start: int, value: str) -> int:
    """Where an unquoted value ends, of which only the beginning was judged."""
    end = start + len(value)
    rest = _UNQUOTED_REST.match(text, end) if len(value) >= LONGEST_JUDGED else None
    return rest.end() if rest else end
