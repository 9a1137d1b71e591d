"""Plugin folder: Holdfast as a package of npm that OpenCode loads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Final

from holdfast.core.events.install_request import Json, Skill, WantedCopy, skill_copies
from holdfast.harnesses import plugin_folder
from holdfast.harnesses.opencode import hooks
from holdfast.harnesses.plugin_folder import LAUNCHER_FILE, json_file, text_file
from holdfast.harnesses.setup_entries import POST

FOLDER: Final = PurePath("extensions", "opencode")
PACKAGE: Final = "opencode-holdfast"
_MAIN: Final = "plugin.js"
_SOURCE: Final = Path(__file__).parent / "plugin"
_LAUNCHER: Final = plugin_folder.Launcher(
    harness="opencode",
    hook_variables=hooks.HOOK_VARIABLES,
    quiet_events=(),
    data='"${0%/*}"',
)


def plugin(skills: Sequence[Skill], version: str) -> tuple[WantedCopy, ...]:
    """The package: what setup installs, told that it comes by itself."""
    about = plugin_folder.about(version)
    files: list[Json] = [_MAIN, POST.name, LAUNCHER_FILE, "skills"]
    manifest: Json = {
        **about,
        "name": PACKAGE,
        "author": plugin_folder.AUTHOR,
        "type": "module",
        "main": f"./{_MAIN}",
        "exports": {".": f"./{_MAIN}", "./server": f"./{_MAIN}"},
        "files": files,
    }
    main = (_SOURCE / _MAIN).read_text(encoding="utf-8")
    return (
        json_file(FOLDER / "package.json", manifest),
        text_file(FOLDER / _MAIN, main.replace("const PACKAGED = false", "const PACKAGED = true", 1)),
        WantedCopy(FOLDER / POST.name, POST.read_bytes()),
        _LAUNCHER.file(FOLDER),
        text_file(FOLDER / "README.md", plugin_folder.readme("OpenCode", install_commands("DIR"))),
        *skill_copies(skills, FOLDER / "skills"),
    )


def install_commands(folder: str) -> tuple[str, ...]:
    """OpenCode has no command for a folder; a plugin is named in its settings."""
    entry = json.dumps({"plugin": [str(PurePath(folder) / FOLDER)]})
    return (f"# in ~/.config/opencode/opencode.json: {entry}",)


def is_named(plugins: Iterable[object]) -> bool:
    """Whether the package is among these plugins of its settings: by its name, or by its folder's path."""
    names = [str(plugin).rstrip("/") for plugin in plugins if isinstance(plugin, str)]
    return any(name.partition("@")[0] == PACKAGE or name.endswith(FOLDER.as_posix()) for name in names)
