"""Survival: where a session is cut, what was needed after the cut, and how a brief does by it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from holdfast.core.evaluation.survival import (
    Cut,
    CutKind,
    FactSighting,
    Need,
    Rarity,
    cuts,
    deleted_file_names,
    facts_of_event,
    last_state,
    mean,
    need,
    offered_as_present,
    rarity,
    score,
)
from holdfast.core.events.event import (
    MAIN,
    Action,
    Compacted,
    CompactionSign,
    Event,
    Origin,
    Todo,
    TodosChanged,
)
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
    return need(events, [facts_of_event(event) for event in events], cut, recurring)


NAMES = [f"fact_{number}" for number in range(20)]


def session_that_needs(*after: Event) -> list[Event]:
    """Fifty events that name twenty facts at their very start, and then what follows the cut."""
    return [said(" ".join(NAMES), "all"), *chatter(49), *after]


def test_of_a_long_file_that_is_written_its_ends_count() -> None:
    whole = f"first_one {'x ' * 3_000} in_passing {'x ' * 3_000} last_one"
    written = replace(called("c", Action.WRITE, "/app/a.py"), detail=whole)
    assert {"first_one", "last_one"} <= facts_of_event(written)
    assert "in_passing" not in facts_of_event(written)


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
    seen={"old_one": FactSighting(1, 90), "new_one": FactSighting(3, 0), "not_used": FactSighting(1, 5)},
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
    wanted = replace(NEED, needed=needed, seen=dict.fromkeys(needed, FactSighting(1, 0)))
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


def test_the_last_state_is_what_failed_what_was_edited_and_what_is_open() -> None:
    todos = (Todo("write the changelog", "pending"), Todo("mend the lexer", "completed"))
    events: list[Event] = [
        called("c1", Action.RUN, "make lint"),
        returned("c1", ok=False),
        called("c2", Action.RUN, "make test"),
        returned("c2", ok=False),
        called("c3", Action.RUN, "make test"),
        returned("c3"),
        called("c4", Action.EDIT, "/app/src/lexer.py"),
        returned("c4"),
        called("c5", Action.EDIT, "/app/src/refused.py"),
        returned("c5", ok=False),
        called("c6", Action.RUN, "cd /app && rg frobnicate src | head"),
        returned("c6", ok=False),
        TodosChanged(session=KEY, record="t", at=NOON, origin=Origin.ASSISTANT, todos=todos),
    ]
    state = last_state(events)
    assert (state.failing, state.edited, state.todos) == (
        "make lint",
        "/app/src/lexer.py",
        ("write the changelog",),
    )
    assert state.held("Failed: `make lint`. Edited src/lexer.py. To do: write the changelog") == (True,) * 3
    assert state.held("All is well.") == (False,) * 3


def test_how_much_of_it_was_shown_is_no_part_of_what_failed() -> None:
    failed: list[Event] = [
        called("c1", Action.RUN, "cd /app && make lint 2>&1 | tail -40"),
        returned("c1", ok=False),
    ]
    assert last_state(failed).held("Failed: `make lint`") == (True,)


def test_nothing_to_hold_is_not_held_against_a_brief() -> None:
    assert last_state([said("Nothing yet.", "s")]).held("") == ()


@pytest.mark.parametrize(
    ("commands", "names"),
    [
        (["rm -f src/old.py"], {"old.py"}),
        (["git mv src/old.py src/new.py"], {"old.py"}),
        (["mv src/old.py lib/"], set()),
        (["mv a.py b.py && mv b.py a.py"], {"b.py"}),
        (["rm src/old.py", "mv src/new.py src/old.py"], {"new.py"}),
        (["ls src/old.py"], set()),
    ],
)
def test_deleted_and_renamed_files_are_gone(commands: list[str], names: set[str]) -> None:
    events: list[Event] = []
    for number, command in enumerate(commands):
        events += [called(f"c{number}", Action.RUN, command), returned(f"c{number}")]
    assert deleted_file_names(events) == names


def test_a_deletion_that_failed_and_a_file_that_came_back_are_not_gone() -> None:
    failed: list[Event] = [called("c1", Action.RUN, "rm a.py"), returned("c1", ok=False)]
    back: list[Event] = [
        called("c2", Action.DELETE, "/app/b.py"),
        returned("c2"),
        called("c3", Action.WRITE, "/app/b.py"),
        returned("c3"),
    ]
    assert deleted_file_names([*failed, *back]) == frozenset()


@pytest.mark.parametrize(
    ("brief", "offered"),
    [
        ("- edited `src/old.py` twice", True),
        ("- `src/old.py` was deleted", False),
        ("- renamed `old.py` → `new.py`", False),
        ("- edited `src/older.py`", False),
    ],
)
def test_a_stale_name_must_be_called_so(brief: str, offered: bool) -> None:  # noqa: FBT001
    assert offered_as_present(brief, "old.py") is offered
