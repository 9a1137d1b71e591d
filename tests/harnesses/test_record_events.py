"""The events of one record have everything in common but their ids."""

from __future__ import annotations

from holdfast.core.events.event import MAIN, Origin
from holdfast.harnesses.record_events import Frame

FRAME = Frame("s1", "r1", 7, "agent-2", "p0", "turn-3")


def test_the_first_block_goes_by_the_records_own_id_and_the_others_by_their_number() -> None:
    assert FRAME.block(0) == FRAME
    assert FRAME.block(2) == Frame("s1", "r1/2", 7, "agent-2", "p0", "turn-3")


def test_an_event_is_read_with_all_that_its_record_says() -> None:
    common = {"session": "s1", "at": 7, "origin": Origin.TOOL, "agent": "agent-2", "parent": "p0"}
    assert FRAME.common(Origin.TOOL) == {**common, "record": "r1"}
    assert FRAME.common(Origin.TOOL, "own") == {**common, "record": "own"}
    assert FRAME.part(Origin.TOOL, "end") == {**common, "record": "r1/end"}
    assert FRAME.block(2).part(Origin.TOOL, "end") == {**common, "record": "r1/2/end"}


def test_only_the_agent_that_a_person_talks_to_is_the_main_one() -> None:
    assert Frame("s1", "r1", 7).agent == MAIN
    assert Frame("s1", "r1", 7).is_main
    assert not FRAME.is_main
