"""Pressure: how full a session's context window is, by what its harness counted.

Counts, capacities and shares of them, and nothing else: what the agent is asked at which share is `flush`'s
matter, when a checkpoint is due `rolling`'s. What was not sent yet is counted by whoever has a counter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from holdfast.core.text.patterns import compiled
from holdfast.lazy_dataclass import dataclass

if TYPE_CHECKING:
    # The settings are made of models, and reading them must not load what happens in a session.
    from holdfast.core.events.event import Compacted, Usage

USUAL_WINDOW: Final = 200_000
"""What a model of which nothing is known is taken to hold."""
LARGE_WINDOW: Final = 1_000_000
"""What a model holds that was sent more than it is known to hold: vendors sell larger windows by the name."""
LEAST_LEARNED: Final = 30_000
"""A compaction at fewer tokens than this was no sign of a full window."""
OVERSHOOT: Final = 1.1
"""By how much a window may exceed what the last one taught before that counts as refuted."""
AUTOMATIC: Final = "auto"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What is known of the models that go by this name: of several that fit, the longest name counts."""

    name: str
    window: int = 0
    """0: the same as for a shorter name."""
    factor: float = 0.0
    """How many tokens it makes of what the counter counts as one; 0: as for a shorter name."""


@dataclass(frozen=True, slots=True)
class AutoCompact:
    """When a harness compacts by itself, as its settings say; by default, at the very end of a window."""

    window: int = 0
    """Above this it uses nothing of a model's window; 0: it uses all."""
    held_back: int = 0
    """What of that it leaves to its own summary."""
    margin: int = 0
    share: float = 1.0
    """It compacts at this share of the rest, or by the margin before its end, whichever comes first."""
    most: int = 0
    """And at so many tokens at the latest; 0: no such limit."""

    def limit(self, window: int) -> int:
        """At how many tokens a window of that size is compacted; the whole of it if that makes no sense."""
        room = min(self.window or window, window) - self.held_back
        at = min(room - self.margin, int(room * self.share), self.most or window)
        return at if at > 0 else window


@dataclass(frozen=True, slots=True)
class Pressure:
    """What is known about how full a session's window is. All of it is durable, and belongs to one window."""

    used: int = 0
    """Tokens of the last request and its answer; 0 until one was counted in this window."""
    answers: int = 0
    """How many requests were answered in all windows."""
    model: str = ""
    told: int = 0
    """The model's window where the harness itself gave it."""
    learned: int = 0
    """At how many tokens the harness last compacted by itself."""
    auto: AutoCompact = AutoCompact()


def counted(pressure: Pressure, usage: Usage) -> Pressure:
    """After one more count; a request that failed has none, and says nothing."""
    used = usage.sent + usage.output
    if not used:
        return pressure
    # Some harnesses add to a model's name how large a window they bought, and count under the bare name.
    model = pressure.model if pressure.model.startswith(f"{usage.model}[") else usage.model
    pressure = switched(pressure, model, usage.window)
    learned = 0 if used > pressure.learned * OVERSHOOT else pressure.learned
    return replace(pressure, used=used, learned=learned)


def switched(pressure: Pressure, model: str, window: int = 0) -> Pressure:
    """With this model at work, and its window if that was told with it; nothing changes without a name."""
    same = model in ("", pressure.model)
    told = window or (pressure.told if same else 0)
    if same and told == pressure.told:
        return pressure
    return replace(pressure, model=model or pressure.model, told=told)


def emptied(pressure: Pressure) -> Pressure:
    """In a new window: nothing that was counted before tells anything about it."""
    return replace(pressure, used=0)


def taught(pressure: Pressure, event: Compacted) -> Pressure:
    """With what a compaction teaches: one that nobody asked for came when the window was full."""
    if event.trigger != AUTOMATIC or event.tokens_before < LEAST_LEARNED:
        return pressure
    return replace(pressure, learned=event.tokens_before)


def capacity(pressure: Pressure, models: Iterable[KnownModel]) -> int:
    """How many tokens fit until the harness compacts: the least of all that is known to limit them."""
    window = pressure.told or window_of(pressure.model, models)
    if pressure.used > window:
        window = max(LARGE_WINDOW, pressure.used)
    least = min(window, pressure.auto.limit(window), pressure.learned or window)
    return max(least, 1)


def percent(used: int, capacity: int) -> int:
    """How much of the capacity is used, in whole percent, rounded down; more than 100 is possible."""
    return used * 100 // capacity


def gauge(used: int, capacity: int) -> str:
    """The line by which the model itself sees how full its window is."""
    return f"[Context: {tokens(used)}/{tokens(capacity)} tokens ({percent(used, capacity)}%)]"


def tokens(count: int) -> str:
    """A number of tokens as short as one says it: `950`, `156k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 999_500:
        return f"{round(count / 1_000)}k"
    return f"{count / 1_000_000:.1f}".removesuffix(".0") + "M"


def window_of(model: str, models: Iterable[KnownModel]) -> int:
    """How large the window of a model of that name is, told by the name itself or known."""
    if found := _IN_NAME.search(model):
        return int(found["number"]) * (1_000_000 if found["unit"] == "m" else 1_000)
    return next((known.window for known in _fitting(model, models) if known.window), USUAL_WINDOW)


def factor_of(model: str, models: Iterable[KnownModel]) -> float:
    """How many tokens a model of that name makes of what the counter counts as one."""
    return next((known.factor for known in _fitting(model, models) if known.factor), 1.0)


def family_of(model: str, models: Iterable[KnownModel]) -> str:
    """The longest name by which a model is known; its own if by none."""
    return next((known.name for known in _fitting(model, models)), model)


_IN_NAME: Final = compiled(r"\[(?P<number>\d{1,4})(?P<unit>[km])\]$")


def _fitting(model: str, models: Iterable[KnownModel]) -> list[KnownModel]:
    """What is known of a model of that name, also behind a vendor's or a region's, the longest name first."""
    name = model.lower()
    found = [known for known in models if _names(name, known.name.lower())]
    return sorted(found, key=lambda known: len(known.name), reverse=True)


def _names(model: str, known: str) -> bool:
    at = model.find(known)
    return at == 0 or (at > 0 and not model[at - 1].isalnum())
