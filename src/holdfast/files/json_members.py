"""One member of an object in a JSON settings file: added and removed, while every other byte stays.

For places where others have members beside ours, each under a name of its own. Entries of lists are
`json_text`'s, and so are the spans that both work on. No file is opened here.
"""

import json
from collections.abc import Iterable
from pathlib import PurePath

from holdfast.core.events.install_request import (
    Json,
    KeyPath,
    OwnershipMark,
    WantedMember,
    unwrapped_command,
    wrapped_command,
)
from holdfast.core.text.json_spans import JsonNode, JsonShape, strings, value_of
from holdfast.files.json_text import (
    Edited,
    Hollow,
    all_at,
    appended,
    dropped,
    indent_at,
    named,
    refusal,
    rendered,
    scan,
    style_of,
    without,
)


def insert(text: str, wanted: WantedMember, mark: OwnershipMark) -> Edited:
    """The text with the member at its place exactly once; one of ours that is there is renewed in place."""
    root = scan(text, wanted.file)
    depth, holder = _deepest(root, text, wanted)
    if depth == len(wanted.path):
        put = _around if wanted.wraps else _renewed
        return Edited(put(text, wanted, root, holder, mark), ())
    value: Json = wanted.value
    for key in reversed(wanted.path[depth + 1 :]):
        value = {key: value}
    grown = appended(text, holder, style_of(text, root), (wanted.path[depth],), value)
    edited_text = tuple(Hollow(wanted.path[:end], "") for end in range(depth + 1, len(wanted.path)))
    if holder.items:
        return Edited(grown, edited_text)
    return Edited(grown, (Hollow(wanted.path[:depth], text[holder.start : holder.end]), *edited_text))


def remove(text: str, paths: Iterable[KeyPath], mark: OwnershipMark, file: PurePath) -> str:
    """The text without the objects at `paths` that are ours; what is emptied by that stays.

    An object of somebody else's with our command around theirs is theirs again.
    """
    for path in {path for path in paths if path}:
        for node in reversed([*all_at(scan(text, file), path)]):
            text = _unwrapped(text, node, mark)
        for parent in reversed([*all_at(scan(text, file), path[:-1])]):
            text = without(text, dropped(text, parent, _ours(text, parent, path[-1], mark)))
    return text


def _ours(text: str, parent: JsonNode, key: str, mark: OwnershipMark) -> set[int]:
    """Which members of that name are objects of ours."""
    objects = {nth: item for nth, item in enumerate(parent.items) if item.value.shape is JsonShape.OBJECT}
    return {nth for nth, item in objects.items() if item.key == key and _is_ours(text, item.value, mark)}


def _deepest(root: JsonNode, text: str, wanted: WantedMember) -> tuple[int, JsonNode]:
    """How far the path exists, and what stands there; of doubled keys the last counts."""
    node = root
    for depth, key in enumerate(wanted.path):
        if node.shape is not JsonShape.OBJECT:
            raise refusal(wanted.file, text, node.start, f"{named(wanted.path[:depth])} should be an object")
        values = [item.value for item in node.items if item.key == key]
        if not values:
            return depth, node
        node = values[-1]
    return len(wanted.path), node


def _renewed(text: str, wanted: WantedMember, root: JsonNode, present: JsonNode, mark: OwnershipMark) -> str:
    """The text with our member as it is wanted today; somebody else's of that name is not ours to change."""
    if not _is_ours(text, present, mark):
        told = f"{named(wanted.path)} is there already, and it is not ours"
        raise refusal(wanted.file, text, present.start, told)
    if value_of(text, present) == wanted.value:
        return text
    fresh = rendered(wanted.value, indent_at(text, present.start), style_of(text, root))
    return text[: present.start] + fresh + text[present.end :]


def _around(text: str, wanted: WantedMember, root: JsonNode, present: JsonNode, mark: OwnershipMark) -> str:
    """The text with our command around somebody else's; where theirs is no command, as it was."""
    ours, span = _is_ours(text, present, mark), _command(text, present, wanted.wraps)
    their_command = next(strings(text, span)) if span else ""
    their_command = unwrapped_command(their_command) if ours else their_command
    if span and their_command:
        command = json.dumps(
            wrapped_command(their_command, str(wanted.value[wanted.wraps])), ensure_ascii=False
        )
        return text[: span.start] + command + text[span.end :]
    return _renewed(text, wanted, root, present, mark) if ours else text


def _command(text: str, node: JsonNode, key: str) -> JsonNode | None:
    """The text that stands under this key; None if there is none, or it is something else."""
    values = [item.value for item in node.items if item.key == key]
    return values[-1] if values and _text(text, values[-1]) is not None else None


def _unwrapped(text: str, node: JsonNode, mark: OwnershipMark) -> str:
    """The text with each command in this object that stands inside of ours by itself again."""
    for item in reversed(node.items if node.shape is JsonShape.OBJECT else ()):
        command = _text(text, item.value)
        theirs = unwrapped_command(command) if command is not None and mark.owns(command) else ""
        if theirs:
            text = text[: item.value.start] + json.dumps(theirs, ensure_ascii=False) + text[item.value.end :]
    return text


def _text(text: str, node: JsonNode) -> str | None:
    """What a value says that is a text; None if it is something else."""
    return next(strings(text, node), None) if node.shape is JsonShape.PLAIN else None


def _is_ours(text: str, node: JsonNode, mark: OwnershipMark) -> bool:
    return any(mark.owns(string) for string in strings(text, node))
