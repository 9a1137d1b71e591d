"""When an agent is told that a fresh start, or a saved ledger, would serve it better."""

from __future__ import annotations

import pytest

from holdfast.core.session.advice import LEDGER, TABLE, Advice, due, ends_the_day, given


def names(rows: tuple[Advice, ...]) -> list[str]:
    return [row.name for row in rows]


@pytest.mark.parametrize(
    ("percent", "compactions", "prompt", "expected"),
    [
        (69, 1, "go on", []),
        (70, 0, "go on", ["ledger"]),
        (85, 0, "go on", ["ledger and clear"]),
        (10, 2, "go on", ["ledger and fresh start"]),
        (90, 3, "go on", ["ledger and clear", "ledger and fresh start"]),
        (5, 0, "that's it for today", ["ledger for tomorrow"]),
    ],
)
def test_who_keeps_a_ledger_is_told_when_to_save_it(
    percent: int, compactions: int, prompt: str, expected: list[str]
) -> None:
    assert names(due((), percent, compactions, LEDGER, prompt)) == expected


def test_each_row_is_given_once_in_a_window_and_the_lesser_one_not_after_the_greater() -> None:
    known = given((), due((), 86, 0, LEDGER), 0)
    assert due(known, 86, 0, LEDGER) == ()
    assert names(due(known, 71, 1, LEDGER)) == ["ledger"]


def test_without_a_ledger_only_a_fresh_start_is_advised() -> None:
    assert due((), 95, 1) == ()
    assert names(due((), 95, 2)) == names(TABLE)
    assert all("ledger" not in row.text for row in TABLE)


@pytest.mark.parametrize(
    ("prompt", "ends"),
    [
        ("That's all for today, thanks", True),
        ("let's call it a day", True),
        ("we will continue tomorrow", True),
        ("good night", True),
        ("今天到此为止", True),
        ("明天继续", True),
        ("mend the day picker", False),
        ("the report shows the end of the month", False),
        ("go on", False),
        ("good night " + "x" * 500, False),
    ],
)
def test_a_user_who_stops_for_today_is_understood(prompt: str, ends: bool) -> None:  # noqa: FBT001
    assert ends_the_day(prompt) is ends
