"""Choices: what a sentence decides against, and which sentences had chosen that, by tables."""

from __future__ import annotations

from holdfast.core.evidence.prose import choices
from tests.tables import every_row


@every_row(
    ("sentence", "expected"),
    [
        ("Use Decimal instead of float for money.", {"float"}),
        ("Use `Decimal`, not `float`!", {"float"}),
        ("Instead of keeping it in float, take Decimal.", {"float"}),
        ("Take Postgres rather than SQLite", {"sqlite"}),
        ("No, don’t use the Redis cache, a dict will do.", {"redis cache"}),
        ("Drop the Redis cache.", {"redis cache"}),
        ("Switch from float to Decimal.", {"float"}),
        ("Put it into utils.py, not in main.py.", {"main.py"}),
        ("Why Decimal instead of float?", set()),
        ("Use it, not that.", set()),
        ("I do not know.", set()),
        ("Never touch legacy.py", set()),
    ],
)
def test_a_sentence_decides_against_something(sentence: str, expected: set[str]) -> None:
    assert choices.rejected(sentence) == expected


@every_row(
    ("sentence", "expected"),
    [
        ("Decision: keep the totals in float, because it is fast.", True),
        ("I chose `float`, because it is fast.", True),
        ("We use plain float for the totals.", True),
        ("Use Decimal instead of float.", False),
        ("Totals are never kept in float.", False),
        ("Don’t store it as float.", False),
        ("Each float loses cents.", False),
        ("Use floating windows for the cart.", False),
    ],
)
def test_a_sentence_chooses_what_is_decided_against(sentence: str, *, expected: bool) -> None:
    assert choices.is_rejected(sentence, {"float"}) is expected
