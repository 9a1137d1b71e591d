"""The fence: the one place where recalled text is marked as data.

Everything that we hand to a model stands between these marks, so that the model can tell a record from an
instruction, and we can tell our own words from a person's when they come back in a transcript.
"""

from __future__ import annotations

import re

_NAME = "holdfast-recall"
_OPEN = f"<{_NAME}>"
_CLOSE = f"</{_NAME}>"
_OURS = re.compile(rf"<{_NAME}>.*?(?:</{_NAME}>|\Z)", re.DOTALL)


def fence(text: str) -> str:
    """The text between our marks; marks inside it are disarmed, so that nothing can step out."""
    return f"{_OPEN}\n{disarmed(text)}\n{_CLOSE}"


def disarmed(text: str) -> str:
    """The text with our marks made harmless."""
    return text.replace(_NAME, "holdfast recall")


def is_ours(text: str) -> bool:
    """Whether some of this text was injected by us."""
    return _OPEN in text


def without_ours(text: str) -> str:
    """The text without what we injected; an open fence runs to the end."""
    return _OURS.sub("", text) if _OPEN in text else text


OVERHEAD = len(fence(""))
"""How many characters the marks cost."""
