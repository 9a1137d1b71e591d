"""Texts as a hub can hold them: PostgreSQL takes no NUL, and UTF-8 no lone surrogate."""

from __future__ import annotations

import re
from typing import Final

from holdfast.core.sharing.items import OutgoingItem, VersionRef
from holdfast.errors import HubRefused
from holdfast.lazy_dataclass import replace

LONGEST_ID: Final = 500
"""Of an item or a machine; indexes hold them."""
_LARGEST: Final = 2**63 - 1
_UNFIT: Final = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT: Final = "\ufffd"


def cleaned(text: str) -> str:
    """The text with what a hub cannot hold replaced."""
    return _UNFIT.sub(_REPLACEMENT, text)


def cleaned_item(item: OutgoingItem) -> OutgoingItem:
    """The item with its texts cleaned; HubRefused if a hub cannot hold it."""
    base = item.replaces
    numbers = (item.revision, item.at, base.revision if base else 0)
    is_long = max(len(item.id), len(item.recipient), len(base.machine) if base else 0) > LONGEST_ID
    if not item.id or is_long or item.revision < 1 or not all(0 <= each <= _LARGEST for each in numbers):
        raise HubRefused(
            f"the {item.kind} `{item.id[:40]}` cannot be shared: its id or a number in it is out of range",
            "this is a fault of Holdfast: please report it",
        )
    return replace(
        item,
        id=cleaned(item.id),
        body=cleaned(item.body),
        redactor=cleaned(item.redactor),
        recipient=cleaned(item.recipient),
        replaces=VersionRef(cleaned(base.machine), base.revision) if base else None,
    )
