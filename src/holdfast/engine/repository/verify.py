"""Verify: compare a brief's facts with the current files and branch.

What has changed is marked, never silently dropped and never passed on as true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from holdfast.core.brief.compose import BriefInput
from holdfast.core.events.event import Action
from holdfast.core.events.world import BranchMoved, FileChanged, FileGone, HeadMoved, differences
from holdfast.engine.repository.world import look

GRACE_MS = 2_000
"""A harness writes its record of an edit a moment after the file itself."""


def checked(brief_input: BriefInput, redact: Callable[[str], str], root: str) -> BriefInput:
    """The brief's input with marks and notices for files, branch and HEAD that changed since the session.

    `root` is where the session's worktree is now. A branch whose name holds a secret is stored under another
    name, so it cannot be compared.
    """
    session = brief_input.session
    before = session.project.root
    there = (touch.path for touch in session.trail.files if touch.action is not Action.DELETE)
    # A path that held a secret is stored redacted, so its file cannot be checked.
    paths = tuple(path for path in there if "[REDACTED" not in path)
    now_at = {_moved(path, before, root): path for path in paths}
    world = look(replace(session.project, root=root), now_at)
    marks: dict[str, str] = {}
    notices = [f"the project was at `{before}`, now it is at `{root}`."] if root != before else []
    for difference in differences(session.git, world, session.changed_at + GRACE_MS):
        match difference:
            case FileGone(path=path):
                marks[now_at[path]] = "gone since"
            case FileChanged(path=path):
                marks[now_at[path]] = "changed since"
            case BranchMoved(before=before, after=after) if redact(after) == after:
                notices.append(f"the branch was `{before or 'detached'}`, now it is `{after or 'detached'}`.")
            case HeadMoved(before=before, after=after):
                notices.append(f"HEAD was {before[:10]} when last seen, now it is {after[:10]}.")
            case BranchMoved():
                pass
    return replace(brief_input, marks=marks, notices=tuple(notices))


def _moved(path: str, before: str, root: str) -> str:
    """Where a file is now, if its worktree has moved since its path was recorded."""
    return f"{root}{path.removeprefix(before)}" if path.startswith(f"{before}/") else path
