"""Help: the commands of daily use, all of them by topic, or one explained."""

from __future__ import annotations

import click

from holdfast.cli.command_list import all_commands
from holdfast.cli.options import command
from holdfast.cli.printing import give


@command("holdfast help all", "holdfast help recall", "holdfast help memories edit")
@click.argument("words", metavar="[all|COMMAND]...", nargs=-1)
def help_(*, words: tuple[str, ...]) -> None:
    """Explain a command, or list all of them by topic.

    Without a name it lists the commands of daily use, as `holdfast` alone does.
    """
    top = click.get_current_context().find_root()
    if words == ("all",):
        give(all_commands(top))
        return
    give(_named(top, words).get_help())


def _named(top: click.Context, words: tuple[str, ...]) -> click.Context:
    """The context of the command that the words name."""
    context = top
    for word in words:
        group = context.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"`{context.command_path}` has no commands of its own", context)
        name, inner, _ = group.resolve_command(context, [word])
        if inner is None:
            break
        context = click.Context(inner, info_name=name, parent=context)
    return context
