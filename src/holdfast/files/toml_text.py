"""Settings in TOML, edited as text: a table of ours goes in and comes out, every other byte stays.

The text is read by the standard library, to know what it says, and split into statements, to know where. It
is never written anew: that would lose comments, order and layout. No file is opened here.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import cast

from holdfast.core.events.install_request import Json, KeyPath, OwnershipMark, WantedMember
from holdfast.errors import SettingsUnreadable
from holdfast.lazy_dataclass import dataclass


def insert(text: str, table: WantedMember, mark: OwnershipMark) -> str:
    """The text with the table in it exactly once; one of ours that is there is renewed in place."""
    present = _at(_parsed(text, table.file), table.path)
    if present is None:
        grown = _appended(text, table)
    elif _is_ours(present, mark):
        grown = _renewed(text, table)
    else:
        raise _refusal(table.file, f"`{_named(table.path)}` is there already, and it is not ours")
    _check(grown, table)
    return grown


def remove(text: str, paths: Iterable[KeyPath], mark: OwnershipMark, file: PurePath) -> str:
    """The text without the tables at `paths` that are ours, with all that stands in them."""
    for path in set(paths):
        present = _at(_parsed(text, file), path)
        if present is not None and _is_ours(present, mark):
            text = _without(text, path)
            if _at(_parsed(text, file), path) is not None:
                raise _refusal(file, f"`{_named(path)}` stands inside another value")
    return text


def with_value(text: str, path: KeyPath, value: Json, file: PurePath) -> str:
    """The text with this value at the path; nothing else in it changes.

    Refuses where the value stands inside another one or is written as tables, which a person has to change.
    """
    before = _parsed(text, file)
    changed = _with_value(text, path, value)
    return _checked_change(changed, _put(before, path, value), path, file)


def without_value(text: str, path: KeyPath, file: PurePath) -> str:
    """The text without the value at the path; a table that is empty then stays."""
    before = _parsed(text, file)
    if _at(before, path) is None:
        return text
    changed = text
    for one in reversed([one for one in _statements(text) if one.path == path and not one.is_header]):
        changed = changed[: one.start] + changed[one.end :]
    return _checked_change(changed, _dropped(before, path), path, file)


def holds_nothing(text: str) -> bool:
    """Whether the text says nothing at all, not even in a comment."""
    return not text.removeprefix(_BYTE_ORDER_MARK).strip()


# ---------------------------------------------------------------- what it says

_BYTE_ORDER_MARK = "\ufeff"


def _parsed(text: str, file: PurePath) -> dict[str, object]:
    try:
        return tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _refusal(file, str(error) or "nested too deeply") from error


def _at(value: object, path: KeyPath) -> object | None:
    """What stands at the path; None if nothing does."""
    for key in path:
        value = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    return value


def _is_ours(value: object, mark: OwnershipMark) -> bool:
    return any(mark.owns(text) for text in _texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in cast("dict[str, object]", value).values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _texts(each)


def _check(text: str, table: WantedMember) -> None:
    """Refuse where the table could not be put behind what is there, or not all of it was renewed."""
    try:
        present = _at(_parsed(text, table.file), table.path)
    except SettingsUnreadable as error:
        reason = f"`{_named(table.path[:-1])}` is written so that nothing can be added to it"
        raise _refusal(table.file, reason) from error
    values = cast("dict[str, object]", present) if isinstance(present, dict) else {}
    if any(values.get(key) != value for key, value in table.value.items()):
        raise _refusal(table.file, f"`{_named(table.path)}` is written so that it cannot be renewed")


def _refusal(file: PurePath, reason: str) -> SettingsUnreadable:
    return SettingsUnreadable(
        f"`{file}`: {reason}", hint="the file was left as it is; mend it there and try again"
    )


def _named(path: KeyPath) -> str:
    return ".".join(path)


# ---------------------------------------------------------------- where it stands


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header, or a key with its value, from the start of its first line to behind the last.

    `path` is the whole way to what it names; the value alone stands from `value` to `stop`.
    """

    path: KeyPath
    start: int
    end: int
    is_header: bool
    value: int = 0
    stop: int = 0


_IDLE = re.compile(r"[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)")
_KEY = re.compile(r"""[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*(\.?)""")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|\n|[\[\]{}]|[^\"'#\n\[\]{}]+",
    re.DOTALL,
)
_BLANKS = re.compile(r"[ \t]*")


def _statements(text: str) -> Iterator[_Statement]:
    """The statements of a text that is known to be TOML."""
    at = len(_BYTE_ORDER_MARK) * text.startswith(_BYTE_ORDER_MARK)
    table: KeyPath = ()
    while at < len(text):
        idle = _IDLE.match(text, at)
        if idle is not None:
            at = idle.end()
            continue
        statement = _statement(text, at, table)
        table = statement.path if statement.is_header else table
        at = statement.end
        yield statement


def _statement(text: str, start: int, table: KeyPath) -> _Statement:
    at = _behind_blanks(text, start)
    brackets = len(text[at : at + 2]) - len(text[at : at + 2].lstrip("["))
    path, at = _keys(text, at + brackets)
    if brackets:
        return _Statement(path, start, _line_end(text, at), is_header=True)
    value = _behind_blanks(text, _behind_blanks(text, at) + len("="))
    stop = _value_end(text, value)
    return _Statement((*table, *path), start, _line_end(text, stop), is_header=False, value=value, stop=stop)


def _keys(text: str, at: int) -> tuple[KeyPath, int]:
    keys: list[str] = []
    dot = "."
    while dot and (key := _KEY.match(text, at)):
        raw, dot = key.groups()
        keys.append(str(tomllib.loads(f"key = {raw}")["key"]) if raw[0] in "\"'" else raw)
        at = key.end()
    return tuple(keys), at


def _value_end(text: str, value: int) -> int:
    """Behind the last character of a value, and before what may follow it on its line."""
    depth, stop = 0, value
    for token in _TOKEN.finditer(text, value):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if token[0] == "\n" and not depth:
            break
        if not token[0].startswith("#"):
            stop = token.start() + len(token[0].rstrip())
    return stop


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end + 1 if end >= 0 else len(text)


def _behind_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


# ---------------------------------------------------------------- splices


def _appended(text: str, table: WantedMember) -> str:
    """The text with the table at its end, an empty line below what is there.

    Where the last line had no end, it gets one and no empty line: by this it is known that it had none.
    """
    newline = _newline(text)
    lines = [f"[{'.'.join(map(_key, table.path))}]", *_lines(table.value)]
    block = "".join(line + newline for line in lines)
    return text + ("" if text in ("", _BYTE_ORDER_MARK) else newline) + block


def _renewed(text: str, table: WantedMember) -> str:
    """The text with the keys of our table as they are wanted today; others that stand in it stay."""
    for key, value in reversed(table.value.items()):
        statements = {one.path: one for one in _statements(text)}
        header, known = statements.get(table.path), statements.get((*table.path, key))
        if known is not None and not known.is_header:
            if tomllib.loads(f"value = {text[known.value : known.stop]}")["value"] != value:
                text = text[: known.value] + _rendered(value) + text[known.stop :]
        elif header is not None and header.is_header:
            line = f"{_key(key)} = {_rendered(value)}{_newline(text)}"
            text = text[: header.end] + line + text[header.end :]
    return text


def _with_value(text: str, path: KeyPath, value: Json) -> str:
    """The text with the value in place of the present one, in its table, or in a new table at the end."""
    statements = list(_statements(text))
    newline, table = _newline(text), path[:-1]
    for one in statements:
        if one.path == path and not one.is_header:
            return text[: one.value] + _rendered(value) + text[one.stop :]
    own = _own_statements(statements, table)
    if own is not None:
        header, last = own
        # Below a header the key alone; where there is none, the table is written by dotted keys.
        key = path[-1:] if header else path[len(last.path) - len(_written_keys(text, last)) :]
        before = text[: last.end]
        before += "" if before.endswith("\n") else newline
        return f"{before}{'.'.join(map(_key, key))} = {_rendered(value)}{newline}{text[last.end :]}"
    start = text if not text or text.endswith("\n") else text + newline
    gap = newline if start.removeprefix(_BYTE_ORDER_MARK).strip() else ""
    line = f"{_key(path[-1])} = {_rendered(value)}{newline}"
    return f"{start}{gap}[{'.'.join(map(_key, table))}]{newline}{line}"


def _own_statements(statements: Sequence[_Statement], table: KeyPath) -> tuple[bool, _Statement] | None:
    """Whether the table has a header, and the last statement that belongs to it; None if there is none."""
    last: _Statement | None = None
    within = has_header = False
    for one in statements:
        if one.is_header:
            within = one.path == table
            has_header = has_header or within
        if one.path == table if one.is_header else one.path[:-1] == table and (within or not has_header):
            last = one
    return (has_header, last) if last is not None else None


def _written_keys(text: str, statement: _Statement) -> KeyPath:
    """The keys of a statement as they are written, without those of the header above it."""
    return _keys(text, _behind_blanks(text, statement.start))[0]


def _put(document: dict[str, object], path: KeyPath, value: object) -> dict[str, object]:
    """A copy of what a document says, with the value at the path."""
    key, *below = path
    inner = document.get(key)
    table = cast("dict[str, object]", inner) if isinstance(inner, dict) else {}
    return {**document, key: _put(table, tuple(below), value) if below else value}


def _dropped(document: dict[str, object], path: KeyPath) -> dict[str, object]:
    """A copy of what a document says, without the value at the path."""
    key, *below = path
    if not below:
        return {name: value for name, value in document.items() if name != key}
    return {**document, key: _dropped(cast("dict[str, object]", document[key]), tuple(below))}


def _checked_change(text: str, expected: dict[str, object], path: KeyPath, file: PurePath) -> str:
    """The changed text, if it says what is expected and nothing else has changed."""
    reason = f"`{_named(path)}` is written so that only you can change it"
    try:
        says = _parsed(text, file)
    except SettingsUnreadable as error:
        raise _refusal(file, reason) from error
    if _without_empty(says) != _without_empty(expected):
        raise _refusal(file, reason)
    return text


def _without_empty(document: dict[str, object]) -> dict[str, object]:
    """What a document says, without tables that say nothing."""
    tables = {
        key: _without_empty(cast("dict[str, object]", value)) if isinstance(value, dict) else value
        for key, value in document.items()
    }
    return {key: value for key, value in tables.items() if value != {}}


def _without(text: str, path: KeyPath) -> str:
    """The text without all statements that stand at or below the path."""
    statements = [one for one in _statements(text) if one.path[: len(path)] == path]
    for start, end in reversed(_blocks(text, statements)):
        before = text[:start]
        newline = "\r\n" if before.endswith("\r\n") else "\n"
        is_below_an_empty_line = before == newline or before.endswith(("\n\n", "\n\r\n"))
        # The end of the line before is ours too where it had none: then nothing of anybody's follows.
        if is_below_an_empty_line or (end == len(text) and before.endswith("\n")):
            before = before[: -len(newline)]
        text = before + text[end:]
    return text


def _blocks(text: str, statements: Sequence[_Statement]) -> list[tuple[int, int]]:
    """Where the statements stand, those together that have nothing but blanks between them."""
    blocks: list[tuple[int, int]] = []
    for one in statements:
        if blocks and not text[blocks[-1][1] : one.start].strip():
            blocks[-1] = blocks[-1][0], one.end
        else:
            blocks.append((one.start, one.end))
    return blocks


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _lines(value: dict[str, Json]) -> Iterator[str]:
    for key, each in value.items():
        yield f"{_key(key)} = {_rendered(each)}"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _rendered(key)


def _rendered(value: Json) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return f"[{', '.join(map(_rendered, value))}]"
        case str():
            # What JSON escapes TOML reads alike; it wants one character more.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return repr(value)
        case _:
            raise TypeError(f"TOML has no {value!r}")
