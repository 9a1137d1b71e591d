"""Change the texts in a record, such as to redact them, but not the names and ids that must stay as they are.

The caller decides what to change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeAlias, cast

import msgspec

Change: TypeAlias = Callable[[str], str]
ChangeParts: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Changes the consecutive texts of one message; it returns as many texts as it is given."""


def map_record(line: str, change: Change) -> str:
    """A record's line with every text in it changed; the same bytes where no text changes."""
    return map_parts(line, lambda parts: tuple(map(change, parts)))


def map_parts(line: str, change: ChangeParts) -> str:
    """The same, with the texts of adjacent blocks passed together: they may be one text that was split."""
    try:
        fields = cast("dict[str, object]", msgspec.json.decode(line))
        changed = _mapped(fields, change)
        return line if changed == fields else msgspec.json.encode(changed).decode()
    except RecursionError:
        # A record nested this deeply cannot be searched, so only its place in the tree is kept.
        head = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        return msgspec.json.encode({name: head[name] for name in _PLACE if name in head}).decode()


def _mapped(value: object, change: ChangeParts) -> object:
    if isinstance(value, str):
        return change((value,))[0]
    if isinstance(value, list):
        return _mapped_list(cast("list[object]", value), change)
    if isinstance(value, dict):
        return _mapped_fields(cast("dict[str, object]", value), change)
    return value


def _mapped_list(values: list[object], change: ChangeParts) -> list[object]:
    mapped: list[object] = []
    for adjacent_texts, run in groupby(values, _is_text):
        blocks = list(run)
        if adjacent_texts:
            text_blocks = cast("list[dict[str, object]]", blocks)
            texts = change([cast("str", block["text"]) for block in text_blocks])
            mapped += [{**block, "text": text} for block, text in zip(text_blocks, texts, strict=True)]
        else:
            mapped += [_mapped(block, change) for block in blocks]
    return mapped


def _is_text(value: object) -> bool:
    """Whether it is a block whose only changeable content is text."""
    if not isinstance(value, dict):
        return False
    block = cast("dict[str, object]", value)
    return block.get("type") == "text" and isinstance(block.get("text"), str) and block.keys() <= _TEXT_BLOCK


def _mapped_fields(fields: Mapping[str, object], change: ChangeParts) -> dict[str, object]:
    mapped = {name: _mapped_field(fields, name, change) for name in fields}
    if mapped.get("type") == "thinking" and mapped.get("thinking") != fields.get("thinking"):
        # The provider that signed it would refuse the changed text.
        mapped["thinkingSignature"] = ""
    return mapped


def _mapped_field(fields: Mapping[str, object], name: str, change: ChangeParts) -> object:
    value = fields[name]
    if name in _FREE and not isinstance(value, str):
        return _mapped_freely(value, change)
    if name in _NAMES or (name == "data" and fields.get("type") == "image"):
        return value
    return _mapped(value, change)


def _mapped_freely(value: object, change: ChangeParts) -> object:
    """Change every string in free-form data, where a field of any name may contain text."""
    if isinstance(value, str):
        return change((value,))[0]
    if isinstance(value, list):
        return [_mapped_freely(each, change) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        return {name: _mapped_freely(each, change) for name, each in named.items()}
    return value


_TEXT_BLOCK: Final = frozenset({"type", "text", "textSignature"})
_PLACE: Final = ("type", "id", "parentId", "timestamp")
_FREE: Final = frozenset({"arguments", "details", "data"})
_NAMES: Final = frozenset(
    # These identify a record, a call or a model.
    "id parentId firstKeptEntryId targetId fromId toolCallId toolName name responseId "
    "api provider model modelId "
    # These are enumerations or times.
    "type role stopReason mimeType customType thinkingLevel timestamp "
    # These are signatures that a provider accepts only unchanged.
    "signature thinkingSignature textSignature thoughtSignature".split()
)
