"""The settings in effect, and which file or variable set each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import cast

from holdfast import config as settings
from holdfast.cli import access
from holdfast.cli.options import command, json_option, project_option
from holdfast.cli.printing import give_json, give_table, say

DEFAULT = "default"


@command("holdfast config", "holdfast config --json")
@project_option()
@json_option()
def config(*, project: Path | None, as_json: bool) -> None:
    """Show the settings in effect and where each comes from."""
    where = access.project_at(project)
    loaded = settings.load(access.home(), Path(where.root), where.project_id, os.environ)
    found = [(key, value, loaded.sources.get(key, DEFAULT)) for key, value in _flat(loaded.config)]
    if as_json:
        rows = [{"key": key, "value": value, "source": source} for key, value, source in found]
        give_json({"home": str(access.home()), "settings": rows, "warnings": list(loaded.warnings)})
        return
    give_table(("setting", "value", "set by"), [(key, _shown(value), source) for key, value, source in found])
    for warning in loaded.warnings:
        say(f"note: {warning}")


def _flat(loaded: settings.Config) -> Iterator[tuple[str, object]]:
    """Every setting by its full name."""
    for section in fields(loaded):
        values = getattr(loaded, section.name)
        for one in fields(values):
            yield f"{section.name}.{one.name}", getattr(values, one.name)


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return ", ".join(map(str, cast("tuple[object, ...]", value)))
        case _:
            return str(value)
