"""Check: what a brief is about to say, held against the world as it is now.

What is no longer as it was left is marked, never silently dropped and never passed on as true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from holdfast.core.brief import Told
from holdfast.core.events import Action
from holdfast.core.world import BranchMoved, FileChanged, FileGone, HeadMoved, differences
from holdfast.engine.world import look

GRACE_MS = 2_000
"""A harness writes its record of an edit a moment after the file itself."""


def checked(told: Told, redact: Callable[[str], str]) -> Told:
    """The same, with marks and notices for what is not as the session left it: files, branch and HEAD.

    A branch whose name holds a secret is kept under another name, so that nothing can be said of it.
    """
    session = told.session
    there = (touch.path for touch in session.trail.files if touch.action is not Action.DELETE)
    # A path that held a secret is not known any more, so that nothing can be said of its file.
    paths = tuple(path for path in there if "[REDACTED" not in path)
    world = look(session.project, paths)
    marks: dict[str, str] = {}
    notices: list[str] = []
    for difference in differences(session.git, world, session.changed_at + GRACE_MS):
        match difference:
            case FileGone(path=path):
                marks[path] = "gone since"
            case FileChanged(path=path):
                marks[path] = "changed since"
            case BranchMoved(before=before, after=after) if redact(after) == after:
                notices.append(f"the branch was `{before or 'detached'}`, now it is `{after or 'detached'}`.")
            case HeadMoved(before=before, after=after):
                notices.append(f"HEAD was {before[:10]} when last seen, now it is {after[:10]}.")
            case BranchMoved():
                pass
    return replace(told, marks=marks, notices=tuple(notices))
