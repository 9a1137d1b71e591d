"""Auto-compaction: at how many tokens Claude Code compacts by itself, as its settings and environment say.

As observed: it reserves 20,000 tokens of a window for the summary, and compacts 13,000 tokens before the end
of the rest, or at the share of it that CLAUDE_AUTOCOMPACT_PCT_OVERRIDE names. A size set on the command line
cannot be seen from outside; the first compaction shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from holdfast.core.events.event import Skipped
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses.fields import read_object

CARRIED: Final = (
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT",
    "DISABLE_AUTO_COMPACT",
    "DISABLE_COMPACT",
)
"""The variables that are read here; the hook sends them."""
HELD_BACK: Final = 20_000
MARGIN: Final = 13_000
LEAST_WINDOW: Final = 100_000
"""A smaller requested window counts as this."""
WITHOUT_1M: Final = 200_000
_LARGEST_FILE: Final = 1 << 20
_SIZE: Final = re.compile(r"(?P<number>\d{1,9})(?P<unit>[kKmM]?)")
_YES: Final = frozenset({"1", "true", "yes", "on"})


def auto_compact(home: Path, environment: Mapping[str, str]) -> AutoCompact:
    """When it compacts by itself; settings that cannot be read count as not set."""
    settings = _settings(home, environment)
    capped = WITHOUT_1M if _is_set(environment, "CLAUDE_CODE_DISABLE_1M_CONTEXT") else 0
    off = settings.get("autoCompactEnabled") is False
    if off or _is_set(environment, "DISABLE_AUTO_COMPACT") or _is_set(environment, "DISABLE_COMPACT"):
        return AutoCompact(window=capped)
    requested_window = _size(environment.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW")) or _size(
        settings.get("autoCompactWindow")
    )
    window = max(requested_window, LEAST_WINDOW) if requested_window else 0
    share = _size(environment.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"))
    return AutoCompact(
        window=min(filter(None, (window, capped)), default=0),
        held_back=HELD_BACK,
        margin=MARGIN,
        share=share / 100 if 0 < share <= 100 else 1.0,
    )


def _settings(home: Path, environment: Mapping[str, str]) -> dict[str, object]:
    """The settings of all files together; a later file wins."""
    settings: dict[str, object] = {}
    for path in _files(home, environment):
        try:
            with path.open("rb") as file:
                content = read_object(file.read(_LARGEST_FILE))
        except OSError:
            continue
        settings |= {} if isinstance(content, Skipped) else content
    return settings


def _files(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    yield Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "settings.json"
    project = environment.get("CLAUDE_PROJECT_DIR")
    # A stranger may have written the repository: no link is followed, and only regular files are opened.
    for name in ("settings.json", "settings.local.json") if project else ():
        path = Path(project or "", ".claude", name)
        if path.is_file() and not path.is_symlink() and not path.parent.is_symlink():
            yield path


def _is_set(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").lower() in _YES


def _size(value: object) -> int:
    """A number of tokens, in full or as `200k`; 0 for anything else."""
    size_match = _SIZE.fullmatch(str(value).strip()) if isinstance(value, str | int) else None
    if size_match is None:
        return 0
    return int(size_match["number"]) * {"": 1, "k": 1_000, "m": 1_000_000}[size_match["unit"].lower()]
