"""Requests to the daemon, for commands that should start fast: its status, and what a listing command prints.

If no daemon answers, the command makes a view itself, by the same functions of `engine.views.command_views`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from holdfast import __version__
from holdfast.cli.printing import say, working
from holdfast.daemon.local import client
from holdfast.engine.liveness import lock_holder
from holdfast.errors import DaemonAway
from holdfast.home import home as home_of
from holdfast.lazy_dataclass import dataclass


def home() -> Path:
    """The Holdfast home."""
    return home_of(os.environ)


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def daemon_status(where: Path) -> dict[str, Any] | None:
    """The daemon's status; None if no daemon answers.

    A daemon that has the lock but does not listen yet was just started by a hook, so this waits for it. One
    that accepts a connection and does not answer hangs, and is not waited for.
    """
    until = time.monotonic() + client.START_TIME
    while not client.is_listening(where):
        if not lock_holder(where) or time.monotonic() > until:
            return None
        time.sleep(0.02)
    try:
        return client.ask(where, "status", timeout=2.0)
    except DaemonAway:
        return None


def daemon_problem(where: Path, status: Mapping[str, Any] | None) -> tuple[str, str]:
    """What is wrong with the daemon, and what to do, from the answer that it gave; empty if nothing is."""
    if status is None:
        if holder := lock_holder(where):
            hint = "look at `holdfast logs`, then `holdfast restart`"
            return f"the daemon (process {holder}) does not answer", hint
        return "", ""
    if status["version"] != __version__:
        detail = f"version {status['version']} runs, {__version__} is installed"
        return detail, "run `holdfast restart`"
    if troubles := troubles_of(status):
        return f"its housekeeping fails: {troubles}", "`holdfast logs` says why"
    return "", ""


def troubles_of(status: Mapping[str, Any]) -> str:
    """The daemon's failing housekeeping tasks, from its status; empty if none fails."""
    troubles: Mapping[str, str] = status.get("troubles") or {}
    return ", ".join(f"{chore} ({error})" for chore, error in troubles.items())


STATUS_TIME = 2.0
"""Seconds to wait for the status: shorter than for a view, so that a daemon that hangs is noticed."""
VIEW_TIME = 60.0


@dataclass(frozen=True, slots=True)
class ProjectChoice:
    """The project that a command is about, as the user named it; None for the current directory."""

    path: Path | None


def current_view(name: str, place: ProjectChoice | None, **options: object) -> Any:  # noqa: ANN401 - each its own
    """One of `engine.views.command_views`, of a project or of all, after what was pending was recorded."""
    view = view_by_daemon(name, place, is_current=True, **options)
    if view is not None:
        return view
    # The engine loads most of the package, which only a command without a daemon needs.
    from holdfast.cli import access
    from holdfast.engine.views.command_views import VIEWS

    with access.current_engine() as engine:
        return VIEWS[name](engine, access.project_at(place.path) if place else None, **options)


def stored_view(name: str, place: ProjectChoice, **options: object) -> Any:  # noqa: ANN401 - each its own
    """The same of what is stored now; it does not wait for what is pending."""
    view = view_by_daemon(name, place, is_current=False, **options)
    if view is not None:
        return view
    # As above.
    from holdfast.cli import access
    from holdfast.engine.views.command_views import VIEWS

    project = access.project_at(place.path)
    with access.stored_engine() as engine:
        return VIEWS[name](engine, project, **options)


def view_by_daemon(
    name: str, place: ProjectChoice | None, *, is_current: bool, **options: object
) -> Any | None:  # noqa: ANN401
    """The same by the daemon; None if the command has to make the view itself.

    That is so if no daemon of this version answers, if no directory is meant, or if anything goes wrong: then
    the command reports it, as it would without a daemon.
    """
    where, directory = home(), _directory(place)
    if place is not None and not directory:
        return None
    request = {"view": name, "directory": directory, "is_current": is_current, "options": options}
    try:
        if client.ask(where, "status", timeout=STATUS_TIME)["version"] != __version__:
            return None
        with working("catching up"):
            answer = client.ask(where, "view", VIEW_TIME, **request, environment=environment())
    except DaemonAway:
        return None
    if "view" not in answer:
        return None
    if note := answer["note"]:
        say(f"note: {note}")
    return answer["view"]


def environment() -> dict[str, str]:
    """The environment variables that matter to Holdfast: settings, the surrounding session, and places.

    Places are the search path and the folders in which harnesses keep their files.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("HOLDFAST_") or name in {"HOME", "PATH"} or name.endswith(_CARRIED_ENDS)
    }


_CARRIED_ENDS: Final = ("SESSION_ID", "_HOME", "_CONFIG_DIR", "_STATE_DIR")


def _directory(place: ProjectChoice | None) -> str:
    """The directory that is meant; empty if none is, or if the name is not a directory."""
    if place is None:
        return ""
    try:
        directory = place.path or Path.cwd()
        return str(directory.absolute()) if directory.is_dir() else ""
    except OSError:
        return ""
