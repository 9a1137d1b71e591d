"""Paging: lists in pages, with a cursor for the next page."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Final, Generic, TypeVar

from fastapi import Depends, HTTPException, Query
from pydantic import BaseModel, Field

from holdfast.stores.base import START, PageMark

T = TypeVar("T")
R = TypeVar("R")
LIMIT_MOST: Final = 200
_Limit = Annotated[int, Query(ge=1, le=LIMIT_MOST, description="At most so many.")]
_Cursor = Annotated[str, Query(max_length=2_000, description="The `next` of the page before.")]


class Page(BaseModel, Generic[T]):
    """Some of a list, the newest first."""

    items: list[T]
    next: str | None = Field(default=None, description="Where the next page begins; null on the last one.")


class Paging:
    """Which page is asked for."""

    def __init__(self, limit: _Limit = 10, cursor: _Cursor = "") -> None:
        self.limit = limit
        self.behind = mark_of(cursor) if cursor else START

    @property
    def wanted(self) -> int:
        """How many rows to fetch: one more than is shown, which says whether there is another page."""
        return self.limit + 1

    def page(
        self, rows: Sequence[T], mark: Callable[[T], PageMark], row: Callable[[T], R]
    ) -> dict[str, object]:
        """The page made of up to `wanted` rows."""
        visible = rows[: self.limit]
        more = len(rows) > self.limit and visible
        return {
            "items": [row(item) for item in visible],
            "next": cursor_of(mark(visible[-1])) if more else None,
        }

    def page_of(
        self, rows: Iterable[T], mark: Callable[[T], PageMark], row: Callable[[T], R]
    ) -> dict[str, object]:
        """The page of a list that is in memory as a whole."""

        def place(item: T) -> tuple[int, str]:
            return mark(item).at, mark(item).id

        chosen = [item for item in rows if place(item) < (self.behind.at, self.behind.id)]
        chosen.sort(key=place, reverse=True)
        return self.page(chosen[: self.wanted], mark, row)


Paged = Annotated[Paging, Depends()]


def cursor_of(mark: PageMark) -> str:
    """A mark encoded as a cursor."""
    encoded = json.dumps([mark.at, mark.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(encoded.encode()).decode().rstrip("=")


def mark_of(cursor: str) -> PageMark:
    """The mark that a cursor encodes; 422 for a malformed one."""
    try:
        decoded = json.loads(
            base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
        at, id = decoded
        is_mark = type(at) is int and 0 <= at <= START.at and isinstance(id, str)
        id.encode()
    except (ValueError, TypeError, AttributeError):
        is_mark, at, id = False, 0, ""
    if not is_mark:
        raise HTTPException(422, "the cursor is not one that this API returned")
    return PageMark(at, id)
