"""The settings in effect, and which file or variable set each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from functools import reduce
from pathlib import Path
from typing import cast

from holdfast import config as settings
from holdfast.cli import daemon_requests
from holdfast.cli.daemon_requests import ProjectChoice, view_by_daemon
from holdfast.cli.options import command, json_option, project_option
from holdfast.cli.printing import give_json, give_table, say
from holdfast.core.session.pressure import KnownModel, Threshold
from holdfast.settings import TABLE

DEFAULT = "default"


@command("holdfast config", "holdfast config --json")
@project_option()
@json_option()
def config(*, project: Path | None, as_json: bool) -> None:
    """Show the settings in effect and where each comes from."""
    home = daemon_requests.home()
    root, project_id = _project(project)
    loaded = settings.load(home, root, project_id, os.environ)
    entries = [(key, value, loaded.sources.get(key, DEFAULT)) for key, value in _flat(loaded.config)]
    if as_json:
        rows = [{"key": key, "value": _plain(value), "source": source} for key, value, source in entries]
        give_json({"home": str(home), "settings": rows, "warnings": list(loaded.warnings)})
        return
    give_table(
        ("setting", "value", "set by"), [(key, _value_text(value), source) for key, value, source in entries]
    )
    for warning in loaded.warnings:
        say(f"note: {warning}")


def _project(path_or_id: Path | None) -> tuple[Path, str]:
    """The root and the id of the project that is meant."""
    known = view_by_daemon("project_paths", ProjectChoice(path_or_id), is_current=False)
    if known is not None:
        return Path(known["root"]), known["project_id"]
    # With the engine comes most of the package, which only a command without a daemon needs.
    from holdfast.cli.access import project_at

    project = project_at(path_or_id)
    return Path(project.root), project.project_id


def _flat(loaded: settings.Config) -> Iterator[tuple[str, object]]:
    """Every setting by its full name."""
    for key, setting in TABLE.items():
        value: object = reduce(getattr, key.split("."), cast("object", loaded))
        yield key, _veiled(value) if setting.private else value


def _veiled(value: object) -> object:
    """A key, or texts that are secret, not to be read over a shoulder: only that they are set."""
    if isinstance(value, tuple):
        return tuple(map(_veiled, cast("tuple[object, ...]", value)))
    return "(set)" if isinstance(value, str) and value else value


def _plain(value: object) -> object:
    """A value as JSON holds it."""
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _value_text(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case Threshold():
            return f"{value.percent}% ({value.inject_as})"
        case KnownModel():
            return f"{value.name} ({value.window:,})"
        case tuple():
            return ", ".join(map(_value_text, cast("tuple[object, ...]", value)))
        case _:
            return str(value)
