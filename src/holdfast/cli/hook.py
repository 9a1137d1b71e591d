"""The hook by hand: `holdfast hook` delivers one letter, `holdfast hook-command` prints what setup installs.

The work is `holdfast.hook`'s; here it only gets a home and its arguments.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from holdfast import config, harnesses
from holdfast.files.install import hook_path
from holdfast.harnesses.base import Harness
from holdfast.hook import command, run


@click.command()
@click.option("--harness", "name", required=True, metavar="NAME", help="Whose letter this is.")
def hook(name: str) -> None:
    """Deliver one letter from stdin, as a harness would.

    Prints what the harness would get, which often is nothing. The exit status is 0 whatever happens.

    \b
    Examples:
      holdfast hook --harness NAME < letter.json
    """
    harness = harnesses.get(name)
    home = config.home(os.environ)
    _prepare(home)
    run(str(home), harness.name, harness.carried, harness.quiet)


@click.command()
@click.argument("name", metavar="HARNESS")
def hook_command(name: str) -> None:
    """Print the command line that setup gives to a harness.

    \b
    Examples:
      holdfast hook-command HARNESS
      echo '{}' | sh -c "$(holdfast hook-command HARNESS)"
    """
    click.echo(command_for(harnesses.get(name), config.home(os.environ)))


def command_for(harness: Harness, home: Path) -> str:
    """The command line by which this harness is to run the hook.

    With the interpreter behind the virtual environment: that one is still there when the environment is gone.
    """
    python: str = getattr(sys, "_base_executable", None) or sys.executable
    return command(python, str(hook_path(home)), harness.name, harness.carried, harness.quiet)


def _prepare(home: Path) -> None:
    """A hook never makes a home, since the user may have deleted it; a person who calls one by hand wants it."""
    (home / "bin").mkdir(mode=0o700, parents=True, exist_ok=True)
    interpreter = home / "bin" / "interpreter"
    if not interpreter.exists():
        interpreter.write_text(f"{sys.executable}\n", encoding="utf-8")
        interpreter.chmod(0o600)
