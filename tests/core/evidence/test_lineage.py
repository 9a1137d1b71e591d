"""Lineage: what a session inherits, how the usual rules apply to it, and what ends it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.events.event import Action, Event, Origin, Todo, TodoChanged, TodosChanged
from holdfast.core.evidence.follow import follow, same_prompt
from holdfast.core.evidence.kinds import KINDS, NoteKind
from holdfast.core.evidence.lineage import (
    ANCESTORS_KEPT,
    disinherited,
    inherit,
    inherited_part,
    take_over,
    without_inherited,
)
from holdfast.core.evidence.trail import Note, Trail, open_todos
from holdfast.core.session.checkpoint import take
from holdfast.core.session.session import Trigger
from tests.core.scenes import KEY, MINUTE, NOON, called, prompt, returned, said, session

GOAL = "Make the harbour crane unload containers by weight."
RULE = "Never lower the boom while the ramp is open."
CONTINUE = prompt("continue", "p9", NOON + MINUTE)
REQUEST = prompt("Write a manual for the lighthouse keeper.", "p9", NOON + MINUTE)


def todo(text: str, status: str = "pending", id: str = "") -> TodoChanged:
    return TodoChanged(
        session=KEY, record=f"t-{text}", at=NOON, origin=Origin.ASSISTANT, todo=Todo(text, status, id)
    )


NOTHING = Trail()


def after(*events: Event, trail: Trail = NOTHING) -> Trail:
    for event in events:
        trail = follow(trail, event)
    return trail


FIRST = after(
    prompt(f"{GOAL} {RULE}", "p1"),
    said("Decision: weigh at the hook instead of at the ramp, because the ramp bends.", "s1"),
    said("The simulator listens on port 4173.", "s2"),
    todo("grease the bearing", id="1"),
    todo("paint the boom", "completed", id="2"),
    called("c1", Action.RUN, "make check"),
    returned("c1", ok=False, text="Error: no load cell", exit_status=1),
    called("c2", Action.RUN, "make crane"),
    returned("c2", ok=True, exit_status=0),
    said("Next, I will calibrate the load cell of the second crane. Shall I use oil?", "s3"),
)
HEIR = inherit(Trail(), FIRST, "one")


def texts(trail: Trail, kind: NoteKind) -> list[str]:
    return [note.text for note in trail.noted(kind)]


def test_what_still_holds_is_inherited_and_marked() -> None:
    assert HEIR.goal == replace(FIRST.goal, inherited="one")  # type: ignore[type-var]
    assert HEIR.first_prompt == HEIR.goal
    assert [(note.text, note.inherited) for note in HEIR.notes] == [
        (note.text, "one") for note in FIRST.notes
    ]
    assert [(one.text, one.inherited) for one in HEIR.todos] == [("grease the bearing", "one")]
    assert [run.command for run in HEIR.commands] == ["make check"]
    assert HEIR.inherits == ("one",)


def test_it_is_no_work_of_the_session() -> None:
    assert HEIR.is_empty()
    assert not after(CONTINUE, trail=HEIR).is_empty()
    assert without_inherited(after(CONTINUE, trail=HEIR)).prompts == after(CONTINUE).prompts
    _, checkpoint = take(replace(session(), trail=HEIR), Trigger.PERIODIC, "", "id", NOON)
    assert "crane" not in f"{checkpoint.digest} {checkpoint.outline}"


def test_the_same_session_is_inherited_once() -> None:
    later = after(
        CONTINUE, said("Verified: the load cell of the second crane is calibrated.", "s9"), trail=HEIR
    )
    assert inherit(later, FIRST, "one") is later


def test_its_clocks_go_on() -> None:
    assert (HEIR.steps, HEIR.turns) == (FIRST.steps, FIRST.turns)
    assert [note.step for note in HEIR.notes] == [note.step for note in FIRST.notes]
    late = inherit(after(CONTINUE, said("Looking at the crane.", "s9")), FIRST, "one")
    assert (late.steps, late.turns) == (FIRST.steps + 1, FIRST.turns + 1)
    assert {note.step for note in late.notes if not note.inherited} <= {FIRST.steps, FIRST.steps + 1}
    assert open_todos(HEIR)
    long_ago = replace(FIRST, steps=FIRST.steps + 1_000)
    assert open_todos(inherit(Trail(), long_ago, "one")) == ()


def test_continue_keeps_goal_and_open_work() -> None:
    trail = after(CONTINUE, trail=HEIR)
    assert trail.goal == HEIR.goal
    assert texts(trail, NoteKind.NEXT) == texts(FIRST, NoteKind.NEXT) != []
    assert trail.todos == HEIR.todos
    assert texts(FIRST, NoteKind.QUESTION) != [] == texts(trail, NoteKind.QUESTION), "the user wrote"


@pytest.mark.parametrize("at_once", [True, False], ids=["typed after the start", "typed before it was known"])
def test_a_request_of_its_own_replaces_goal_and_open_work(at_once: bool) -> None:  # noqa: FBT001
    trail = after(REQUEST, trail=HEIR) if at_once else inherit(after(REQUEST), FIRST, "one")
    assert trail.goal == trail.first_prompt == after(REQUEST).goal
    assert (trail.todos, trail.commands, texts(trail, NoteKind.NEXT)) == ((), (), [])
    assert [one.text for one in trail.prompts] == [REQUEST.text]
    assert texts(trail, NoteKind.CONSTRAINT) == [RULE]
    assert len(texts(trail, NoteKind.DECISION)) == len(texts(trail, NoteKind.NEED)) == 1


def test_only_its_first_prompt_does_so() -> None:
    trail = after(CONTINUE, replace(REQUEST, record="p10"), trail=HEIR)
    assert trail.goal is not None
    assert trail.goal.text == REQUEST.text
    assert (trail.todos, trail.commands) == (HEIR.todos, HEIR.commands)


def test_work_that_is_taken_over_is_replaced_by_no_earlier_prompt() -> None:
    asked = after(REQUEST, trail=HEIR)
    trail = take_over(asked, FIRST, "one")
    assert trail.goal == HEIR.goal
    assert trail.todos == HEIR.todos
    again = [note.text for note in trail.notes if note.inherited]
    assert sorted(again) == sorted({note.text for note in FIRST.notes} - {*texts(FIRST, NoteKind.QUESTION)})


@pytest.mark.parametrize(
    ("event", "open_ones"),
    [
        (said("Verified: I could grease the bearing.", "s9"), []),
        (todo("grease the bearing", "completed", id="7"), []),
        (todo("count the containers", id="1"), ["grease the bearing", "count the containers"]),
        (todo("", "completed", id="1"), ["grease the bearing"]),
        (
            TodosChanged(
                session=KEY, record="t", at=NOON, origin=Origin.ASSISTANT, todos=(Todo("own", "pending"),)
            ),
            ["own"],
        ),
    ],
    ids=["said to be done", "written down and done", "another list's id", "no such entry", "a new list"],
)
def test_inherited_to_dos_end(event: Event, open_ones: list[str]) -> None:
    assert [one.text for one in open_todos(after(event, trail=HEIR))] == open_ones


def test_a_failure_ends_with_a_run_that_succeeds() -> None:
    again = after(called("c9", Action.RUN, "make check"), returned("c9", ok=True, exit_status=0), trail=HEIR)
    assert [(run.command, run.ok, run.inherited) for run in again.commands] == [("make check", True, "")]


def test_a_prompt_is_not_taken_for_one_of_another_session() -> None:
    before = inherit(Trail(), after(CONTINUE), "one")
    assert same_prompt(before, replace(CONTINUE, record="hook:1")) is None


def test_a_third_session_inherits_what_the_second_did_and_who_said_it() -> None:
    second = after(
        CONTINUE, said("Decision: paint it yellow instead of red, because of fog.", "s8"), trail=HEIR
    )
    third = inherit(Trail(), second, "two")
    assert third.goal == HEIR.goal
    assert third.inherits == ("one", "two")
    assert {note.inherited for note in third.noted(NoteKind.DECISION)} == {"one", "two"}
    left = disinherited(third, {"one"})
    assert (left.goal, left.inherits) == (None, ("two",))
    assert {note.inherited for note in left.notes} == {"two"}
    assert disinherited(third, ()) == third


def test_a_fork_inherits_only_what_its_parent_inherited() -> None:
    parent = after(
        CONTINUE, said("Decision: paint it yellow instead of red, because of fog.", "s8"), trail=HEIR
    )
    fork = inherit(after(CONTINUE), inherited_part(parent), "parent")
    assert {note.inherited for note in fork.notes} - {""} == {"one"}
    assert not any("yellow" in note.text for note in fork.notes)
    assert fork.goal == HEIR.goal
    assert [one.text for one in fork.prompts] == [FIRST.prompts[0].text, "continue"]


def test_an_inherited_note_makes_room_for_an_own_one() -> None:
    most = KINDS[NoteKind.CONSTRAINT].stored
    full = Trail(notes=tuple(Note(NoteKind.CONSTRAINT, f"Never do {n}.", 1, "r") for n in range(most)))
    trail = after(prompt("Never ever touch the lighthouse lamp.", "p9"), trail=inherit(Trail(), full, "one"))
    rules = trail.noted(NoteKind.CONSTRAINT)
    assert len(rules) == most
    assert [note.text for note in rules if not note.inherited] == ["Never ever touch the lighthouse lamp."]


@settings(max_examples=10)
@given(hops=st.integers(1, ANCESTORS_KEPT + 10))
def test_any_number_of_hops_loses_nothing_and_stays_small(hops: int) -> None:
    trail = FIRST
    for hop in range(hops):
        trail = after(replace(CONTINUE, record=f"p-{hop}"), trail=inherit(Trail(), trail, f"k{hop}"))
    assert trail.goal is not None
    assert (trail.goal.text, trail.goal.inherited) == (f"{GOAL} {RULE}", "k0")
    for kind in (NoteKind.CONSTRAINT, NoteKind.DECISION, NoteKind.NEED, NoteKind.NEXT):
        assert texts(trail, kind) == texts(FIRST, kind)
    assert len(trail.inherits) <= ANCESTORS_KEPT
