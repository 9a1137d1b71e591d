"""Excluded: git is told to leave a file of ours alone, in all worktrees of its repository."""

from __future__ import annotations

import re

from holdfast.core.world import Project
from holdfast.engine import git
from holdfast.engine.desk import Desk
from holdfast.files import exclude


def keep_out_of_git(desk: Desk, project: Project, path: str) -> None:
    """Have git leave a file or folder of ours alone, unless the user tracks it."""
    place = git.find(project.root)
    if desk.home is None or place is None or place.repository is None or git.tracks(place.repository, path):
        return
    pattern = re.sub(r"([*?\[])", r"\\\1", f"/{path}")
    exclude.add(desk.home, place.repository.common_dir / "info" / "exclude", pattern)
