"""Plugin: write the plugins by which harnesses install Holdfast themselves, and make it ready for them.

Each harness defines its own; the repository holds what is written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from holdfast import __version__, harnesses, skills
from holdfast.cli import access
from holdfast.cli.commands.setup import prepare as make_ready
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, say
from holdfast.core.events.install_request import WantedCopy
from holdfast.errors import HoldfastError
from holdfast.files import atomic
from holdfast.harnesses.base import Harness, Pluggable
from holdfast.harnesses.plugin_folder import LAUNCHER_FILE


@command(
    "holdfast plugin ~/holdfast-plugins",
    "holdfast plugin ~/holdfast-plugins HARNESS",
    list_harnesses=lambda: [harness.name for harness in pluggable()],
)
@click.argument(
    "folder",
    metavar="DIR",
    required=False,
    type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
)
@click.argument("names", metavar="[HARNESS]...", nargs=-1)
@click.option("--prepare", is_flag=True, help="Write no plugin; make this installation ready for plugins.")
@json_option()
def plugin(*, folder: Path | None, names: tuple[str, ...], prepare: bool, as_json: bool) -> None:
    """Write the plugins by which harnesses install Holdfast themselves.

    DIR is made, or renewed if it holds our plugins already; a folder with anything else in it is refused. The
    plugins are those that come with Holdfast's repository, and work on every machine on which Holdfast is
    installed. They leave the work to what `holdfast setup` installed, where it was run.

    With --prepare it writes hook and relay into the Holdfast home, as setup does; a plugin calls this itself.
    """
    if prepare:
        make_ready(access.home())
        return
    if folder is None:
        raise HoldfastError("no folder was named", "`holdfast plugin ./holdfast-plugins`, for example")
    chosen = _pluggable(names)
    files = plugin_files(chosen)
    _check_folder(folder, files)
    for file in files:
        atomic.write(folder / file.file, file.content)
    paths = [str(folder / file.file) for file in files]
    if as_json:
        give_json({"harnesses": [one.name for one in chosen], "folder": str(folder), "files": paths})
    else:
        give("\n".join(paths))
    for harness in chosen:
        say("\n".join((f"\n{harness.title}:", *(f"  {line}" for line in _install_commands(harness, folder)))))


def plugin_files(chosen: Iterable[Harness]) -> list[WantedCopy]:
    """Every file of these harnesses' plugins, with paths below one folder."""
    shipped = skills.shipped()
    files = [
        file
        for harness in chosen
        if isinstance(harness, Pluggable)
        for file in harness.plugin(shipped, __version__)
    ]
    return list({file.file: file for file in files}.values())


def pluggable() -> list[Harness]:
    """Every harness for which there is a plugin."""
    every = map(harnesses.get, harnesses.names())
    return [harness for harness in every if isinstance(harness, Pluggable)]


def _pluggable(names: Sequence[str]) -> list[Harness]:
    able = pluggable()
    for harness in map(harnesses.get, names):
        if harness not in able:
            known = ", ".join(one.name for one in able)
            raise HoldfastError(f"there is no plugin for {harness.title}", f"there is one for: {known}")
    return [harness for harness in able if not names or harness.name in names]


def _install_commands(harness: Harness, folder: Path) -> tuple[str, ...]:
    return harness.install_commands(str(folder)) if isinstance(harness, Pluggable) else ()


def _check_folder(folder: Path, files: Sequence[WantedCopy]) -> None:
    """Raise HoldfastError unless the folder is empty or holds earlier plugins of ours."""
    try:
        is_new = not folder.exists() or not any(folder.iterdir())
    except OSError as error:
        raise HoldfastError(f"`{folder}` cannot be looked into: {error.strerror}", "name another") from error
    launchers = [folder / file.file for file in files if file.file.name == LAUNCHER_FILE]
    if not is_new and not any(launcher.is_file() for launcher in launchers):
        raise HoldfastError(
            f"`{folder}` holds other things, and no plugin of ours", "name a folder that is new or empty"
        )
