"""Config: the settings in effect, from five layers, each named by the file or variable that set it.

What can be set stands in the table of `settings`; the reference page is made from there too. What a setting
does is not here.
"""

from __future__ import annotations

import fnmatch
import os
import stat
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar, cast

from holdfast.errors import ConfigError
from holdfast.lazy_dataclass import dataclass
from holdfast.settings import TABLE, Config, Setting, Value
from holdfast.settings_lists import checked_list, list_in_text, quoted, toml_list

__all__ = ["Config", "Loaded", "excluded", "home", "load", "reference"]

_Table = TypeVar("_Table")
_VARIABLES: Final[Mapping[str, Setting]] = {setting.variable: setting for setting in TABLE.values()}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in effect, which file or variable set each that is no default, and what was ignored."""

    config: Config
    sources: Mapping[str, str]
    warnings: tuple[str, ...]


def load(
    home: Path,
    project_root: Path | None,
    project_id: str | None,
    environment: Mapping[str, str],
    managed: Path = Path("/etc/holdfast/config.toml"),
) -> Loaded:
    """The settings for a project, or for none. Raises ConfigError for what its owner must mend."""
    loading = _Loading({}, {}, [])
    loading.read_own(managed)
    loading.read_own(home / "config.toml")
    if project_root is not None:
        loading.read_shared(project_root / "holdfast.toml")
    if project_id is not None:
        loading.read_of_project(home / "projects" / project_id / "config.toml")
    loading.read_environment(environment)
    return Loaded(_with_values(loading.values, environment), loading.sources, tuple(loading.warnings))


def home(environment: Mapping[str, str]) -> Path:
    """The directory of everything that Holdfast keeps: `$HOLDFAST_HOME`, or `~/.holdfast`."""
    user = environment.get("HOME") or str(Path.home())
    return Path(_at_home(environment.get("HOLDFAST_HOME") or "~/.holdfast", user)).absolute()


def excluded(config: Config, path: str | Path) -> bool:
    """Whether the project at this path is not to be captured: it, or a directory above, matches a pattern."""
    whole = PurePosixPath(Path(path).as_posix())
    return any(
        fnmatch.fnmatchcase(above.name if "/" not in pattern else str(above), pattern)
        for pattern in config.capture.exclude
        for above in (whole, *whole.parents)
    )


def reference() -> str:
    """The reference page, as `docs/reference/config.md` holds it."""
    return _INTRODUCTION + "".join(_described(setting) for setting in TABLE.values())


@dataclass(frozen=True, slots=True)
class _Loading:
    """The layers read so far."""

    values: dict[str, Value]
    sources: dict[str, str]
    warnings: list[str]

    def read_own(self, path: Path) -> None:
        """A file of the user's or the administrator's: what is wrong there must be mended, not guessed."""
        for key, raw in _keys_of(path, os.O_RDONLY):
            self._take(path, key, raw)

    def read_of_project(self, path: Path) -> None:
        """A file of the user's for one project. What is stored is redacted in one way, whosever it is."""
        for key, raw in _keys_of(path, os.O_RDONLY):
            if key in TABLE and TABLE[key].private:
                self.warnings.append(f"{path}: `{key}` counts for all projects or for none; it is ignored")
            else:
                self._take(path, key, raw)

    def _take(self, path: Path, key: str, raw: object) -> None:
        if key not in TABLE:
            self.warnings.append(f"{path}: `{key}` is not a setting; it is ignored")
            return
        value = _checked(TABLE[key], raw)
        if value is None:
            raise _out_of_bounds(path, TABLE[key], raw)
        self.values[key] = value
        self.sources[key] = str(path)

    def read_shared(self, path: Path) -> None:
        """A file that came with a repository: a stranger's, so nothing in it stops or endangers anyone."""
        try:
            keys = list(_keys_of(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)))
        except ConfigError as error:
            self.warnings.append(f"{error.message}; it is ignored")
            return
        for key, raw in keys:
            setting = TABLE.get(key)
            value = _checked(setting, raw) if setting and setting.shared else None
            if setting is None or not setting.shared:
                self.warnings.append(f"{path}: a repository may not set `{key}`; it is ignored")
            elif value is None:
                self.warnings.append(f"{path}: `{key}` must be {setting.allowed}; it is ignored")
            elif isinstance(value, tuple):
                self._add(key, cast("tuple[str, ...]", value), str(path))
            else:
                self.values[key] = value
                self.sources[key] = str(path)

    def _add(self, key: str, more: tuple[str, ...], source: str) -> None:
        present = self.values.get(key, ())
        self.values[key] = (*cast("tuple[str, ...]", present), *more)
        self.sources[key] = f"{self.sources[key]}, {source}" if key in self.sources else source

    def read_environment(self, environment: Mapping[str, str]) -> None:
        # There are fewer variables than settings, and to ask for one that is not there costs an exception.
        for variable in [name for name in environment if name in _VARIABLES]:
            setting, text = _VARIABLES[variable], environment[variable]
            value = _checked(setting, _raw_of_text(setting, text))
            if value is None:
                raise _out_of_bounds(f"${variable}", setting, text)
            self.values[setting.key] = value
            self.sources[setting.key] = f"${variable}"


_LARGEST_FILE: Final = 1 << 20


def _keys_of(path: Path, flags: int) -> Iterator[tuple[str, object]]:
    """The full keys of a file and what they are set to; none where there is no file."""
    try:
        text = _text_of(path, flags)
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", "mend or remove the file") from error
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", "mend the line that is named") from error
    yield from _flat("", document)


def _flat(above: str, table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The full keys of a table and of the tables in it, but for a table that is a setting's own value."""
    for name, raw in table.items():
        key = f"{above}{name}"
        if isinstance(raw, dict) and (not above or any(each.startswith(f"{key}.") for each in TABLE)):
            yield from _flat(f"{key}.", cast("dict[str, object]", raw))
        else:
            yield key, raw


def _text_of(path: Path, flags: int) -> str:
    # Without O_NONBLOCK, a FIFO of that name would hold us for ever.
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        if status.st_size > _LARGEST_FILE:
            raise OSError("it is larger than 1 MiB")
        return file.read(_LARGEST_FILE).decode()


def _checked(setting: Setting, raw: object) -> Value | None:
    """The value if the setting may have it, otherwise None."""
    if isinstance(setting.default, bool):
        return raw if isinstance(raw, bool) else None
    if isinstance(setting.default, int):
        fits = isinstance(raw, int) and not isinstance(raw, bool) and setting.low <= raw <= setting.high
        return raw if isinstance(raw, int) and fits else None
    if isinstance(setting.default, str):
        return raw if isinstance(raw, str) and (not setting.choices or raw in setting.choices) else None
    return checked_list(setting, raw)


def _raw_of_text(setting: Setting, text: str) -> object:
    """What a file would hold where the environment has this text."""
    text = text.strip()
    if isinstance(setting.default, bool):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
    if isinstance(setting.default, int):
        return int(text) if text.removeprefix("-").isdecimal() else None
    if isinstance(setting.default, str):
        return text
    return list_in_text(setting, text)


def _out_of_bounds(where: Path | str, setting: Setting, raw: object) -> ConfigError:
    found = "" if setting.private else f", not {raw!r}"
    return ConfigError(
        f"{where}: `{setting.key}` must be {setting.allowed}{found}",
        f"set it to {_toml(setting)}, the default, or leave it out",
    )


def _with_values(values: Mapping[str, Value], environment: Mapping[str, str]) -> Config:
    config = Config(explicit=frozenset(values))
    user = environment.get("HOME") or str(Path.home())
    for key, value in values.items():
        settled = (
            tuple(_at_home(str(item), user).rstrip("/") or "/" for item in value)
            if isinstance(value, tuple) and TABLE[key].of is str and not TABLE[key].private
            else value
        )
        config = _replaced(config, key.split("."), settled)
    return config


def _replaced(table: _Table, names: Sequence[str], value: object) -> _Table:
    """The table with another value at the end of these names."""
    name, *below = names
    new = _replaced(getattr(table, name), below, value) if below else value
    changed: _Table = replace(cast("Any", table), **{name: new})
    return changed


def _at_home(path: str, user: str) -> str:
    return user + path[1:] if path == "~" or path.startswith("~/") else path


_INTRODUCTION: Final = """\
# Settings

Settings are read from these places; a later one wins.

1. `/etc/holdfast/config.toml`: managed by whoever runs the machine
2. `$HOLDFAST_HOME/config.toml`: yours, for all projects
3. `holdfast.toml` in a project's root: shared with the repository, so a stranger may have written it. Only
   the settings marked *shared* count there; the others are ignored and named by `holdfast doctor`
4. `$HOLDFAST_HOME/projects/<id>/config.toml`: yours, for one project
5. environment variables, as named below; a list is separated by commas, what holds tables is JSON

A value of the wrong type or out of bounds in 1, 2, 4 or 5 is an error that names the place and the setting. A
key that is no setting is ignored and named by `holdfast doctor`. `holdfast config` shows what is in effect,
and what set it.

```toml
[continuity]
prompt_interval = 10

[capture]
exclude = ["~/private", "*/scratch-*"]
```
"""


def _described(setting: Setting) -> str:
    shared = ", *shared*" if setting.shared else ""
    return f"""
## `{setting.key}`

{setting.doc}

- default `{_toml(setting)}`; {setting.allowed}{shared}
- environment: `{setting.variable}`
"""


def _toml(setting: Setting) -> str:
    """A setting's default, as a file holds it."""
    value = setting.default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:_}"
    return quoted(value) if isinstance(value, str) else toml_list(setting)


if __name__ == "__main__":
    sys.stdout.write(reference())
