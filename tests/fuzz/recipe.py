"""A recipe: bytes read as choices, so that what a fuzzer changes is what is built, and not its spelling.

Whatever the bytes are, something can be built from them; when they are at an end, every choice is the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")
STRANGE: Final[tuple[Any, ...]] = (
    None,
    "",
    0,
    -1,
    1 << 63,
    1.5e300,
    True,
    [],
    {},
    [[]],
    "\0",
    "\ud800",
    "a\u202eb\x1b[31m",
    "x" * 20_000,
    "2026-11-15T10:00:00.000Z",
    "9999-99-99T99:99:99Z",
    {"type": "text", "text": {"deep": [None]}},
    [{"type": "tool_use"}],
    ["text", 1, None],
)
"""What no harness should write where another value belongs."""


class Recipe:
    """Choices, one after the other."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0

    @property
    def is_over(self) -> bool:
        return self._place >= len(self._content)

    def number(self, below: int) -> int:
        """A number from 0 on; of two bytes where one would not reach."""
        taken = self._taken(1 if below <= 256 else 2)
        return int.from_bytes(taken) % below if below > 0 else 0

    def one_of(self, things: Sequence[T]) -> T:
        return things[self.number(len(things))]

    def text(self, most: int) -> str:
        """Some of the bytes themselves."""
        return self._taken(self.number(most + 1)).decode("utf-8", "replace")

    def _taken(self, count: int) -> bytes:
        taken = self._content[self._place : self._place + count]
        self._place += count
        return taken


def changed(recipe: Recipe, value: Any, others: Sequence[Any]) -> Any:  # noqa: ANN401 - whatever JSON can say
    """A JSON value in which something is another thing: of the strange ones, of another record, or gone."""
    if isinstance(value, Mapping) and value and recipe.number(8):
        return _changed_in_object(recipe, dict(cast("Mapping[str, Any]", value)), others)
    if isinstance(value, list) and value and recipe.number(8):
        items: list[Any] = list(value)
        at = recipe.number(len(items))
        items[at : at + 1] = [changed(recipe, items[at], others)] * recipe.number(3)
        return items
    match recipe.number(4):
        case 0:
            return recipe.one_of(STRANGE)
        case 1:
            return recipe.text(60)
        case 2:
            return recipe.one_of(others)
        case _:
            return f"{value}{recipe.text(12)}" if isinstance(value, str) else recipe.number(1 << 16)


def _changed_in_object(recipe: Recipe, fields: dict[str, Any], others: Sequence[Any]) -> dict[str, Any]:
    name = recipe.one_of(sorted(fields))
    match recipe.number(6):
        case 0:
            del fields[name]
        case 1:
            fields[recipe.text(10)] = fields[name]
        case 2:
            fields |= _object_of(recipe.one_of(others))
        case _:
            fields[name] = changed(recipe, fields[name], others)
    return fields


def _object_of(value: Any) -> dict[str, Any]:  # noqa: ANN401
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}
