"""A table as one test fails where a row of it does, and says which."""

from __future__ import annotations

import inspect

import pytest

from tests.tables import every_row


def test_every_row_that_fails_is_named() -> None:
    tried: list[int] = []

    @every_row(("number", "half"), [(2, 1), (4, 3), pytest.param(6, 4, id="six"), (8, 4)])
    def table(number: int, half: int) -> None:
        tried.append(number)
        assert number == 2 * half

    with pytest.raises(AssertionError, match=r"2 of 4 rows fail") as failure:
        table()
    assert tried == [2, 4, 6, 8]
    assert "(4, 3)\n" in str(failure.value)
    assert "six\n" in str(failure.value)


def test_what_is_not_in_the_table_is_asked_of_pytest() -> None:
    @every_row("word", ["a", "b"])
    def table(word: str, tmp: str) -> None:
        assert tmp == "given"
        assert word

    assert list(inspect.signature(table).parameters) == ["tmp"]
    table(tmp="given")


def test_a_table_without_rows_fails() -> None:
    @every_row("word", [])
    def table(word: str) -> None: ...

    with pytest.raises(AssertionError, match="without rows"):
        table()
