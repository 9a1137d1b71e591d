"""HTML as values: what is put into an element is escaped, unless it is an element itself.

Whatever came from a transcript or a repository is made harmless to show on the way: nothing in it is markup,
and nothing in it is hidden or turns the text around. There is no other way for a text onto a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from typing import Final, TypeAlias

from holdfast.core.text.defang import printable


class Html(str):
    """Markup of our own making."""

    __slots__ = ()


Child: TypeAlias = "str | int | float | Iterable[Child] | None"
Attribute: TypeAlias = str | int | float | bool | None
NOTHING: Final = Html("")
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})
_PLAIN: Final = re.compile(r"[ !#-%(-;=?-~]*")
"""What can be shown as it is: most of the thousands of texts on a page, found out at once."""


def el(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element; `class_` is the attribute `class`, and an underscore within a name a hyphen."""
    attribute_text = "".join([_attribute(key, value) for key, value in attributes.items()])
    if name in _VOID:
        return Html(f"<{name}{attribute_text}>")
    return Html(f"<{name}{attribute_text}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Html:
    """Several things one behind the other."""
    return Html("".join(map(_rendered, children)))


def verbatim(text: str) -> Html:
    """A text as it is, with all that is hidden in it: for a field in which a person goes on writing it."""
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
