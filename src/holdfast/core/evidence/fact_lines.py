"""Fact lines: a file, a command or the state of git in one line, the same in digests and in briefs."""

from __future__ import annotations

from typing import Final

from holdfast.core.events.event import Action
from holdfast.core.events.world import GitState
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import (
    FOUND_NOTHING,
    NOTHING_MATCHED,
    NOTHING_TO_DO,
    REFUSED,
    STOPPED,
)
from holdfast.core.evidence.trail import CommandRun, FileTouch
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import from_repository

COMMAND_CHARS: Final = 100
REASON_CHARS: Final = 100
DIRTY_SHOWN: Final = 10
_WITHOUT_FAILURE: Final = {
    REFUSED: "Refused by the user",
    STOPPED: "Stopped",
    FOUND_NOTHING: "Found nothing",
    NOTHING_MATCHED: "Nothing matched",
    NOTHING_TO_DO: "Nothing to do",
}
ACTION_VERBS: Final = {
    Action.READ: "Read",
    Action.EDIT: "Edited",
    Action.WRITE: "Wrote",
    Action.DELETE: "Deleted",
}


def file_line(touch: FileTouch) -> str:
    """A file, with what was done to it and how often."""
    times = f" ({touch.times}×)" if touch.times > 1 else ""
    if touch.renamed_to:
        return f"Renamed {touch.path} to {touch.renamed_to}"
    return f"{ACTION_VERBS[touch.action]} {touch.path}{times}"


def command_line(run: CommandRun) -> str:
    """A command in one line: its outcome first, and why it failed."""
    if run.ok is not False:
        return f"{'Started' if run.ok is None else 'Passed'}: {command_text(run)}"
    if run.reason in _WITHOUT_FAILURE:
        return f"{_WITHOUT_FAILURE[run.reason]}: {command_text(run)}"
    status = f" (exit {run.exit_status})" if run.exit_status else ""
    reason = f": {shortened(run.reason, REASON_CHARS)}" if run.reason else ""
    return f"Failed{status}: {command_text(run)}{reason}"


def command_text(run: CommandRun) -> str:
    """A command as typed, with its test counts."""
    return f"`{shell.display_form(one_line(run.command), COMMAND_CHARS)}`{counts(run)}"


def counts(run: CommandRun) -> str:
    """The test counts of a command, if it ran tests, and the first that failed."""
    if run.tests is None:
        return ""
    if not run.tests.failed:
        return f" ({_counted(run.tests.passed, run.tests.unit)} passed)"
    names = f": {', '.join(run.tests.failing[:2])}" if run.tests.failing else ""
    ran_in_all = _counted(run.tests.passed + run.tests.failed, run.tests.unit)
    return f" ({run.tests.failed} of {ran_in_all} failed{names})"


def _counted(number: int, unit: str) -> str:
    """A number with its unit, if it has one."""
    return f"{number} {unit}{'s' * (number != 1)}" if unit else str(number)


def git_lines(git: GitState | None) -> list[str]:
    """The state of git, a line each: branch and commit, uncommitted files."""
    if git is None or not (git.branch or git.head):
        return []
    commit = f" at {git.head[:10]}" if git.head else ""
    subject = f" “{git.last_commits[0]}”" if git.last_commits else ""
    lines = [from_repository(f"Branch: {git.branch or 'detached'}{commit}{subject}")]
    if git.dirty:
        more = f" and {len(git.dirty) - DIRTY_SHOWN} more" if len(git.dirty) > DIRTY_SHOWN else ""
        # A file name in a repository may contain line breaks.
        lines.append(f"Uncommitted: {', '.join(map(one_line, git.dirty[:DIRTY_SHOWN]))}{more}")
    return lines
