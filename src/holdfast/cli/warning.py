"""The warning that every command gives while a setting that protects cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast import config
from holdfast.cli.printing import say
from holdfast.engine.git import identity


def warn_where_stopped() -> None:
    """Say in one line why nothing is captured, stored or shared, if that is so."""
    if notice := where_stopped():
        say(f"warning: {notice}")


def where_stopped() -> str:
    """Why nothing is captured, stored or shared, in this project or anywhere; empty if that is not so."""
    try:
        project = identity(str(Path.cwd()))
    except OSError:
        project = None
    root = Path(project.root) if project else None
    loaded = config.load(config.home(os.environ), root, project.project_id if project else None, os.environ)
    return loaded.config.unreadable.notice if loaded.config.unreadable else ""
