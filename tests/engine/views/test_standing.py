"""If a harness does not record briefs, those of a window are sent with each of its requests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.engine.engine import Engine
from tests.engine.stage import MINUTE, Playhouse, Stage


class Forgetful(Playhouse):
    """A harness that sends what it is told once, and then no more."""

    stores_injected_text: bool = False


class Forgetting(Stage):
    def engine(self) -> Engine:
        return replace(super().engine(), harness=lambda _: Forgetful())

    def work(self, session: str) -> None:
        self.payload(session, "start", source="startup")
        self.write(session, ("prompt", f"task of {session}"), ("fails", "make check"))
        self.payload(session, "prompt", text=f"task of {session}")

    def compact(self, session: str) -> None:
        self.payload(session, "compaction")
        self.write(session, ("boundary", ""))
        self.now += MINUTE


@pytest.fixture
def stage(tmp_path: Path) -> Forgetting:
    return Forgetting(tmp_path)


def test_a_first_session_is_given_nothing(stage: Forgetting) -> None:
    stage.work("a")
    assert stage.payload("a", "request") == ""


def test_after_a_compaction_each_request_has_the_same_bytes(stage: Forgetting) -> None:
    stage.work("a")
    stage.compact("a")
    first = stage.payload("a", "request")
    assert "task of a" in first
    assert "Just compacted" in first
    stage.now += 5 * MINUTE
    stage.write("a", ("edits", stage.file("later.c")))
    assert {stage.payload("a", "request") for _ in range(3)} == {first}
    assert len(stage.store.receipts("a", 9)) == 2  # what its own summary was told, and the brief


def test_whoever_says_first_that_it_was_compacted_it_is_given_once(stage: Forgetting) -> None:
    stage.work("a")
    stage.compact("a")
    first = stage.payload("a", "request")
    stage.payload("a", "start", source="compact")
    assert stage.payload("a", "request") == first


def test_the_next_window_has_its_own(stage: Forgetting) -> None:
    stage.work("a")
    stage.compact("a")
    first = stage.payload("a", "request")
    stage.write("a", ("prompt", "the second task"))
    stage.now += 10 * MINUTE
    stage.compact("a")
    second = stage.payload("a", "request")
    assert "the second task" in second
    assert first not in second


def test_a_new_session_has_the_brief_of_the_last_with_each_request(stage: Forgetting) -> None:
    stage.work("a")
    stage.payload("a", "end", reason="exit")
    stage.work("b")
    first = stage.payload("b", "request")
    assert "task of a" in first
    assert stage.payload("b", "request") == first


def test_resumed_it_has_it_still(stage: Forgetting) -> None:
    stage.work("a")
    stage.payload("a", "end", reason="exit")
    stage.work("b")
    before = stage.payload("b", "request")
    stage.payload("b", "start", source="resume")
    assert stage.payload("b", "request") == before


def test_a_start_that_came_by_the_spool_is_answered_with_the_first_request(stage: Forgetting) -> None:
    stage.work("a")
    stage.payload("a", "end", reason="exit")
    stage.spooled("b", "start", source="startup")
    assert "task of a" in stage.payload("b", "request")


def test_with_a_prompt_goes_none_and_none_counts_as_given(stage: Forgetting) -> None:
    stage.work("a")
    stage.compact("a")
    assert stage.payload("a", "prompt", text="go on") == ""
    assert "task of a" in stage.payload("a", "request")
