"""Plugin folder: Holdfast as an extension of Gemini CLI."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final

from holdfast.core.events.install_request import INSTRUCTIONS, Json, Skill, WantedCopy, skill_copies
from holdfast.harnesses import plugin_folder
from holdfast.harnesses.gemini import hooks, setup
from holdfast.harnesses.plugin_folder import LAUNCHER_FILE, NAME, json_file, text_file

FOLDER: Final = PurePath("extensions", "gemini")
MANIFEST: Final = "gemini-extension.json"
_LAUNCHER: Final = plugin_folder.Launcher(
    harness="gemini",
    hook_variables=hooks.HOOK_VARIABLES,
    quiet_events=hooks.RARELY_ANSWERED,
    data='"${0%/*}"',
    # A server of the same name in its settings takes the place of the extension's.
    hook_settings=(
        '"${GEMINI_CLI_HOME:-$HOME}/.gemini/settings.json"',
        '"$GEMINI_PROJECT_DIR/.gemini/settings.json"',
    ),
)


def plugin(skills: Sequence[Skill], version: str) -> tuple[WantedCopy, ...]:
    """The extension."""
    command = f'sh "${{extensionPath}}/{LAUNCHER_FILE}" hook "$PPID"'
    by_event: Json = {event: [group] for event, group in setup.hooks_by_event(command).items()}
    server: Json = {"command": "sh", "args": [f"${{extensionPath}}/{LAUNCHER_FILE}", "relay"]}
    about = plugin_folder.about(version)
    manifest: Json = {
        **{name: about[name] for name in ("name", "version", "description")},
        "contextFileName": "GEMINI.md",
        "mcpServers": {NAME: server},
    }
    return (
        json_file(FOLDER / MANIFEST, manifest),
        json_file(FOLDER / "hooks" / "hooks.json", {"hooks": by_event}),
        text_file(FOLDER / "GEMINI.md", INSTRUCTIONS),
        _LAUNCHER.file(FOLDER),
        text_file(FOLDER / "README.md", plugin_folder.readme("Gemini CLI", install_commands("DIR"))),
        *skill_copies(skills, FOLDER / "skills"),
    )


def install_commands(folder: str) -> tuple[str, ...]:
    return (f"gemini extensions install {shlex.quote(str(PurePath(folder) / FOLDER))}",)


def is_installed(folder: Path) -> bool:
    """Whether the extension is in Gemini CLI's folder."""
    return (folder / "extensions" / NAME / MANIFEST).is_file()
