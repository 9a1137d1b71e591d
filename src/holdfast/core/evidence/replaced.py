"""Renewed: a large value with some of its fields changed, for what is made anew at every event.

`dataclasses.replace` sets each field of the new value by itself, which for a session with its thirty takes
longer than most of what an event tells. A value without slots is copied at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

__all__ = ["renewed"]

_T = TypeVar("_T")

if TYPE_CHECKING:
    # To whoever checks types it is the same, so that names and types of the fields are checked.
    from dataclasses import replace as renewed
else:

    def renewed(value: _T, /, **changes: object) -> _T:
        """The value, of a dataclass without slots, with these fields changed."""
        new = object.__new__(type(value))
        new.__dict__.update(value.__dict__, **changes)
        return new
