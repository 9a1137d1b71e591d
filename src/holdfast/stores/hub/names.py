"""Names of people and teams at a hub, which are parts of names of roles."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from holdfast.errors import HubRefused

LONGEST_NAME: Final = 32
_NAME: Final = re.compile(rf"\w[\w.-]{{0,{LONGEST_NAME - 1}}}")


def checked_name(name: str, what: str) -> str:
    """The name in its one spelling; HubRefused if it is none. `what` says whose name it is."""
    text = unicodedata.normalize("NFC", name.strip())
    if not _NAME.fullmatch(text):
        raise HubRefused(
            f"`{text[:LONGEST_NAME]}` cannot be the name of a {what}",
            f"use up to {LONGEST_NAME} letters, digits, `.`, `-` and `_`",
        )
    return text
