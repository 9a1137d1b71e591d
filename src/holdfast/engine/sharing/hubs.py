"""Whether this home uses a hub at all; cheap, as the daemon asks it every second."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from holdfast.config import Config

URL_VARIABLE: Final = "HOLDFAST_HUB_URL"
FOLDER: Final = "hubs"


def are_used(home: Path, environment: Mapping[str, str], config: Config) -> bool:
    """Whether a hub was joined, or the settings or the environment name one."""
    return bool(config.sharing.hubs) or bool(environment.get(URL_VARIABLE)) or (home / FOLDER).is_dir()
