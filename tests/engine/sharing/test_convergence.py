"""Machines that change, forget and exchange in any order end with the same memories."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from holdfast.errors import HubAway
from tests.depth import examples
from tests.engine.sharing.machines import Fleet, SharingMachine
from tests.engine.stage import NOON

MINUTE = 60_000
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["remember", "edit", "forget", "exchange", "push", "pull", "break"]),
        st.integers(0, 2),
        st.integers(0, 5),
    ),
    min_size=3,
    max_size=30,
)
SKEWS = st.tuples(*(st.integers(-180, 180) for _ in range(3)))


# Each example opens three stores: to make a failing one smaller takes minutes.
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(STEPS, SKEWS)
def test_machines_that_exchange_end_with_equal_memories(
    steps: list[tuple[str, int, int]], skews: tuple[int, int, int]
) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        fleet = Fleet(Path(folder), stack)
        machines = [
            fleet.machine(name, clock_ahead=skew * MINUTE)
            for name, skew in zip(("laptop", "desk", "tower"), skews, strict=True)
        ]
        ids, forgotten = list[str](), set[str]()
        for number, (action, which, choice) in enumerate(steps):
            machine = machines[which].at(NOON + number * MINUTE)
            take(fleet, machine, action, choice, ids, forgotten, number)
            machine.push_stamps()
        for _ in range(3):
            for machine in machines:
                machine.at(NOON + (len(steps) + 1) * MINUTE).exchange()
        first, *others = [machine.texts() for machine in machines]
        assert all(texts == first for texts in others)
        assert set(first) == set(ids) - forgotten
        assert set(fleet.database.texts) == set(first)


def take(
    fleet: Fleet,
    machine: SharingMachine,
    action: str,
    choice: int,
    ids: list[str],
    forgotten: set[str],
    number: int,
) -> None:
    """One step on one machine."""
    here = sorted(machine.texts())
    match action:
        case "remember":
            ids.append(machine.remember(f"Thing {number} is kept in drawer {number * 7}."))
        case "edit" if here:
            machine.edit(here[choice % len(here)], f"Now it is in box {number * 11} of {machine.name}.")
        case "forget" if here:
            id = here[choice % len(here)]
            machine.forget(id)
            forgotten.add(id)
        case "push":
            machine.push()
        case "pull":
            machine.pull()
        case "break":
            fleet.database.fails_after = [HubAway("the connection broke")]
            with suppress(HubAway):
                machine.exchange()
            fleet.database.fails_after.clear()
        case "exchange":
            machine.exchange()
        case _:
            pass
