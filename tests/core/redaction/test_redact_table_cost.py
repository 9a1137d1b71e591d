"""What a heading costs does not depend on how long its line is, or on how many headings stand below it.

Counted in characters that are read, not by a clock.
"""

from __future__ import annotations

from typing import SupportsIndex

from holdfast.core.redaction.assignments import column_at

ROWS = [f"user{number},hunter{number}Xy9" for number in range(300)]


class Counted(str):
    """A text that counts the characters that were searched or copied."""

    __slots__ = ("read",)
    read: int

    def find(self, sub: str, start: SupportsIndex | None = 0, end: SupportsIndex | None = None, /) -> int:
        place = super().find(sub, start, end)
        last = min(len(self), len(self) if end is None else int(end))
        self.read += (last if place < 0 else place) - int(start or 0)
        return place

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = super().__getitem__(key)
        self.read += len(found)
        return found


def counted(text: str) -> Counted:
    made = Counted(text)
    made.read = 0
    return made


def values(text: str, name: str) -> list[str]:
    return [text[span.start : span.end] for span in column_at(text, text.index(name))]


def test_a_heading_in_a_line_without_an_end_is_given_up_soon() -> None:
    text = counted("pin, code " * 50_000)
    assert list(column_at(text, 250_000)) == []
    assert text.read < 10_000


def test_all_rows_below_the_first_line_of_a_table_are_read() -> None:
    assert len(values("\n".join(["user,password", *ROWS]), "password")) == len(ROWS)
    assert len(values("\n".join(["who has access", "user,password", *ROWS]), "password")) == len(ROWS)


def test_below_a_heading_that_may_be_a_row_itself_a_hundred_rows_are_read() -> None:
    assert len(values("\n".join(["of,everyone", "user,password", *ROWS]), "password")) == 100


def test_a_table_of_headings_is_read_in_proportion_to_its_length() -> None:
    read = []
    for lines in (400, 4_000):
        text = counted("password,b\n" * lines)
        place = text.index("password", len(text) // 3)
        assert list(column_at(text, place)) == []
        read.append(text.read)
    assert read[1] <= read[0] * 2
