"""Trust: which of our hooks Codex passes over, because its user has not reviewed them or has turned them off.

Codex runs a hook only if its settings hold the hash of the very definition that a person has looked at, and
says nothing where it runs none. That is read here and never written: to review is the user's part.
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
"""Events to which Codex gives three seconds at most."""


@dataclass(frozen=True, slots=True)
class _Handler:
    """A hook of ours as it stands in `hooks.json`, and under which names Codex keeps what it knows of it."""

    keys: tuple[str, ...]
    hash: str
    """Empty where somebody gave it fields of which we cannot tell how they count."""


def hurdle(hooks: Path, config: Path, command: str) -> SetupBlocker | None:
    """What keeps Codex from calling our hooks in this file; None if nothing does."""
    states = {key: mapping(state) for key, state in mapping(_table(config, "hooks").get("state")).items()}
    unknown = changed = off = 0
    for handler in _handlers(hooks, command):
        state = mapping(next((states[key] for key in handler.keys if key in states), None))
        trusted = text(state, "trusted_hash")
        off += state.get("enabled") is False
        unknown += not trusted
        changed += bool(trusted) and handler.hash not in ("", trusted)
    if unknown or changed:
        what = f"{unknown} of our hooks wait" if unknown else f"{changed} of our hooks changed and wait again"
        return SetupBlocker(f"{what} for a review, and until then Codex passes them over in silence", _REMEDY)
    return SetupBlocker(f"{off} of our hooks are turned off", _ENABLE) if off else None


def untrusted(config: Path, root: Path) -> SetupBlocker | None:
    """What keeps Codex from reading the settings of this project at all; None if nothing does."""
    projects = _table(config, "projects")
    known = (mapping(projects.get(str(one))) for one in (root, root.resolve(), _main_worktree(root)))
    if any(text(project, "trust_level") == "trusted" for project in known):
        return None
    return SetupBlocker(f"it does not trust {root}, and reads no settings there until it does", _TRUST)


def _main_worktree(root: Path) -> Path:
    """The worktree beside whose git directory this one's is kept: who trusts that one trusts all."""
    try:
        pointer = (root / ".git").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return root
    # It says `gitdir: MAIN/.git/worktrees/NAME`.
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
            for nth, one in enumerate(items(mapping(group).get("hooks"))):
                if text(mapping(one), "command") == command:
                    keys = tuple(f"{path}:{label}:{number}:{nth}" for path in paths)
                    yield _Handler(keys, _hash(label, mapping(group), mapping(one)))


def _hash(label: str, group: Mapping[str, object], handler: Mapping[str, object]) -> str:
    """The hash by which Codex knows a definition: of its canonical JSON, with defaults filled in."""
    timeout = handler.get("timeout", 600)
    is_plain = set(group) == {"hooks"} and set(handler) <= {"type", "command", "timeout"}
    if not is_plain or type(timeout) is not int:
        return ""
    seconds = max(1, min(timeout, 3) if label in _SHORT else timeout)
    ours = {"type": "command", "command": handler["command"], "timeout": seconds, "async": False}
    whole = json.dumps(
        {"event_name": label, "hooks": [ours]}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return f"sha256:{hashlib.sha256(whole.encode(errors='replace')).hexdigest()}"


def _table(file: Path, name: str) -> Mapping[str, object]:
    """One table of Codex's settings; an empty one if it cannot be read."""
    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return mapping(settings.get(name))
