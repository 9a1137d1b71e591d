"""Check: what a brief is about to say, held against the world as it is now.

What is no longer as it was left is marked, never silently dropped and never passed on as true.
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


def checked(told: BriefInput, redact: Callable[[str], str], root: str) -> BriefInput:
    """The same, with marks and notices for what is not as the session left it: files, branch and HEAD.

    `root` is where the session's worktree is now. A branch whose name holds a secret is kept under another
    name, so that nothing can be said of it.
    """
    session = told.session
    before = session.project.root
    there = (touch.path for touch in session.trail.files if touch.action is not Action.DELETE)
    # A path that held a secret is not known any more, so that nothing can be said of its file.
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
    return replace(told, marks=marks, notices=tuple(notices))


def _moved(path: str, before: str, root: str) -> str:
    """Where a file is now whose worktree was at another place when its path was written down."""
    return f"{root}{path.removeprefix(before)}" if path.startswith(f"{before}/") else path
