"""Tables of many rows as one test, which names every row that fails.

For tests of pure functions: pytest needs milliseconds for each case of `parametrize`, most cases less.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from _pytest.mark import ParameterSet

Test = Callable[..., None]


def every_row(names: str | Sequence[str], rows: Iterable[object]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but one test: all rows are tried, with the same fixtures."""
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_row(row, len(columns)) for row in rows]

    def as_one_test(test: Test) -> Test:
        @functools.wraps(test)
        def whole_table(**others: Any) -> None:  # noqa: ANN401 - what other tables and fixtures give
            failures: list[str] = []
            for id, values in table:
                try:
                    test(**dict(zip(columns, values, strict=True)), **others)
                except Exception as error:
                    failures.append(f"{id or repr(values)}\n    {type(error).__name__}: {error}")
            assert table, "a table without rows proves nothing"
            assert not failures, f"{len(failures)} of {len(table)} rows fail:\n" + "\n".join(failures)

        signature = inspect.signature(test)
        rest = [one for name, one in signature.parameters.items() if name not in columns]
        whole_table.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return whole_table

    return as_one_test


def _row(row: object, columns: int) -> tuple[str, Sequence[object]]:
    if isinstance(row, ParameterSet):
        return str(row.id or ""), row.values
    return "", row if columns > 1 and isinstance(row, Sequence) else (row,)
