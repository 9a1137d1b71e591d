"""Auto-compaction: at which share of the window Gemini CLI compacts by itself, as its settings say."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.core.events.event import Skipped
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses.fields import mapping, read_object

SHARE: Final = 0.5
"""The share of the window, if the user set nothing else."""


def auto_compact(folder: Path) -> AutoCompact:
    """When it compacts by itself; settings that cannot be read count as empty."""
    try:
        settings = read_object((folder / "settings.json").read_bytes())
    except OSError:
        return AutoCompact(share=SHARE)
    read = {} if isinstance(settings, Skipped) else settings
    share = mapping(read.get("model")).get("compressionThreshold")
    return AutoCompact(share=share if isinstance(share, float) and 0 < share < 1 else SHARE)
