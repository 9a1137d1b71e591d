"""Trust: which of Holdfast's hooks Codex ignores because its user has not reviewed them or turned them off.

Codex runs a hook only if its settings hold the hash of the exact definition that the user reviewed, and does
not say when it runs none. The settings are read here and never written: only the user reviews hooks.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.core.events.event import Skipped
from holdfast.harnesses.base import SetupBlocker
from holdfast.harnesses.fields import items, mapping, read_object, text
from holdfast.lazy_dataclass import dataclass

_REMEDY = "start `codex`, look at the hooks in its review dialog (or by `/hooks`) and trust them"
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


def hurdle(hooks: Path, config: Path, command: str) -> SetupBlocker | None:
    """Why Codex does not call Holdfast's hooks in this file; None if it does."""
    states = {key: mapping(state) for key, state in mapping(_table(config, "hooks").get("state")).items()}
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
        return SetupBlocker(f"{problem} for a review, and until then Codex silently ignores them", _REMEDY)
    return SetupBlocker(f"{off} of Holdfast's hooks are turned off", _ENABLE) if off else None


def untrusted(config: Path, root: Path) -> SetupBlocker | None:
    """Why Codex does not read the settings of this project at all; None if it does."""
    projects = _table(config, "projects")
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
        label = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
        for number, group in enumerate(items(groups)):
            for nth, handler in enumerate(items(mapping(group).get("hooks"))):
                if text(mapping(handler), "command") == command:
                    keys = tuple(f"{path}:{label}:{number}:{nth}" for path in paths)
                    yield _Handler(keys, _hash(label, mapping(group), mapping(handler)))


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


def _table(file: Path, name: str) -> Mapping[str, object]:
    """One table of Codex's settings; an empty one if it cannot be read."""
    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return mapping(settings.get(name))
