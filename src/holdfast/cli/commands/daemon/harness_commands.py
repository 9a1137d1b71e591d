"""The commands that harnesses run: `hook`, `mcp` and `statusline`; `hook-command` prints what setup installs.

`holdfast.hook` and `holdfast.relay` do the work; these only give them a home and their arguments.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from holdfast import config, environment, harnesses, relay, system
from holdfast import hook as carrier
from holdfast.cli.options import command, project_option
from holdfast.cli.printing import give, say
from holdfast.engine.health.installation import carried_variables, command_for
from holdfast.files import atomic


@command("holdfast hook --harness HARNESS < event.json")
@click.option("--harness", "name", required=True, metavar="HARNESS", help="Whose hook event this is.")
def hook(*, name: str) -> None:
    """Deliver one hook event from stdin, as a harness would.

    Prints what the harness would get, which often is nothing. The exit status is 0 whatever happens.
    """
    harness = harnesses.get(name)
    home = config.home(os.environ)
    with suppress(OSError):  # Even if the disk is not writable, a daemon may answer.
        prepare(home)
    carrier.run(str(home), harness.name, harness.hook_variables, harness.rarely_answered)


@command(
    "holdfast hook-command HARNESS",
    """echo '{"session_id": "by-hand"}' | sh -c "$(holdfast hook-command HARNESS)\"""",
)
@click.argument("name", metavar="HARNESS")
def hook_command(*, name: str) -> None:
    """Print the command line that setup gives to a harness."""
    click.echo(command_for(harnesses.get(name), config.home(os.environ)))


def prepare(home: Path) -> None:
    """Make the home, with a note of the interpreter that can start the daemon.

    A hook does not, since the user may have deleted the home; but a person who runs one by hand wants it.
    """
    atomic.make_folder(home / "bin")
    note = environment.interpreter_note(home)
    if not note.exists():
        note.write_bytes(environment.own_interpreter())
        note.chmod(0o600)


@command("holdfast mcp", "npx @modelcontextprotocol/inspector --cli holdfast mcp --method tools/list")
@click.option("--harness", "name", default="", metavar="HARNESS", help="Who starts it, if setup knows them.")
def mcp(*, name: str) -> None:
    """Speak MCP on stdin and stdout: the server of Holdfast's tools.

    For a harness to start, in the directory that its agent works in. `holdfast setup` tells those that it
    knows to do so; any other can be told to run this. The daemon is started if it is away.
    """
    home = config.home(os.environ)
    chosen = [harnesses.get(harness) for harness in ([name] if name else harnesses.names())]
    with suppress(OSError):  # Even if the disk is not writable, a daemon may run.
        prepare(home)
    words = ["-I", "-S", relay.__file__, name or "-", carried_variables(chosen), str(home)]
    # Replaces this process: a process that lives as long as a session should be small.
    system.become([sys.executable, *words], os.environ)


@command("holdfast statusline", "holdfast statusline --session KEY")
@click.option("--session", "key", default="", metavar="KEY", help="Of this session; without it, the latest.")
@project_option()
def statusline(*, key: str, project: Path | None) -> None:
    """Print the status line of a session.

    Project, how full the context window is, the age of the last checkpoint, and what happened since: a
    compaction now would take that from the agent.
    """
    # The engine is heavy; the other commands of harnesses start without it.
    from holdfast.cli import access
    from holdfast.engine.hook_events import line_of
    from holdfast.engine.ids import session_named

    with access.current_engine() as engine:
        if key:
            sessions = [session_named(engine.store, key)]
        else:
            sessions = engine.store.sessions_of_project(access.project_at(project).project_id, 0, 1)
        if sessions:
            give(line_of(engine, sessions[0]))
            return
    say("no session of this project was seen yet; `holdfast sessions` lists all")
