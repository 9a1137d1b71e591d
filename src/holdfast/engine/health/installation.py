"""Installation: what setup installs for each harness: command lines, entries and whole files.

Setup writes it; `connections` checks that it is still there. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from holdfast import config, environment, relay, skills
from holdfast import hook as carrier
from holdfast.core.events.install_request import InstallEntry, WantedCopy
from holdfast.errors import HoldfastError
from holdfast.files import install
from holdfast.files.install import hook_path, read_manifest
from holdfast.harnesses.base import Harness, InProject, MidTurn, Plugged, StatusLine, Tooled

_START_RELAY: Final = (
    "import os,sys;__file__=sys.argv.pop(1);os.path.exists(__file__) and exec(open(__file__,'rb').read())"
)
"""Runs the relay at the path behind it, and exits 0 in silence where that is gone."""


def command_for(harness: Harness, home: Path) -> str:
    """The command line by which this harness runs the hook.

    It uses the base interpreter of a virtual environment, which is still there when the environment is gone.
    """
    python, hook = environment.base_python(), str(hook_path(home))
    return carrier.command(python, hook, harness.name, harness.hook_variables, harness.rarely_answered)


def status_command_for(harness: Harness, home: Path) -> str:
    """The command line by which this harness gets its status line."""
    return carrier.status_command(environment.base_python(), str(hook_path(home)), harness.name)


def relay_command(harness: Harness, home: Path) -> tuple[str, ...]:
    """The command line by which this harness is to run the copy of the relay.

    With the interpreter behind the virtual environment: that one is still there when the environment is gone.
    The path is the fourth word, by which the entry is recognised.
    """
    return (
        environment.base_python(),
        "-ISc",
        _START_RELAY,
        str(relay_path(home)),
        harness.name,
        carried_variables([harness]),
    )


def relay_path(home: Path) -> Path:
    """Where the relay is copied to: beside the hook, of which it uses the first half."""
    return hook_path(home).with_name("relay.py")


def carried_variables(chosen: Iterable[Harness]) -> str:
    """The variables that name a session, as the relay expects them; it sends no others."""
    names = [name for harness in chosen for name in harness.hook_variables if name.endswith("SESSION_ID")]
    return ",".join(names) or "-"


def hook_entries(
    chosen: Iterable[Harness], home: Path, user_directory: Path, variables: Mapping[str, str]
) -> list[InstallEntry]:
    """The entries by which each harness calls the hook, and its status line where it has one."""
    return [
        entry
        for harness in chosen
        for entry in (
            *harness.hook_entries(command_for(harness, home), user_directory),
            *_more(harness, home, user_directory, variables),
        )
    ]


def _more(
    harness: Harness, home: Path, user_directory: Path, variables: Mapping[str, str]
) -> Iterator[InstallEntry]:
    """What a harness can have beyond its hooks, as far as the user wants it."""
    pressure = config.load(home, None, None, variables).config.pressure
    if pressure.mid_turn and isinstance(harness, MidTurn):
        yield from harness.mid_turn_entries(command_for(harness, home), user_directory)
    if isinstance(harness, StatusLine):
        yield from harness.status_line_entries(status_command_for(harness, home), user_directory)


def files_of(harness: Harness, home: Path, user_directory: Path) -> list[WantedCopy]:
    """Holdfast's whole files of a connected harness: its plugin, and skills if it has the tools."""
    tooled = [harness] if has_tools(harness, home, user_directory) else []
    return [*plugin_files([harness], home, user_directory), *guidance_files(tooled, user_directory)]


def has_tools(harness: Harness, home: Path, user_directory: Path) -> bool:
    """Whether setup gave it Holdfast's MCP server."""
    placed = {(record.path, entry.path) for record in read_manifest(home).edited for entry in record.placed}
    return any((tool.file, tool.path) in placed for tool in tool_entries([harness], home, user_directory))


def tool_entries(chosen: Iterable[Harness], home: Path, user_directory: Path) -> list[InstallEntry]:
    """The entries by which each harness starts Holdfast's MCP server."""
    tooled = [harness for harness in chosen if isinstance(harness, Tooled)]
    return [
        entry
        for harness in tooled
        for entry in harness.tool_entries(relay_command(harness, home), user_directory)
    ]


def plugin_files(chosen: Iterable[Harness], home: Path, user_directory: Path) -> list[WantedCopy]:
    return [
        copy
        for harness in chosen
        if isinstance(harness, Plugged)
        for copy in harness.plugin_files(home, user_directory)
    ]


def guidance_files(chosen: Iterable[Harness], user_directory: Path) -> list[WantedCopy]:
    known = skills.shipped()
    return [
        copy
        for harness in chosen
        if isinstance(harness, Tooled)
        for copy in harness.guidance(user_directory, known)
    ]


def copies(home: Path) -> tuple[WantedCopy, ...]:
    """The files by which hook and relay outlive the package: both programs, and which Python runs what."""
    return (
        *programs(home),
        WantedCopy(environment.interpreter_note(home), environment.own_interpreter()),
        WantedCopy(environment.version_note(home), environment.own_version()),
    )


def programs(home: Path) -> tuple[WantedCopy, ...]:
    """Hook and relay, as this version has them."""
    return (
        WantedCopy(install.hook_path(home), Path(carrier.__file__).read_bytes()),
        WantedCopy(relay_path(home), Path(relay.__file__).read_bytes()),
    )


def in_project(chosen: Iterable[Harness], root: Path) -> list[Harness]:
    """The same harnesses with the settings of that project; one that has none is refused."""
    return [scoped(harness, root) for harness in chosen]


def scoped(harness: Harness, root: Path) -> Harness:
    """The same for one harness."""
    if isinstance(harness, InProject):
        return harness.in_project(root)
    raise HoldfastError(
        f"{harness.title} has no settings for a single project that are yours alone",
        f"set it up for all of them: `holdfast setup {harness.name}`",
    )
