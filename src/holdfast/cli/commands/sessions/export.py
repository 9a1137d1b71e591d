"""Export: a session whose log is kept here, as a file that another program opens."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from holdfast import harnesses
from holdfast.cli import access
from holdfast.cli.options import command
from holdfast.cli.printing import say
from holdfast.core.text.untrusted import printable
from holdfast.engine.agent_log.transfer import export as lines_of
from holdfast.errors import HarnessUnknown
from holdfast.files import atomic


@command("holdfast export FORMAT holdfast:main:main --to session.jsonl")
@click.argument("harness", metavar="FORMAT")
@click.argument("session")
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Else to stdout.")
def export(*, harness: str, session: str, to: Path | None) -> None:
    """Write a session of your own agent in the format of a harness.

    SESSION is its key, FORMAT the harness in whose format logs are kept. Every record is written as it was
    kept; readers pass over those that they do not know, such as a checkpoint.
    """
    reader = harnesses.log_reader()
    if harness != reader.name:
        raise HarnessUnknown(f"nothing can be exported for `{harness}`", f"one of: {reader.name}")
    with access.stored_engine() as engine:
        text = "".join(f"{line}\n" for line in lines_of(engine, session))
    if to is None:
        # Byte for byte, but on a terminal nothing that it would obey.
        click.echo(printable(text) if sys.stdout.isatty() else text, nl=False)
    else:
        atomic.write(to, text.encode())
        say(f"{to} holds {text.count(chr(10))} records")
