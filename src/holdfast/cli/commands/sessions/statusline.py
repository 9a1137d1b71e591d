"""The status line by hand: how a session stands, as a harness shows it below its prompt."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli import access
from holdfast.cli.options import command, project_option
from holdfast.cli.printing import give, say
from holdfast.engine.hook_events import line_of


@command("holdfast statusline", "holdfast statusline --session KEY")
@click.option("--session", "key", default="", metavar="KEY", help="Of this session; without it, the latest.")
@project_option()
def statusline(*, key: str, project: Path | None) -> None:
    """Print the status line of a session.

    Project, how full the context window is, the age of the last checkpoint, and what happened since: a
    compaction now would take that from the agent.
    """
    with access.current_engine() as engine:
        if key:
            sessions = [access.session_named(engine.store, key)]
        else:
            sessions = engine.store.sessions_of_project(access.project_at(project).project_id, 0, 1)
        if sessions:
            give(line_of(engine, sessions[0]))
            return
    say("no session of this project was seen yet; `holdfast sessions` lists all")
