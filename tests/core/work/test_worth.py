"""Worth: a chance, by a table of weights that must only name features which there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.prose.cues import Cue
from holdfast.core.work.compute import standing
from holdfast.core.work.state import Statement, StatementSource
from holdfast.core.work.weights import WEIGHTS
from holdfast.core.work.worth import chance, features_of, setting_of, things_in, with_worth
from tests.core.scenes import NOON, worked
from tests.tables import every_row


@given(st.floats(allow_nan=False))
def test_a_chance_is_between_nothing_and_one(total: float) -> None:
    assert 0.0 <= chance(total) <= 1.0


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_more_weight_is_never_less_worth(total: float, more: float) -> None:
    assert chance(total + more) >= chance(total)


def worth_of(text: str, weights: dict[str, float]) -> float:
    """What a decision in these words is worth in the session at work."""
    row = Statement(Section.DECISIONS, text, NOON)
    return with_worth([row], setting_of(worked().trail), weights)[0].worth


def test_without_weights_the_worth_is_even_and_the_bias_moves_it() -> None:
    assert worth_of("The till rounds.", {}) == 0.5
    assert worth_of("The till rounds.", {"bias": 2.0}) > 0.8


def test_what_is_absent_counts_nothing() -> None:
    assert worth_of("The till rounds.", {"quotes": 9.0}) == 0.5
    assert worth_of("The till rounds “up”.", {"quotes": 9.0}) > 0.9


def test_the_worth_is_the_chance_of_all_features_times_their_weights() -> None:
    trail = worked().trail
    rows, setting = standing(trail), setting_of(trail)
    for row, present in zip(with_worth(rows, setting, WEIGHTS), features_of(rows, setting), strict=True):
        total = sum(value * WEIGHTS.get(name, 0.0) for name, value in present.items()) + WEIGHTS["bias"]
        assert row.worth == pytest.approx(chance(total))


def test_every_statement_of_a_session_has_a_worth() -> None:
    trail = worked().trail
    weighed = with_worth(standing(trail), setting_of(trail), WEIGHTS)
    assert [one.text for one in weighed] == [one.text for one in standing(trail)]
    assert all(0.0 < one.worth < 1.0 for one in weighed)


def test_what_was_said_later_is_worth_more_with_these_weights() -> None:
    trail = worked().trail
    setting = setting_of(trail)
    early = Statement(Section.DECISIONS, "The till rounds twice.", NOON, step=0)
    late = Statement(Section.DECISIONS, "The till rounds twice.", NOON, step=setting.steps)
    before, after = with_worth([early, late], setting, {"steps ago": -1.0})
    assert after.worth > before.worth


def known_features() -> set[str]:
    """Every name that `features_of` can give a statement."""
    trail = worked().trail
    row = Statement(Section.DECISIONS, "Mend it", NOON, heading="done")
    (present,) = features_of([row], setting_of(trail))
    plain = {name for name in present if " " not in name or name[:4] != "from"}
    return {
        *plain,
        "bias",
        *(f"from {origin}" for origin in StatementSource),
        *(f"section {section}" for section in Section),
        *(f"{origin} {section}" for origin in StatementSource for section in Section),
        *(f"kind {kind}" for kind in (*NoteKind, *StatementSource)),
        *(f"cue {cue}" for cue in Cue),
        *(f"under {section}" for section in Section),
    }


def test_the_table_names_only_features_that_there_are() -> None:
    assert WEIGHTS.keys() - known_features() == set()


@every_row(
    ("text", "things"),
    [
        ("Call `round_sale()` in src/shop/till.py", {"round_sale", "shop/till.py"}),
        ("see #42", {"#42"}),
        ("plain words only", set()),
    ],
)
def test_what_a_text_names_has_one_spelling(text: str, things: set[str]) -> None:
    assert things_in(text) == things


@pytest.mark.parametrize("heading", ["", "done"])
def test_a_heading_is_a_feature(heading: str) -> None:
    row = Statement(Section.DONE, "The till is mended.", NOON, heading=heading)
    (present,) = features_of([row], setting_of(worked().trail))
    assert ("under done" in present) == bool(heading)
