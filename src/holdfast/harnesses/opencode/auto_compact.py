"""Auto-compaction: how much of a window OpenCode leaves free, as its settings say.

It compacts when the model's longest answer would no longer fit. That length depends on the model; this uses
the most that it ever leaves free.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.core.events.event import Skipped
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses.fields import mapping, read_object, tokens

RESERVED: Final = 20_000
"""Tokens, if the user set nothing else."""
LONGEST_ANSWER: Final = 32_000
"""Tokens: the most that it reserves for any model's answer."""


def auto_compact(settings: Path) -> AutoCompact:
    """When it compacts by itself; settings that cannot be read count as empty."""
    try:
        content = read_object(settings.read_bytes())
    except OSError:
        return AutoCompact(margin=RESERVED)
    compaction = mapping({} if isinstance(content, Skipped) else content.get("compaction"))
    if compaction.get("auto") is False:
        return AutoCompact()
    reserved = compaction.get("reserved")
    return AutoCompact(margin=reserved if type(reserved) is int and reserved > 0 else RESERVED)


def window(limit: object) -> int:
    """The size of a model's window at which `auto_compact` applies; 0 if unknown.

    If the input is limited, OpenCode leaves the reserve free; if only the total is, it leaves room for the
    longest answer and nothing else.
    """
    limits = mapping(limit)
    whole, most_input, answer = (tokens(limits.get(name)) for name in ("context", "input", "output"))
    if not whole:
        return 0
    return most_input or max(whole - min(answer or LONGEST_ANSWER, LONGEST_ANSWER), 0) + RESERVED
