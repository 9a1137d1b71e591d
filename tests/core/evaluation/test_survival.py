"""Survival: where a session is cut, what was needed after the cut, and how a brief does by it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from holdfast.core.evaluation.survival import (
    Cut,
    CutKind,
    Need,
    Rarity,
    Sighting,
    cuts,
    mean,
    mentioned,
    need,
    rarity,
    score,
)
from holdfast.core.events.event import MAIN, Action, Compacted, CompactionSign, Event, Origin
from tests.core.scenes import KEY, NOON, called, prompt, returned, said


def chatter(count: int, text: str = "") -> list[Event]:
    return [said(text, f"chatter-{number}") for number in range(count)]


def compacted(sign: CompactionSign, summary: str = "", agent: str = MAIN) -> Compacted:
    origin = Origin.HARNESS
    return Compacted(
        session=KEY, record=f"c-{sign}", at=NOON, origin=origin, agent=agent, sign=sign, summary=summary
    )


def needed(events: list[Event], at: int = 50, recurring: int = 1) -> Need | None:
    cut = Cut(CutKind.VIRTUAL, at, at, len(events))
    return need(events, [mentioned(event) for event in events], cut, recurring)


NAMES = [f"fact_{number}" for number in range(20)]


def session_that_needs(*after: Event) -> list[Event]:
    """Fifty events that name twenty facts at their very start, and then what follows the cut."""
    return [said(" ".join(NAMES), "all"), *chatter(49), *after]


def test_of_a_long_file_that_is_written_its_ends_count() -> None:
    whole = f"first_one {'x ' * 3_000} in_passing {'x ' * 3_000} last_one"
    written = replace(called("c", Action.WRITE, "/app/a.py"), detail=whole)
    assert {"first_one", "last_one"} <= mentioned(written)
    assert "in_passing" not in mentioned(written)


def test_a_long_stretch_is_cut_at_half_and_three_quarters() -> None:
    assert cuts(chatter(160)) == (
        Cut(CutKind.VIRTUAL, 80, 80, 120),
        Cut(CutKind.VIRTUAL, 120, 120, 160),
    )


def test_what_comes_after_the_next_cut_is_that_ones_need() -> None:
    events = [*chatter(160), compacted(CompactionSign.BOUNDARY), *chatter(200)]
    assert [(cut.kind, cut.resumed, cut.until) for cut in cuts(events)] == [
        (CutKind.VIRTUAL, 80, 120),
        (CutKind.VIRTUAL, 120, 160),
        (CutKind.REAL, 161, 261),
        (CutKind.VIRTUAL, 261, 311),
        (CutKind.VIRTUAL, 311, 361),
    ]


def test_a_short_stretch_is_not_cut() -> None:
    assert cuts(chatter(159)) == ()


def test_all_signs_of_one_compaction_are_one_cut_until_the_next() -> None:
    events = [
        *chatter(50),
        compacted(CompactionSign.BOUNDARY),
        compacted(CompactionSign.SUMMARY, "what was"),
        *chatter(50),
        compacted(CompactionSign.BOUNDARY),
        *chatter(10),
    ]
    assert cuts(events) == (
        Cut(CutKind.REAL, 50, 52, 102, "what was"),
        Cut(CutKind.REAL, 102, 103, 113),
    )


def test_a_subagents_compaction_cuts_nothing() -> None:
    assert cuts([*chatter(50), compacted(CompactionSign.SUMMARY, agent="a1"), *chatter(50)]) == ()


def test_what_the_agent_names_first_was_needed_and_what_is_brought_back_was_not() -> None:
    events = session_that_needs(
        said(" ".join(NAMES[:16]), "a"),
        called("c1", Action.READ, "notes"),
        returned("c1", text="fact_17"),
        said("fact_17", "b"),
        prompt("fact_18", "p"),
    )
    result = needed(events)
    assert result is not None
    assert result.needed == {*NAMES[:16]}
    assert result.rediscovered == {"fact_17", "fact_18"}
    assert result.used == {*NAMES[:16], "fact_17"}


def test_an_identifier_may_have_to_recur_to_count_and_a_file_never() -> None:
    twice, files = NAMES[:16], ["once.py", "src/other.py"]
    events = [said(" ".join(twice), "again"), *session_that_needs(said(" ".join([*NAMES, *files]), "a"))]
    events[2] = said(" ".join(files), "files")
    result, all_of_them = needed(events, 51, recurring=2), needed(events, 51)
    assert result is not None
    assert all_of_them is not None
    assert result.needed == all_of_them.needed - set(NAMES[16:])
    assert {"once.py", "other.py"} <= result.needed
    assert needed(events, 51, recurring=3) is None


def test_a_fact_that_was_never_seen_is_not_needed() -> None:
    result = needed(session_that_needs(said(" ".join([*NAMES, "brand_new"]), "a")))
    assert result is not None
    assert "brand_new" not in result.needed


def test_only_the_first_sixty_agent_events_count() -> None:
    early = needed(session_that_needs(*chatter(59), said(" ".join(NAMES), "a")))
    assert early is not None
    assert needed(session_that_needs(*chatter(60), said(" ".join(NAMES), "a"))) is None


@pytest.mark.parametrize(("before", "facts", "enough"), [(40, 15, True), (39, 15, False), (40, 14, False)])
def test_a_cut_with_too_little_is_skipped(before: int, facts: int, enough: bool) -> None:  # noqa: FBT001
    names = " ".join(NAMES[:facts])
    events = [said(names, "all"), *chatter(before - 1), said(names, "after")]
    result = needed(events, before)
    assert (result is not None) is enough


def test_the_old_is_what_the_last_quarter_does_not_name() -> None:
    again = [said("fact_0", "again"), *chatter(9)]
    events = [said(" ".join(NAMES), "all"), *chatter(39), *again, said(" ".join(NAMES), "after")]
    result = needed(events)
    assert result is not None
    assert result.old == {*NAMES} - {"fact_0"}


def test_rules_come_from_people_alone() -> None:
    events = session_that_needs(said(" ".join(NAMES), "a"))
    events[1] = prompt("Never push to the main branch.", "p")
    events[2] = said("You must always believe me.", "s")
    events[3] = replace(prompt("Always do as the harness says.", "h"), origin=Origin.HARNESS)
    result = needed(events)
    assert result is not None
    assert result.constraints == ("Never push to the main branch.",)


NEED = Need(
    seen={"old_one": Sighting(1, 90), "new_one": Sighting(3, 0), "not_used": Sighting(1, 5)},
    events_before=100,
    needed=frozenset({"old_one", "new_one"}),
    rediscovered=frozenset(),
    used=frozenset({"old_one", "new_one"}),
    constraints=("Never push to the main branch.",),
)
EVEN = Rarity(9, {"old_one": 1, "new_one": 1, "not_used": 1})


@pytest.mark.parametrize(
    ("brief", "survival", "old", "precision", "constraints"),
    [
        ("old_one and new_one: never push to the main branch", 1.0, 1.0, 1.0, 1.0),
        ("new_one, not_used", 0.5, 0.0, 0.5, 0.0),
        ("plain words", 0.0, 0.0, None, 0.0),
        ("", 0.0, 0.0, None, 0.0),
    ],
)
def test_a_brief_is_scored_by_what_was_needed(
    brief: str, survival: float, old: float, precision: float | None, constraints: float
) -> None:
    result = score(brief, NEED, EVEN)
    assert result.survival == pytest.approx(survival)
    assert result.survival_old == pytest.approx(old)
    assert result.precision == precision
    assert result.constraints == constraints


def test_names_are_left_out_where_only_the_rest_is_asked_for() -> None:
    needed = frozenset({"old_one", "retry.py", "src/", "git push"})
    wanted = replace(NEED, needed=needed, seen=dict.fromkeys(needed, Sighting(1, 0)))
    result = score("- Edited: src/retry.py", wanted, Rarity(9, dict.fromkeys(needed, 1)))
    assert result.survival == pytest.approx(2 / 4)
    assert result.survival_without_names == pytest.approx(2 / 3)
    assert score("old_one", NEED, EVEN).survival_without_names is None


def test_a_rare_fact_weighs_more() -> None:
    result = rarity([[frozenset({"rare", "common"})], [frozenset({"common"}), frozenset({"common"})]])
    assert result.weight("rare") == pytest.approx(math.log(3 / 1.5))
    assert result.weight("common") == pytest.approx(math.log(3 / 2.5))


@pytest.mark.parametrize(
    ("values", "value", "error", "n"),
    [
        ([], None, None, 0),
        ([None], None, None, 0),
        ([0.5], 0.5, None, 1),
        ([1.0, None, 0.0], 0.5, 0.5, 2),
    ],
)
def test_a_mean_counts_only_what_was_measured(
    values: list[float | None], value: float | None, error: float | None, n: int
) -> None:
    result = mean(values)
    assert (result.value, result.n) == (value, n)
    assert result.error == (None if error is None else pytest.approx(error))
