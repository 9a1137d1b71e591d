"""Pressure: how full a session's context window is, and the prompt that an agent is given at each threshold.

Only counts, capacities and texts. They are settings, so this module loads no event types. `agent_prompts`
decides when a prompt is due, and `rolling` when a checkpoint is. Tokens that were not sent yet are counted
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass

if TYPE_CHECKING:
    # The settings use this module, and reading them must not load the event types.
    from holdfast.core.events.event import Compacted, Usage


USUAL_WINDOW: Final = 200_000
"""The window assumed for an unknown model."""
LARGE_WINDOW: Final = 1_000_000
"""The window assumed for a model that was sent more than its known window."""
LEAST_LEARNED: Final = 30_000
"""A compaction at fewer tokens than this says nothing about the size of the window."""
OVERSHOOT: Final = 1.1
"""A window that grows beyond the learned limit by more than this factor refutes that limit."""
AUTOMATIC: Final = "auto"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What is known about models whose name contains this one; the longest matching name wins."""

    name: str
    window: int = 0
    """0 means: use the entry of a shorter name."""
    factor: float = 0.0
    """The model's tokens per token of the counter; 0 means: use the entry of a shorter name."""


@dataclass(frozen=True, slots=True)
class AutoCompact:
    """When a harness compacts on its own, by its settings; by default at the very end of a window."""

    window: int = 0
    """How much of a model's window it uses at most; 0 means all."""
    held_back: int = 0
    """How many of these tokens it reserves for its own summary."""
    margin: int = 0
    share: float = 1.0
    """It compacts at this share of the rest, or `margin` tokens before the end, whichever comes first."""
    most: int = 0
    """It compacts at this many tokens at the latest; 0 means no such limit."""

    def limit(self, window: int) -> int:
        """At how many tokens such a window is compacted; the whole window if the settings make no sense."""
        usable = min(self.window or window, window) - self.held_back
        at = min(usable - self.margin, int(usable * self.share), self.most or window)
        return at if at > 0 else window


@dataclass(frozen=True, slots=True)
class Pressure:
    """What is known about how full a session's current window is. All fields are stored."""

    used: int = 0
    """Tokens of the last request and its answer; 0 until this window has a count."""
    answers: int = 0
    """How many requests were answered in all windows."""
    model: str = ""
    reported_window: int = 0
    """The model's window, if the harness reported it."""
    learned: int = 0
    """At how many tokens the harness last compacted on its own."""
    auto: AutoCompact = AutoCompact()


def with_usage(pressure: Pressure, usage: Usage) -> Pressure:
    """The pressure after one more count; unchanged by a failed request, which has none."""
    used = usage.sent + usage.output
    if not used:
        return pressure
    # Some harnesses add the window's size to the model's name, and report counts under the bare name.
    model = pressure.model if pressure.model.startswith(f"{usage.model}[") else usage.model
    pressure = with_model(pressure, model, usage.window)
    learned = 0 if used > pressure.learned * OVERSHOOT else pressure.learned
    return replace(pressure, used=used, learned=learned)


def with_model(pressure: Pressure, model: str, window: int = 0) -> Pressure:
    """The pressure with this model in use, and its window if one is given; an empty name changes no model."""
    same = model in ("", pressure.model)
    reported = window or (pressure.reported_window if same else 0)
    if same and reported == pressure.reported_window:
        return pressure
    return replace(pressure, model=model or pressure.model, reported_window=reported)


def in_new_window(pressure: Pressure) -> Pressure:
    """The pressure at the start of a new window, which has no count yet."""
    return replace(pressure, used=0)


def with_compaction(pressure: Pressure, event: Compacted) -> Pressure:
    """The pressure after a compaction: an automatic one shows at how many tokens the window is full."""
    if event.trigger != AUTOMATIC or event.tokens_before < LEAST_LEARNED:
        return pressure
    return replace(pressure, learned=event.tokens_before)


def capacity(pressure: Pressure, models: Iterable[KnownModel]) -> int:
    """How many tokens fit until the harness compacts: the lowest of the known limits."""
    window = pressure.reported_window or window_of(pressure.model, models)
    if pressure.used > window:
        window = max(LARGE_WINDOW, pressure.used)
    least = min(window, pressure.auto.limit(window), pressure.learned or window)
    return max(least, 1)


def percent(used: int, capacity: int) -> int:
    """How much of the capacity is used, in whole percent, rounded down; more than 100 is possible."""
    return used * 100 // capacity


def gauge(used: int, capacity: int) -> str:
    """The line that tells the model how full its window is."""
    return f"[Context: {short_count(used)}/{short_count(capacity)} tokens ({percent(used, capacity)}%)]"


def short_count(count: int) -> str:
    """A number of tokens in short form: `950`, `156k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 999_500:
        return f"{round(count / 1_000)}k"
    return f"{count / 1_000_000:.1f}".removesuffix(".0") + "M"


def window_of(model: str, models: Iterable[KnownModel]) -> int:
    """The window of a model, from its name or from the known models."""
    if size := _IN_NAME.search(model):
        return int(size["number"]) * (1_000_000 if size["unit"] == "m" else 1_000)
    return next((known.window for known in _matching(model, models) if known.window), USUAL_WINDOW)


def factor_of(model: str, models: Iterable[KnownModel]) -> float:
    """The model's tokens per token of the counter."""
    return next((known.factor for known in _matching(model, models) if known.factor), 1.0)


def family_of(model: str, models: Iterable[KnownModel]) -> str:
    """The longest known name that matches a model; the model's own name if none does."""
    return next((known.name for known in _matching(model, models)), model)


_IN_NAME: Final = compiled(r"\[(?P<number>\d{1,4})(?P<unit>[km])\]$")


def _matching(model: str, models: Iterable[KnownModel]) -> list[KnownModel]:
    """The known models that match a name, with or without a vendor's prefix; the longest name first."""
    name = model.lower()
    matching = [known for known in models if _is_named(name, known.name.lower())]
    return sorted(matching, key=lambda known: len(known.name), reverse=True)


def _is_named(model: str, known: str) -> bool:
    at = model.find(known)
    return at == 0 or (at > 0 and not model[at - 1].isalnum())


# ---------------------------------------------------------------- the prompts of the thresholds

FLUSH_MARKER: Final = "[SYSTEM: memory flush]"


class Delivery(StrEnum):
    """How a prompt is given to the model."""

    SYSTEM = "system"
    """As a system message: it needs no answer."""
    USER = "user"
    """As a user's message: it has to be answered."""
    MARKED = "marked"
    """As a user's message, with a marker that says that no person wrote it."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The prompt that an agent is given from this pressure on, in percent, and how it is delivered."""

    percent: int
    prompt: str
    inject_as: Delivery = Delivery.MARKED

    @property
    def is_urgent(self) -> bool:
        """Whether it has to be answered."""
        return self.inject_as is not Delivery.SYSTEM

    @property
    def text(self) -> str:
        """The text for the model; a marker is added only if the prompt has none of its own."""
        if self.inject_as is Delivery.MARKED and not self.prompt.startswith("[SYSTEM:"):
            return f"{FLUSH_MARKER}\n{self.prompt}"
        return self.prompt


DIGEST_SECTIONS: Final = (
    "Goal, Rules (the user's words), Done, Now, Next, Decisions (what over what, and why), "
    "Failures (with the line that says why), Questions, Where"
)
"""What an agent is asked to write down, wherever it is asked; `core.work.written` reads it by these names."""
_DIGEST_REQUEST: Final = f"Also call `session_digest`, if you have it: {DIGEST_SECTIONS}."
THRESHOLDS: Final = (
    Threshold(
        50,
        f"Context at 50%. Consider noting key decisions to memory.\n{_DIGEST_REQUEST}",
        Delivery.SYSTEM,
    ),
    Threshold(
        75,
        f"Context at 75%. Write important context to memory/YYYY-MM-DD.md now.\n{_DIGEST_REQUEST}",
        Delivery.SYSTEM,
    ),
    Threshold(
        90,
        "[SYSTEM: pre-compaction memory flush]\n"
        "Context at 90%. Compaction imminent.\n"
        "Store durable memories now (use memory/YYYY-MM-DD.md; create memory/ if needed).\n"
        f"{_DIGEST_REQUEST}\n"
        "If nothing to store, reply with NO_REPLY.",
        Delivery.MARKED,
    ),
)
