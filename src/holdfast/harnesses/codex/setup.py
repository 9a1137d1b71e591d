"""Setup: what to install for Codex, whether it trusts it, and when its configuration lets it compact.

Nothing is written here: the wanted entries are returned, and `files` merges them into its own files.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
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
from holdfast.harnesses.base import SetupBlocker
from holdfast.harnesses.fields import items, mapping, read_object, text
from holdfast.lazy_dataclass import dataclass

# Seconds. The hook itself gives up sooner; these limits only matter if it cannot even start. For the last
# two Codex allows three at most, and warns about more.
TIMEOUTS = (
    ("SessionStart", 5),
    ("UserPromptSubmit", 5),
    ("Stop", 5),
    ("PreCompact", 10),
    ("PostCompact", 5),
    ("SessionEnd", 3),
    ("Interrupt", 3),
)


class Installation:
    """Where Codex's files are, and what setup adds to them.

    `folder` is the folder for its files; empty for the usual one. With a `root` its settings are those of the
    project there.
    """

    def __init__(self, folder: str = "", root: Path | None = None) -> None:
        self._folder = folder
        self._root = root

    def for_environment(self, environment: Mapping[str, str]) -> Self:
        return type(self)(environment.get("CODEX_HOME", ""))

    def in_project(self, root: Path) -> Self:
        return type(self)(self._folder, root)

    def present(self, home: Path, search_path: str) -> bool:
        return self._in(home).is_dir() or shutil.which("codex", path=search_path) is not None

    def setup_blocker(self, home: Path, hook_command: str) -> SetupBlocker | None:
        config = self._in(home) / "config.toml"
        distrust = _distrust(config, self._root) if self._root else None
        return distrust or _unreviewed(self._settings(home) / "hooks.json", config, hook_command)

    def hook_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        file = self._settings(home) / "hooks.json"
        return tuple(
            WantedEntry(file, ("hooks", event), group, identity=hook_command)
            for event, group in hooks_by_event(hook_command).items()
        )

    def tool_entries(self, relay: Sequence[str], home: Path) -> tuple[InstallEntry, ...]:
        """The server of Holdfast's tools, and a paragraph about them in every session's instructions."""
        program, *words = relay
        config = self._settings(home) / "config.toml"
        value: dict[str, Json] = {"command": program, "args": [*words]}
        server = WantedMember(config, ("mcp_servers", "holdfast"), value, identity=relay[3])
        return (server,) if self._root else (server, WantedBlock(self._in(home) / "AGENTS.md", INSTRUCTIONS))

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        """The skills; its user calls one with `$name`."""
        return () if self._root else skill_copies(skills, self._in(home) / "skills")

    def _settings(self, home: Path) -> Path:
        """The folder of the settings: the user's, or one project's."""
        return self._root / ".codex" if self._root else self._in(home)

    def _in(self, home: Path) -> Path:
        return Path(self._folder) if self._folder else home / ".codex"


def hooks_by_event(hook_command: str) -> dict[str, Json]:
    """One hook for each event; without a matcher it is called for every source."""
    return {
        event: {"hooks": [{"type": "command", "command": hook_command, "timeout": seconds}]}
        for event, seconds in TIMEOUTS
    }


REMEDY: Final = "start `codex`, look at the hooks in its review dialog (or by `/hooks`) and trust them"
_TRUST = "start `codex` there and say that you trust the folder"
_ENABLE = "start `codex` and turn them on again by `/hooks`"
_SHORT = ("session_end", "interrupt")
"""Events for which Codex allows three seconds at most."""


@dataclass(frozen=True, slots=True)
class _Handler:
    """One of Holdfast's hooks in `hooks.json`, and the keys under which Codex stores its state."""

    keys: tuple[str, ...]
    hash: str
    """Empty if it has fields whose effect on the hash is unknown."""


def has_hooks(folder: Path, command: str) -> bool:
    """Whether `hooks.json` in this folder calls this command."""
    return any(True for _ in _handlers(folder / "hooks.json", command))


def _unreviewed(hooks: Path, config: Path, command: str) -> SetupBlocker | None:
    """Why Codex does not call Holdfast's hooks in this file; None if it does."""
    states = {
        key: mapping(state) for key, state in mapping(settings_table(config, "hooks").get("state")).items()
    }
    unknown = edited = off = 0
    for handler in _handlers(hooks, command):
        state = mapping(next((states[key] for key in handler.keys if key in states), None))
        trusted = text(state, "trusted_hash")
        off += state.get("enabled") is False
        unknown += not trusted
        edited += bool(trusted) and handler.hash not in ("", trusted)
    if unknown or edited:
        problem = (
            f"{unknown} of Holdfast's hooks wait"
            if unknown
            else f"{edited} of Holdfast's hooks changed and wait again"
        )
        return SetupBlocker(f"{problem} for a review, and until then Codex silently ignores them", REMEDY)
    return SetupBlocker(f"{off} of Holdfast's hooks are turned off", _ENABLE) if off else None


def _distrust(config: Path, root: Path) -> SetupBlocker | None:
    """Why Codex does not read the settings of this project at all; None if it does."""
    projects = settings_table(config, "projects")
    entries = (mapping(projects.get(str(path))) for path in (root, root.resolve(), _main_worktree(root)))
    if any(text(project, "trust_level") == "trusted" for project in entries):
        return None
    return SetupBlocker(f"it does not trust {root}, and reads no settings there until it does", _TRUST)


def _main_worktree(root: Path) -> Path:
    """The main worktree of this worktree's repository: trusting it trusts all."""
    try:
        pointer = (root / ".git").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return root
    # The file holds `gitdir: MAIN/.git/worktrees/NAME`.
    git_dir = Path(pointer.removeprefix("gitdir:").strip())
    return git_dir.parents[2] if len(git_dir.parents) > 2 else root


def _handlers(file: Path, command: str) -> Iterator[_Handler]:
    """Every hook that runs this command."""
    try:
        read = read_object(file.read_bytes())
    except OSError:
        return
    hooks = mapping({} if isinstance(read, Skipped) else read.get("hooks"))
    paths = dict.fromkeys((str(file), str(file.resolve())))
    for event, groups in hooks.items():
        label = label_of(event)
        for number, group in enumerate(items(groups)):
            for nth, handler in enumerate(items(mapping(group).get("hooks"))):
                if text(mapping(handler), "command") == command:
                    keys = tuple(f"{path}:{label}:{number}:{nth}" for path in paths)
                    yield _Handler(keys, _hash(label, mapping(group), mapping(handler)))


def label_of(event: str) -> str:
    """How Codex names an event where it notes what its user trusts."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


def _hash(label: str, group: Mapping[str, object], handler: Mapping[str, object]) -> str:
    """The hash by which Codex identifies a definition: of its canonical JSON, with defaults filled in."""
    timeout = handler.get("timeout", 600)
    is_plain = set(group) == {"hooks"} and set(handler) <= {"type", "command", "timeout"}
    if not is_plain or type(timeout) is not int:
        return ""
    seconds = max(1, min(timeout, 3) if label in _SHORT else timeout)
    definition = {"type": "command", "command": handler["command"], "timeout": seconds, "async": False}
    whole = json.dumps(
        {"event_name": label, "hooks": [definition]},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return f"sha256:{hashlib.sha256(whole.encode(errors='replace')).hexdigest()}"


def settings_table(file: Path, name: str) -> Mapping[str, object]:
    """One table of Codex's settings; an empty one if it cannot be read."""
    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return mapping(settings.get(name))


SHARE: Final = 90 / 95
_LARGEST_FILE: Final = 1 << 20


def auto_compact(home: Path, environment: Mapping[str, str]) -> AutoCompact:
    """When it compacts by itself; a configuration that cannot be read counts as empty."""
    path = Path(environment.get("CODEX_HOME") or home / ".codex") / "config.toml"
    try:
        with path.open("rb") as file:
            settings = tomllib.loads(file.read(_LARGEST_FILE).decode())
    except (OSError, ValueError, RecursionError):
        settings = {}
    limit = settings.get("model_auto_compact_token_limit")
    return AutoCompact(share=SHARE, most=limit if isinstance(limit, int) and limit > 0 else 0)
