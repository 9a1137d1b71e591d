"""Settings: the OpenClaw settings that Holdfast needs, read from its own JSON5 file.

Nothing is written here. A file that is missing or cannot be read counts as empty.
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
    directories = [_path(state, where) for agent in every if (where := text(agent, "workspace"))]
    return tuple(dict.fromkeys(directories)) or (state / "workspace",)


def searched(state: Path) -> tuple[Path, ...]:
    """The files and directories that its own memory search covers; none if it is off."""
    settings = _read(state)
    agents = mapping(settings.get("agents"))
    # Newer versions moved this setting and no longer read the old place; its content is the same.
    search = {
        **mapping(settings.get("memorySearch")),
        **mapping(mapping(agents.get("defaults")).get("memorySearch")),
        **mapping(mapping(settings.get("memory")).get("search")),
    }
    if (
        search.get("enabled") is False
        or mapping(mapping(settings.get("plugins")).get("slots")).get("memory") == "none"
    ):
        return ()
    more = (
        entry if isinstance(entry, str) else text(mapping(entry), "path")
        for entry in items(search.get("extraPaths"))
    )
    memory_paths = (where / name for where in workspaces(state) for name in (_LEAD, _NOTES))
    return (*memory_paths, *(_path(state, where) for where in more if where))


def hurdle(state: Path) -> SetupBlocker | None:
    """Why it does not load Holdfast's plugin although it is in its settings; None if it does."""
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
    """The settings of single agents; older versions have them in a list."""
    yield from map(mapping, mapping(agents.get("entries")).values())
    yield from map(mapping, items(agents.get("list")))


def _path(state: Path, where: str) -> Path:
    return state.parent / where[2:] if where.startswith("~/") else state / where


def _read(state: Path) -> Mapping[str, object]:
    try:
        return mapping(json_spans.read((state / SETTINGS).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return {}
