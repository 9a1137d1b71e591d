"""Changes of settings: checked first, then written in one step; the rest of the file stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final, cast

import click

from holdfast import config as settings
from holdfast.cli import access
from holdfast.cli.commands.daemon.config import DEFAULT, flat, unknown_key, value_text
from holdfast.cli.groups import MistypedName
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, home_path, say
from holdfast.core.events.install_request import Json
from holdfast.core.text.untrusted import printable
from holdfast.errors import HoldfastError
from holdfast.files import atomic
from holdfast.files.toml_text import with_value, without_value
from holdfast.lazy_dataclass import dataclass
from holdfast.settings import TABLE, Setting

_TEMPLATE: Final = b"""\
# Holdfast's settings, for all projects. `holdfast config` lists them, `holdfast config KEY` explains one.
"""
_project_option = click.option(
    "--project",
    type=click.Path(path_type=Path),
    metavar="DIR|ID",
    help="For this project alone; without it, for all projects.",
)


@dataclass(frozen=True, slots=True)
class _SettingsFile:
    """A settings file of the user: for all projects, or for the one with this root and id."""

    path: Path
    root: Path | None = None
    project_id: str | None = None

    @property
    def is_of_project(self) -> bool:
        return self.project_id is not None

    def text(self) -> str:
        return (atomic.read(self.path) or b"").decode("utf-8")


@command(
    "holdfast config set continuity.recovery_window_hours 12",
    "holdfast config set capture.exclude '~/private, */scratch-*'",
    "holdfast config set checkpoint.enabled false --project .",
)
@click.argument("key")
@click.argument("value")
@_project_option
@json_option()
def set_(*, key: str, value: str, project: Path | None, as_json: bool) -> None:
    """Write a setting into your settings file.

    The value is checked before anything is written; comments and everything else in the file stay as they
    are. A list is separated by commas, or written as in the file: `["a", "b"]`.
    """
    setting, file = _setting(key), _file(project)
    if setting.private and file.is_of_project:
        raise HoldfastError(f"`{key}` counts for all projects or for none", "leave out `--project`")
    raw = settings.typed_value(setting, value)
    if raw is None:
        shown = "" if setting.private else f", not `{value}`"
        raise HoldfastError(f"`{key}` must be {setting.allowed}{shown}", "nothing was written")
    before = _readable(file)
    _write(file, before, with_value(before, _path(before, key), cast("Json", raw), file.path))
    _tell(file, setting, as_json=as_json)


@command("holdfast config unset continuity.recovery_window_hours")
@click.argument("key")
@_project_option
@json_option()
def unset(*, key: str, project: Path | None, as_json: bool) -> None:
    """Take a setting out of your settings file.

    What another place sets, or the default, counts then.
    """
    setting, file = _setting(key), _file(project)
    before = _readable(file)
    after = without_value(before, _path(before, key), file.path)
    if after == before:
        say(f"{file.path} does not set `{key}`")
    else:
        _write(file, before, after)
    _tell(file, setting, as_json=as_json)


@command("holdfast config edit", "holdfast config edit --project .")
@_project_option
def edit(*, project: Path | None) -> None:
    """Open your settings file in your editor.

    In $VISUAL or $EDITOR, as a copy: it takes the file's place when you close the editor, if every line of it
    can be used. Otherwise nothing is written, and you are told which line and why.
    """
    file = _file(project)
    before = atomic.read(file.path)
    start = _TEMPLATE if before is None else before
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        draft = Path(folder, "config.toml")
        draft.write_bytes(start)
        while True:
            _open_editor(draft)
            problems = settings.file_problems(draft, of_project=file.is_of_project)
            if not problems or not _may_edit_again(problems, draft, file.path):
                break
        after = draft.read_bytes()
    if problems:
        raise HoldfastError(
            "the settings were left as they are", "`holdfast config KEY` says what is allowed"
        )
    if after == start:
        say("nothing was changed")
        return
    if atomic.read(file.path) != before:
        raise HoldfastError(f"someone else wrote `{file.path}` meanwhile", "edit it once more")
    atomic.write(file.path, after)
    give(str(file.path))
    say("changed; the daemon reads it by itself, but settings under `daemon.` only after `holdfast restart`")


def _setting(key: str) -> Setting:
    if key not in TABLE:
        raise MistypedName(unknown_key(key), click.get_current_context())
    return TABLE[key]


def _file(project: Path | None) -> _SettingsFile:
    home = access.home()
    if project is None:
        return _SettingsFile(home / "config.toml")
    where = access.project_at(project)
    path = home / "projects" / where.project_id / "config.toml"
    return _SettingsFile(path, Path(where.root), where.project_id)


def _readable(file: _SettingsFile) -> str:
    try:
        return file.text()
    except UnicodeDecodeError:
        raise HoldfastError(
            f"`{file.path}` is no text", "correct that file: `holdfast config edit`"
        ) from None


def _path(text: str, key: str) -> tuple[str, ...]:
    """Where the setting stands in the file: by its own name, unless it is there in its short form."""
    short = tuple(settings.short_form(key).split("."))
    if short != ("",):
        try:
            value: object = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return short
        for name in short:
            value = cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None
        if value is not None and not isinstance(value, dict):
            return short
    return tuple(key.split("."))


def _write(file: _SettingsFile, before: str, after: str) -> None:
    if after != before:
        atomic.write(file.path, after.encode())


def _tell(file: _SettingsFile, setting: Setting, *, as_json: bool) -> None:
    """The setting as it counts now; a note where something else decides it."""
    loaded = settings.load(access.home(), file.root, file.project_id, os.environ)
    source = loaded.sources.get(setting.key, DEFAULT)
    if as_json:
        give_json({"key": setting.key, "file": str(file.path), "source": source})
    else:
        value = value_text(dict(flat(loaded.config))[setting.key])
        origin = "the default" if source == DEFAULT else f"set by {home_path(source)}"
        give(f"{setting.key} = {value} ({origin})")
    if source.startswith("$"):
        say(f"note: {source} decides it where that variable is set")
    if setting.table == "daemon":
        say("note: the daemon reads it when it starts: `holdfast restart`")


def _open_editor(draft: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise HoldfastError("no editor is set", "set $EDITOR, or use `holdfast config set KEY VALUE`")
    done = subprocess.run([*editor.split(), str(draft)], check=False)
    if done.returncode:
        raise HoldfastError(f"the editor ended with status {done.returncode}", "nothing was changed")


def _may_edit_again(problems: tuple[str, ...], draft: Path, path: Path) -> bool:
    """Say what is wrong, and ask whether to open the editor again; False where nobody can be asked."""
    for problem in problems:
        say(f"error: {printable(problem.replace(str(draft), str(path)))}")
    return sys.stdin.isatty() and click.confirm("Edit it again?", default=True, err=True)
