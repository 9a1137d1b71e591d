"""JSON as people write it: the position of each value in a text, and the values themselves.

Besides JSON this reads the additions of JSONC and JSON5: comments, trailing commas, bare keys, single quotes
and more number formats. Nothing here writes JSON or opens a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final

from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass


class JsonShape(Enum):
    OBJECT = "{}"
    ARRAY = "[]"
    PLAIN = ""


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value and the position of its text."""

    shape: JsonShape
    start: int
    end: int
    items: tuple[JsonItem, ...] = ()


@dataclass(frozen=True, slots=True)
class JsonItem:
    """An element of a list, or a member of an object with its key; it ends where its value ends."""

    start: int
    value: JsonNode
    key: str = ""


@dataclass(frozen=True, slots=True)
class BrokenJson:
    """Where a text stops being valid JSON, and why."""

    at: int
    reason: str


def scan(text: str) -> JsonNode | BrokenJson:
    """The value in a text, or where the text is broken."""
    try:
        root = _value(text, after_space(text, len(_BYTE_ORDER_MARK) * text.startswith(_BYTE_ORDER_MARK)), 0)
        rest = after_space(text, root.end)
        return root if rest == len(text) else _unexpected(text, rest).broken
    except _Stop as stop:
        return stop.broken


def value_of(text: str, node: JsonNode) -> object:
    """The Python value of a node; of duplicate keys the last counts."""
    match node.shape:
        case JsonShape.OBJECT:
            return {item.key: value_of(text, item.value) for item in node.items}
        case JsonShape.ARRAY:
            return [value_of(text, item.value) for item in node.items]
        case JsonShape.PLAIN:
            return _plain(text[node.start : node.end])


def read(text: str) -> object:
    """The Python value of a whole text; None if it is not valid JSON."""
    root = scan(text)
    return None if isinstance(root, BrokenJson) else value_of(text, root)


def strings(text: str, node: JsonNode) -> Iterator[str]:
    """Every string inside a value, without keys."""
    if node.shape is JsonShape.PLAIN and text[node.start] in _QUOTES:
        yield _unquoted(text[node.start : node.end])
    for item in node.items:
        yield from strings(text, item.value)


def after_space(text: str, at: int) -> int:
    """The position of the next character that is neither blank nor in a comment."""
    space = _SPACE.match(text, at)
    return space.end() if space else at


def is_blank(text: str, start: int, end: int) -> bool:
    """Whether the range has only white space, not even a comment."""
    return not text[start:end].strip(_BLANK)


# ---------------------------------------------------------------- grammar

_BLANK: Final = " \t\n\r"
_QUOTES: Final = "\"'"
_BYTE_ORDER_MARK: Final = "\ufeff"
_SPACE: Final = compiled(r"(?:[ \t\n\r]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_ESCAPES: Final = r"""\\(?:["'\\/bfnrtv0]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n)"""
_STRING: Final = compiled(
    "|".join(rf"{q}[^{q}\\\x00-\x1f]*(?:{_ESCAPES}[^{q}\\\x00-\x1f]*)*{q}" for q in "\"'")
)
_NUMBER: Final = compiled(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|Infinity|NaN)"
)
_WORDS: Final = {"true": True, "false": False, "null": None}
_WORD: Final = compiled(r"(?:true|false|null)\b")
_NAME: Final = compiled(r"[A-Za-z_$][\w$]*")
_ESCAPE: Final = compiled(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)")
_PAIR: Final = compiled("[\ud800-\udbff][\udc00-\udfff]")
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
# Deeper than any settings file, and far below Python's recursion limit.
_DEEPEST: Final = 100


class _Stop(Exception):
    """The text is broken here."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.broken = BrokenJson(at, reason)


def _value(text: str, at: int, depth: int) -> JsonNode:
    if depth > _DEEPEST:
        raise _Stop(at, f"nested more than {_DEEPEST} levels deep")
    match text[at : at + 1]:
        case "{":
            return _container(text, at, depth, JsonShape.OBJECT)
        case "[":
            return _container(text, at, depth, JsonShape.ARRAY)
        case _:
            plain = _STRING.match(text, at) or _WORD.match(text, at) or _NUMBER.match(text, at)
    if plain is None:
        raise _unexpected(text, at)
    return JsonNode(JsonShape.PLAIN, at, plain.end())


def _container(text: str, start: int, depth: int, shape: JsonShape) -> JsonNode:
    closing = shape.value[1]
    items: list[JsonItem] = []
    at = after_space(text, start + 1)
    while not text.startswith(closing, at):
        item = (
            _member(text, at, depth)
            if shape is JsonShape.OBJECT
            else JsonItem(at, _value(text, at, depth + 1))
        )
        items.append(item)
        at = after_space(text, item.value.end)
        if text.startswith(closing, at):
            break
        if not text.startswith(",", at):
            raise _unexpected(text, at)
        at = after_space(text, at + 1)
    return JsonNode(shape, start, at + 1, tuple(items))


def _member(text: str, start: int, depth: int) -> JsonItem:
    key = _STRING.match(text, start) or _NAME.match(text, start)
    if key is None:
        raise _unexpected(text, start)
    name = _unquoted(key.group()) if text[start] in _QUOTES else key.group()
    colon = after_space(text, key.end())
    if not text.startswith(":", colon):
        raise _unexpected(text, colon)
    return JsonItem(start, _value(text, after_space(text, colon + 1), depth + 1), name)


def _unexpected(text: str, at: int) -> _Stop:
    match text[at : at + 1]:
        case "":
            return _Stop(at, "the text ends too early" if text.strip(_BLANK) else "the file is empty")
        case "/" | "#":
            return _Stop(at, "a comment that is not closed, or of a kind that JSON never has")
        case '"' | "'":
            return _Stop(at, "a string where none may be, or one that is not closed or has a wrong escape")
        case "}" | "]" as closing:
            return _Stop(at, f"`{closing}` where a value should be (is there a comma too many?)")
        case other:
            return _Stop(at, f"unexpected {other!r}")


# ---------------------------------------------------------------- plain values


def _plain(literal: str) -> object:
    if literal[0] in _QUOTES:
        return _unquoted(literal)
    if literal in _WORDS:
        return _WORDS[literal]
    if "x" in literal.lower():
        return int(literal, 16)
    return int(literal) if literal.lstrip("+-").isdecimal() else float(literal)


def _unquoted(literal: str) -> str:
    text = _ESCAPE.sub(_unescaped, literal[1:-1])
    return _PAIR.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _unescaped(escape: re.Match[str]) -> str:
    code = escape.group(1)
    if code[0] in "ux" and len(code) > 1:
        return chr(int(code[1:], 16))
    return "" if code.endswith("\n") else _ESCAPED.get(code, code)
