"""Settings in JSON, edited as text: what is ours goes in and comes out, every other byte stays.

The text is scanned into spans and spliced. It is never turned into values and written anew: that would lose
indentation, the order of keys, doubled keys and the shape of numbers. No file is opened here.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import takewhile
from pathlib import PurePath
from typing import NamedTuple

from holdfast.core.wanted import Json, KeyPath, Mark, WantedEntry
from holdfast.errors import SettingsUnreadable


@dataclass(frozen=True, slots=True)
class Hollow:
    """A container that held nothing before us. `before` is its text then; empty if it was not there."""

    path: KeyPath
    before: str


@dataclass(frozen=True, slots=True)
class Edited:
    """The text with an entry in it, and what `remove` must know to take it out without a trace."""

    text: str
    hollows: tuple[Hollow, ...]


def insert(text: str, entry: WantedEntry, mark: Mark) -> Edited:
    """The text with the entry at its place exactly once; one of ours that is there is renewed in place."""
    root = scan(text, entry.file)
    depth, holder = _deepest(root, text, entry)
    if depth == len(entry.path):
        leaves = tuple(_leaves(text, holder, mark))
        if leaves:
            return Edited(_renewed(text, entry, holder, leaves, mark), ())
    missing = entry.path[depth:]
    value = _wrapped(entry.value, missing[1:]) if missing else entry.value
    grown = appended(text, holder, style_of(text, root), missing[:1], value)
    made = tuple(Hollow(entry.path[:end], "") for end in range(depth + 1, len(entry.path) + 1))
    if holder.items:
        return Edited(grown, made)
    return Edited(grown, (Hollow(entry.path[:depth], text[holder.start : holder.end]), *made))


def remove(text: str, paths: Iterable[KeyPath], hollows: Iterable[Hollow], mark: Mark, file: PurePath) -> str:
    """The text without what is ours in the lists at `paths`; containers empty by then are as before us."""
    root = scan(text, file)
    cuts: list[_Span] = []
    for path in set(paths):
        for array in all_at(root, path):
            doomed = frozenset(leaf.start for leaf in _leaves(text, array, mark))
            cuts += _cuts(array, doomed)
    text = without(text, cuts)
    for hollow in sorted(hollows, key=lambda hollow: len(hollow.path), reverse=True):
        text = _hollowed(text, hollow, file)
    return text


def holds_nothing(text: str, file: PurePath) -> bool:
    """Whether the text is an empty object or list."""
    root = scan(text, file)
    return root.shape is not Shape.PLAIN and not root.items


# ---------------------------------------------------------------- spans


class Shape(Enum):
    OBJECT = "{}"
    ARRAY = "[]"
    PLAIN = ""


class _Span(NamedTuple):
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where its text is."""

    shape: Shape
    start: int
    end: int
    items: tuple["Item", ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """An element of a list, or a member of an object with its key; it ends where its value ends."""

    start: int
    value: Node
    key: str = ""


class _Broken(Exception):
    """Where the text stops being JSON; told to a person, with the file, by `scan`."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at
        self.reason = reason


_BLANK = " \t\n\r"
_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"', re.ASCII)
_BARE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
# Deeper than any settings file, and far from Python's own limit.
_DEEPEST = 100
_BYTE_ORDER_MARK = "\ufeff"


def scan(text: str, file: PurePath) -> Node:
    try:
        root = _value(text, _after_space(text, len(_BYTE_ORDER_MARK) * text.startswith(_BYTE_ORDER_MARK)), 0)
        rest = _after_space(text, root.end)
        if rest < len(text):
            raise _unexpected(text, rest)
    except _Broken as broken:
        raise refusal(file, text, broken.at, broken.reason) from broken
    return root


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _Broken(at, f"nested more than {_DEEPEST} levels deep")
    match text[at : at + 1]:
        case "{":
            return _container(text, at, depth, Shape.OBJECT)
        case "[":
            return _container(text, at, depth, Shape.ARRAY)
        case _:
            plain = _STRING.match(text, at) or _BARE.match(text, at)
    if plain is None:
        raise _unexpected(text, at)
    return Node(Shape.PLAIN, at, plain.end())


def _container(text: str, start: int, depth: int, shape: Shape) -> Node:
    closing = shape.value[1]
    items: list[Item] = []
    at = _after_space(text, start + 1)
    if text.startswith(closing, at):
        return Node(shape, start, at + 1)
    while True:
        item = _member(text, at, depth) if shape is Shape.OBJECT else Item(at, _value(text, at, depth + 1))
        items.append(item)
        at = _after_space(text, item.value.end)
        if text.startswith(closing, at):
            return Node(shape, start, at + 1, tuple(items))
        if not text.startswith(",", at):
            raise _unexpected(text, at)
        at = _after_space(text, at + 1)


def _member(text: str, start: int, depth: int) -> Item:
    key = _STRING.match(text, start)
    if key is None:
        raise _unexpected(text, start)
    colon = _after_space(text, key.end())
    if not text.startswith(":", colon):
        raise _unexpected(text, colon)
    return Item(start, _value(text, _after_space(text, colon + 1), depth + 1), json.loads(key.group()))


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _unexpected(text: str, at: int) -> _Broken:
    match text[at : at + 1]:
        case "":
            return _Broken(at, "the text ends too early" if text.strip(_BLANK) else "the file is empty")
        case "/" | "#":
            return _Broken(at, "a comment, which JSON does not have")
        case '"':
            return _Broken(at, "a string where none may be, or one that is not closed or has a wrong escape")
        case "}" | "]" as closing:
            return _Broken(at, f"`{closing}` where a value should be (is there a comma too many?)")
        case other:
            return _Broken(at, f"unexpected {other!r}")


def refusal(file: PurePath, text: str, at: int, reason: str) -> SettingsUnreadable:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return SettingsUnreadable(
        f"`{file}`, line {line}, column {column}: {reason}",
        hint="the file was left as it is; mend it there and try again",
    )


# ---------------------------------------------------------------- places


def _deepest(root: Node, text: str, entry: WantedEntry) -> tuple[int, Node]:
    """How far the entry's path exists, and the container it ends in; of doubled keys the last counts."""
    node = root
    for depth, key in enumerate(entry.path):
        if node.shape is not Shape.OBJECT:
            raise refusal(entry.file, text, node.start, f"{named(entry.path[:depth])} should be an object")
        values = [item.value for item in node.items if item.key == key]
        if not values:
            return depth, node
        node = values[-1]
    if node.shape is not Shape.ARRAY:
        raise refusal(entry.file, text, node.start, f"{named(entry.path)} should be a list")
    return len(entry.path), node


def named(path: KeyPath) -> str:
    return f"`{'.'.join(path)}`" if path else "the whole"


def all_at(root: Node, path: KeyPath) -> Iterator[Node]:
    """Every container at the path: where a key is doubled, ours may be under any of them."""
    if not path:
        if root.shape is not Shape.PLAIN:
            yield root
    elif root.shape is Shape.OBJECT:
        for item in root.items:
            if item.key == path[0]:
                yield from all_at(item.value, path[1:])


def _leaves(text: str, array: Node, mark: Mark) -> Iterator[Node]:
    """What is ours in a list: elements that bear our mark, and such elements of a list inside one."""
    for item in array.items:
        if _is_ours(text, item.value, mark):
            yield item.value
        else:
            for inner in _lists(item.value):
                yield from _leaves(text, inner, mark)


def _is_ours(text: str, node: Node, mark: Mark) -> bool:
    if node.shape is Shape.ARRAY:  # a name, and the options that go with it
        return any(_is_ours(text, item.value, mark) for item in node.items)
    values = [item.value for item in node.items] if node.shape is Shape.OBJECT else [node]
    strings = (text[value.start : value.end] for value in values if text[value.start] == '"')
    return any(mark.owns(json.loads(string)) for string in strings)


def _lists(node: Node) -> Iterator[Node]:
    if node.shape is Shape.OBJECT:
        yield from (item.value for item in node.items if item.value.shape is Shape.ARRAY)


def _wrapped(value: Json, keys: KeyPath) -> Json:
    """A list with this value, inside one object for each key."""
    return {keys[0]: _wrapped(value, keys[1:])} if keys else [value]


# ---------------------------------------------------------------- splices


def without(text: str, cuts: Iterable[_Span]) -> str:
    for cut in sorted(cuts, reverse=True):
        text = text[: cut.start] + text[cut.end :]
    return text


def _cuts(array: Node, doomed: Collection[int]) -> list[_Span]:
    """The spans to cut so that the doomed values, known by where they start, are gone."""
    gone = frozenset(number for number, item in enumerate(array.items) if _dies(item.value, doomed))
    cuts = dropped(array, gone)
    for number, item in enumerate(array.items):
        if number not in gone:
            for inner in _lists(item.value):
                cuts += _cuts(inner, doomed)
    return cuts


def _dies(node: Node, doomed: Collection[int]) -> bool:
    """A group whose list held nothing but the doomed goes with them."""
    return node.start in doomed or any(
        inner.items and all(_dies(item.value, doomed) for item in inner.items) for inner in _lists(node)
    )


def dropped(container: Node, gone: Collection[int]) -> list[_Span]:
    """The spans of these items, each with the one comma that goes with it."""
    items = container.items
    if len(gone) == len(items):
        return [_Span(container.start + 1, container.end - 1)] if gone else []
    leading = len(list(takewhile(lambda number: number in gone, range(len(items)))))
    head = [_Span(items[0].start, items[leading].start)] if leading else []
    tail = sorted(number for number in gone if number > leading)
    return head + [_Span(items[number - 1].value.end, items[number].value.end) for number in tail]


def _hollowed(text: str, hollow: Hollow, file: PurePath) -> str:
    """The text with the container as it was before us, if nothing is in it now."""
    root = scan(text, file)
    if hollow.before:
        empty = [node for node in all_at(root, hollow.path) if not node.items]
        return text[: empty[-1].start] + hollow.before + text[empty[-1].end :] if empty else text
    *above, key = hollow.path
    for parent in reversed([*all_at(root, tuple(above))]):
        for number, item in enumerate(parent.items):
            if item.key == key and item.value.shape is not Shape.PLAIN and not item.value.items:
                return without(text, dropped(parent, {number}))
    return text


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file is laid out: `unit` is one step of indentation, empty where everything is on one line."""

    newline: str
    unit: str
    gap: str


def style_of(text: str, root: Node) -> _Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.items:
        return _Style(newline, "  ", " ")
    first = root.items[0]
    _, broken, indent = text[root.start + 1 : first.start].rpartition("\n")
    unit = indent if broken else ""
    return _Style(newline, unit, " " if unit or text[first.value.start - 1] in _BLANK else "")


def appended(text: str, holder: Node, style: _Style, key: KeyPath, value: Json) -> str:
    """The text with one more item at the end of the container, laid out like its neighbours."""
    name = f"{json.dumps(key[0], ensure_ascii=False)}:{style.gap}" if key else ""
    if not holder.items:
        outer = indent_at(text, holder.start)
        inner = outer + style.unit
        opening, closing = (style.newline + inner, style.newline + outer) if style.unit else ("", "")
        body = opening + name + rendered(value, inner, style) + closing
        return text[: holder.start + 1] + body + text[holder.end - 1 :]
    last = holder.items[-1]
    indent = indent_at(text, last.start)
    if text.endswith("\n" + indent, 0, last.start):
        body = f",{style.newline}{indent}{name}{rendered(value, indent, style)}"
    else:
        body = f",{style.gap}{name}{rendered(value, indent, replace(style, unit=''))}"
    return text[: last.value.end] + body + text[last.value.end :]


def indent_at(text: str, at: int) -> str:
    """The blanks at the beginning of the line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def rendered(value: Json, indent: str, style: _Style) -> str:
    if not style.unit:
        return json.dumps(value, ensure_ascii=False, separators=(f",{style.gap}", f":{style.gap}"))
    pretty = json.dumps(value, ensure_ascii=False, indent=style.unit)
    return pretty.replace("\n", style.newline + indent)


def _renewed(text: str, entry: WantedEntry, array: Node, leaves: tuple[Node, ...], mark: Mark) -> str:
    """The text with the first of ours as it is wanted today, and no other beside it."""
    first, *others = leaves
    text = without(text, _cuts(array, frozenset(leaf.start for leaf in others)))
    # What was cut lies behind the first, so its span still holds.
    alone = json.dumps([entry.value])
    wanted = next(_leaves(alone, scan(alone, entry.file), mark))
    value = json.loads(alone[wanted.start : wanted.end])
    if json.loads(text[first.start : first.end]) == value:
        return text
    style = style_of(text, scan(text, entry.file))
    if "\n" not in text[first.start : first.end]:
        style = replace(style, unit="")
    return text[: first.start] + rendered(value, indent_at(text, first.start), style) + text[first.end :]
