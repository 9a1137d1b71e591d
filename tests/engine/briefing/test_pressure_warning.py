"""What an agent is told about its window: when, how often, and what about it is remembered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from holdfast.config import Config
from holdfast.core.session.agent_prompts import ADVICE, Flush
from holdfast.core.session.pressure import THRESHOLDS, Delivery, KnownModel, Threshold
from holdfast.core.session.session import Session
from holdfast.engine.hook_events import (
    has_grown,
    read_further,
    receive_hook_event,
    record_hook_event,
    reply_if_settled,
)
from holdfast.harnesses.base import Envelope
from holdfast.settings import Pressure
from tests.engine.stage import MINUTE, Stage

FIFTY, SEVENTY_FIVE, NINETY = (threshold.text for threshold in THRESHOLDS)
FRESH_SESSION_ADVICE = ADVICE[0].text


def answered(stage: Stage, used: int, text: str = "go on") -> str:
    """What comes back with the prompt that follows a count of so many tokens, of 200,000."""
    stage.now += MINUTE
    stage.write("a", ("says", f"done {used}"), ("usage", str(used)))
    stage.now += MINUTE
    return stage.payload("a", "prompt", text=f"{text} at {used}")


def stopped(stage: Stage, used: int) -> str:
    """What comes back when the agent stops after such a count."""
    stage.now += MINUTE
    stage.write("a", ("says", f"done {used}"), ("usage", str(used)))
    return stage.payload("a", "stop")


def kept(stage: Stage) -> Session:
    session = stage.store.session("a")
    assert session is not None
    return session


@pytest.fixture
def stage(stage: Stage) -> Stage:
    stage.payload("a", "start", source="startup")
    stage.payload("a", "prompt", text="mend the parser")
    stage.write("a", ("prompt", "mend the parser"))
    return stage


@pytest.fixture
def quiet(stage: Stage) -> Stage:
    """The same where the model is not told how full its window is."""
    stage.config = replace(stage.config, pressure=replace(stage.config.pressure, show_in_context=False))
    return stage


class TestThePrompt:
    @pytest.mark.parametrize(
        ("since", "told"),
        [
            (50, ["", "", "[Context: 101k/200k tokens (50%)]"]),
            (25, ["", "[Context: 51k/200k tokens (25%)]", "[Context: 101k/200k tokens (50%)]"]),
            (0, [f"[Context: {used}k/200k tokens ({used // 2}%)]" for used in (3, 51, 101)]),
            (100, ["", "", ""]),
        ],
    )
    def test_tells_how_full_the_window_is_once_that_matters(
        self, stage: Stage, since: int, told: list[str]
    ) -> None:
        wish = replace(stage.config.pressure, show_from_percent=since)
        off = replace(stage.config.memory_flush, enabled=False)
        stage.config = replace(stage.config, pressure=wish, memory_flush=off)
        assert [answered(stage, used) for used in (3_000, 51_000, 101_000)] == told

    def test_is_silent_at_first_unless_the_user_wants_otherwise(self, stage: Stage) -> None:
        assert answered(stage, 30_400) == ""

    def test_tells_nothing_before_anything_was_counted(self, stage: Stage) -> None:
        assert stage.payload("a", "prompt", text="hello") == ""

    def test_asks_each_thing_once_in_a_window(self, quiet: Stage) -> None:
        told = [
            answered(quiet, used) for used in (99_000, 100_000, 120_000, 150_000, 151_000, 180_000, 190_000)
        ]
        assert told == ["", FIFTY, "", SEVENTY_FIVE, "", NINETY, ""]

    def test_asks_again_after_a_compaction(self, quiet: Stage) -> None:
        assert answered(quiet, 110_000) == FIFTY
        quiet.now += MINUTE
        quiet.write("a", ("boundary", ""), ("brief", ""))
        assert kept_flush(quiet) == Flush((50,), kept(quiet).flush.asked_at)
        assert answered(quiet, 20_000) == ""
        assert kept_flush(quiet).asked == ()
        assert answered(quiet, 110_000) == FIFTY

    def test_asks_only_the_most_pressing_of_what_is_due(self, quiet: Stage) -> None:
        assert answered(quiet, 185_000) == NINETY
        assert answered(quiet, 185_000) == ""

    def test_shows_how_full_it_is_beside_what_it_asks(self, stage: Stage) -> None:
        assert answered(stage, 110_000) == f"[Context: 110k/200k tokens (55%)]\n\n{FIFTY}"

    def test_asks_nothing_where_that_is_off(self, quiet: Stage) -> None:
        quiet.config = replace(quiet.config, memory_flush=replace(quiet.config.memory_flush, enabled=False))
        assert answered(quiet, 190_000) == ""

    def test_asks_what_the_user_set(self, quiet: Stage) -> None:
        own = (Threshold(10, "Write.", Delivery.MARKED),)
        quiet.config = replace(quiet.config, memory_flush=replace(quiet.config.memory_flush, thresholds=own))
        assert answered(quiet, 21_000) == "[SYSTEM: memory flush]\nWrite."

    def test_asks_nothing_that_would_not_fit_beside_the_brief(self, quiet: Stage) -> None:
        own = (Threshold(10, "Write. " * 2_000, Delivery.SYSTEM),)
        quiet.config = replace(quiet.config, memory_flush=replace(quiet.config.memory_flush, thresholds=own))
        assert answered(quiet, 21_000) == ""
        assert kept_flush(quiet) == Flush()

    def test_that_comes_too_late_to_be_answered_leaves_it_for_the_next(self, quiet: Stage) -> None:
        quiet.write("a", ("usage", "110000"))
        envelope, payload = quiet._sealed("a", "prompt", None, {"text": "slow"})
        quiet.now += 2_000
        assert receive_hook_event(quiet.engine(), envelope, payload, lambda: True) == b""
        assert kept_flush(quiet) == Flush()
        assert quiet.payload("a", "prompt", text="quick") == FIFTY

    def test_of_a_large_text_counts_before_it_is_sent(self, quiet: Stage) -> None:
        quiet.counter = lambda texts: sum(len(text.split()) for text in texts)
        assert answered(quiet, 90_000, "word " * 9_000) == ""
        assert answered(quiet, 90_000, "word " * 11_000) == FIFTY

    def test_counts_what_tools_gave_back_since_the_last_count(self, quiet: Stage) -> None:
        quiet.counter = lambda texts: sum(len(text.split()) for text in texts)
        quiet.write("a", ("usage", "95000"), ("output", "line " * 6_000))
        assert quiet.payload("a", "prompt", text="go on") == FIFTY

    def test_counts_nothing_where_it_could_make_no_difference(self, quiet: Stage) -> None:
        def refused(texts: Iterable[str]) -> int:
            raise AssertionError(list(texts))

        quiet.counter = refused
        assert answered(quiet, 60_000, "a short one") == ""


class TestAStop:
    def test_is_kept_from_by_what_has_to_be_answered(self, stage: Stage) -> None:
        assert stopped(stage, 181_000) == NINETY

    @pytest.mark.parametrize("used", [60_000, 110_000, 160_000])
    def test_is_not_kept_from_by_what_may_be_read_in_passing(self, stage: Stage, used: int) -> None:
        assert stopped(stage, used) == ""
        assert kept_flush(stage) == Flush()

    def test_is_never_kept_from_twice(self, stage: Stage) -> None:
        flush = replace(stage.config.memory_flush, once_per_window=False)
        stage.config = replace(stage.config, memory_flush=flush)
        assert [stopped(stage, 181_000), stopped(stage, 185_000)] == [NINETY, ""]

    def test_is_not_kept_from_by_what_came_with_the_prompt(self, quiet: Stage) -> None:
        assert answered(quiet, 181_000) == NINETY
        assert stopped(quiet, 185_000) == ""

    def test_whose_last_count_is_not_written_yet_is_looked_at_again(self, stage: Stage) -> None:
        answered(stage, 160_000)
        envelope, payload = stage._sealed("a", "stop", None, {})
        engine = stage.engine()
        recorded = record_hook_event(engine, envelope, payload, lambda: True)
        assert recorded is not None
        assert reply_if_settled(engine, envelope, recorded) is None
        assert not has_grown(recorded)
        stage.write("a", ("prompt", "go on at 160000"), ("says", "done"), ("usage", "181000"))
        assert has_grown(recorded)
        recorded = read_further(engine, envelope, recorded, lambda: True)
        assert not has_grown(recorded)
        settled = reply_if_settled(engine, envelope, recorded)
        assert settled is not None
        assert settled.decode() == NINETY

    @pytest.mark.parametrize("used", [0, 60_000])
    def test_of_a_window_with_much_room_is_not_waited_for(self, stage: Stage, used: int) -> None:
        answered(stage, used)
        assert settled_at_once(stage, *stage._sealed("a", "stop", None, {}))

    def test_is_not_waited_for_where_all_was_asked(self, stage: Stage) -> None:
        answered(stage, 181_000)
        assert settled_at_once(stage, *stage._sealed("a", "stop", None, {}))


def settled_at_once(stage: Stage, envelope: Envelope, payload: bytes) -> bool:
    engine = stage.engine()
    recorded = record_hook_event(engine, envelope, payload, lambda: True)
    return recorded is not None and reply_if_settled(engine, envelope, recorded) is not None


def test_in_the_middle_of_a_turn_it_is_told_only_if_a_threshold_was_passed(stage: Stage) -> None:
    stage.write("a", ("usage", "90000"))
    assert stage.payload("a", "tools") == ""
    stage.write("a", ("usage", "101000"))
    assert stage.payload("a", "tools") == FIFTY
    assert stage.payload("a", "tools") == ""


def kept_flush(stage: Stage) -> Flush:
    return kept(stage).flush


def test_what_the_agent_wrote_down_then_is_known(quiet: Stage) -> None:
    answered(quiet, 110_000)
    assert not kept_flush(quiet).actioned
    quiet.now += MINUTE
    quiet.write("a", ("edits", f"{quiet.project('app')}/memory/2026-11-16.md"))
    answered(quiet, 120_000)
    assert kept_flush(quiet).actioned


class TestAdvice:
    def compact(self, stage: Stage) -> None:
        stage.now += 10 * MINUTE
        stage.write("a", ("boundary", ""), ("brief", ""))

    def test_comes_once_after_the_second_compaction(self, quiet: Stage) -> None:
        self.compact(quiet)
        assert answered(quiet, 20_000) == ""
        self.compact(quiet)
        assert answered(quiet, 20_000) == FRESH_SESSION_ADVICE
        assert answered(quiet, 21_000) == ""
        self.compact(quiet)
        assert answered(quiet, 20_000) == ""

    def test_does_not_come_where_it_is_off(self, quiet: Stage) -> None:
        quiet.config = replace(quiet.config, pressure=replace(quiet.config.pressure, advice=False))
        self.compact(quiet)
        self.compact(quiet)
        assert answered(quiet, 20_000) == ""


def test_a_window_is_as_large_as_the_user_says(stage: Stage) -> None:
    stage.config = Config(pressure=Pressure(windows=(KnownModel("play", 40_000),), show_from_percent=25))
    stage.write("a", ("model", "play-1"))
    assert answered(stage, 10_000) == "[Context: 10k/40k tokens (25%)]"
