"""Sharing that fails is shown by `status`, `doctor` and the dashboard, with since when and what to do."""

from __future__ import annotations

from contextlib import suppress

from holdfast.engine.health.examine import Surroundings, in_use
from holdfast.engine.health.sharing import check_sharing
from holdfast.errors import HubAway, HubError
from tests.engine.sharing.machines import Fleet, SharingMachine, fleet
from tests.engine.stage import NOON

__all__ = ["fleet"]

MINUTE = 60_000


def details(machine: SharingMachine) -> list[tuple[bool, str]]:
    return [(each.ok, each.detail) for each in check_sharing(machine.engine)]


def fail(machine: SharingMachine, error: HubError) -> None:
    machine.hub.database.fails_before = [error]
    with suppress(HubError):
        machine.exchange()


def test_without_a_hub_there_is_nothing_to_check(fleet: Fleet) -> None:
    assert details(fleet.machine("laptop")) == []


def test_a_hub_that_was_used_says_when(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.remember("The staging port is 5433.")
    laptop.at(NOON).exchange()
    assert details(laptop.at(NOON + 5 * MINUTE)) == [(True, "pushed 5 min ago, pulled 5 min ago")]


def test_a_failure_says_since_when_and_what_to_do(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.remember("The staging port is 5433.")
    fail(laptop.at(NOON), HubAway("the hub does not answer", "look whether it runs"))
    fail(laptop.at(NOON + 50 * MINUTE), HubAway("the hub does not answer", "look whether it runs"))
    (finding,) = check_sharing(laptop.at(NOON + 60 * MINUTE).engine)
    assert (finding.ok, finding.check) == (False, "hub work")
    assert finding.detail == "nothing has been shared for 1 h: the hub does not answer"
    assert finding.fix == "look whether it runs"
    laptop.exchange()
    assert [ok for ok, _ in details(laptop)] == [True]


def test_changes_that_nobody_tries_to_send_are_a_problem(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.at(NOON).exchange()
    laptop.remember("The staging port is 5433.")
    laptop.push_stamps()
    assert [ok for ok, _ in details(laptop.at(NOON + 10 * MINUTE))] == [True]
    ((ok, detail),) = details(laptop.at(NOON + 20 * MINUTE))
    assert (ok, "nobody tried to send them" in detail) == (False, True)


def test_who_may_only_read_is_told_that_nothing_is_sent(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    laptop.hub.database.inner.connect_owner().invite("ada", "team", is_read_only=True)
    laptop.remember("The staging port is 5433.")
    laptop.exchange()
    assert details(laptop) == [(True, "you may read, so nothing is sent; pulled now")]


def test_doctor_and_the_dashboard_make_this_check(fleet: Fleet) -> None:
    laptop = fleet.machine("laptop")
    fail(laptop, HubAway("the hub does not answer"))
    laptop.remember("The staging port is 5433.")
    fail(laptop, HubAway("the hub does not answer"))
    around = Surroundings(laptop.library.home, laptop.library.home, {})
    assert "hub work" in [each.check for each in in_use(laptop.engine, around) if not each.ok]
