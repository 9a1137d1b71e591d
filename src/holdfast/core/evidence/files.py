"""Files: the files of a trail, each with the strongest action on it.

Deleting or moving a folder deletes or moves the files in it. `shell` and `patches` read what a command or a
patch changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from holdfast.core.events.event import Action
from holdfast.core.evidence.patches import FileChange
from holdfast.core.evidence.trail import FILES_KEPT, FileTouch

TOUCHES: Final = {Action.READ: 0, Action.EDIT: 1, Action.WRITE: 2, Action.DELETE: 3}
"""The actions on a file, with their strength."""


def with_change(
    touches: tuple[FileTouch, ...], change: FileChange, at: int, step: int
) -> tuple[FileTouch, ...]:
    """The files after one more change."""
    if change.action not in TOUCHES:
        return tuple(touch for touch in touches if not _exists_again(touch, change.path, whole=change.whole))
    if change.renamed_to:
        touches = tuple(_moved(touch, change.path, change.renamed_to) for touch in touches)
    elif change.action is Action.DELETE:
        touches = tuple(_deleted_with(touch, change.path) for touch in touches)
    touches = _with_touch(touches, FileTouch(change.path, change.action, 1, at, step, change.renamed_to))
    if change.renamed_to:
        touches = _with_touch(touches, FileTouch(change.renamed_to, Action.EDIT, 1, at, step))
    return touches


def _with_touch(touches: tuple[FileTouch, ...], touch: FileTouch) -> tuple[FileTouch, ...]:
    before = next((other for other in touches if other.path == touch.path), None)
    action, times = touch.action, 1
    if touch.renamed_to:
        action = Action.DELETE
    # A deleted file that is written again exists again,
    elif before and before.action is not Action.DELETE and TOUCHES[before.action] >= TOUCHES[action]:
        times = before.times + (before.action is action)
        action = before.action
    if action is not Action.DELETE:
        # and so does its folder.
        touches = tuple(
            other for other in touches if other is before or not _exists_again(other, touch.path, whole=False)
        )
    after = replace(touch, action=action, times=times)
    return _capped((*(other for other in touches if other is not before), after))


def _exists_again(touch: FileTouch, path: str, *, whole: bool) -> bool:
    """Whether a deleted path exists again with `path`: as itself or its parent; with `whole` also inside."""
    if touch.action is not Action.DELETE or touch.renamed_to:
        return False
    around = touch.path == path or path.startswith(f"{touch.path}/")
    # Where the project's root is unknown, paths are relative to it.
    inside = touch.path[:1] not in "/~" if path == "." else touch.path.startswith(f"{path}/")
    return around or (whole and inside)


def _deleted_with(touch: FileTouch, folder: str) -> FileTouch:
    """The file, deleted if it was in the deleted folder."""
    inside = touch.path.startswith(f"{folder}/") and not touch.renamed_to
    return replace(touch, action=Action.DELETE, times=1) if inside else touch


def _moved(touch: FileTouch, folder: str, to: str) -> FileTouch:
    """The file, at its new path if it was in the moved folder."""
    inside = touch.path.startswith(f"{folder}/") and touch.action is not Action.DELETE
    return replace(touch, path=to + touch.path[len(folder) :]) if inside else touch


def _capped(touches: tuple[FileTouch, ...]) -> tuple[FileTouch, ...]:
    """At most `FILES_KEPT` files; the oldest that was only read is dropped first."""
    if len(touches) <= FILES_KEPT:
        return touches
    victim = next((touch for touch in touches if touch.action is Action.READ), touches[0])
    return tuple(touch for touch in touches if touch is not victim)
