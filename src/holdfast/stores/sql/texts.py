"""Every text of a store's rows, for those who check what is in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.stores.base import StoredText
from holdfast.stores.codec import texts_of
from holdfast.stores.sql.database import Row


def texts_in_rows(table: str, columns: Sequence[str], rows: Iterable[Row]) -> Iterator[StoredText]:
    """Every text of every column of these rows; of a JSON document, each text in it."""
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            if isinstance(value, str):
                yield from (StoredText(f"{table}.{column}", text) for text in _texts(value))


def _texts(value: str) -> Iterator[str]:
    return texts_of(value) if value[:1] in ("{", "[") else iter((value,))
