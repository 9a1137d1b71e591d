"""What `make fuzz` feeds with anything stands what it begins with, and every parser is among it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.harnesses import names, readable
from tests.depth import examples
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())


@every_target
def test_a_target_stands_its_seeds(target: Target) -> None:
    assert target.seeds
    for seed in target.seeds:
        target.feed(seed)


@every_target
@given(data=st.data())
@settings(max_examples=examples(20))
def test_a_target_stands_a_seed_that_was_cut_and_spoiled(target: Target, data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(target.seeds))[:2_000]
    place = data.draw(st.integers(0, len(seed)))
    target.feed(
        seed[:place] + data.draw(st.binary(max_size=8)) + seed[data.draw(st.integers(0, len(seed))) :]
    )


def test_every_harness_is_among_them() -> None:
    wanted = {f"hook-events-{name}" for name in names()} | {f"transcripts-{name}" for name in readable()}
    assert wanted <= TARGETS.keys()
