"""Setup: what to install for OpenCode, whether it is installed, and how much of a window it leaves free.

Nothing is written here: the wanted entries are returned, and `files` merges them into its own files.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from holdfast.core.events.event import Skipped
from holdfast.core.events.install_request import (
    INSTRUCTIONS,
    InstallEntry,
    Json,
    Skill,
    WantedBlock,
    WantedCopy,
    WantedEntry,
    WantedMember,
    skill_copies,
)
from holdfast.core.session.pressure import AutoCompact
from holdfast.core.text import json_spans
from holdfast.harnesses.base import SetupBlocker
from holdfast.harnesses.fields import items, mapping, read_object, tokens
from holdfast.harnesses.setup_entries import plugin_copies

_SOURCE: Final = Path(__file__).parent / "plugin"


class Installation:
    """Where OpenCode's files are, and what setup adds to them.

    `config` is the folder in which programs keep their settings; empty for the usual one.
    """

    def __init__(self, config: str = "") -> None:
        self._config = config

    def for_environment(self, environment: Mapping[str, str]) -> Self:
        return type(self)(environment.get("XDG_CONFIG_HOME", ""))

    def present(self, home: Path, search_path: str) -> bool:
        return self._in(home).is_dir() or shutil.which("opencode", path=search_path) is not None

    def setup_blocker(self, home: Path, hook_command: str) -> SetupBlocker | None:  # noqa: ARG002 - it needs no approval
        return None

    def hook_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        """The plugin, with the command that it runs if the daemon does not answer."""
        folder = self._in(home)
        value: list[Json] = [_plugin(folder).as_uri(), {"command": hook_command}]
        return (WantedEntry(_settings(folder), ("plugin",), value, identity=hook_command),)

    def plugin_files(self, holdfast: Path, home: Path) -> tuple[WantedCopy, ...]:
        """The plugin itself, in its own folder: OpenCode takes every file of the usual one for a plugin."""
        return plugin_copies(_SOURCE, _plugin(self._in(home)).parent, holdfast)

    def tool_entries(self, relay: Sequence[str], home: Path) -> tuple[InstallEntry, ...]:
        """The server of Holdfast's tools, and a paragraph about them in every session's instructions."""
        folder = self._in(home)
        value: dict[str, Json] = {"type": "local", "command": [*relay], "enabled": True}
        return (
            WantedMember(_settings(folder), ("mcp", "holdfast"), value, identity=relay[3]),
            WantedBlock(folder / "AGENTS.md", INSTRUCTIONS),
        )

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        """The skills."""
        return skill_copies(skills, self._in(home) / "skills")

    def _in(self, home: Path) -> Path:
        return _folder_in(self._config, home)


def _folder_in(config: str, home: Path) -> Path:
    return Path(config or home / ".config") / "opencode"


def _settings(folder: Path) -> Path:
    """The user's settings file: the one that allows comments, or the one without."""
    plain, commented = folder / "opencode.json", folder / "opencode.jsonc"
    return commented if commented.is_file() and not plain.exists() else plain


def _plugin(folder: Path) -> Path:
    return folder / "holdfast" / "plugin.js"


def plugins_in(folder: Path) -> list[object]:
    """The plugins that the user's settings name; none if they cannot be read."""
    try:
        content = json_spans.read(_settings(folder).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return []
    return list(items(mapping(content).get("plugin")))


RESERVED: Final = 20_000
"""Tokens, if the user set nothing else."""
LONGEST_ANSWER: Final = 32_000
"""Tokens: the most that it reserves for any model's answer."""


def auto_compact(home: Path, environment: Mapping[str, str]) -> AutoCompact:
    """When it compacts by itself; settings that cannot be read count as empty."""
    settings = _settings(_folder_in(environment.get("XDG_CONFIG_HOME", ""), home))
    try:
        content = read_object(settings.read_bytes())
    except OSError:
        return AutoCompact(margin=RESERVED)
    compaction = mapping({} if isinstance(content, Skipped) else content.get("compaction"))
    if compaction.get("auto") is False:
        return AutoCompact()
    reserved = compaction.get("reserved")
    return AutoCompact(margin=reserved if type(reserved) is int and reserved > 0 else RESERVED)


def window(limit: object) -> int:
    """The size of a model's window at which `auto_compact` applies; 0 if unknown.

    If the input is limited, OpenCode leaves the reserve free; if only the total is, it leaves room for the
    longest answer and nothing else.
    """
    limits = mapping(limit)
    whole, most_input, answer = (tokens(limits.get(name)) for name in ("context", "input", "output"))
    if not whole:
        return 0
    return most_input or max(whole - min(answer or LONGEST_ANSWER, LONGEST_ANSWER), 0) + RESERVED
