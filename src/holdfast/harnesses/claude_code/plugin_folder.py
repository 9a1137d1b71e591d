"""Plugin folder: Holdfast as a plugin that Claude Code installs from a marketplace.

The marketplace is the folder that holds `.claude-plugin/marketplace.json`; the plugin is in `plugin/` there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Final

from holdfast.core.events.event import Skipped
from holdfast.core.events.install_request import Json, Skill, WantedCopy, skill_copies
from holdfast.harnesses import plugin_folder
from holdfast.harnesses.claude_code import hooks, setup
from holdfast.harnesses.fields import mapping, read_object
from holdfast.harnesses.plugin_folder import LAUNCHER_FILE, NAME, json_file, text_file

FOLDER: Final = PurePath("plugin")
_LAUNCHER: Final = plugin_folder.Launcher(
    harness="claude-code",
    hook_variables=hooks.HOOK_VARIABLES,
    quiet_events=hooks.RARELY_ANSWERED,
    data="$CLAUDE_PLUGIN_DATA",
    hook_settings=(
        '"${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json"',
        '"$CLAUDE_PROJECT_DIR/.claude/settings.local.json"',
    ),
    tool_settings=('"${CLAUDE_CONFIG_DIR:-$HOME}/.claude.json"', '"$CLAUDE_PROJECT_DIR/.mcp.json"'),
)
_COMMANDS: Final[Mapping[str, str]] = {
    "brief": """\
---
description: Show what Holdfast would give back if the context died now
allowed-tools: Bash(holdfast brief:*)
---

Run `holdfast brief` and show its output as it is. Add one line: what of importance is missing in it.
""",
    "remember": """\
---
description: Keep something beyond this session
argument-hint: what to remember
---

Call the tool `remember` of the server `holdfast` with this text, word for word: $ARGUMENTS

Say in one line what was kept, and under which id.
""",
}
_MORE: Final = f"Its commands are `/{NAME}:brief` and `/{NAME}:remember`.\n\n"


def plugin(skills: Sequence[Skill], version: str) -> tuple[WantedCopy, ...]:
    """The marketplace's list, and the plugin."""
    launcher = f'"${{CLAUDE_PLUGIN_ROOT}}/{LAUNCHER_FILE}"'
    server: Json = {"command": "sh", "args": [f"${{CLAUDE_PLUGIN_ROOT}}/{LAUNCHER_FILE}", "relay"]}
    by_event: Json = {event: [group] for event, group in setup.hooks_by_event(f"sh {launcher} hook").items()}
    return (
        json_file(PurePath(".claude-plugin", "marketplace.json"), _marketplace()),
        json_file(FOLDER / ".claude-plugin" / "plugin.json", plugin_folder.about(version)),
        json_file(FOLDER / "hooks" / "hooks.json", {"hooks": by_event}),
        json_file(FOLDER / ".mcp.json", {"mcpServers": {NAME: server}}),
        _LAUNCHER.file(FOLDER),
        text_file(FOLDER / "README.md", plugin_folder.readme("Claude Code", install_commands("DIR"), _MORE)),
        *skill_copies(skills, FOLDER / "skills"),
        *(text_file(FOLDER / "commands" / f"{name}.md", text) for name, text in sorted(_COMMANDS.items())),
    )


def install_commands(folder: str) -> tuple[str, ...]:
    return (
        f"claude plugin marketplace add {shlex.quote(folder)}",
        f"claude plugin install {NAME}@{NAME}",
    )


def is_turned_on(settings: Path) -> bool:
    """Whether these settings turn the plugin on, from whatever marketplace it came."""
    try:
        content = read_object(settings.read_bytes())
    except OSError:
        return False
    enabled = mapping({} if isinstance(content, Skipped) else content.get("enabledPlugins"))
    return any(id.partition("@")[0] == NAME and value is True for id, value in enabled.items())


def _marketplace() -> Json:
    plugin: Json = {"name": NAME, "source": f"./{FOLDER}", "description": plugin_folder.TITLE}
    return {
        "name": NAME,
        "owner": {"name": plugin_folder.AUTHOR},
        "metadata": {"description": plugin_folder.TITLE},
        "plugins": [plugin],
    }
