"""Thresholds: at which pressure the agent is asked to write down what must last, and in which words.

They are settings, so this module loads no event types. `flush` decides when one is due.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from holdfast.lazy_dataclass import dataclass

MARKER: Final = "[SYSTEM: memory flush]"


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
            return f"{MARKER}\n{self.prompt}"
        return self.prompt


THRESHOLDS: Final = (
    Threshold(50, "Context at 50%. Consider noting key decisions to memory.", Delivery.SYSTEM),
    Threshold(75, "Context at 75%. Write important context to memory/YYYY-MM-DD.md now.", Delivery.SYSTEM),
    Threshold(
        90,
        "[SYSTEM: pre-compaction memory flush]\n"
        "Context at 90%. Compaction imminent.\n"
        "Store durable memories now (use memory/YYYY-MM-DD.md; create memory/ if needed).\n"
        "If nothing to store, reply with NO_REPLY.",
        Delivery.MARKED,
    ),
)
