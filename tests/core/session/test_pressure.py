"""How full a window is: what was counted, what it holds, and what a compaction does to both."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Compacted, CompactionSign, ModelChanged, Origin, SessionEnded, Usage
from holdfast.core.session.pressure import (
    LARGE_WINDOW,
    USUAL_WINDOW,
    AutoCompact,
    KnownModel,
    Pressure,
    capacity,
    factor_of,
    gauge,
    percent,
    short_count,
    window_of,
    with_compaction,
    with_model,
    with_usage,
)
from holdfast.core.session.session import advance, revise
from tests.core.scenes import KEY, NOON, POLICY, after, session

MODELS = (KnownModel("alpha", 100_000, 1.2), KnownModel("alpha-2", 500_000), KnownModel("beta", 32_000, 0.9))


def usage(used: int, *, at: int = NOON, record: str = "u1", revision: int = 0, agent: str = "main") -> Usage:
    return Usage(
        session=KEY,
        record=record,
        at=at,
        origin=Origin.HARNESS,
        agent=agent,
        revision=revision,
        input=used,
        output=0,
    )


def compacted(
    sign: CompactionSign = CompactionSign.BOUNDARY, at: int = NOON, before: int = 0, trigger: str = "auto"
) -> Compacted:
    return Compacted(
        session=KEY,
        record=f"{sign}-{at}",
        at=at,
        origin=Origin.HARNESS,
        sign=sign,
        tokens_before=before,
        trigger=trigger,
    )


def test_what_is_used_is_all_that_was_sent_and_what_was_answered() -> None:
    told = replace(usage(1_000), output=20, cache_read=300, cache_written=4)
    assert with_usage(Pressure(), told).used == 1_324


def test_a_request_that_failed_changes_nothing() -> None:
    known = Pressure(used=500, model="alpha")
    assert with_usage(known, usage(0)) is known


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("alpha-1", 100_000),
        ("alpha-2-mini", 500_000),
        ("vendor/ALPHA-2", 500_000),
        ("eu.vendor.beta-7b", 32_000),
        ("alphabet", 100_000),
        ("gralpha", USUAL_WINDOW),
        ("alpha-2[1m]", 1_000_000),
        ("alpha[400k]", 400_000),
        ("", USUAL_WINDOW),
        ("something else", USUAL_WINDOW),
    ],
)
def test_a_window_is_that_of_the_longest_name_that_fits(model: str, window: int) -> None:
    assert window_of(model, MODELS) == window


def test_what_a_longer_name_leaves_out_is_that_of_the_shorter() -> None:
    assert factor_of("alpha-2", MODELS) == 1.2
    assert factor_of("gamma", MODELS) == 1.0


@pytest.mark.parametrize(
    ("pressure", "expected"),
    [
        (Pressure(model="alpha-1"), 100_000),
        (Pressure(model="alpha-1", reported_window=64_000), 64_000),
        (Pressure(model="alpha-1", auto=AutoCompact(window=50_000)), 50_000),
        (Pressure(model="alpha-1", auto=AutoCompact(window=900_000)), 100_000),
        (Pressure(model="alpha-1", learned=80_000), 80_000),
        (Pressure(model="alpha-1", learned=180_000), 100_000),
        (Pressure(model="alpha-1", learned=80_000, auto=AutoCompact(window=70_000)), 70_000),
        (Pressure(model="alpha-1", used=120_000), LARGE_WINDOW),
        (Pressure(used=3_000_000), 3_000_000),
    ],
)
def test_the_capacity_is_the_least_of_all_that_limits_it(pressure: Pressure, expected: int) -> None:
    assert capacity(pressure, MODELS) == expected


@pytest.mark.parametrize(
    ("auto", "at"),
    [
        (AutoCompact(), 200_000),
        (AutoCompact(held_back=20_000, margin=13_000), 167_000),
        (AutoCompact(window=100_000, held_back=20_000, margin=13_000), 67_000),
        (AutoCompact(held_back=20_000, margin=13_000, share=0.5), 90_000),
        (AutoCompact(held_back=20_000, margin=13_000, share=0.99), 167_000),
        (AutoCompact(share=0.9, most=50_000), 50_000),
        (AutoCompact(margin=500_000), 200_000),
    ],
)
def test_at_how_many_tokens_a_harness_compacts(auto: AutoCompact, at: int) -> None:
    assert auto.limit(200_000) == at


@given(
    st.builds(
        AutoCompact,
        window=st.integers(0, 10**7),
        held_back=st.integers(0, 10**6),
        margin=st.integers(0, 10**6),
        share=st.floats(0, 1),
        most=st.integers(0, 10**7),
    ),
    st.integers(1, 10**7),
)
def test_a_limit_is_within_the_window(auto: AutoCompact, window: int) -> None:
    assert 0 < auto.limit(window) <= window


class TestAModel:
    def test_that_is_another_forgets_what_was_known_of_the_last(self) -> None:
        known = Pressure(model="alpha", reported_window=64_000)
        assert with_model(known, "beta") == Pressure(model="beta")
        assert with_model(known, "beta", 8_000) == Pressure(model="beta", reported_window=8_000)

    @pytest.mark.parametrize("model", ["", "alpha"])
    def test_that_is_the_same_or_not_named_forgets_nothing(self, model: str) -> None:
        known = Pressure(model="alpha", reported_window=64_000)
        assert with_model(known, model) == known

    def test_that_is_counted_under_its_bare_name_keeps_the_size_in_its_name(self) -> None:
        large = after(session(), model_changed("alpha-2[1m]"), replace(usage(9), model="alpha-2"))
        assert (large.model, large.pressure.model) == ("alpha-2[1m]", "alpha-2[1m]")
        smaller = after(large, model_changed("alpha-2", "m2"))
        assert smaller.pressure.model == "alpha-2"

    def test_is_known_from_a_count_where_nothing_else_names_it(self) -> None:
        assert after(session(), replace(usage(9), model="beta")).model == "beta"

    def test_may_be_reported_with_how_much_it_holds_which_counts_until_there_is_another(self) -> None:
        told = after(session(), model_changed("beta", window=60_000), replace(usage(9), model="beta"))
        assert capacity(told.pressure, MODELS) == 60_000
        other = after(told, model_changed("gamma", "m2"))
        assert other.pressure.reported_window == 0


def model_changed(model: str, record: str = "m1", window: int = 0) -> ModelChanged:
    return ModelChanged(
        session=KEY, record=record, at=NOON, origin=Origin.HARNESS, model=model, window=window
    )


class TestACompaction:
    def test_leaves_no_count_behind(self) -> None:
        full = after(session(), usage(90_000, at=NOON - 5))
        assert full.pressure.used == 90_000
        assert after(full, compacted()).pressure.used == 0

    @pytest.mark.parametrize(("at", "used"), [(NOON - 1, 0), (NOON, 7), (NOON + 1, 7)])
    def test_makes_a_count_that_comes_late_worth_nothing(self, at: int, used: int) -> None:
        assert after(session(), compacted(CompactionSign.START), usage(7, at=at)).pressure.used == used

    def test_is_not_a_second_one_because_of_its_second_sign(self) -> None:
        seen = after(
            session(), compacted(CompactionSign.START, NOON), usage(7, at=NOON + 1), compacted(at=NOON + 2)
        )
        assert seen.pressure.used == 7

    def test_that_nobody_asked_for_teaches_how_much_fits(self) -> None:
        by_itself = after(session(), compacted(before=155_000))
        assert by_itself.pressure.learned == 155_000
        assert capacity(by_itself.pressure, MODELS) == 155_000

    def test_teaches_also_by_its_later_signs(self) -> None:
        seen = after(
            session(), compacted(CompactionSign.START), compacted(CompactionSign.BOUNDARY, before=155_000)
        )
        assert seen.pressure.learned == 155_000

    @pytest.mark.parametrize(
        ("before", "trigger"), [(155_000, "manual"), (155_000, ""), (20_000, "auto"), (0, "auto")]
    )
    def test_by_hand_or_of_next_to_nothing_teaches_nothing(self, before: int, trigger: str) -> None:
        assert with_compaction(Pressure(learned=9), compacted(before=before, trigger=trigger)).learned == 9

    @pytest.mark.parametrize(("used", "learned"), [(160_000, 155_000), (180_000, 0)])
    def test_taught_nothing_if_the_next_window_holds_far_more(self, used: int, learned: int) -> None:
        assert with_usage(Pressure(learned=155_000), usage(used)).learned == learned


def test_a_session_that_was_cleared_and_goes_on_begins_with_an_empty_window() -> None:
    end = SessionEnded(session=KEY, record="end", at=NOON, origin=Origin.HARNESS, reason="clear")
    assert after(session(), usage(90_000), end).pressure.used == 0


def test_a_subagents_window_is_its_own() -> None:
    assert after(session(), usage(90_000, agent="a1")).pressure == Pressure()


def test_a_later_count_of_the_same_request_replaces_the_first_and_is_no_second_answer() -> None:
    counted_once = after(session(), usage(100))
    again = revise(counted_once, usage(140, revision=2))
    assert (again.pressure.used, again.pressure.answers) == (140, 1)


def test_a_late_revision_from_before_the_compaction_is_worth_nothing_either() -> None:
    emptied = after(session(), usage(100, at=NOON - 9), compacted())
    assert revise(emptied, usage(140, at=NOON - 9, revision=2)).pressure.used == 0


@given(st.lists(st.one_of(st.integers(1, 300_000).map(usage), st.just(compacted())), max_size=8))
def test_nothing_counted_before_a_compaction_is_ever_used_after_it(events: list[Usage | Compacted]) -> None:
    state, since = session(), 0
    for number, event in enumerate(events):
        at = NOON + number * 1_000_000
        state, _ = advance(state, replace(event, at=at, record=str(number)), POLICY)
        since = 0 if isinstance(event, Compacted) else event.input
        assert state.pressure.used == since


@pytest.mark.parametrize(
    ("used", "of", "line"),
    [
        (156_000, 200_000, "[Context: 156k/200k tokens (78%)]"),
        (950, 200_000, "[Context: 950/200k tokens (0%)]"),
        (1_540_000, 2_000_000, "[Context: 1.5M/2M tokens (77%)]"),
        (999_600, 1_000_000, "[Context: 1M/1M tokens (99%)]"),
        (210_000, 200_000, "[Context: 210k/200k tokens (105%)]"),
    ],
)
def test_what_the_model_sees_of_its_window(used: int, of: int, line: str) -> None:
    assert gauge(used, of) == line


@given(st.integers(0, 10**8), st.integers(1, 10**7))
def test_a_percentage_is_never_said_before_it_is_reached(used: int, of: int) -> None:
    assert percent(used, of) * of <= used * 100 < (percent(used, of) + 1) * of


@given(st.integers(0, 10**8))
def test_a_number_of_tokens_is_short(count: int) -> None:
    assert len(short_count(count)) <= 6
