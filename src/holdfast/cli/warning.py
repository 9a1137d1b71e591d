"""The warning that every command gives while a setting that protects cannot be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from holdfast.cli.printing import say
from holdfast.home import home

_MANAGED: Final = Path("/etc/holdfast/config.toml")
_NO_SETTINGS: Final = frozenset({"HOLDFAST_HOME", "HOLDFAST_DISABLE", "HOLDFAST_INTERNAL"})


def warn_where_stopped() -> None:
    """Say in one line why nothing is captured, stored or shared, if that is so."""
    if notice := where_stopped():
        say(f"warning: {notice}")


def where_stopped() -> str:
    """Why nothing is captured, stored or shared, in this project or anywhere; empty if that is not so."""
    if not _anything_is_set():
        return ""
    # Loaded only where there is something to read: a command that needs no settings starts at once.
    from holdfast import config
    from holdfast.engine.git import identity

    try:
        project = identity(str(Path.cwd()))
    except OSError:
        project = None
    root = Path(project.root) if project else None
    loaded = config.load(home(os.environ), root, project.project_id if project else None, os.environ)
    return loaded.config.unreadable.notice if loaded.config.unreadable else ""


def _anything_is_set() -> bool:
    """Whether there is a file or a variable that settings could come from; a dangling link is one too."""
    if any(name.startswith("HOLDFAST_") and name not in _NO_SETTINGS for name in os.environ):
        return True
    where = home(os.environ)
    files = [_MANAGED, where / "config.toml"]
    try:
        here = Path.cwd()
    except OSError:
        pass
    else:
        files += [folder / "holdfast.toml" for folder in (here, *here.parents)]
    return any(map(os.path.lexists, files)) or any((where / "projects").glob("*/config.toml"))
