"""Which version of a shared item holds, and that all machines decide alike."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.sharing.items import SharedKind, VersionRef
from holdfast.core.sharing.versions import ItemVersion, made_at, resolve

LAPTOP = ItemVersion(VersionRef("laptop", 3), at=1_000, person="ada")
DESK = ItemVersion(VersionRef("desk", 7), at=2_000, person="ada")
OTHER = ItemVersion(VersionRef("other", 1), at=1_500, person="bob")
MEMORY = SharedKind.MEMORY
CONTINUITY = SharedKind.CONTINUITY


def test_nothing_holds_where_there_is_no_version() -> None:
    assert resolve(MEMORY, []) is None


def test_of_independent_versions_the_later_one_holds() -> None:
    assert resolve(MEMORY, [LAPTOP, DESK, OTHER]) == DESK


def test_a_version_made_from_another_wins_over_it_whatever_the_clocks_say() -> None:
    made_from_desk = replace(LAPTOP, replaces=DESK.ref)
    assert resolve(MEMORY, [made_from_desk, DESK]) == made_from_desk


def test_a_version_that_its_maker_did_not_know_is_not_replaced() -> None:
    made_from_older = replace(LAPTOP, replaces=VersionRef("desk", 6))
    assert resolve(MEMORY, [made_from_older, DESK]) == DESK


def test_a_later_version_of_the_same_machine_stands_for_it() -> None:
    later = replace(LAPTOP, ref=VersionRef("laptop", 4), at=900)
    assert resolve(MEMORY, [later, LAPTOP]) == later


def test_a_removal_ends_all_versions_of_its_person() -> None:
    removal = replace(LAPTOP, is_removed=True)
    assert resolve(MEMORY, [removal, DESK]) == removal
    assert resolve(MEMORY, [removal, DESK, OTHER]) == OTHER, "another person's version is theirs"


def test_a_removed_continuity_may_be_written_again() -> None:
    removal = replace(LAPTOP, is_removed=True)
    assert resolve(CONTINUITY, [removal, DESK]) == DESK
    assert resolve(CONTINUITY, [replace(removal, at=9_000), DESK]) == replace(removal, at=9_000)
    again = replace(DESK, replaces=removal.ref)
    assert resolve(CONTINUITY, [replace(removal, at=9_000), again]) == again


def test_a_new_version_is_later_than_all_that_its_maker_knew() -> None:
    assert made_at(500, [LAPTOP, DESK]) == 2_001
    assert made_at(9_000, [LAPTOP, DESK]) == 9_000
    assert made_at(500, []) == 500


MACHINES = st.sampled_from(["a", "b", "c", "d"])
REFS = st.builds(VersionRef, MACHINES, st.integers(1, 4))
VERSIONS = st.builds(
    ItemVersion, REFS, st.integers(0, 5), st.sampled_from(["ada", "bob"]), st.none() | REFS, st.booleans()
)


@st.composite
def versions_at_a_hub(draw: st.DrawFn) -> list[ItemVersion]:
    """At most one version of each machine, as a hub stores them."""
    return draw(st.lists(VERSIONS, max_size=4, unique_by=lambda each: each.ref.machine))


@given(versions_at_a_hub(), st.randoms(use_true_random=False), st.sampled_from(list(SharedKind)))
def test_the_order_in_which_versions_arrive_does_not_matter(
    versions: list[ItemVersion], random: Random, kind: SharedKind
) -> None:
    shuffled = versions * 2
    random.shuffle(shuffled)
    assert resolve(kind, shuffled) == resolve(kind, versions)


@given(versions_at_a_hub(), st.sampled_from(list(SharedKind)))
def test_what_holds_is_one_of_the_versions(versions: list[ItemVersion], kind: SharedKind) -> None:
    assert (resolve(kind, versions) in versions) is bool(versions)


@given(versions_at_a_hub(), st.sampled_from(list(SharedKind)))
def test_versions_that_do_not_hold_decide_nothing_when_they_become_older(
    versions: list[ItemVersion], kind: SharedKind
) -> None:
    """A machine that never pulled the losing versions of others decides as one that did."""
    winner = resolve(kind, versions)
    if winner is not None and not any(each.is_removed or each.replaces for each in versions):
        assert resolve(kind, [winner]) == winner


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[ItemVersion], ItemVersion]:
    """Edits on machines that see each other's versions now and then, with clocks that are wrong by hours."""
    known: dict[str, dict[str, ItemVersion]] = {machine: {} for machine in "abc"}
    skew = {machine: draw(st.integers(-7_200, 7_200)) for machine in "abc"}
    edit = ItemVersion(VersionRef("a", 1), 0, "ada")
    for now in range(draw(st.integers(1, 12))):
        machine = draw(st.sampled_from("abc"))
        seen = known[machine]
        for other in draw(st.sets(st.sampled_from("abc"))):
            for each in known[other].values():
                mine = seen.get(each.ref.machine)
                if each.ref.machine != machine and (mine is None or mine.ref.revision < each.ref.revision):
                    seen[each.ref.machine] = each
        base = resolve(MEMORY, seen.values())
        own = seen.get(machine)
        replaces = base.ref if base and base.ref.machine != machine else (own.replaces if own else None)
        at = made_at(now + skew[machine], [each for each in (base, own) if each])
        edit = ItemVersion(VersionRef(machine, now + 1), at, "ada", replaces)
        seen[machine] = edit
    return [each for seen in known.values() for each in seen.values()], edit


@given(histories())
def test_what_was_made_from_everything_holds_everywhere(
    history: tuple[list[ItemVersion], ItemVersion],
) -> None:
    """Whoever has seen what holds and changes it wins, however wrong the clocks are."""
    versions, _ = history
    winner = resolve(MEMORY, versions)
    assert winner is not None
    others = [each for each in versions if each.ref.machine != "z"]
    change = ItemVersion(VersionRef("z", 1), made_at(-9_999, [winner]), "ada", winner.ref)
    assert resolve(MEMORY, [*others, change]) == change
