"""What a project shares by which settings, and through which hub."""

from __future__ import annotations

import pytest

from holdfast.core.sharing.identity import bound_name
from holdfast.core.sharing.items import Audience, SharedKind
from holdfast.core.sharing.policy import PERSONAL, SharingPolicy, hub_for, rule_problem

SHOP = "github.com/acme/shop"


def test_by_default_nothing_is_shared() -> None:
    assert SharingPolicy().kinds == frozenset()
    assert hub_for((), (SHOP,)) == ""


def test_without_a_hub_nothing_is_shared_whatever_is_set() -> None:
    every = SharingPolicy("", True, True, True, True, True, True)  # noqa: FBT003 - all that can be set
    assert every.kinds == frozenset()


@pytest.mark.parametrize(
    ("policy", "kinds"),
    [
        (SharingPolicy("work", handoffs=True), {SharedKind.HANDOFF}),
        (SharingPolicy("work", continuity=True), {SharedKind.CONTINUITY}),
        (SharingPolicy("work", team_memories=True), {SharedKind.MEMORY}),
        (SharingPolicy("work", own_memories=True), {SharedKind.MEMORY}),
        (SharingPolicy("work", checkpoints=True), {SharedKind.CHECKPOINT}),
        (SharingPolicy("work", own_sessions=True), {SharedKind.SESSION, SharedKind.CHECKPOINT}),
    ],
)
def test_each_setting_shares_its_kinds(policy: SharingPolicy, kinds: set[SharedKind]) -> None:
    assert policy.kinds == kinds


def test_checkpoints_go_to_the_team_only_if_they_are_shared_with_it() -> None:
    assert SharingPolicy("work", own_sessions=True).checkpoint_audience is Audience.OWN
    assert SharingPolicy("work", own_sessions=True, checkpoints=True).checkpoint_audience is Audience.TEAM


@pytest.mark.parametrize(
    ("rules", "names", "hub"),
    [
        (("work: github.com/acme/*",), (SHOP,), "work"),
        (("work: github.com/acme",), (SHOP,), "work"),
        (("work: github.com/ACME/",), (SHOP,), "work"),
        (("work: github.com/acme/shop",), (SHOP,), "work"),
        (("work: github.com/acme/shop",), ("github.com/acme/shop-2",), ""),
        (("home: notes", "work: *"), ("notes",), "home"),
        (("home: notes", "work: *"), (SHOP,), "work"),
        (("work: *",), (), ""),
        (("home: ~",), (PERSONAL,), "home"),
        (("home: ~",), (SHOP,), ""),
        (("no rule", ": *", "work:"), (SHOP,), ""),
        (("work: gitlab.com/*",), (SHOP, "gitlab.com/acme/former"), "work"),
    ],
)
def test_the_first_rule_that_matches_names_the_hub(
    rules: tuple[str, ...], names: tuple[str, ...], hub: str
) -> None:
    assert hub_for(rules, names) == hub


def test_a_rule_that_can_match_nothing_is_named() -> None:
    assert rule_problem("work: *") == ""
    assert all(map(rule_problem, ("work", "work:", ": *")))


def test_no_project_can_have_the_name_of_what_is_personal() -> None:
    assert bound_name(PERSONAL) == ""
