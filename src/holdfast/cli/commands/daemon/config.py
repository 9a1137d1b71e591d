"""The settings in effect, which file or variable set each, and what each one means.

`config_changes` writes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from holdfast import config as settings
from holdfast.cli import daemon_requests
from holdfast.cli.daemon_requests import ProjectChoice, view_by_daemon
from holdfast.cli.groups import Entry, ListingGroup, MistypedName, completions, nearest
from holdfast.cli.options import command, json_option, project_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.core.session.pressure import KnownModel, Threshold
from holdfast.settings import TABLE, Setting

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

DEFAULT = "default"
DOC_WIDTH = 78
VALUE_WIDTH = 28
"""The list shortens longer values, so that no name is cut; `holdfast config KEY` shows them whole."""


@command(
    "holdfast config",
    "holdfast config capture",
    "holdfast config continuity.recovery_window_hours",
    "holdfast config set capture.exclude '~/private, */scratch-*'",
    "holdfast config edit",
)
@project_option()
@json_option()
def list_settings(*, project: Path | None, as_json: bool) -> None:
    """Show, explain and change the settings.

    Alone it lists the settings in effect and where each comes from; `holdfast config KEY` explains one, and
    `holdfast config TABLE` lists those of one table.
    """
    _give_settings(project, "", as_json=as_json)


@command("holdfast config continuity.recovery_window_hours", "holdfast config capture --json")
@click.argument("key")
@project_option()
@json_option()
def explain(*, key: str, project: Path | None, as_json: bool) -> None:
    """Explain one setting: what it means, its default, what is allowed, and where its value comes from."""
    above = click.get_current_context().parent
    before: dict[str, Any] = above.params if above else {}
    project, as_json = project or before.get("project"), as_json or bool(before.get("as_json"))
    if key not in TABLE:
        _give_settings(project, key, as_json=as_json)
        return
    setting, loaded = TABLE[key], _loaded(project)
    value, source = dict(flat(loaded.config))[key], loaded.sources.get(key, DEFAULT)
    if as_json:
        give_json(_explained(setting, value, source))
        return
    give(f"{key} = {value_text(value) or '(nothing)'}\n\n{click.wrap_text(setting.doc, DOC_WIDTH)}\n")
    rows = {
        "default": settings.default_text(setting),
        "allowed": setting.allowed,
        "set by": "nothing; this is the default" if source == DEFAULT else source,
        "variable": setting.variable,
    }
    for name, text in rows.items():
        give(f"{name:<9} {text}")
    for mark in _marks(setting):
        give(f"\n{mark}")
    say(f"\nchange it: `holdfast config set {key} VALUE`")


class SettingsGroup(ListingGroup):
    """A word that is no command of it is the name of a setting, or of a table of them."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        is_setting = cmd_name in TABLE or cmd_name in tables()
        return explain if is_setting else super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word in self.entries or word.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if self.get_command(ctx, word) is None:
            raise MistypedName(unknown_key(word), ctx)
        # The name of the setting is also its argument.
        return word, explain, args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        keys = {key: setting.doc for key, setting in TABLE.items()} if incomplete else {}
        return [*super().shell_complete(ctx, incomplete), *completions(keys, incomplete)]


config = SettingsGroup(
    list_settings,
    {
        "set": Entry("daemon.config_changes", "set_", "Write a setting into your settings file."),
        "unset": Entry("daemon.config_changes", "unset", "Take a setting out of your settings file."),
        "edit": Entry("daemon.config_changes", "edit", "Open your settings file in your editor."),
    },
)


def tables() -> frozenset[str]:
    """The names of the tables of settings."""
    return frozenset(setting.table for setting in TABLE.values())


def unknown_key(key: str) -> str:
    """The sentence about a key that is no setting."""
    last_names = {name.rpartition(".")[2]: name for name in TABLE}
    near = nearest(key, (*TABLE, *tables())) or last_names.get(nearest(key, last_names), "")
    then = f"did you mean `{near}`?" if near else "`holdfast config` lists those there are"
    return f"there is no setting `{key}`; {then}"


def _give_settings(project: Path | None, table: str, *, as_json: bool) -> None:
    loaded = _loaded(project)
    file = daemon_requests.home() / "config.toml"
    entries = [
        (key, value, loaded.sources.get(key, DEFAULT))
        for key, value in flat(loaded.config)
        if not table or key.startswith(f"{table}.")
    ]
    if as_json:
        settings_rows = [
            {"key": key, "value": _plain(value), "source": source} for key, value, source in entries
        ]
        known = {"home": str(file.parent), "file": str(file), "file_exists": file.is_file()}
        give_json({**known, "settings": settings_rows, "warnings": list(loaded.warnings)})
        return
    rows = [(key, _short(value_text(value)), source) for key, value, source in entries]
    give_table(("setting", "value", "set by"), rows)
    for warning in loaded.warnings:
        say(f"note: {warning}")
    say(f"\nyour settings are in {file}{'' if file.is_file() else ', which is not there yet'}")
    say("`holdfast config KEY` explains one, `holdfast config set KEY VALUE` changes it")


def _short(text: str) -> str:
    # In ASCII: the width of other characters takes a table of them, which only a few commands load.
    return text if len(text) <= VALUE_WIDTH else f"{text[: VALUE_WIDTH - 3]}..."


def _loaded(project: Path | None) -> settings.Loaded:
    root, project_id = _project(project)
    return settings.load(daemon_requests.home(), root, project_id, os.environ)


def _explained(setting: Setting, value: object, source: str) -> dict[str, object]:
    is_number = isinstance(setting.default, int) and not isinstance(setting.default, bool)
    return {
        "key": setting.key,
        "value": _plain(value),
        "source": source,
        "meaning": setting.doc,
        "default": _plain(setting.default),
        "allowed": setting.allowed,
        "lowest": setting.low if is_number else None,
        "highest": setting.high if is_number else None,
        "choices": list(setting.choices),
        "variable": setting.variable,
        "shared": setting.shared,
        "protects": setting.protects,
    }


def _marks(setting: Setting) -> Iterator[str]:
    if setting.protects:
        yield "It protects: while it cannot be read, nothing is captured, stored or shared."
    if setting.deletes:
        yield "What exceeds it is deleted."
    if setting.shared:
        yield "A repository's `holdfast.toml` may set it too."


def _project(path_or_id: Path | None) -> tuple[Path, str]:
    """The root and the id of the project that is meant."""
    known = view_by_daemon("project_paths", ProjectChoice(path_or_id), is_current=False)
    if known is not None:
        return Path(known["root"]), known["project_id"]
    # With the engine comes most of the package, which only a command without a daemon needs.
    from holdfast.cli.access import project_at

    project = project_at(path_or_id)
    return Path(project.root), project.project_id


def flat(loaded: settings.Config) -> Iterator[tuple[str, object]]:
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


def value_text(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case Threshold():
            return f"{value.percent}% ({value.inject_as})"
        case KnownModel():
            return f"{value.name} ({value.window:,})"
        case tuple():
            return ", ".join(map(value_text, cast("tuple[object, ...]", value)))
        case _:
            return str(value)
