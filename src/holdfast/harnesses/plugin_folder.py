"""Plugin folder: what the plugins have in common by which harnesses install Holdfast themselves.

A plugin is the same on every machine. Its launcher finds the Holdfast that is installed there. The folder of
each harness says what its plugin consists of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Final

from holdfast.core.events.install_request import Json, WantedCopy
from holdfast.lazy_dataclass import dataclass

NAME: Final = "holdfast"
"""The name of the plugin, of its marketplace and of its tool server."""
TITLE: Final = "Keeps an agent's work alive when its context window dies."
AUTHOR: Final = "The Holdfast authors"
LICENSE: Final = "Apache-2.0"
LAUNCHER_FILE: Final = "holdfast.sh"
INSTALL_COMMAND: Final = "uv tool install holdfast"
MISSING: Final = f"Holdfast is not installed, so its plugin does nothing: run `{INSTALL_COMMAND}`."
"""What a user is told once where the plugin is installed without the package."""

_LAUNCHER: Final = Path(__file__).with_name("launcher.sh")
_PLACE: Final = re.compile(r"^# HARNESS: .*$", re.MULTILINE)
_VERSION: Final = re.compile(r"(\d+\.\d+\.\d+)(?:\.?(dev|a|b|rc)(\d+))?")
_HOOK_MARK: Final = "__import__('hook').main(p)"
_RELAY_MARK: Final = r'"/[^"]*/bin/relay\.py"'


@dataclass(frozen=True, slots=True)
class Launcher:
    """What the launcher of one harness's plugin is to know; the texts are words of a shell."""

    harness: str
    hook_variables: Sequence[str]
    quiet_events: Sequence[str]
    data: str
    """A folder of the plugin's own, in which it notes that it has said that Holdfast is missing."""
    hook_settings: Sequence[str] = ()
    """The files in which setup installs hooks: where it did, the plugin's hooks do nothing."""
    tool_settings: Sequence[str] = ()
    """The files in which setup installs the tool server, if the harness would start both."""

    def file(self, folder: PurePath) -> WantedCopy:
        """The launcher, for a plugin in this folder."""
        session_variables = [name for name in self.hook_variables if name.endswith("SESSION_ID")]
        lines = (
            f"harness={self.harness}",
            f"hook_variables={','.join(self.hook_variables) or '-'}",
            f"quiet_events={','.join(self.quiet_events) or '-'}",
            f"tool_variables={','.join(session_variables) or '-'}",
            f"data={self.data}",
            f"notice='{json.dumps({'systemMessage': MISSING})}'",
            _search("hooks_are_set_up", f'-F "{_HOOK_MARK}"', self.hook_settings),
            _search("tools_are_set_up", f"'{_RELAY_MARK}'", self.tool_settings),
        )
        text = _PLACE.sub(lambda _: "\n".join(lines), _LAUNCHER.read_text(encoding="utf-8"), count=1)
        return WantedCopy(folder / LAUNCHER_FILE, text.encode())


def _search(name: str, pattern: str, files: Iterable[str]) -> str:
    """A function of the shell that says whether one of these files matches."""
    names = " ".join(files)
    return f"{name}() {{ {f'grep -qs {pattern} {names}' if names else 'false'}; }}"


def json_file(file: PurePath, value: Json) -> WantedCopy:
    """A file with this content, as a person would write it."""
    return WantedCopy(file, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def text_file(file: PurePath, text: str) -> WantedCopy:
    return WantedCopy(file, text.encode())


def about(version: str) -> dict[str, Json]:
    """What every manifest of a plugin says."""
    return {
        "name": NAME,
        "version": semantic_version(version),
        "description": TITLE,
        "author": {"name": AUTHOR},
        "license": LICENSE,
    }


def semantic_version(version: str) -> str:
    """The package's version in the form that harnesses and npm expect; only the beginnings differ."""
    match = _VERSION.match(version)
    if match is None:
        return version
    release, stage, number = match.groups()
    return f"{release}-{stage}.{number}" if stage else str(release)


def readme(harness_title: str, install: Sequence[str], more: str = "") -> str:
    """What the folder says about itself."""
    commands = "\n".join(install)
    return f"""\
# Holdfast for {harness_title}

{TITLE} It watches each session from outside, keeps its goal, rules, files, commands, failures and decisions,
and hands them back when the context was compacted, cleared or lost. Everything stays on this machine.

```sh
{INSTALL_COMMAND}
{commands}
```

`DIR` is a clone of Holdfast's repository, or the folder that `holdfast plugin DIR` has written.

{more}The plugin brings hooks, tools and skills, and changes none of your settings. It uses the Holdfast that
is installed; without it, it says so once and does nothing. Where `holdfast setup` has connected
{harness_title}, the plugin leaves the work to that. `holdfast doctor` says how things stand.

These files are written by `holdfast plugin`.
"""
