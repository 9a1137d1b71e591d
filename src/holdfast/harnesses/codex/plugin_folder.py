"""Plugin folder: Holdfast as a plugin that Codex installs from a marketplace.

The marketplace is the folder that holds `.agents/plugins/marketplace.json`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Final

from holdfast.core.events.install_request import Json, Skill, WantedCopy, skill_copies
from holdfast.harnesses import plugin_folder
from holdfast.harnesses.codex import hooks, setup
from holdfast.harnesses.fields import mapping
from holdfast.harnesses.plugin_folder import LAUNCHER_FILE, NAME, json_file, text_file

FOLDER: Final = PurePath("extensions", "codex")
_HOOKS: Final = "hooks.json"
_SERVERS: Final = "servers.json"
_LAUNCHER: Final = plugin_folder.Launcher(
    harness="codex",
    hook_variables=hooks.HOOK_VARIABLES,
    quiet_events=hooks.RARELY_ANSWERED,
    data='"$PLUGIN_DATA"',
    # A server of the same name in its settings takes the place of the plugin's.
    hook_settings=('"${CODEX_HOME:-$HOME/.codex}/hooks.json"', '"$(above .codex/hooks.json)"'),
)
# Codex starts a plugin's server in the project and does not say where the plugin is.
_RELAY: Final = (
    f'for launcher in "${{CODEX_HOME:-$HOME/.codex}}"/plugins/cache/*/{NAME}/*/{LAUNCHER_FILE}; do :; done; '
    'exec sh "$launcher" relay'
)
_MORE: Final = (
    "Then start `codex`, look at the plugin's hooks in the dialog that it opens (or by `/hooks`) and trust them:\n"
    "until then it passes them over.\n\n"
)


def plugin(skills: Sequence[Skill], version: str) -> tuple[WantedCopy, ...]:
    """The marketplace's list, and the plugin."""
    command = f'sh "$PLUGIN_ROOT/{LAUNCHER_FILE}" hook "$PPID"'
    by_event: Json = {event: [group] for event, group in setup.hooks_by_event(command).items()}
    server: Json = {"command": "sh", "args": ["-c", _RELAY], "env_vars": ["CODEX_HOME", "HOLDFAST_HOME"]}
    parts: dict[str, Json] = {"skills": "./skills/", "hooks": f"./{_HOOKS}", "mcpServers": f"./{_SERVERS}"}
    return (
        json_file(PurePath(".agents", "plugins", "marketplace.json"), _marketplace()),
        json_file(FOLDER / ".codex-plugin" / "plugin.json", plugin_folder.about(version) | parts),
        json_file(FOLDER / _HOOKS, {"hooks": by_event}),
        json_file(FOLDER / _SERVERS, {"mcpServers": {NAME: server}}),
        _LAUNCHER.file(FOLDER),
        text_file(FOLDER / "README.md", plugin_folder.readme("Codex", install_commands("DIR"), _MORE)),
        *skill_copies(skills, FOLDER / "skills"),
    )


def install_commands(folder: str) -> tuple[str, ...]:
    return (f"codex plugin marketplace add {shlex.quote(folder)}", f"codex plugin add {NAME}@{NAME}")


def is_turned_on(plugins: Mapping[str, object]) -> bool:
    """Whether this table of its settings turns the plugin on, from whatever marketplace it came."""
    states = {id.partition("@")[0]: mapping(state) for id, state in plugins.items()}
    return mapping(states.get(NAME)).get("enabled") is True


def _marketplace() -> Json:
    plugin: Json = {
        "name": NAME,
        "source": {"source": "local", "path": f"./{FOLDER.as_posix()}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return {"name": NAME, "interface": {"displayName": "Holdfast"}, "plugins": [plugin]}
