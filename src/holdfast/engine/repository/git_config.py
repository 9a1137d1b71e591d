"""A git configuration file, read as git reads it: sections, quotes, escapes and continued lines.

The file may come from a stranger. Includes are not followed, and a line that is no setting is passed over, so
that it changes nothing else. Which settings count is decided by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from holdfast.core.text.lazy_patterns import compiled


class ConfigSetting(NamedTuple):
    """One setting; `subsection` is None where the section has none."""

    section: str
    subsection: str | None
    name: str
    value: str


def settings_in(text: str) -> Iterator[ConfigSetting]:
    """The settings of a file in order; section and name in lower case."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    section, subsection = "", None
    at = 0
    while at < len(text):
        at = _end_of(_BLANK, text, at)
        if header := _HEADER.match(text, at):
            section, dot, dotted = header[1].lower().partition(".")
            quoted = None if header[2] is None else _unescaped(header[2])
            subsection = dotted if dot and quoted is None else quoted
            at = header.end()
        elif item := _ITEM.match(text, at):
            value = "true" if item[2] is None else _value(item[2])
            if section and value is not None:
                yield ConfigSetting(section, subsection, item[1].lower(), value)
            at = item.end()
        else:
            at = max(_end_of(_LINE, text, at), at + 1)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _unescaped(quoted: str) -> str:
    return _ESCAPE.sub(r"\1", quoted)


def _value(raw: str) -> str | None:
    """The value without quotes and the blanks around it; None for an escape that git does not know."""
    parts: list[str] = []
    length = least = 0
    is_quoted = False
    for token in _TOKEN.finditer(raw.lstrip(" \t\f\v")):
        text = token[0]
        if text == '"':
            is_quoted = not is_quoted
            least = length
            continue
        if text[0] == "\\":
            if text[1] == "\n":
                continue
            if text[1] not in _ESCAPED:
                return None
            text = _ESCAPED[text[1]]
            least = length + len(text)
        elif is_quoted:
            least = length + len(text)
        else:
            plain = text.rstrip()
            least = length + len(plain) if plain else least
        parts.append(text)
        length += len(text)
    return "".join(parts)[:least]


_ESCAPED: Final = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}
_BLANK: Final = compiled(r"(?:\s|[#;][^\n]*+)*+")
_LINE: Final = compiled(r"(?:[^\\\n]++|\\[\s\S])*+\n?")
"""What is skipped if it cannot be read: a line with those that continue it, so that each is read once."""
_HEADER: Final = compiled(r'\[[ \t]*+([\w.-]++)(?:[ \t]*+"((?:[^"\\\n]++|\\[^\n])*+)")?[ \t]*+\]')
_ITEM: Final = compiled(
    r'([A-Za-z][\w-]*+)[ \t]*+(?:=((?:[^"\\\n#;]++|\\[\s\S]|"(?:[^"\\\n]++|\\[\s\S])*+")*+))?(?=[#;\n]|\Z)'
)
_TOKEN: Final = compiled(r'"|\\[\s\S]|[^"\\]++')
_ESCAPE: Final = compiled(r"\\(.)")
