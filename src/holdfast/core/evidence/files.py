"""Touches: the files of a trail, each with what was done to it, and what becomes of it with others.

A folder takes what is in it along: where it is deleted that is gone, where it is moved that has moved. What a
command or a patch does is read by `shell` and `patches`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from holdfast.core.events.event import Action
from holdfast.core.evidence.patches import FileChange
from holdfast.core.evidence.trail import FILES_KEPT, FileTouch

TOUCHES: Final = {Action.READ: 0, Action.EDIT: 1, Action.WRITE: 2, Action.DELETE: 3}
"""What can be done to a file, and how much that is."""


def with_change(row: tuple[FileTouch, ...], change: FileChange, at: int, step: int) -> tuple[FileTouch, ...]:
    """The files after one more change."""
    if change.action not in TOUCHES:
        return tuple(touch for touch in row if not _is_back(touch, change.path, whole=change.whole))
    if change.renamed_to:
        row = tuple(_moved(touch, change.path, change.renamed_to) for touch in row)
    elif change.action is Action.DELETE:
        row = tuple(_gone_with(touch, change.path) for touch in row)
    row = _with_touch(row, FileTouch(change.path, change.action, 1, at, step, change.renamed_to))
    if change.renamed_to:
        row = _with_touch(row, FileTouch(change.renamed_to, Action.EDIT, 1, at, step))
    return row


def _with_touch(row: tuple[FileTouch, ...], touch: FileTouch) -> tuple[FileTouch, ...]:
    before = next((other for other in row if other.path == touch.path), None)
    action, times = touch.action, 1
    if touch.renamed_to:
        action = Action.DELETE
    # A file that was deleted and is written again is there again.
    elif before and before.action is not Action.DELETE and TOUCHES[before.action] >= TOUCHES[action]:
        times = before.times + (before.action is action)
        action = before.action
    if action is not Action.DELETE:
        # And so is the folder that it stands in.
        row = tuple(other for other in row if other is before or not _is_back(other, touch.path, whole=False))
    after = replace(touch, action=action, times=times)
    return _capped((*(other for other in row if other is not before), after))


def _is_back(touch: FileTouch, path: str, *, whole: bool) -> bool:
    """Whether what was deleted is there again with a path: by itself, with what is in it, or around it."""
    if touch.action is not Action.DELETE or touch.renamed_to:
        return False
    around = touch.path == path or path.startswith(f"{touch.path}/")
    # Where nobody knows the project's root, paths are seen from there.
    inside = touch.path[:1] not in "/~" if path == "." else touch.path.startswith(f"{path}/")
    return around or (whole and inside)


def _gone_with(touch: FileTouch, folder: str) -> FileTouch:
    """The file, which is no more if it was in a folder that is no more."""
    inside = touch.path.startswith(f"{folder}/") and not touch.renamed_to
    return replace(touch, action=Action.DELETE, times=1) if inside else touch


def _moved(touch: FileTouch, folder: str, to: str) -> FileTouch:
    """The file, which stands elsewhere if it was in a folder that has another name now."""
    inside = touch.path.startswith(f"{folder}/") and touch.action is not Action.DELETE
    return replace(touch, path=to + touch.path[len(folder) :]) if inside else touch


def _capped(row: tuple[FileTouch, ...]) -> tuple[FileTouch, ...]:
    """Over the cap, the file that was only read longest ago goes first."""
    if len(row) <= FILES_KEPT:
        return row
    victim = next((touch for touch in row if touch.action is Action.READ), row[0])
    return tuple(touch for touch in row if touch is not victim)
