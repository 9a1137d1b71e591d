"""Provenance: who made what came from a hub, and on which machine, as it is shown wherever that is shown.

Names come from other machines: they are cleaned here, once.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.sharing.identity import Machine
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import defanged
from holdfast.lazy_dataclass import dataclass

NAME_CHARS: Final = 60


@dataclass(frozen=True, slots=True)
class Provenance:
    """The author of an item, the machine that it is from, and when it was made there."""

    person: str
    machine: Machine
    is_mine: bool
    """Whether the author is the person of this home."""
    at: int
    """By the hub's clock, in milliseconds since 1970."""

    @property
    def machine_name(self) -> str:
        """The name of the machine, as it may be shown."""
        return shown_name(self.machine.name) or "another machine"

    @property
    def label(self) -> str:
        """The machine and, unless it is the user, the person: `ann on laptop`."""
        return self.machine_name if self.is_mine else f"{shown_name(self.person)} on {self.machine_name}"

    def is_of(self, person: str, machine: str) -> bool:
        """Whether it is of this person and this machine, as somebody typed them; an empty one fits all."""
        is_person = not person or is_named(person, shown_name(self.person))
        return is_person and (not machine or is_named(machine, self.machine_name, self.machine.id))


def is_named(typed: str, name: str, id: str = "") -> bool:
    """Whether somebody who types this means that name, or the id that begins so."""
    return typed.casefold() == name.casefold() or bool(id and id.startswith(typed.lower()))


def shown_name(name: str) -> str:
    """The name of a person or a machine, on one line and harmless."""
    return shortened(one_line(defanged(name)), NAME_CHARS)


def provenance_row(provenance: Provenance | None) -> dict[str, object]:
    """Person and machine as fields of a JSON row; both None for what was made here."""
    if provenance is None:
        return {"person": None, "machine": None, "machine_id": None}
    return {
        "person": shown_name(provenance.person),
        "machine": provenance.machine_name,
        "machine_id": provenance.machine.id,
    }
