"""The warning that every command prints while a privacy setting cannot be read."""

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
    where = home(os.environ)
    of_project = _are_settings_of_projects(where)
    if not of_project and not _are_settings_for_all(where):
        return ""
    # Loaded only if there is something to read, so that a command that needs no settings starts fast.
    from holdfast import config

    root, project_id = _project_here() if of_project else (None, None)
    unreadable = config.load(where, root, project_id, os.environ).config.unreadable
    return unreadable.notice if unreadable else ""


def _are_settings_for_all(where: Path) -> bool:
    """Whether there is a file or a variable with settings for all projects; a dangling link is one too."""
    if any(name.startswith("HOLDFAST_") and name not in _NO_SETTINGS for name in os.environ):
        return True
    return os.path.lexists(_MANAGED) or os.path.lexists(where / "config.toml")


def _are_settings_of_projects(where: Path) -> bool:
    """Whether there is a file that may hold settings of the current project."""
    try:
        here = Path.cwd()
    except OSError:
        folders = []
    else:
        folders = [here, *here.parents]
    shared = (os.path.lexists(folder / "holdfast.toml") for folder in folders)
    return any(shared) or any((where / "projects").glob("*/config.toml"))


def _project_here() -> tuple[Path | None, str | None]:
    """The root and the id of the current project; None for both if the directory is gone."""
    # Only settings of a project need to know which one it is.
    from holdfast.engine.repository.git import identity

    try:
        project = identity(str(Path.cwd()))
    except OSError:
        return None, None
    return Path(project.root), project.project_id
