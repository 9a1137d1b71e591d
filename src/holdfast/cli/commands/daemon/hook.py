"""The hook by hand: `holdfast hook` delivers a hook event, `hook-command` prints what setup installs.

`holdfast.hook` does the work; this only gives it a home and its arguments.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from holdfast import config, harnesses
from holdfast import hook as carrier
from holdfast.cli.options import command
from holdfast.files import atomic
from holdfast.files.install import hook_path
from holdfast.harnesses.base import Harness


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
    carrier.run(str(home), harness.name, harness.carried, harness.quiet)


@command(
    "holdfast hook-command HARNESS",
    """echo '{"session_id": "by-hand"}' | sh -c "$(holdfast hook-command HARNESS)\"""",
)
@click.argument("name", metavar="HARNESS")
def hook_command(*, name: str) -> None:
    """Print the command line that setup gives to a harness."""
    click.echo(command_for(harnesses.get(name), config.home(os.environ)))


def command_for(harness: Harness, home: Path) -> str:
    """The command line by which this harness runs the hook.

    It uses the base interpreter of a virtual environment, which is still there when the environment is gone.
    """
    python: str = getattr(sys, "_base_executable", None) or sys.executable
    return carrier.command(python, str(hook_path(home)), harness.name, harness.carried, harness.quiet)


def status_command_for(harness: Harness, home: Path) -> str:
    """The command line by which this harness gets its status line."""
    python: str = getattr(sys, "_base_executable", None) or sys.executable
    return carrier.status_command(python, str(hook_path(home)), harness.name)


def prepare(home: Path) -> None:
    """Make the home, with a note of the interpreter that can start the daemon.

    A hook does not, since the user may have deleted the home; but a person who runs one by hand wants it.
    """
    atomic.make_folder(home / "bin")
    note = home / "bin" / "interpreter"
    if not note.exists():
        note.write_text(f"{sys.executable}\n", encoding="utf-8")
        note.chmod(0o600)
