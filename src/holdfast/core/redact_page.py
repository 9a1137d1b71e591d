"""Page: one text in the two spellings that the rules read it in.

Nothing is decided here. The spellings are made once, because every rule begins with a plain search for a
literal, and that is faster over bytes.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A text; the same with one byte for each character, so that places are the same; that in lower case."""

    text: str
    flat: bytes
    lower: bytes


def page_of(text: str) -> Page:
    """The text as the rules read it."""
    flat = text.encode("ascii", "replace")
    return Page(text, flat, flat.lower())
