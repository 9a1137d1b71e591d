"""HTML as values: whatever is put into an element is escaped, unless it is an element itself.

Text from a transcript or a repository also loses hidden and direction-changing characters. All text on a page
goes through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from typing import Final, TypeAlias

from holdfast.core.text.untrusted import printable


class Html(str):
    """Markup that this module made."""

    __slots__ = ()


Child: TypeAlias = "str | int | float | Iterable[Child] | None"
Attribute: TypeAlias = str | int | float | bool | None
NOTHING: Final = Html("")
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})
_PLAIN: Final = re.compile(r"[ !#-%(-;=?-~]*")
"""Text that needs no escaping: most of the thousands of texts on a page, so they skip the slow path."""


def el(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element; `class_` is the attribute `class`, and an underscore within a name a hyphen."""
    attribute_text = "".join([_attribute(key, value) for key, value in attributes.items()])
    if name in _VOID:
        return Html(f"<{name}{attribute_text}>")
    return Html(f"<{name}{attribute_text}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Html:
    """Several children in a row."""
    return Html("".join(map(_rendered, children)))


def verbatim(text: str) -> Html:
    """A text as it is, also its hidden characters: for a field in which a person edits it."""
    # The first line feed in a text area is not part of its text.
    return Html("\n" + escape(text))


def _rendered(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return _harmless(child)
    if isinstance(child, int | float):
        return str(child)
    return joined(child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    return f" {_name(key)}" if value is True else f' {_name(key)}="{_harmless(str(value))}"'


@cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _harmless(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else escape(printable(text))
