"""Setup: what to install for Claude Code, whether it is installed, and when its settings let it compact.

Nothing is written here: the wanted entries are returned, and `files` merges them into the settings.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from holdfast.core.events.event import Skipped
from holdfast.core.events.install_request import (
    INSTRUCTIONS,
    InstallEntry,
    Json,
    Skill,
    WantedCopy,
    WantedEntry,
    WantedMember,
    skill_copies,
)
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses.base import SetupBlocker
from holdfast.harnesses.fields import read_object

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


class Installation:
    """Where Claude Code's files are, and what setup adds to them.

    `config_dir` is the folder for its files; empty for the usual one. With a `root` its settings are those of
    the project there.
    """

    def __init__(self, config_dir: str = "", root: Path | None = None) -> None:
        self._config_dir = config_dir
        self._root = root

    def for_environment(self, environment: Mapping[str, str]) -> Self:
        return type(self)(environment.get("CLAUDE_CONFIG_DIR", ""))

    def in_project(self, root: Path) -> Self:
        return type(self)(self._config_dir, root)

    def present(self, home: Path, search_path: str) -> bool:
        return self._folder(home).is_dir() or shutil.which("claude", path=search_path) is not None

    def settings_file(self, home: Path) -> Path:
        """The user's settings, or one project's; those are excluded from git by Claude Code itself."""
        if self._root:
            return self._root / ".claude" / "settings.local.json"
        return self._folder(home) / "settings.json"

    def setup_blocker(self, home: Path, hook_command: str) -> SetupBlocker | None:  # noqa: ARG002 - it needs no approval
        return None

    def hook_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        settings = self.settings_file(home)
        return tuple(
            WantedEntry(settings, ("hooks", event), entry, identity=hook_command)
            for event, entry in hooks_by_event(hook_command).items()
        )

    def mid_turn_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        """One more hook, after every batch of tools."""
        entry: Json = {"hooks": [{"type": "command", "command": hook_command, "timeout": 5}]}
        return (WantedEntry(self.settings_file(home), ("hooks", "PostToolBatch"), entry, hook_command),)

    def status_line_entries(self, command: str, home: Path) -> tuple[WantedMember, ...]:
        """The status line; a command that the user already has there still runs, and its output comes first.

        None for a project: its status line would hide the user's own.
        """
        if self._root:
            return ()
        value: dict[str, Json] = {"type": "command", "command": command}
        return (WantedMember(self.settings_file(home), ("statusLine",), value, command, wraps="command"),)

    def tool_entries(self, relay: Sequence[str], home: Path) -> tuple[InstallEntry, ...]:
        """The server of Holdfast's tools."""
        program, *words = relay
        value: dict[str, Json] = {"type": "stdio", "command": program, "args": [*words]}
        return (WantedMember(self._servers(home), ("mcpServers", "holdfast"), value, identity=relay[3]),)

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        """The skills, which are also slash commands, and a file of instructions for every session."""
        if self._root:
            return ()
        folder = self._folder(home)
        return (
            *skill_copies(skills, folder / "skills"),
            WantedCopy(folder / "rules" / "holdfast.md", INSTRUCTIONS.encode()),
        )

    def _servers(self, home: Path) -> Path:
        """The file of tool servers; Claude Code asks its user once whether to start one of a project's.

        The user's is the file that holds Claude Code's own state; it moves with Claude Code's folder.
        """
        if self._root:
            return self._root / ".mcp.json"
        return (Path(self._config_dir) if self._config_dir else home) / ".claude.json"

    def _folder(self, home: Path) -> Path:
        return Path(self._config_dir) if self._config_dir else home / ".claude"


def hooks_by_event(hook_command: str) -> dict[str, Json]:
    """One hook for each event; without a matcher it is called for every source."""
    return {
        event: {"hooks": [{"type": "command", "command": hook_command, "timeout": seconds}]}
        for event, seconds in _TIMEOUTS
    }


AUTO_COMPACT_VARIABLES: Final = (
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT",
    "DISABLE_AUTO_COMPACT",
    "DISABLE_COMPACT",
)
"""The variables that are read here; the hook sends them."""
HELD_BACK: Final = 20_000
MARGIN: Final = 13_000
LEAST_WINDOW: Final = 100_000
"""A smaller requested window counts as this."""
WITHOUT_1M: Final = 200_000
_LARGEST_FILE: Final = 1 << 20
_SIZE: Final = re.compile(r"(?P<number>\d{1,9})(?P<unit>[kKmM]?)")
_YES: Final = frozenset({"1", "true", "yes", "on"})


def auto_compact(home: Path, environment: Mapping[str, str]) -> AutoCompact:
    """When it compacts by itself; settings that cannot be read count as not set."""
    settings = _settings(home, environment)
    capped = WITHOUT_1M if _is_set(environment, "CLAUDE_CODE_DISABLE_1M_CONTEXT") else 0
    off = settings.get("autoCompactEnabled") is False
    if off or _is_set(environment, "DISABLE_AUTO_COMPACT") or _is_set(environment, "DISABLE_COMPACT"):
        return AutoCompact(window=capped)
    requested_window = _size(environment.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW")) or _size(
        settings.get("autoCompactWindow")
    )
    window = max(requested_window, LEAST_WINDOW) if requested_window else 0
    share = _size(environment.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"))
    return AutoCompact(
        window=min(filter(None, (window, capped)), default=0),
        held_back=HELD_BACK,
        margin=MARGIN,
        share=share / 100 if 0 < share <= 100 else 1.0,
    )


def _settings(home: Path, environment: Mapping[str, str]) -> dict[str, object]:
    """The settings of all files together; a later file wins."""
    settings: dict[str, object] = {}
    for path in _files(home, environment):
        try:
            with path.open("rb") as file:
                content = read_object(file.read(_LARGEST_FILE))
        except OSError:
            continue
        settings |= {} if isinstance(content, Skipped) else content
    return settings


def _files(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    yield Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "settings.json"
    project = environment.get("CLAUDE_PROJECT_DIR")
    # A stranger may have written the repository: no link is followed, and only regular files are opened.
    for name in ("settings.json", "settings.local.json") if project else ():
        path = Path(project or "", ".claude", name)
        if path.is_file() and not path.is_symlink() and not path.parent.is_symlink():
            yield path


def _is_set(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").lower() in _YES


def _size(value: object) -> int:
    """A number of tokens, in full or as `200k`; 0 for anything else."""
    size_match = _SIZE.fullmatch(str(value).strip()) if isinstance(value, str | int) else None
    if size_match is None:
        return 0
    return int(size_match["number"]) * {"": 1, "k": 1_000, "m": 1_000_000}[size_match["unit"].lower()]
