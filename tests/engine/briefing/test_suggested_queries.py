"""After a compaction a brief ends with what to ask `recall` for, if that would find anything."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from holdfast.core.text.untrusted import TITLE, fence
from holdfast.engine.index.scope import within
from holdfast.engine.memory.recall import Query, look_up
from holdfast.engine.memory.remember import MemoryRequest, remember
from holdfast.engine.repository.git import identity
from holdfast.settings import Continuity
from holdfast.stores.base import Within
from tests.engine.stage import MINUTE, Stage

GOAL = "Make the harbour crane unload containers by weight"
RULES = [
    rule
    for number in range(20)
    for rule in (
        f"Always grease bearing number {number} before crane shift {number} begins.",
        f"Never paint hull plate {number} while ship {number} is afloat.",
    )
]


def worked(stage: Stage, goal: str = GOAL, rules: list[str] | None = None) -> None:
    """A session with a goal, and with more rules than a brief has room for."""
    stage.payload("a", "start", source="startup")
    stage.payload("a", "prompt", text=goal)
    stage.write("a", ("prompt", goal), ("edits", stage.file("main.c")))
    for rule in RULES if rules is None else rules:
        stage.now += MINUTE
        stage.write("a", ("prompt", rule))


def _here(stage: Stage) -> Within:
    return within(identity(stage.project("app")))


def briefed(stage: Stage) -> str:
    stage.payload("a", "compaction")
    return stage.payload("a", "start", source="compact")


def remembered(stage: Stage, text: str) -> None:
    remember(stage.engine(), identity(stage.project("app")), MemoryRequest(text), source="cli")


def offers(brief: str) -> list[str]:
    """The queries in the last line before the closing mark."""
    return re.findall(r'recall "([^"]+)"', brief.splitlines()[-2])


def test_what_is_remembered_about_the_goal_comes_first_and_then_what_was_left_out(stage: Stage) -> None:
    worked(stage)
    remembered(stage, "The crane may unload containers of at most 30 t weight")
    brief = briefed(stage)
    first, second = offers(brief)
    assert first == "harbour crane unload"
    assert "bearing number" in second or "hull plate" in second
    left_out = [rule for rule in RULES if rule not in brief]
    assert any(set(second.split()) <= set(re.split(r"[ .]", rule)) for rule in left_out)


def test_each_of_them_finds_something(stage: Stage) -> None:
    worked(stage)
    given = offers(briefed(stage))
    assert len(given) == 2
    for query in given:
        assert look_up(stage.engine(), identity(stage.project("app")), Query(query))


def test_a_brief_that_tells_everything_offers_nothing(stage: Stage) -> None:
    worked(stage, rules=[])
    assert offers(briefed(stage)) == []


def test_what_the_brief_tells_already_is_not_offered(stage: Stage) -> None:
    worked(stage, rules=[])
    remembered(stage, GOAL)
    assert offers(briefed(stage)) == []


def test_what_only_shares_a_word_is_not_offered(stage: Stage) -> None:
    worked(stage, rules=[])
    remembered(stage, "The harbour closes at nine")
    assert offers(briefed(stage)) == []


def test_what_was_superseded_is_not_offered(stage: Stage) -> None:
    worked(stage, goal="Which port does the staging database use, and why", rules=[])
    remembered(stage, "The staging database port is 5432")
    assert offers(briefed(stage))
    (memory,) = stage.store.memories(_here(stage), 10)
    with stage.store.writing():
        stage.store.put_memory(replace(memory, superseded_by="a newer one"))
    stage.now += 5 * MINUTE
    assert offers(briefed(stage)) == []


def test_nothing_of_another_project_is_offered(stage: Stage) -> None:
    worked(stage, rules=[])
    other = identity(stage.project("other"))
    remember(
        stage.engine(),
        other,
        MemoryRequest("The crane may unload containers of at most 30 t weight"),
        source="cli",
    )
    assert offers(briefed(stage)) == []


@pytest.mark.parametrize("source", ["startup", "resume", "clear"])
def test_only_a_compaction_takes_what_one_would_ask_for(stage: Stage, source: str) -> None:
    worked(stage)
    remembered(stage, "The crane may unload containers of at most 30 t weight")
    stage.payload("a", "end", reason="exit")
    assert "recall" not in stage.payload("b", "start", source=source).replace("holdfast-recall", "")


@pytest.mark.parametrize("budget", [200, 600, 1_000, 2_000])
def test_the_line_is_within_the_budget_and_a_twentieth_of_it_at_most(stage: Stage, budget: int) -> None:
    stage.config = replace(stage.config, continuity=Continuity(recovery_budget_chars=budget))
    worked(stage)
    brief = briefed(stage)
    assert len(brief) <= budget
    assert bool(offers(brief)) == (budget >= 2_000)
    assert len(brief.splitlines()[-2]) <= budget // 20 or not offers(brief)


def test_the_receipt_knows_what_was_offered_and_the_same_is_offered_again(stage: Stage) -> None:
    worked(stage)
    given = offers(briefed(stage))
    receipt = next(one for one in stage.store.receipts("a", 10) if one.text.startswith(fence(TITLE)[:40]))
    assert [item.text for item in receipt.items if item.kind == "query" and item.rendered] == given
    stage.now += 5 * MINUTE
    assert offers(briefed(stage)) == given
