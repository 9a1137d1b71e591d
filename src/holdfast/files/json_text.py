"""Settings in JSON, edited as text: Holdfast's entries are added and removed, every other byte stays.

The text is scanned into spans and spliced. It is never turned into values and written anew: that would lose
indentation, the order of keys, doubled keys and the shape of numbers. No file is opened here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import PurePath
from typing import NamedTuple

from holdfast.core.events.install_request import (
    Json,
    KeyPath,
    OwnershipMark,
    WantedEntry,
    WantedMember,
    unwrapped_command,
    wrapped_command,
)
from holdfast.core.text import json_spans
from holdfast.core.text.json_spans import BrokenJson, JsonNode, JsonShape, is_blank, strings, value_of
from holdfast.errors import SettingsUnreadable
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Hollow:
    """A container that held nothing before us. `before` is its text then; empty if it was not there."""

    path: KeyPath
    before: str


@dataclass(frozen=True, slots=True)
class EditedText:
    """The text with an entry in it, and what `remove` must know to take it out without a trace."""

    text: str
    hollows: tuple[Hollow, ...]


def insert(text: str, entry: WantedEntry, mark: OwnershipMark) -> EditedText:
    """The text with the entry at its place exactly once; one of ours that is there is renewed in place."""
    root = scan(text, entry.file)
    depth, holder = _deepest(root, text, entry)
    if depth == len(entry.path):
        leaves = tuple(_leaves(text, holder, mark))
        if leaves:
            return EditedText(_renewed(text, entry, holder, leaves, mark), ())
    missing = entry.path[depth:]
    value = _wrapped(entry.value, missing[1:]) if missing else entry.value
    grown = appended(text, holder, style_of(text, root), missing[:1], value)
    made = tuple(Hollow(entry.path[:end], "") for end in range(depth + 1, len(entry.path) + 1))
    if holder.items:
        return EditedText(grown, made)
    return EditedText(grown, (Hollow(entry.path[:depth], text[holder.start : holder.end]), *made))


def remove(
    text: str, paths: Iterable[KeyPath], hollows: Iterable[Hollow], mark: OwnershipMark, file: PurePath
) -> str:
    """The text without what is ours in the lists at `paths`; containers empty by then are as before us."""
    root = scan(text, file)
    cuts: list[_Span] = []
    for path in set(paths):
        for array in all_at(root, path):
            doomed = frozenset(leaf.start for leaf in _leaves(text, array, mark))
            cuts += _cuts(text, array, doomed)
    text = without(text, cuts)
    for hollow in sorted(hollows, key=lambda hollow: len(hollow.path), reverse=True):
        text = _hollowed(text, hollow, file)
    return text


def holds_nothing(text: str, file: PurePath) -> bool:
    """Whether the text is an empty object or list."""
    root = scan(text, file)
    return root.shape is not JsonShape.PLAIN and not root.items


# ---------------------------------------------------------------- spans


class _Span(NamedTuple):
    start: int
    end: int


def scan(text: str, file: PurePath) -> JsonNode:
    """Where everything stands in a text; one that is no JSON is told to a person, with the file."""
    root = json_spans.scan(text)
    if isinstance(root, BrokenJson):
        raise refusal(file, text, root.at, root.reason)
    return root


def refusal(file: PurePath, text: str, at: int, reason: str) -> SettingsUnreadable:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return SettingsUnreadable(
        f"`{file}`, line {line}, column {column}: {reason}",
        hint="the file was left as it is; mend it there and try again",
    )


# ---------------------------------------------------------------- places


def _deepest(root: JsonNode, text: str, entry: WantedEntry) -> tuple[int, JsonNode]:
    """How far the entry's path exists, and the container it ends in; of doubled keys the last counts."""
    node = root
    for depth, key in enumerate(entry.path):
        if node.shape is not JsonShape.OBJECT:
            raise refusal(entry.file, text, node.start, f"{named(entry.path[:depth])} should be an object")
        values = [item.value for item in node.items if item.key == key]
        if not values:
            return depth, node
        node = values[-1]
    if node.shape is not JsonShape.ARRAY:
        raise refusal(entry.file, text, node.start, f"{named(entry.path)} should be a list")
    return len(entry.path), node


def named(path: KeyPath) -> str:
    return f"`{'.'.join(path)}`" if path else "the whole"


def all_at(root: JsonNode, path: KeyPath) -> Iterator[JsonNode]:
    """Every container at the path: where a key is doubled, ours may be under any of them."""
    if not path:
        if root.shape is not JsonShape.PLAIN:
            yield root
    elif root.shape is JsonShape.OBJECT:
        for item in root.items:
            if item.key == path[0]:
                yield from all_at(item.value, path[1:])


def _leaves(text: str, array: JsonNode, mark: OwnershipMark) -> Iterator[JsonNode]:
    """What is ours in a list: elements that bear our mark, and such elements of a list inside one."""
    for item in array.items:
        if _is_ours(text, item.value, mark):
            yield item.value
        else:
            for inner in _lists(item.value):
                yield from _leaves(text, inner, mark)


def _is_ours(text: str, node: JsonNode, mark: OwnershipMark) -> bool:
    if node.shape is JsonShape.ARRAY:  # a name, and the options that go with it
        return any(_is_ours(text, item.value, mark) for item in node.items)
    values = [item.value for item in node.items] if node.shape is JsonShape.OBJECT else [node]
    plain = (value for value in values if value.shape is JsonShape.PLAIN)
    return any(mark.owns(string) for value in plain for string in strings(text, value))


def _lists(node: JsonNode) -> Iterator[JsonNode]:
    if node.shape is JsonShape.OBJECT:
        yield from (item.value for item in node.items if item.value.shape is JsonShape.ARRAY)


def _wrapped(value: Json, keys: KeyPath) -> Json:
    """A list with this value, inside one object for each key."""
    return {keys[0]: _wrapped(value, keys[1:])} if keys else [value]


# ---------------------------------------------------------------- splices


def without(text: str, cuts: Iterable[_Span]) -> str:
    for cut in sorted(cuts, reverse=True):
        text = text[: cut.start] + text[cut.end :]
    return text


def _cuts(text: str, array: JsonNode, doomed: Collection[int]) -> list[_Span]:
    """The spans to cut so that the doomed values, known by where they start, are gone."""
    gone = frozenset(number for number, item in enumerate(array.items) if _dies(item.value, doomed))
    cuts = dropped(text, array, gone)
    for number, item in enumerate(array.items):
        if number not in gone:
            for inner in _lists(item.value):
                cuts += _cuts(text, inner, doomed)
    return cuts


def _dies(node: JsonNode, doomed: Collection[int]) -> bool:
    """A group whose list held nothing but the doomed goes with them."""
    return node.start in doomed or any(
        inner.items and all(_dies(item.value, doomed) for item in inner.items) for inner in _lists(node)
    )


def dropped(text: str, container: JsonNode, gone: Collection[int]) -> list[_Span]:
    """The spans of these items, each with the one comma that goes with it; comments of others stay."""
    items = container.items
    if len(gone) == len(items):
        return _emptied(text, container) if gone else []
    leading = len(list(takewhile(lambda number: number in gone, range(len(items)))))
    cuts: list[_Span] = []
    if leading:
        last, following = items[leading - 1].value.end, items[leading].start
        cuts = [_Span(items[0].start, last), *_gap(text, last, following)]
    for number in sorted(number for number in gone if number > leading):
        end, start = items[number - 1].value.end, items[number].start
        cuts += [*_gap(text, end, start), _Span(start, items[number].value.end)]
    return cuts


def _emptied(text: str, container: JsonNode) -> list[_Span]:
    """The spans to cut so that nothing is left in a container but what somebody noted there."""
    first, last = container.items[0].start, container.items[-1].value.end
    comma = _comma(text, last, container.end - 1)
    behind = comma.end if comma else last
    if is_blank(text, container.start + 1, first) and is_blank(text, behind, container.end - 1):
        return [_Span(container.start + 1, container.end - 1)]
    return [_Span(first, last), *([comma] if comma else [])]


def _gap(text: str, start: int, end: int) -> list[_Span]:
    """What to cut between two items: all, or only the comma if something is noted there."""
    comma = _comma(text, start, end)
    if comma is None or (is_blank(text, start, comma.start) and is_blank(text, comma.end, end)):
        return [_Span(start, end)]
    return [comma]


def _comma(text: str, start: int, end: int) -> _Span | None:
    """The comma that stands there outside of every comment."""
    at = json_spans.after_space(text, start)
    return _Span(at, at + 1) if at < end and text[at] == "," else None


def _hollowed(text: str, hollow: Hollow, file: PurePath) -> str:
    """The text with the container as it was before us, if nothing is in it now that was not there then."""
    root = scan(text, file)
    if hollow.before:
        empty = [node for node in all_at(root, hollow.path) if not node.items]
        if not empty or _bare(text[empty[-1].start : empty[-1].end]) != _bare(hollow.before):
            return text
        return text[: empty[-1].start] + hollow.before + text[empty[-1].end :]
    *above, key = hollow.path
    for parent in reversed([*all_at(root, tuple(above))]):
        for number, item in enumerate(parent.items):
            if item.key == key and _bare(text[item.value.start : item.value.end]) in ("{}", "[]"):
                return without(text, dropped(text, parent, {number}))
    return text


def _bare(text: str) -> str:
    return "".join(text.split())


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file is laid out: `unit` is one step of indentation, empty where everything is on one line."""

    newline: str
    unit: str
    gap: str


def style_of(text: str, root: JsonNode) -> _Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.items:
        return _Style(newline, "  ", " ")
    first = root.items[0]
    _, broken, indent = text[root.start + 1 : first.start].rpartition("\n")
    unit = indent_at(indent, len(indent)) if broken else ""
    return _Style(newline, unit, " " if unit or text[first.value.start - 1] in " \t\n\r" else "")


def appended(text: str, holder: JsonNode, style: _Style, key: KeyPath, value: Json) -> str:
    """The text with one more item at the end of the container, laid out like its neighbours."""
    name = f"{json.dumps(key[0], ensure_ascii=False)}:{style.gap}" if key else ""
    if not holder.items:
        outer = indent_at(text, holder.start)
        inner = outer + style.unit
        opening, closing = (style.newline + inner, style.newline + outer) if style.unit else ("", "")
        body = opening + name + rendered(value, inner, style)
        if is_blank(text, holder.start + 1, holder.end - 1):
            return text[: holder.start + 1] + body + closing + text[holder.end - 1 :]
        return text[: holder.start + 1] + body + text[holder.start + 1 :]
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


def _renewed(
    text: str, entry: WantedEntry, array: JsonNode, leaves: tuple[JsonNode, ...], mark: OwnershipMark
) -> str:
    """The text with the first of ours as it is wanted today, and no other beside it."""
    first, *others = leaves
    text = without(text, _cuts(text, array, frozenset(leaf.start for leaf in others)))
    # What was cut lies behind the first, so its span still holds.
    alone = json.dumps([entry.value])
    new_leaf = next(_leaves(alone, scan(alone, entry.file), mark))
    value = json.loads(alone[new_leaf.start : new_leaf.end])
    if value_of(text, first) == value:
        return text
    style = style_of(text, scan(text, entry.file))
    if "\n" not in text[first.start : first.end]:
        style = replace(style, unit="")
    return text[: first.start] + rendered(value, indent_at(text, first.start), style) + text[first.end :]


def insert_member(text: str, member: WantedMember, mark: OwnershipMark) -> EditedText:
    """The text with the member at its place exactly once; one of ours that is there is renewed in place."""
    root = scan(text, member.file)
    depth, holder = _deepest_object(root, text, member)
    if depth == len(member.path):
        put = _around if member.wraps else _renewed_member
        return EditedText(put(text, member, root, holder, mark), ())
    value: Json = member.value
    for key in reversed(member.path[depth + 1 :]):
        value = {key: value}
    grown = appended(text, holder, style_of(text, root), (member.path[depth],), value)
    edited_text = tuple(Hollow(member.path[:end], "") for end in range(depth + 1, len(member.path)))
    if holder.items:
        return EditedText(grown, edited_text)
    return EditedText(grown, (Hollow(member.path[:depth], text[holder.start : holder.end]), *edited_text))


def command_to_wrap(text: str, member: WantedMember, mark: OwnershipMark) -> str:
    """Somebody else's command that the member would put ours around; empty if there is none."""
    depth, present = _deepest_object(scan(text, member.file), text, member)
    if depth < len(member.path) or not member.wraps or _holds_mark(text, present, mark):
        return ""
    span = _command(text, present, member.wraps)
    return next(strings(text, span)) if span else ""


def remove_member(text: str, paths: Iterable[KeyPath], mark: OwnershipMark, file: PurePath) -> str:
    """The text without the objects at `paths` that are ours; what is emptied by that stays.

    An object of somebody else's with our command around theirs is theirs again.
    """
    for path in {path for path in paths if path}:
        for node in reversed([*all_at(scan(text, file), path)]):
            text = _unwrapped(text, node, mark)
        for parent in reversed([*all_at(scan(text, file), path[:-1])]):
            text = without(text, dropped(text, parent, _own_members(text, parent, path[-1], mark)))
    return text


def _own_members(text: str, parent: JsonNode, key: str, mark: OwnershipMark) -> set[int]:
    """Which members of that name are objects of ours."""
    objects = {nth: item for nth, item in enumerate(parent.items) if item.value.shape is JsonShape.OBJECT}
    return {nth for nth, item in objects.items() if item.key == key and _holds_mark(text, item.value, mark)}


def _deepest_object(root: JsonNode, text: str, member: WantedMember) -> tuple[int, JsonNode]:
    """How far the path exists, and what stands there; of doubled keys the last counts."""
    node = root
    for depth, key in enumerate(member.path):
        if node.shape is not JsonShape.OBJECT:
            raise refusal(member.file, text, node.start, f"{named(member.path[:depth])} should be an object")
        values = [item.value for item in node.items if item.key == key]
        if not values:
            return depth, node
        node = values[-1]
    return len(member.path), node


def _renewed_member(
    text: str, member: WantedMember, root: JsonNode, present: JsonNode, mark: OwnershipMark
) -> str:
    """The text with our member as it is wanted today; somebody else's of that name is not ours to change."""
    if not _holds_mark(text, present, mark):
        reason = f"{named(member.path)} is there already, and it is not ours"
        raise refusal(member.file, text, present.start, reason)
    if value_of(text, present) == member.value:
        return text
    fresh = rendered(member.value, indent_at(text, present.start), style_of(text, root))
    return text[: present.start] + fresh + text[present.end :]


def _around(text: str, member: WantedMember, root: JsonNode, present: JsonNode, mark: OwnershipMark) -> str:
    """The text with our command around somebody else's; where theirs is no command, as it was."""
    is_ours, span = _holds_mark(text, present, mark), _command(text, present, member.wraps)
    their_command = next(strings(text, span)) if span else ""
    their_command = unwrapped_command(their_command) if is_ours else their_command
    if span and their_command:
        command = json.dumps(
            wrapped_command(their_command, str(member.value[member.wraps])), ensure_ascii=False
        )
        return text[: span.start] + command + text[span.end :]
    return _renewed_member(text, member, root, present, mark) if is_ours else text


def _command(text: str, node: JsonNode, key: str) -> JsonNode | None:
    """The text that stands under this key; None if there is none, or it is something else."""
    values = [item.value for item in node.items if item.key == key]
    return values[-1] if values and _plain_text(text, values[-1]) is not None else None


def _unwrapped(text: str, node: JsonNode, mark: OwnershipMark) -> str:
    """The text with each command in this object that stands inside of ours by itself again."""
    for item in reversed(node.items if node.shape is JsonShape.OBJECT else ()):
        command = _plain_text(text, item.value)
        theirs = unwrapped_command(command) if command is not None and mark.owns(command) else ""
        if theirs:
            text = text[: item.value.start] + json.dumps(theirs, ensure_ascii=False) + text[item.value.end :]
    return text


def _plain_text(text: str, node: JsonNode) -> str | None:
    """What a value says that is a text; None if it is something else."""
    return next(strings(text, node), None) if node.shape is JsonShape.PLAIN else None


def _holds_mark(text: str, node: JsonNode, mark: OwnershipMark) -> bool:
    return any(mark.owns(string) for string in strings(text, node))
