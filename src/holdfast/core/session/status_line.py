"""The status line: how a session stands, in one line that a person reads at a glance.

Where it works, how full its window is, when it was last saved, and what a compaction now would take from it.
Legible without colour. Who shows it is not known here.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.events.event import Action
from holdfast.core.session.pressure import percent, tokens
from holdfast.core.session.session import Session
from holdfast.core.text.defang import printable
from holdfast.core.text.strings import elapsed, one_line

STEPS: Final = 10
NAME_CHARS: Final = 32
BETWEEN: Final = " · "


def status_line(session: Session, used: int, capacity: int, now: int) -> str:
    """The line of a session of whose window so many tokens are used."""
    parts = [project_name(session.project.path), _gauge(used, capacity), _saved(session, now), _lost(session)]
    return BETWEEN.join(filter(None, parts))


def project_name(path: str) -> str:
    """The last part of a project's path, with nothing in it that a terminal would obey."""
    name = one_line(printable(path.rstrip("/").rpartition("/")[2]))
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def _gauge(used: int, capacity: int) -> str:
    if not used:
        return ""
    full = min(percent(used, capacity) * STEPS // 100, STEPS)
    bar = "█" * full + "░" * (STEPS - full)
    return f"{bar} {percent(used, capacity)}% {tokens(used)}/{tokens(capacity)}"


def _saved(session: Session, now: int) -> str:
    saved_at = _saved_at(session)
    return f"checkpoint {elapsed(now - saved_at)} ago" if saved_at else "no checkpoint yet"


def _saved_at(session: Session) -> int:
    """When the last checkpoint was taken; 0 if there is none."""
    return session.last_checkpoint_at if session.last_checkpoint_at > session.started_at else 0


def _lost(session: Session) -> str:
    """What happened since the last checkpoint, and is in none."""
    prompts, since = session.prompts_told - session.prompts_at_checkpoint, _saved_at(session)
    files = sum(touch.action is not Action.READ and touch.at > since for touch in session.trail.files)
    commands = sum(run.at > since for run in session.trail.commands)
    said = [_counted(prompts, "prompt"), _counted(files, "file"), _counted(commands, "command")]
    return f"unsaved: {', '.join(found)}" if (found := [each for each in said if each]) else "all saved"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number > 1 else ''}" if number > 0 else ""
