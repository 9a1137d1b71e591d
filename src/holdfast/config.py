"""Config: the settings in effect, read from five layers, with the file or variable that set each.

`settings` has the table of all settings, from which the reference page is generated too. What a setting does
is not here.
"""

from __future__ import annotations

import errno
import fnmatch
import json
import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar, cast

from holdfast.core.session.pressure import Delivery, KnownModel, Threshold
from holdfast.core.text.strings import shortened
from holdfast.errors import ProtectionUnreadable
from holdfast.home import at_home, home
from holdfast.lazy_dataclass import dataclass
from holdfast.settings import TABLE, Config, Setting, Unreadable, Value

__all__ = [
    "Config",
    "Loaded",
    "Unreadable",
    "default_text",
    "excluded",
    "file_problems",
    "home",
    "load",
    "reference",
    "require_protection",
    "short_form",
    "typed_value",
]

_Table = TypeVar("_Table")
_VARIABLES: Final[Mapping[str, Setting]] = {setting.variable: setting for setting in TABLE.values()}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in effect, which file or variable set each non-default value, and what was ignored.

    If a protecting setting cannot be read, `config.unreadable` says so.
    """

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
    """The settings for a project, or without one. Never fails; see `Loaded` for what cannot be read."""
    loading = _Loading()
    loading.read_own(managed)
    loading.read_own(home / "config.toml")
    if project_root is not None:
        loading.read_shared(project_root / "holdfast.toml")
    if project_id is not None:
        loading.read_of_project(home / "projects" / project_id / "config.toml")
    loading.read_environment(environment)
    config = replace(_with_values(loading.values, environment), unreadable=loading.unreadable)
    return Loaded(config, loading.sources, tuple(loading.warnings))


def require_protection(config: Config) -> None:
    """Raise ProtectionUnreadable if a protecting setting cannot be read."""
    if config.unreadable is not None:
        raise ProtectionUnreadable(config.unreadable.consequence, config.unreadable.fix)


def excluded(config: Config, path: str | Path) -> bool:
    """Whether the project at this path is excluded: it, or a directory above, matches a pattern.

    Raises ProtectionUnreadable if no readable pattern matches and other patterns cannot be read.
    """
    whole = PurePosixPath(Path(path).as_posix())
    if any(
        fnmatch.fnmatchcase(above.name if "/" not in pattern else str(above), pattern)
        for pattern in config.capture.exclude
        for above in (whole, *whole.parents)
    ):
        return True
    require_protection(config)
    return False


def file_problems(path: Path, *, of_project: bool) -> tuple[str, ...]:
    """What is wrong in a settings file of the user, each with its line; nothing if all of it is used."""
    loading = _Loading()
    (loading.read_of_project if of_project else loading.read_own)(path)
    stops = (loading.unreadable.problem,) if loading.unreadable else ()
    return (*stops, *loading.warnings)


def typed_value(setting: Setting, text: str) -> object | None:
    """What a file holds for a value as a person types it, or as TOML; None if that is not allowed."""
    raw = _raw_of_text(setting, text)
    if isinstance(setting.default, tuple) and text.lstrip().startswith(("[", "{")):
        try:
            raw = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            raw = _raw_of_text(setting, text)
    return None if _checked(setting, raw) is None else raw


def default_text(setting: Setting) -> str:
    """A setting's default, in TOML."""
    return _toml(setting)


def short_form(key: str) -> str:
    """The key by which a setting may be written shorter; empty if there is none."""
    return next((short for short, whole in _SHORT_FORMS.items() if whole == key), "")


def reference() -> str:
    """The reference page, as `docs/reference/config.md` holds it."""
    return _INTRODUCTION + "".join(_described(setting) for setting in TABLE.values())


class _Loading:
    """The layers read so far."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.sources: dict[str, str] = {}
        self.warnings: list[str] = []
        self.unreadable: Unreadable | None = None

    def read_own(self, path: Path) -> None:
        """Read a file of the user or the administrator, for all projects."""
        for entry in self._entries(path, everywhere=True):
            self._take(entry)

    def read_of_project(self, path: Path) -> None:
        """Read the user's file for one project. It cannot set redaction, which all projects share."""
        for entry in self._entries(path, everywhere=False):
            setting = TABLE.get(entry.key)
            if setting is None or not setting.private:
                self._take(entry)
            elif setting.protects:
                self._stop(entry, "counts for all projects or for none", "move it to the settings for all")
            else:
                self._warn(entry, "counts for all projects or for none; it is ignored")

    def read_shared(self, path: Path) -> None:
        """Read a file that came with a repository: a stranger's, so it can stop only its own project."""
        for entry in self._entries(path, everywhere=False, strangers=True):
            setting = TABLE.get(entry.key)
            if setting is None and _resembles_protection(entry.key, shared=True):
                # Agents are shown why a project is stopped: nothing a stranger wrote may be in that text.
                problem = "this key is not a setting, but looks like one that protects"
                self._stop_file(f"{entry.place}: {problem}", "correct or remove it", everywhere=False)
            elif setting is None or not setting.shared:
                self.warnings.append(f"{entry.place}: a repository may not set `{entry.key}`; it is ignored")
            else:
                self._take(entry, add=True)

    def read_environment(self, environment: Mapping[str, str]) -> None:
        # Fewer variables than settings exist, and looking up a missing variable costs an exception.
        for variable in [name for name in environment if name.startswith("HOLDFAST_")]:
            setting = _VARIABLES.get(variable)
            if setting is not None:
                raw = _raw_of_text(setting, environment[variable])
                self._take(_Entry(setting.key, raw, f"${variable}", "", everywhere=True))
            elif variable.startswith(_PROTECTING_VARIABLES):
                self.unreadable = self.unreadable or Unreadable(
                    f"${variable} is not a setting", f"unset it, then {_RESTART}", everywhere=True
                )

    def _entries(self, path: Path, *, everywhere: bool, strangers: bool = False) -> Iterator[_Entry]:
        """The entries of a file; none if it is missing, or cannot be read, which is noted.

        For `strangers` files, links are not followed and messages repeat nothing of the content.
        """
        try:
            text = _text_of(path, os.O_RDONLY | (getattr(os, "O_NOFOLLOW", 0) if strangers else 0))
            document = tomllib.loads(text) if text else {}
        except tomllib.TOMLDecodeError as error:
            problem = "".join(_POSITION.findall(str(error))) if strangers else f": {error}"
            self._stop_file(f"{path} is not valid TOML{problem}", "correct that file", everywhere=everywhere)
        # A number with thousands of digits raises a plain ValueError.
        except (OSError, ValueError, RecursionError) as error:
            problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            problem = f"{path} cannot be read: {problem}"
            self._stop_file(problem, "correct or remove that file", everywhere=everywhere)
        else:
            for key, raw in _flat("", document):
                yield _Entry(key, raw, str(path), text, everywhere=everywhere)

    def _take(self, entry: _Entry, *, add: bool = False) -> None:
        """Use an entry's value; with `add`, a list is appended to those of the layers below."""
        setting = TABLE.get(entry.key)
        if setting is None:
            if _resembles_protection(entry.key, shared=False):
                self._stop(entry, "is not a setting", "correct its name or remove it")
            else:
                self._warn(entry, "is not a setting; it is ignored")
            return
        value = _checked(setting, entry.raw)
        if value is None and setting.protects:
            self._stop(entry, f"must be {setting.allowed}", "correct or remove it")
            return
        if value is None:
            value = _instead(setting, entry.raw)
            used = "it is ignored" if value is None else f"{value:_} is used"
            self._warn(entry, f"must be {setting.allowed}{_shown(setting, entry.raw)}; {used}")
            if value is None:
                return
        present = self.sources.get(entry.key)
        if add and isinstance(value, tuple):
            below = cast("tuple[str, ...]", self.values.get(entry.key, ()))
            value = (*below, *cast("tuple[str, ...]", value))
        self.values[entry.key] = value
        self.sources[entry.key] = f"{present}, {entry.source}" if add and present else entry.source

    def _warn(self, entry: _Entry, problem: str) -> None:
        self.warnings.append(f"{entry.place}: `{entry.key}` {problem}")

    def _stop(self, entry: _Entry, problem: str, fix: str) -> None:
        fix = f"{fix}, then {_RESTART}" if entry.source.startswith("$") else fix
        self._stop_file(f"{entry.place}: `{entry.key}` {problem}", fix, everywhere=entry.everywhere)

    def _stop_file(self, problem: str, fix: str, *, everywhere: bool) -> None:
        # A problem that stops everything comes before one that stops one project; else the first counts.
        if self.unreadable is None or (everywhere and not self.unreadable.everywhere):
            self.unreadable = Unreadable(problem, fix, everywhere=everywhere)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A key and the raw value that a file or variable sets it to."""

    key: str
    raw: object
    source: str
    text: str
    """The file's whole content."""
    everywhere: bool

    @property
    def place(self) -> str:
        """The file and the line in it, or the variable."""
        line = _line_of(self.text, self.key)
        return f"{self.source}, line {line}" if line else self.source


_LARGEST_FILE: Final = 1 << 20
_RESTART: Final = "run `holdfast restart`"
_PROTECTING: Final = tuple(setting for setting in TABLE.values() if setting.protects)
_PROTECTING_TABLES: Final = {setting.table for setting in _PROTECTING} - {
    setting.table for setting in TABLE.values() if not setting.protects
}
_PROTECTING_VARIABLES: Final = tuple(f"HOLDFAST_{table.upper()}_" for table in sorted(_PROTECTING_TABLES))
_ALIKE: Final = 0.85
_SHORT_FORMS: Final = {"session.inherit": "session.inherit.enabled"}
"""Tables that may be written as one value, and the setting that the value is for."""
_POSITION: Final = re.compile(r" \(at [^()]*\)$")


def _resembles_protection(key: str, *, shared: bool) -> bool:
    """Whether an unknown key may be a misspelled protecting setting.

    It is in a table of only protecting settings, has the last name of one of them, is the table itself, or is
    spelled almost like one. With `shared`, only settings that a repository may set count.
    """
    key = key.casefold()
    table, _, name = key.rpartition(".")
    for setting in _PROTECTING:
        if shared and not setting.shared:
            continue
        own = setting.table in _PROTECTING_TABLES
        named_alike = own and (table == setting.table or name == setting.key.rpartition(".")[2])
        if named_alike or key == setting.table:
            return True
        if SequenceMatcher(None, key, setting.key).ratio() >= _ALIKE:
            return True
    return False


def _line_of(text: str, key: str) -> int:
    """The line that sets a key, found without parsing; 0 if it is not found."""
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = _plain_key(stripped.partition("]")[0].lstrip("[")) + "."
            if table == f"{key}.":
                return number
        elif "=" in stripped:
            written = f"{table}{_plain_key(stripped.partition('=')[0])}"
            if key in (written, _SHORT_FORMS.get(written)):
                return number
    return 0


def _plain_key(dotted_key: str) -> str:
    """A dotted key without quotes and spaces."""
    return ".".join(part.strip().strip("'\"") for part in dotted_key.split("."))


def _flat(above: str, table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The full keys of a table and its sub-tables; a table that is itself a setting's value stays whole."""
    for name, raw in table.items():
        key = f"{above}{name}"
        if isinstance(raw, dict) and (not above or any(each.startswith(f"{key}.") for each in TABLE)):
            yield from _flat(f"{key}.", cast("dict[str, object]", raw))
        else:
            yield _SHORT_FORMS.get(key, key), raw


def _text_of(path: Path, flags: int) -> str:
    """A file's text; empty if there is no file."""
    if "\0" in str(path):
        return ""  # No file can have such a path.
    # Without O_NONBLOCK, opening a FIFO of that name would block forever.
    try:
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise OSError("it is a link to a file that is not there") from None
        return ""
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return ""  # The path came from a hook event: no file can have it.
        raise
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        if status.st_size > _LARGEST_FILE:
            raise OSError("it is larger than 1 MiB")
        # Some editors begin a file with an invisible byte order mark.
        return file.read(_LARGEST_FILE).decode("utf-8-sig")


def _checked(setting: Setting, raw: object) -> Value | None:
    """The value if the setting allows it, otherwise None."""
    if isinstance(setting.default, bool):
        return raw if isinstance(raw, bool) else None
    if isinstance(setting.default, int):
        fits = isinstance(raw, int) and not isinstance(raw, bool) and setting.low <= raw <= setting.high
        return raw if isinstance(raw, int) and fits else None
    if isinstance(setting.default, str):
        return raw if isinstance(raw, str) and (not setting.choices or raw in setting.choices) else None
    return checked_list(setting, raw)


def _raw_of_text(setting: Setting, text: str) -> object:
    """The value that a file would hold for this environment variable's text."""
    text = text.strip()
    if isinstance(setting.default, bool):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
    if isinstance(setting.default, int):
        return int(text) if len(text) <= 20 and text.removeprefix("-").isdecimal() else None
    if isinstance(setting.default, str):
        return text
    return list_in_text(setting, text)


def _instead(setting: Setting, raw: object) -> Value | None:
    """The value to use instead of a disallowed one; None to keep the value of the layers below."""
    if not isinstance(setting.default, int) or isinstance(setting.default, bool):
        return None
    if isinstance(raw, int) and not isinstance(raw, bool):
        return min(max(raw, setting.low), setting.high)
    return setting.high if setting.deletes else None


def _shown(setting: Setting, raw: object) -> str:
    """The rejected value, if a message may repeat it."""
    return "" if setting.private else f", not {shortened(repr(raw), 40)}"


def _with_values(values: Mapping[str, Value], environment: Mapping[str, str]) -> Config:
    config = Config(explicit=frozenset(values))
    user = environment.get("HOME") or str(Path.home())
    for key, value in values.items():
        settled = (
            tuple(at_home(str(item), user).rstrip("/") or "/" for item in value)
            if isinstance(value, tuple) and TABLE[key].of is str and not TABLE[key].private
            else value
        )
        config = _replaced(config, key.split("."), settled)
    return config


def _replaced(table: _Table, names: Sequence[str], value: object) -> _Table:
    """The table with the value at this path of names replaced."""
    name, *below = names
    new = _replaced(getattr(table, name), below, value) if below else value
    changed: _Table = replace(cast("Any", table), **{name: new})
    return changed


_INTRODUCTION: Final = """\
# Settings

Settings are read from these places; a later one wins.

1. `/etc/holdfast/config.toml`: managed by whoever runs the machine
2. `$HOLDFAST_HOME/config.toml`: yours, for all projects
3. `holdfast.toml` in a project's root: shared with the repository, so a stranger may have written it. Only
   the settings marked *shared* count there; the others are ignored and named by `holdfast doctor`
4. `$HOLDFAST_HOME/projects/<id>/config.toml`: yours, for one project
5. environment variables, as named below; a list is separated by commas, what holds tables is JSON

`holdfast config` shows what is in effect and what set it, `holdfast config KEY` explains one setting,
`holdfast config set KEY VALUE` writes it into the second file (with `--project DIR` into the fourth), and
`holdfast config edit` opens the file in your editor. What they write is checked first.

```toml
[continuity]
prompt_interval = 10

[capture]
exclude = ["~/private", "*/scratch-*"]
```

## Mistakes in these files

**Privacy fails closed.** Settings marked *protects* keep something from being captured, stored or shared.
While one of them cannot be read, nothing is captured, stored or shared. In 1, 2 or 5 this stops all projects;
in 3 or 4 it stops that project. A setting that protects cannot be read if

- its file is not valid TOML, is not a regular file, is larger than 1 MiB, or may not be read,
- its value has the wrong type, or
- a key looks like a misspelling of it: any unknown key in `[capture]` or `[redact]`, an unknown key named
  `exclude`, `deny` or `allow`, or one that is spelled almost like the setting.

Every command, `holdfast doctor`, the dashboard and `/api/health` then name the file, the line and what to do,
and each session's agent is told once. Agents get no briefs and no answers from Holdfast's tools; `remember`,
digests and saves are refused. You can still read what is stored, forget it, and uninstall. The daemon notices
when you correct the file and goes on: transcripts are read from where it stopped, so nothing in them is lost.

**Any other mistake costs that value only.** A number out of bounds becomes the nearest bound. Another
unusable value is ignored; if that setting deletes old data, the largest value is used instead. A key that is
no setting is ignored. `holdfast doctor` and `holdfast config` list these mistakes.
"""


def _described(setting: Setting) -> str:
    marks = [name for name, has in (("shared", setting.shared), ("protects", setting.protects)) if has]
    marked = "".join(f", *{mark}*" for mark in marks)
    return f"""
## `{setting.key}`

{setting.doc}

- default `{_toml(setting)}`; {setting.allowed}{marked}
- environment: `{setting.variable}`
"""


def _toml(setting: Setting) -> str:
    """A setting's default, in TOML."""
    value = setting.default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:_}"
    return quoted(value) if isinstance(value, str) else toml_list(setting)


def checked_list(setting: Setting, raw: object) -> Value | None:
    """The list from a file if the setting allows it, otherwise None."""
    if setting.of is KnownModel:
        return _windows(setting, raw)
    if not isinstance(raw, list):
        return None
    items = cast("list[object]", raw)
    if setting.of is int:
        numbers = tuple(item for item in items if _fits(setting, item))
        return cast("tuple[int, ...]", numbers) if len(numbers) == len(items) else None
    if setting.of is Threshold:
        thresholds = tuple(one for item in items if (one := _threshold(setting, item)))
        return thresholds if len(thresholds) == len(items) else None
    texts = tuple(item for item in items if isinstance(item, str) and item.strip())
    return texts if len(texts) == len(items) else None


def list_in_text(setting: Setting, text: str) -> object:
    """The list that a file would hold for this environment variable's text; None if it holds none."""
    if setting.of in (KnownModel, Threshold):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None
    items = [item.strip() for item in text.split(",")] if text else []
    if setting.of is int:
        return [int(item) if item.isdecimal() else item for item in items]
    return items


def toml_list(setting: Setting) -> str:
    """A list setting's default, in TOML."""
    items = cast("tuple[object, ...]", setting.default)
    if setting.of is KnownModel:
        return "{ " + ", ".join(map(_item, items)) + " }" if items else "{}"
    return "[" + ", ".join(map(_item, items)) + "]"


def quoted(text: str) -> str:
    """A text as a one-line TOML string, which is also a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def _item(item: object) -> str:
    if isinstance(item, Threshold):
        return (
            f'{{ percent = {item.percent}, prompt = {quoted(item.prompt)}, inject_as = "{item.inject_as}" }}'
        )
    return quoted(item) if isinstance(item, str) else str(item)


def _windows(setting: Setting, raw: object) -> tuple[KnownModel, ...] | None:
    named = cast("dict[str, object]", raw) if isinstance(raw, dict) else {"": None}
    fit = all(name.strip() and _fits(setting, tokens) for name, tokens in named.items())
    return tuple(KnownModel(name, cast("int", tokens)) for name, tokens in named.items()) if fit else None


def _threshold(setting: Setting, raw: object) -> Threshold | None:
    if not isinstance(raw, dict):
        return None
    row = cast("dict[str, object]", raw)
    percent, prompt, kind = row.get("percent"), row.get("prompt"), row.get("inject_as", Delivery.MARKED)
    if not _fits(setting, percent) or not isinstance(prompt, str) or kind not in frozenset(Delivery):
        return None
    known = row.keys() <= {"percent", "prompt", "inject_as"} and prompt.strip()
    return Threshold(cast("int", percent), prompt, Delivery(str(kind))) if known else None


def _fits(setting: Setting, number: object) -> bool:
    is_number = isinstance(number, int) and not isinstance(number, bool)
    return is_number and setting.low <= cast("int", number) <= setting.high


if __name__ == "__main__":
    sys.stdout.write(reference())
