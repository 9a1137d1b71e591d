"""SqlDatabase: what the statements of a store need of a database, and the words in which dialects differ."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol, TypeAlias

Value: TypeAlias = int | float | str | bytes | None
Row: TypeAlias = tuple[Any, ...]
"""What a column holds is settled by the schema, which no checker can see."""
Bindings: TypeAlias = Mapping[str, Value]

CHECKPOINT_AT: Final = "cast(round(unixepoch(created_at, 'subsec') * 1000) as integer)"
"""The time of a checkpoint in milliseconds since 1970, as SQLite computes it."""


class SqlDatabase(Protocol):
    """Used by one thread at a time; it raises only StoreError. Statements name their values as `:name`."""

    def writing(self) -> AbstractContextManager[None]:
        """One transaction, which waits for other writers at its start and nowhere else."""
        ...

    def writing_durably(self) -> AbstractContextManager[None]:
        """One transaction that is on the disk when it ends, and with it all that was written before."""
        ...

    @property
    def is_writing(self) -> bool:
        """Whether a transaction is open that may still be rolled back."""
        ...

    def rows(self, sql: str, bindings: Bindings | None = None) -> list[Row]:
        """Everything a query finds."""
        ...

    def row(self, sql: str, bindings: Bindings | None = None) -> Row | None:
        """The first row a query finds."""
        ...

    def write(self, sql: str, bindings: Bindings) -> int:
        """Change something; how many rows the last statement changed."""
        ...
