"""The plugin: what setup would write into a harness's files, as one folder that the harness loads.

For users who want their settings left alone, or something to switch on and off as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from holdfast import __version__, harnesses, skills
from holdfast.cli import access
from holdfast.cli.commands.daemon.hook import command_for
from holdfast.cli.commands.daemon.mcp import relay_command
from holdfast.cli.commands.start.setup import copies
from holdfast.cli.options import command
from holdfast.cli.printing import give, say
from holdfast.core.events.install_request import WantedCopy
from holdfast.engine.health import connections
from holdfast.errors import HoldfastError
from holdfast.files import atomic, install
from holdfast.harnesses.base import Harness, Pluggable


@command("holdfast plugin HARNESS ./holdfast-plugin", "holdfast plugin HARNESS ~/plugins/holdfast")
@click.argument("name", metavar="HARNESS")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, resolve_path=True, path_type=Path))
def plugin(*, name: str, folder: Path) -> None:
    """Write hooks, tools, skills and commands as a plugin that a harness loads.

    DIR is made, or renewed if it holds our plugin already; a folder with anything else in it is refused. The
    plugin works with this installation and this Holdfast home, and brings no status line. Use it instead of
    `holdfast setup`, not beside it.
    """
    harness, home = harnesses.get(name), access.home()
    if not isinstance(harness, Pluggable):
        able = [known for known in harnesses.names() if isinstance(harnesses.get(known), Pluggable)]
        raise HoldfastError(f"{harness.title} loads no plugin of ours", f"these do: {', '.join(able)}")
    files = harness.plugin(
        command_for(harness, home), relay_command(harness, home), skills.shipped(), __version__
    )
    _check_folder(folder, files)
    install.apply(install.plan_setup((), copies(home), home, access.now()))
    for file in files:
        atomic.write(folder / file.file, file.content)
        give(str(folder / file.file))
    _advise(harness, home, folder)


def _check_folder(folder: Path, files: Sequence[WantedCopy]) -> None:
    """Raise HoldfastError unless the folder is empty or holds an earlier Holdfast plugin."""
    try:
        strange = folder.exists() and any(folder.iterdir()) and not (folder / files[0].file).is_file()
    except OSError as error:
        raise HoldfastError(f"`{folder}` cannot be looked into: {error.strerror}", "name another") from error
    if strange:
        raise HoldfastError(
            f"`{folder}` holds other things, and no plugin of ours", "name a folder that is new or empty"
        )


def _advise(harness: Harness, home: Path, folder: Path) -> None:
    if connections.installed(home, harness):
        say(
            f"\nnote: {harness.title} is connected by setup already, and would be told everything twice; "
            f"run `holdfast unsetup {harness.name}` before you use the plugin"
        )
    say(f"next: `{harness.program} --plugin-dir {folder}`, or add it to a marketplace of yours")
