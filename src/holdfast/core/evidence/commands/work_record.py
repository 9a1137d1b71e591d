"""Work record: what a finished command did to commits, branches, files, pull requests and tasks.

Only what the command and its output show together: a commit that git printed, a task that the tracker says
it closed. What prints nothing (`git checkout -- a.py`, `git tag v1`) counts if the exit status proves that it
ran. Commands in temporary folders are left out, because a repository there is made for a try.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from holdfast.core.evidence.commands.git_record import git_changes
from holdfast.core.evidence.commands.program_call import PlacedChange, RecordedCall, calls_of
from holdfast.core.evidence.commands.tracker_record import beads_changes, github_changes
from holdfast.core.evidence.commands.work_change import WorkChange
from holdfast.core.text.lazy_patterns import compiled


def work_changes(command: str, output: str, *, ok: bool, project: str = "") -> tuple[WorkChange, ...]:
    """What a command line did to the work, in the order of its simple commands, each change once."""
    if not _MENTIONS.search(command):
        return ()
    calls = calls_of(_READERS, command, output, ok=ok, project=project)
    changes: list[PlacedChange] = []
    for program, read in _READERS.items():
        own_calls = [call for call in calls if call.program == program]
        if own_calls:
            changes += read(own_calls, output)
    changes.sort(key=lambda placed: placed[0])
    return tuple(dict.fromkeys(change for _, change in changes))


_READERS: Final[Mapping[str, Callable[[Sequence[RecordedCall], str], Iterator[PlacedChange]]]] = {
    "git": git_changes,
    "gh": github_changes,
    "bd": beads_changes,
}
_MENTIONS: Final = compiled(r"\b(?:git|gh|bd)\b")
