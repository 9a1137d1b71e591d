"""Auto-compaction: how much of a window OpenCode leaves free, as its settings say.

It compacts once less than the longest answer of the model would fit. That length is each model's own; here
is the most that it ever leaves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.core.events.event import Skipped
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses.fields import mapping, read_object, tokens

RESERVED: Final = 20_000
"""Tokens, where the user set nothing else."""
LONGEST_ANSWER: Final = 32_000
"""Tokens: more it leaves to no model's answer."""


def auto_compact(settings: Path) -> AutoCompact:
    """When it compacts by itself; settings that cannot be read count as empty."""
    try:
        found = read_object(settings.read_bytes())
    except OSError:
        return AutoCompact(margin=RESERVED)
    compaction = mapping({} if isinstance(found, Skipped) else found.get("compaction"))
    if compaction.get("auto") is False:
        return AutoCompact()
    reserved = compaction.get("reserved")
    return AutoCompact(margin=reserved if type(reserved) is int and reserved > 0 else RESERVED)


def window(limit: object) -> int:
    """How large a model's window is, less what is reserved of it where it compacts; 0 if nobody said.

    Of what may be sent it leaves free what is reserved; where only the whole is limited, room for the longest
    answer and nothing else.
    """
    told = mapping(limit)
    whole, sent, answer = (tokens(told.get(name)) for name in ("context", "input", "output"))
    if not whole:
        return 0
    return sent or max(whole - min(answer or LONGEST_ANSWER, LONGEST_ANSWER), 0) + RESERVED
