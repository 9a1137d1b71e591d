"""The reference page of the command line, generated from the commands.

`python -m holdfast.cli.reference > docs/reference/cli.md`
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from holdfast.cli.command_list import COMMANDS
from holdfast.cli.main import holdfast

WIDTH = 90
INTRODUCTION = """\
# The command line

Data goes to stdout, everything else to stderr. An error is a sentence and a hint, with exit status 1; a
command that was called wrongly exits with 2, one that was interrupted with 130. `holdfast hook` always exits
with 0.

With `--json` a command prints one JSON document on stdout and nothing else there. Every command that prints
data has it. Field names are snake_case, times are ISO 8601 in UTC, ids are whole. Two formats that other
programs know keep their own names: the documents of `holdfast continuity` and `querySurfacing` of `holdfast
recall`, and the fields of agent logs (`flushActioned` of a session, `tokensAtCheckpoint` and the others of a
checkpoint).

`holdfast session …` is a former name of `holdfast continuity …`, and `holdfast checkpoint` of `holdfast
checkpoints take`; both still work.

This page is generated: `python -m holdfast.cli.reference > docs/reference/cli.md`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    top = click.Context(holdfast, info_name="holdfast", terminal_width=WIDTH, **holdfast.context_settings)
    yield _section(top)
    for name, entry in COMMANDS.items():
        context = click.Context(entry.load(), info_name=name, parent=top)
        yield _section(context)
        if isinstance(context.command, click.Group):
            for inner in context.command.list_commands(context):
                command = context.command.get_command(context, inner)
                if command is not None:
                    yield _section(click.Context(command, info_name=inner, parent=context), level="###")


def _section(context: click.Context, level: str = "##") -> str:
    return f"{level} {context.command_path}\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    click.echo(page(), nl=False)
