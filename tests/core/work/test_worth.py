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
from holdfast.core.work.worth import chance, features, setting_of, things_in, with_worth
from tests.core.scenes import NOON, worked
from tests.tables import every_row

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
TABLES = st.dictionaries(st.sampled_from("abcdef"), NUMBERS)


@given(TABLES, TABLES)
def test_a_chance_is_between_nothing_and_one(present: dict[str, float], weights: dict[str, float]) -> None:
    assert 0.0 <= chance(present, weights) <= 1.0


@given(TABLES, TABLES, st.sampled_from("abcdef"), st.floats(0, 100), st.floats(0, 10))
def test_more_weight_for_what_is_present_is_never_less_worth(
    present: dict[str, float], weights: dict[str, float], name: str, more: float, value: float
) -> None:
    here = {**present, name: value}
    raised = {**weights, name: weights.get(name, 0.0) + more}
    assert chance(here, raised) >= chance(here, weights) - 1e-9


def test_without_weights_the_chance_is_even_and_the_bias_moves_it() -> None:
    assert chance({"names": 3.0}, {}) == 0.5
    assert chance({}, {"bias": 2.0}) > 0.8


def test_what_is_absent_counts_nothing() -> None:
    assert chance({"names": 1.0}, {"quotes": 9.0}) == chance({"names": 1.0}, {})


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
    """Every name that `features` can give a statement."""
    trail = worked().trail
    about = things_in("Mend `total` in src/till.py")
    row = Statement(Section.DECISIONS, "Mend it", NOON, heading="done")
    plain = {
        name for name in features(row, about, 0.0, setting_of(trail)) if " " not in name or name[:4] != "from"
    }
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
    assert ("under done" in features(row, frozenset(), 0.0, setting_of(worked().trail))) == bool(heading)
