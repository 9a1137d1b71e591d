"""The list that the user asked to work through: how far each item is, and where it is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.events.event import Action, Event
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.prose.lists import ItemState
from holdfast.core.work.compute import work_state
from holdfast.core.work.state import StatementSource
from tests.core.scenes import after, called, prompt, replied, said, session

LIST = """Please do these:

1. Add a flag for the night rate
2. Mend the rounding of the till
3. Write the docs of the register
"""
ASKED = prompt(LIST, "p1")


def states(*events: Event) -> dict[str, ItemState]:
    return {item.label: item.state for item in after(session(), *events).trail.items}


def test_every_item_of_a_request_is_open_at_first() -> None:
    assert states(ASKED) == dict.fromkeys("123", ItemState.OPEN)


def test_a_message_takes_up_an_item_and_finishes_it() -> None:
    begun = said("Starting with 1: the flag for the night rate.", "a1")
    done = said("## 1. Add a flag for the night rate ✅\n\nNow 2: the rounding.", "a2")
    assert states(ASKED, begun)["1"] in (ItemState.STARTED, ItemState.OPEN)
    assert states(ASKED, begun, done)["1"] is ItemState.DONE
    assert states(ASKED, begun, done)["3"] is ItemState.OPEN


def test_a_correction_keeps_the_list_and_the_goal() -> None:
    correction = prompt("No, don't round each line. Round the total of the till only, once, half up.", "p2")
    corrected = after(session(), ASKED, correction).trail
    assert {item.label for item in corrected.items} == set("123")
    assert corrected.goal is not None
    assert corrected.goal.record == "p1"


def test_to_go_on_keeps_the_list_and_another_goal_ends_it() -> None:
    assert states(ASKED, prompt("continue", "p2")).keys() == set("123")
    assert states(ASKED, prompt("Look at the tax of the second shop instead of the list", "p2")) == {}


def test_the_steps_of_an_approved_plan_are_a_list_too() -> None:
    plan = called("x", Action.ASK, "plan")
    asked = replace(plan, detail="## Steps\n\n1. Add the flag\n2. Mend the rounding\n")
    assert states(prompt("Plan it", "p1"), asked, replied("Approved", call="x")).keys() == set("12")
    assert states(prompt("Plan it", "p1"), asked, replied("No, smaller", call="x")) == {}


@pytest.mark.parametrize(
    ("plan", "question", "wanted"),
    [
        (
            "# Plan: Night rate\n\n## Overview\nBill calls after ten at half price. More.\n\n## Steps\n1. Go",
            "",
            "Night rate: Bill calls after ten at half price.",
        ),
        ("# Night rate\n\n## Files\nAll in `bill.py`.", "", "Night rate"),
        ("Bill calls after ten at half price.", "", "Bill calls after ten at half price."),
        ("", "Plan: Night rate", "Night rate"),
    ],
)
def test_a_plan_that_the_user_approved_is_the_request(plan: str, question: str, wanted: str) -> None:
    asked = replace(called("x", Action.ASK, "plan"), detail=plan)
    events = (prompt("Plan it", "p1"), asked, replied("approved", question, call="x", record="r9"))
    trail = after(session(), *events).trail
    assert trail.goal is not None
    assert trail.goal.text == wanted
    goals = [one for one in work_state(trail).statements if one.section is Section.GOAL]
    assert [one.text for one in goals if one.source == "r9"] == [f"Approved plan: {wanted}"]


def test_an_item_is_told_once_where_it_stands() -> None:
    done = said("## 1. Add a flag for the night rate ✅\n\nDone.", "a1")
    state = work_state(after(session(), ASKED, done).trail)
    told = [one for one in state.statements if "flag for the night rate" in one.text and one.by_user is False]
    items = [one for one in state.statements if one.origin is StatementSource.ITEM]
    assert [(one.section, one.text) for one in items if one.text.startswith("1.")] == [
        (Section.DONE, "1. Add a flag for the night rate")
    ]
    assert [one.section for one in items if one.text[:1] in "23"] == [Section.NEXT, Section.NEXT]
    assert not [one for one in told if one.section in (Section.NEXT, Section.GOAL)]
