"""Auto-compaction: at how many tokens Codex compacts by itself, as its configuration says.

The window that it reports with every token count is 95 % of the model's own; if the user set no limit, it
compacts at 90 % of the latter.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from holdfast.core.session.pressure import AutoCompact

SHARE: Final = 90 / 95
_LARGEST_FILE: Final = 1 << 20


def auto_compact(home: Path, environment: Mapping[str, str]) -> AutoCompact:
    """When it compacts by itself; a configuration that cannot be read counts as empty."""
    path = Path(environment.get("CODEX_HOME") or home / ".codex") / "config.toml"
    try:
        with path.open("rb") as file:
            settings = tomllib.loads(file.read(_LARGEST_FILE).decode())
    except (OSError, ValueError, RecursionError):
        settings = {}
    limit = settings.get("model_auto_compact_token_limit")
    return AutoCompact(share=SHARE, most=limit if isinstance(limit, int) and limit > 0 else 0)
