"""Setup: the hooks and tools to install for Claude Code, and whether it is installed.

Nothing is written here: the wanted entries are returned, and `files` merges them into the settings.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from holdfast.core.events.install_request import (
    INSTRUCTIONS,
    Json,
    Skill,
    Wanted,
    WantedCopy,
    WantedEntry,
    WantedMember,
    skill_copies,
)

# Seconds. The hook itself gives up sooner; these limits only matter if it cannot even start.
# SessionEnd needs an explicit limit: without it the harness cancels the hook after 1.5 s.
_TIMEOUTS = (
    ("SessionStart", 5),
    ("UserPromptSubmit", 5),
    ("Stop", 5),
    ("PreCompact", 10),
    ("PostCompact", 5),
    ("SessionEnd", 5),
)


def settings_of_user(harness_home: Path, config_dir: str = "") -> Path:
    """The user's settings, for all projects.

    `config_dir` is the value of CLAUDE_CONFIG_DIR where it applies; empty means the usual folder in the home.
    """
    return _folder(harness_home, config_dir) / "settings.json"


def settings_in_project(root: Path) -> Path:
    """The user's settings for one project, which Claude Code itself excludes from git."""
    return root / ".claude" / "settings.local.json"


def wanted(hook_command: str, settings: Path) -> tuple[WantedEntry, ...]:
    """One hook for each event; without a matcher it is called for every source."""
    return tuple(
        WantedEntry(
            file=settings,
            path=("hooks", event),
            value={"hooks": [{"type": "command", "command": hook_command, "timeout": seconds}]},
            identity=hook_command,
        )
        for event, seconds in _TIMEOUTS
    )


def wanted_mid_turn(hook_command: str, settings: Path) -> tuple[WantedEntry, ...]:
    """One more hook, after every batch of tools."""
    entry: Json = {"hooks": [{"type": "command", "command": hook_command, "timeout": 5}]}
    return (WantedEntry(settings, ("hooks", "PostToolBatch"), entry, hook_command),)


def wanted_status_line(command: str, settings: Path) -> tuple[WantedMember, ...]:
    """The status line; a command that the user already has there still runs, and its output comes first."""
    value: dict[str, Json] = {"type": "command", "command": command}
    return (WantedMember(settings, ("statusLine",), value, command, wraps="command"),)


def servers_of_user(harness_home: Path, config_dir: str = "") -> Path:
    """The user's file of tool servers, for all projects.

    It is the file that holds Claude Code's own state; if its folder is moved, it is in that folder.
    """
    return (Path(config_dir) if config_dir else harness_home) / ".claude.json"


def servers_in_project(root: Path) -> Path:
    """One project's file of tool servers; Claude Code asks its user once whether to start one."""
    return root / ".mcp.json"


def wanted_tools(relay: Sequence[str], servers: Path) -> tuple[Wanted, ...]:
    """The server of Holdfast's tools."""
    program, *words = relay
    value: dict[str, Json] = {"type": "stdio", "command": program, "args": [*words]}
    return (WantedMember(servers, ("mcpServers", "holdfast"), value, identity=relay[3]),)


def guidance(harness_home: Path, skills: Sequence[Skill], config_dir: str = "") -> tuple[WantedCopy, ...]:
    """The skills, which are also slash commands, and a file of instructions for every session."""
    folder = _folder(harness_home, config_dir)
    return (
        *skill_copies(skills, folder / "skills"),
        WantedCopy(folder / "rules" / "holdfast.md", INSTRUCTIONS.encode()),
    )


def present(harness_home: Path, search_path: str, config_dir: str = "") -> bool:
    """Whether Claude Code seems to be installed: its folder exists, or the program is on the search path."""
    return _folder(harness_home, config_dir).is_dir() or shutil.which("claude", path=search_path) is not None


def _folder(harness_home: Path, config_dir: str) -> Path:
    return Path(config_dir) if config_dir else harness_home / ".claude"
