"""Thresholds: from how full a window on an agent is asked to write down what must last, and in which words.

They are settings, so this loads nothing that knows what happens in a session; when one is due is `flush`'s
matter.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from holdfast.lazy_dataclass import dataclass

MARKER: Final = "[SYSTEM: memory flush]"


class Delivery(StrEnum):
    """How a prompt is given to the model."""

    SYSTEM = "system"
    """Beside what the system tells it: it may be read in passing."""
    USER = "user"
    """As a person's words are given: it has to be answered."""
    MARKED = "marked"
    """The same, behind a mark that says that no person wrote it."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """From how much pressure on, in percent, the agent is asked what, and how."""

    percent: int
    prompt: str
    inject_as: Delivery = Delivery.MARKED

    @property
    def is_urgent(self) -> bool:
        """Whether it has to be answered."""
        return self.inject_as is not Delivery.SYSTEM

    @property
    def text(self) -> str:
        """What the model is given; a prompt that brings a mark of its own needs no other."""
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
