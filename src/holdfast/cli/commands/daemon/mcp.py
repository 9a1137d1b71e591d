"""The tools' server by hand: `holdfast mcp` speaks MCP on stdin and stdout.

`holdfast.relay` does the work; this only gives it a home and its arguments.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import click

from holdfast import config, harnesses, relay
from holdfast.cli.commands.daemon.hook import prepare
from holdfast.cli.options import command
from holdfast.files.install import hook_path
from holdfast.harnesses.base import Harness


@command("holdfast mcp", "npx @modelcontextprotocol/inspector --cli holdfast mcp --method tools/list")
@click.option("--harness", "name", default="", metavar="HARNESS", help="Who starts it, if setup knows them.")
def mcp(*, name: str) -> None:
    """Speak MCP on stdin and stdout: the server of our tools.

    For a harness to start, in the directory that its agent works in. `holdfast setup` tells those that it
    knows to do so; any other can be told to run this. The daemon is started if it is away.
    """
    home = config.home(os.environ)
    chosen = [harnesses.get(harness) for harness in ([name] if name else harnesses.names())]
    with suppress(OSError):  # Even if the disk is not writable, a daemon may run.
        prepare(home)
    words = ["-I", "-S", relay.__file__, name or "-", _carried(chosen), str(home)]
    # Replaces this process: a process that lives as long as a session should be small.
    os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 - our own interpreter


def relay_command(harness: Harness, home: Path) -> tuple[str, ...]:
    """The command line by which this harness is to run the copy of the relay.

    With the interpreter behind the virtual environment: that one is still there when the environment is gone.
    """
    python: str = getattr(sys, "_base_executable", None) or sys.executable
    return (python, "-I", "-S", str(relay_path(home)), harness.name, _carried([harness]))


def relay_path(home: Path) -> Path:
    """Where the relay is copied to: beside the hook, of which it uses the first half."""
    return hook_path(home).with_name("relay.py")


def _carried(chosen: Iterable[Harness]) -> str:
    """The variables that name a session, as the relay expects them; it sends no others."""
    names = [name for harness in chosen for name in harness.carried if name.endswith("SESSION_ID")]
    return ",".join(names) or "-"
