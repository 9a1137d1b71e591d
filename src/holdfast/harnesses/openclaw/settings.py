"""Settings: what a person's OpenClaw was told that concerns us, read from its own file of JSON5.

Nothing is written here. A file that is gone or cannot be read says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from holdfast.core.text import json_spans
from holdfast.harnesses.base import SetupBlocker
from holdfast.harnesses.fields import items, mapping, text

SETTINGS: Final = "openclaw.json"
PLUGIN: Final = "holdfast"
_LEAD: Final = "MEMORY.md"
_NOTES: Final = "memory"


def workspaces(state: Path) -> tuple[Path, ...]:
    """The directories in which its agents work."""
    agents = mapping(_read(state).get("agents"))
    every = (mapping(agents.get("defaults")), *_agents(agents))
    named = [_path(state, where) for agent in every if (where := text(agent, "workspace"))]
    return tuple(dict.fromkeys(named)) or (state / "workspace",)


def searched(state: Path) -> tuple[Path, ...]:
    """The files and directories that its own memory search makes findable; none if it is off."""
    told = _read(state)
    agents = mapping(told.get("agents"))
    # Newer versions have moved it, and read the old place no more; both say the same of what is wanted.
    search = {
        **mapping(told.get("memorySearch")),
        **mapping(mapping(agents.get("defaults")).get("memorySearch")),
        **mapping(mapping(told.get("memory")).get("search")),
    }
    if (
        search.get("enabled") is False
        or mapping(mapping(told.get("plugins")).get("slots")).get("memory") == "none"
    ):
        return ()
    more = (
        each if isinstance(each, str) else text(mapping(each), "path")
        for each in items(search.get("extraPaths"))
    )
    own = (where / name for where in workspaces(state) for name in (_LEAD, _NOTES))
    return (*own, *(_path(state, where) for where in more if where))


def hurdle(state: Path) -> SetupBlocker | None:
    """What keeps it from loading our plugin though it is in its settings; None if nothing."""
    plugins = mapping(_read(state).get("plugins"))
    remedy = f"change that in {state / SETTINGS}"
    if plugins.get("enabled") is False:
        return SetupBlocker("its plugins are switched off", f"take out `plugins.enabled`: {remedy}")
    if PLUGIN in items(plugins.get("deny")):
        return SetupBlocker(f"`plugins.deny` names `{PLUGIN}`", remedy)
    allowed = items(plugins.get("allow"))
    if allowed and PLUGIN not in allowed:
        return SetupBlocker(f"`plugins.allow` names others, but not `{PLUGIN}`", f"add it: {remedy}")
    return None


def _agents(agents: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """What is told of single agents; older versions have them in a list."""
    yield from map(mapping, mapping(agents.get("entries")).values())
    yield from map(mapping, items(agents.get("list")))


def _path(state: Path, where: str) -> Path:
    return state.parent / where[2:] if where.startswith("~/") else state / where


def _read(state: Path) -> Mapping[str, object]:
    try:
        return mapping(json_spans.read((state / SETTINGS).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return {}
