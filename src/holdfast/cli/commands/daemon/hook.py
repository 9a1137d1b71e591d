"""The hook by hand: `holdfast hook` delivers one letter, `holdfast hook-command` prints what setup installs.

The work is `holdfast.hook`'s; here it only gets a home and its arguments.
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


@command("holdfast hook --harness HARNESS < letter.json")
@click.option("--harness", "name", required=True, metavar="HARNESS", help="Whose letter this is.")
def hook(*, name: str) -> None:
    """Deliver one letter from stdin, as a harness would.

    Prints what the harness would get, which often is nothing. The exit status is 0 whatever happens.
    """
    harness = harnesses.get(name)
    home = config.home(os.environ)
    with suppress(OSError):  # On a disk that takes nothing the letter still gets its chance.
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
    """The command line by which this harness is to run the hook.

    With the interpreter behind the virtual environment: that one is still there when the environment is gone.
    """
    python: str = getattr(sys, "_base_executable", None) or sys.executable
    return carrier.command(python, str(hook_path(home)), harness.name, harness.carried, harness.quiet)


def status_command_for(harness: Harness, home: Path) -> str:
    """The command line by which this harness is to have its status line written."""
    python: str = getattr(sys, "_base_executable", None) or sys.executable
    return carrier.status_command(python, str(hook_path(home)), harness.name)


def prepare(home: Path) -> None:
    """A home with a note of who can start the daemon.

    A hook makes none, since the user may have deleted it; a person who calls one by hand wants it to work.
    """
    atomic.make_folder(home / "bin")
    note = home / "bin" / "interpreter"
    if not note.exists():
        note.write_text(f"{sys.executable}\n", encoding="utf-8")
        note.chmod(0o600)
