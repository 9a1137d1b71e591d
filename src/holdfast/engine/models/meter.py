"""Meter: tokens and cost of model calls by day and model, and whether a day's limit is reached.

Counts and nothing else: no text, no session. A day is one of UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from holdfast.core.events.durations import DAY_MS
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Answer
from holdfast.settings import Models
from holdfast.stores.base import Store

_NAME: Final = "models/{}"
_MILLION: Final = 1_000_000


class Spent(msgspec.Struct, frozen=True):
    """One model's use on one day; the price is in cents for a million tokens, times tokens."""

    asked: int = 0
    failed: int = 0
    sent: int = 0
    given: int = 0
    price: int = 0

    @property
    def tokens(self) -> int:
        return self.sent + self.given

    @property
    def cents(self) -> float:
        return self.price / _MILLION


@dataclass(frozen=True, slots=True)
class Day:
    """The use of models on one day, by their names."""

    date: str
    models: dict[str, Spent]

    @property
    def tokens(self) -> int:
        return sum(spent.tokens for spent in self.models.values())

    @property
    def cents(self) -> float:
        return sum(spent.cents for spent in self.models.values())


def day_of(store: Store, at: int) -> Day:
    """The use on the day of that time."""
    date = _date(at)
    noted = store.fact(_NAME.format(date))
    return Day(date, msgspec.json.decode(noted, type=dict[str, Spent]) if noted else {})


def days_until(store: Store, at: int, count: int) -> list[Day]:
    """The last so many days with any use up to that time, the latest first."""
    days = (day_of(store, at - number * DAY_MS) for number in range(count))
    return [day for day in days if day.models]


def note(store: Store, at: int, model: str, answer: Answer | None, prices: Models) -> None:
    """Add an answer's use to its day; None for a question that was not answered."""
    with store.writing():
        day = day_of(store, at)
        before = day.models.get(model, Spent())
        sent, received = (answer.sent, answer.given) if answer else (0, 0)
        useless = answer is None or bool(answer.trouble)
        after = Spent(
            before.asked + 1,
            before.failed + useless,
            before.sent + sent,
            before.given + received,
            before.price + sent * prices.sent_cents + received * prices.given_cents,
        )
        noted = msgspec.json.encode({**day.models, model: after}).decode()
        store.put_fact(_NAME.format(day.date), noted)


def note_rejected(store: Store, at: int, model: str) -> None:
    """Count an answer that was noted already as failed, because it could not be used."""
    with store.writing():
        day = day_of(store, at)
        before = day.models.get(model, Spent())
        after = msgspec.structs.replace(before, failed=before.failed + 1)
        store.put_fact(_NAME.format(day.date), msgspec.json.encode({**day.models, model: after}).decode())
        store.count_skipped("an answer of a model was rejected", 1)


def reached(day: Day, limits: Models, wanted_tokens: int) -> str:
    """Which daily limit so many more tokens would exceed; empty if none."""
    if day.tokens + wanted_tokens > limits.daily_tokens:
        return f"the day's limit of {limits.daily_tokens:,} tokens is reached"
    dearest = max(limits.sent_cents, limits.given_cents)
    if dearest and day.cents + wanted_tokens * dearest / _MILLION > limits.daily_cents:
        return f"the day's limit of {limits.daily_cents:,} cents is reached"
    return ""


def _date(at: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)).date().isoformat()
