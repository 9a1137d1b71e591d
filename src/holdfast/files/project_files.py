"""What is kept of a project's continuity in our own home, and which sessions it was made from.

For forgetting. The files in a worktree are the user's, and are not here.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from holdfast.files import audit_log

LOG: Final = "session-continuity-log.jsonl"
_FOLDERS: Final = ("continuity", "audit", "dream")


def continuity_folders(project: Path) -> list[Path]:
    """The folders of one project that hold its shared layer, past versions, account and candidates."""
    return [project / name for name in _FOLDERS if (project / name).is_dir()]


def projects(home: Path) -> list[Path]:
    """The folders of all projects of which any of this is kept."""
    return [project for project in sorted((home / "projects").glob("*")) if continuity_folders(project)]


def made_from(project: Path, keys: Collection[str]) -> bool:
    """Whether one of these sessions went into it: what one session wrote, the next has merged."""
    told = audit_log.tail(project / "audit" / LOG)
    return any(str(line.get("sourceSessionId")) in keys for line in told)
