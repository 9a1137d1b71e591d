"""View: what a command that looks prints, made by the daemon where one answers, so that it starts at once.

Otherwise the command makes it itself, by the same functions of `engine.views.command_views`, and says what it
must.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.cli import running
from holdfast.cli.printing import say, working
from holdfast.daemon.local import client
from holdfast.errors import DaemonAway
from holdfast.lazy_dataclass import dataclass

STATUS_TIME = 2.0
"""A daemon that hangs is not waited for as long as one that is at work."""
VIEW_TIME = 60.0


@dataclass(frozen=True, slots=True)
class Place:
    """The project that a command is about, as a person named it; None for where they are."""

    named: Path | None


def current_view(name: str, place: Place | None, **options: object) -> Any:  # noqa: ANN401 - each its own
    """One of `engine.views.command_views`, of a project or of all, with what was pending taken in."""
    view = daemon_view(name, place, is_current=True, **options)
    if view is not None:
        return view
    # With the engine comes most of the package, which only a command without a daemon needs.
    from holdfast.cli import access
    from holdfast.engine.views.command_views import VIEWS

    with access.opened_desk() as engine:
        return VIEWS[name](engine, access.project_at(place.named) if place else None, **options)


def stored_view(name: str, place: Place, **options: object) -> Any:  # noqa: ANN401 - each its own
    """The same of what is stored now; what is pending is not waited for."""
    view = daemon_view(name, place, is_current=False, **options)
    if view is not None:
        return view
    # As above.
    from holdfast.cli import access
    from holdfast.engine.views.command_views import VIEWS

    project = access.project_at(place.named)
    with access.stored_desk() as engine:
        return VIEWS[name](engine, project, **options)


def daemon_view(name: str, place: Place | None, *, is_current: bool, **options: object) -> Any | None:  # noqa: ANN401
    """The same by the daemon; None if the command has to look for itself.

    That is so where no daemon of this version answers, where no directory was named, or where anything goes
    wrong: then the command says so, as it would without a daemon.
    """
    where, directory = running.home(), _directory(place)
    if place is not None and not directory:
        return None
    asked = {"view": name, "directory": directory, "is_current": is_current, "options": options}
    try:
        if client.ask(where, "status", timeout=STATUS_TIME)["version"] != __version__:
            return None
        with working("catching up"):
            answer = client.ask(where, "view", VIEW_TIME, **asked, environment=environment())
    except DaemonAway:
        return None
    if "view" not in answer:
        return None
    if note := answer["note"]:
        say(f"note: {note}")
    return answer["view"]


def environment() -> dict[str, str]:
    """The variables that say something to Holdfast: settings, the home, and the session that we run in."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("HOLDFAST_") or name.endswith("SESSION_ID") or name == "HOME"
    }


def _directory(place: Place | None) -> str:
    """The directory that is meant; empty if none is, or what was named is none."""
    if place is None:
        return ""
    try:
        named = place.named or Path.cwd()
        return str(named.absolute()) if named.is_dir() else ""
    except OSError:
        return ""
