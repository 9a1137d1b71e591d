"""Plugin folder: Holdfast as a plugin that Codex installs from a marketplace.

The marketplace is the folder that holds `.agents/plugins/marketplace.json`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final

from holdfast.core.events.install_request import Json, Skill, WantedCopy, skill_copies
from holdfast.harnesses import plugin_folder
from holdfast.harnesses.base import SetupBlocker
from holdfast.harnesses.codex import hooks, setup
from holdfast.harnesses.fields import mapping, text
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
    "Then start `codex`, look at the plugin's hooks in the dialog that it opens (or by `/hooks`) and trust\n"
    "them: until then it passes them over.\n\n"
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


def is_turned_on(config: Path) -> bool:
    """Whether these settings turn the plugin on."""
    return bool(_turned_on(config))


def unreviewed(config: Path) -> SetupBlocker | None:
    """Why Codex does not call the plugin's hooks; None if it does, or there is no plugin."""
    states = mapping(setup.settings_table(config, "hooks").get("state"))
    labels = [setup.label_of(event) for event, _ in setup.TIMEOUTS]
    keys = [f"{id}:{_HOOKS}:{label}:0:0" for id in _turned_on(config) for label in labels]
    unknown = sum(not text(mapping(states.get(key)), "trusted_hash") for key in keys)
    if not unknown:
        return None
    problem = f"{unknown} of the plugin's hooks wait for a review, and until then Codex silently ignores them"
    return SetupBlocker(problem, setup.REMEDY)


def _turned_on(config: Path) -> list[str]:
    """The ids of the plugin that these settings turn on, from whatever marketplaces it came."""
    plugins = setup.settings_table(config, "plugins")
    return [
        id
        for id, state in plugins.items()
        if id.partition("@")[0] == NAME and mapping(state).get("enabled") is True
    ]


def _marketplace() -> Json:
    plugin: Json = {
        "name": NAME,
        "source": {"source": "local", "path": f"./{FOLDER.as_posix()}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return {"name": NAME, "interface": {"displayName": "Holdfast"}, "plugins": [plugin]}
