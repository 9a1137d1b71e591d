"""Auto-compaction: how much of a window OpenCode leaves free, as its settings say.

It compacts once less than the longest answer of the model would fit. That length is each model's own; here
is the most that it ever leaves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.core.events import Skipped
from holdfast.core.pressure import AutoCompact
from holdfast.harnesses.fields import mapping, read_object

RESERVED: Final = 20_000
"""Tokens, where the user set nothing else."""


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
