"""Results: the last result of each evaluation on the user's own history, stored for display.

Numbers only. Measuring is done elsewhere, when the user asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

NAMES: Final = ("survival",)
_FACT: Final = "evaluations/{}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was measured, when, and the result."""

    name: str
    at: int
    report: Mapping[str, Any]


def keep(store: Store, evaluation: Evaluation) -> None:
    """Store a result in place of the previous one."""
    fact = msgspec.json.encode({"at": evaluation.at, "report": evaluation.report}).decode()
    with store.writing():
        store.put_fact(_FACT.format(evaluation.name), fact)


def kept(store: Store) -> list[Evaluation]:
    """The stored results."""
    noted = ((name, store.fact(_FACT.format(name))) for name in NAMES)
    results = [(name, msgspec.json.decode(fact)) for name, fact in noted if fact]
    return [Evaluation(name, int(result["at"]), result["report"]) for name, result in results]
