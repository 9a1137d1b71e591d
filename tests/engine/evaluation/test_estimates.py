"""What is foretold of a request, against what it held."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from holdfast.core.events.event import Compacted, CompactionSign, Event, Origin, Prompt, ToolReturned, Usage
from holdfast.core.session.pressure import KnownModel
from holdfast.engine.evaluation.estimates import Estimate, errors, estimates

MODELS = (KnownModel("alpha", 100_000, 2.0),)


def words(texts: Iterable[str]) -> int:
    return sum(len(text.split()) for text in texts)


def usage(record: str, sent: int, output: int = 0, agent: str = "main") -> Usage:
    return Usage(
        session="s",
        record=record,
        at=1,
        origin=Origin.HARNESS,
        agent=agent,
        input=sent,
        output=output,
        model="alpha-1",
    )


def asked(text: str) -> Prompt:
    return Prompt(session="s", record=text, at=1, origin=Origin.HUMAN, text=text)


def output(text: str, size: int = 0, agent: str = "main") -> ToolReturned:
    return ToolReturned(
        session="s",
        record=text,
        at=1,
        origin=Origin.TOOL,
        agent=agent,
        call="c",
        ok=True,
        text=text,
        size=size,
    )


BOUNDARY = Compacted(session="s", record="b", at=1, origin=Origin.HARNESS, sign=CompactionSign.BOUNDARY)


def foretold(*events: Event) -> list[tuple[int, int]]:
    found = estimates("some-harness", events, MODELS, words)
    return [(one.foretold, one.counted) for one in found]


@pytest.mark.parametrize(
    ("events", "pairs"),
    [
        ((usage("1", 100, 10), usage("2", 115)), [(110, 115)]),
        ((usage("1", 100, 10), asked("three more words"), usage("2", 117)), [(116, 117)]),
        ((usage("1", 100), output("one two"), output("three"), usage("2", 107)), [(106, 107)]),
        ((usage("1", 100), output("one two ", size=24), usage("2", 107)), [(112, 107)]),
        ((usage("1", 100, 1), usage("1", 100, 9), usage("2", 115)), [(109, 115)]),
        ((usage("1", 100), output("one"), usage("1", 100, 9), output("two"), usage("2", 115)), [(113, 115)]),
        ((usage("1", 100), BOUNDARY, usage("2", 30), usage("3", 35)), [(30, 35)]),
        (
            (usage("1", 100), usage("x", 9_000, agent="a1"), output("far", agent="a1"), usage("2", 101)),
            [(100, 101)],
        ),
        ((asked("first"), usage("1", 100)), []),
        ((usage("1", 100), usage("2", 0), usage("3", 103)), [(100, 103)]),
    ],
)
def test_what_is_estimated_for_each_request(events: tuple[Event, ...], pairs: list[tuple[int, int]]) -> None:
    assert foretold(*events) == pairs


def test_how_estimates_did() -> None:
    one = Estimate("h", "alpha", 100, 100, 1_000, 2_000)
    of = errors([one, replace(one, foretold=105), replace(one, foretold=50), replace(one, new_foretold=10)])
    assert (of.requests, of.within) == (4, 0.75)
    assert of.median == pytest.approx(0.0)
    assert of.mean == pytest.approx(0.1375)
    assert of.p90 == pytest.approx(0.5)
    assert of.factor == pytest.approx(2.0)


def test_without_anything_new_nothing_is_known_about_the_factor() -> None:
    assert errors([Estimate("h", "alpha", 100, 100, 0, 0)]).factor is None
