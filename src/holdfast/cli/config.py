"""The settings in effect, and which file or variable set each."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from holdfast import config as settings
from holdfast.cli import access
from holdfast.cli.options import command, json_option, project_option
from holdfast.cli.printing import give_json, give_table, say

DEFAULT = "default"


@command(
    "holdfast config",
    "holdfast config --json",
    '"""',
    "where = access.project_at(project)",
    "loaded = settings.load(access.home(), Path(where.root), where.project_id, os.environ)",
    "rows = [",
    '{"key": key, "value": value, "source": loaded.sources.get(key, DEFAULT)}',
    "for key, value in _flat(loaded.config)",
    "]",
    "if as_json:",
    'give_json({"home": str(access.home()), "settings": rows, "warnings": list(loaded.warnings)})',
    "return",
    'give_table(("setting", "value", "set by"), [[_shown(row[name]) for name in row] for row in rows])',
    "for warning in loaded.warnings:",
    'say(f"note: {warning}")',
    "",
    "",
    "def _flat(loaded: settings.Config) -> list[tuple[str, Any]]:",
)
@project_option()
@json_option()
def config(*, project: Path | None, as_json: bool) -> None:
    """Show the settings in effect and where each comes from.
    """Every setting by its full name."""
    sections = [(section.name, getattr(loaded, section.name)) for section in fields(loaded)]
    return [(f"{name}.{one.name}", getattr(section, one.name)) for name, section in sections for one in fields(section)]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
