"""Versions of a shared item: which one holds, so that all machines that know the same versions decide alike.

Each machine has at most one version of an item. What is in them is not looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from holdfast.core.sharing.items import SharedKind, VersionRef
from holdfast.lazy_dataclass import dataclass

WRITTEN_AGAIN: Final = frozenset({SharedKind.CONTINUITY})
"""The kinds whose items may be written again after they were removed; the ids of others are used once."""


@dataclass(frozen=True, slots=True)
class ItemVersion:
    """One machine's version of an item, without its text."""

    ref: VersionRef
    at: int
    """When it was made, by the hub's clock, and always later than the version it was made from."""
    person: str
    replaces: VersionRef | None = None
    """The version of another machine that it was made from."""
    is_removed: bool = False

    def is_made_from(self, other: ItemVersion) -> bool:
        """Whether its maker knew the other version, and changed it."""
        made_from = self.replaces
        return (
            made_from is not None
            and made_from.machine == other.ref.machine
            and made_from.revision >= other.ref.revision
        )


def resolve(kind: SharedKind, versions: Iterable[ItemVersion]) -> ItemVersion | None:
    """The version that holds; None if there is none.

    A removal ends the other versions of the same person. Of the rest, a version made from another one wins
    over it, and of two that were made independently the later one wins.
    """
    latest = _latest_of_each_machine(versions)
    removals = [each for each in latest if each.is_removed]
    texts = [each for each in latest if not each.is_removed]
    held = [each for each in texts if not any(_ends(removal, each, kind) for removal in removals)]
    candidates = held or removals
    newest = [each for each in candidates if not any(other.is_made_from(each) for other in candidates)]
    return max(newest or candidates, key=_order, default=None)


def made_at(now: int, known: Iterable[ItemVersion]) -> int:
    """The time of a new version: now, but later than every version that its maker knew."""
    return max([now, *(each.at + 1 for each in known)])


def _latest_of_each_machine(versions: Iterable[ItemVersion]) -> list[ItemVersion]:
    latest: dict[str, ItemVersion] = {}
    for each in versions:
        other = latest.get(each.ref.machine)
        if other is None or each.ref.revision > other.ref.revision:
            latest[each.ref.machine] = each
    return list(latest.values())


def _ends(removal: ItemVersion, other: ItemVersion, kind: SharedKind) -> bool:
    """Whether a removal takes the other version with it: one person forgets on all machines at once."""
    if removal.person != other.person:
        return False
    return kind not in WRITTEN_AGAIN or (_order(removal) > _order(other) and not other.is_made_from(removal))


def _order(version: ItemVersion) -> tuple[int, str, int]:
    return version.at, version.ref.machine, version.ref.revision
