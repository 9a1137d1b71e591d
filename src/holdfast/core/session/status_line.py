"""The status line: the state of a session in one line.

The project, how full the window is, when it was last saved, and what a compaction would lose now. Legible
without colour, and independent of the harness that shows it.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.events.event import Action
from holdfast.core.session.pressure import percent, short_count
from holdfast.core.session.session import Session
from holdfast.core.text.strings import elapsed, one_line
from holdfast.core.text.untrusted import printable

STEPS: Final = 10
NAME_CHARS: Final = 32
BETWEEN: Final = " · "


def status_line(session: Session, used: int, capacity: int, now: int) -> str:
    """The status line of a session that has used so many tokens of its window."""
    parts = [
        project_name(session.project.path),
        _gauge(used, capacity),
        _saved(session, now),
        _unsaved(session),
    ]
    return BETWEEN.join(filter(None, parts))


def project_name(path: str) -> str:
    """The last part of a project's path, without terminal control sequences."""
    name = one_line(printable(path.rstrip("/").rpartition("/")[2]))
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def _gauge(used: int, capacity: int) -> str:
    if not used:
        return ""
    full = min(percent(used, capacity) * STEPS // 100, STEPS)
    bar = "█" * full + "░" * (STEPS - full)
    return f"{bar} {percent(used, capacity)}% {short_count(used)}/{short_count(capacity)}"


def _saved(session: Session, now: int) -> str:
    saved_at = _saved_at(session)
    return f"checkpoint {elapsed(now - saved_at)} ago" if saved_at else "no checkpoint yet"


def _saved_at(session: Session) -> int:
    """When the last checkpoint was taken; 0 if there is none."""
    return session.last_checkpoint_at if session.last_checkpoint_at > session.started_at else 0


def _unsaved(session: Session) -> str:
    """What happened since the last checkpoint and would be lost."""
    prompts, since = session.prompts_known - session.prompts_at_checkpoint, _saved_at(session)
    files = sum(touch.action is not Action.READ and touch.at > since for touch in session.trail.files)
    commands = sum(run.at > since for run in session.trail.commands)
    counts = (_plural(prompts, "prompt"), _plural(files, "file"), _plural(commands, "command"))
    unsaved = ", ".join(filter(None, counts))
    return f"unsaved: {unsaved}" if unsaved else "all saved"


def _plural(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number > 1 else ''}" if number > 0 else ""
