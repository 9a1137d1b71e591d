"""Where Holdfast's home is. Imports nothing else of Holdfast, for commands that need no settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def home(environment: Mapping[str, str]) -> Path:
    """The directory of everything that Holdfast stores: `$HOLDFAST_HOME`, or `~/.holdfast`."""
    user = environment.get("HOME") or str(Path.home())
    return Path(at_home(environment.get("HOLDFAST_HOME") or "~/.holdfast", user)).absolute()


def at_home(path: str, user: str) -> str:
    """The path with a leading `~` replaced by the user's home directory."""
    return user + path[1:] if path == "~" or path.startswith("~/") else path
