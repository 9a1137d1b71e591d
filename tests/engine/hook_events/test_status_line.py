"""What a harness shows below its prompt, and what is learnt when it asks."""

from __future__ import annotations

import json

import pytest

from holdfast.engine.hook_events.status_line import line_of, show_status
from tests.engine.stage import MINUTE, Stage


def asked(stage: Stage, **fields: object) -> str:
    payload = json.dumps({"session": "a", "cwd": "/home/you/app", **fields}).encode()
    return show_status(stage.engine(), "playhouse", payload).decode()


def begun(stage: Stage) -> None:
    stage.payload("a", "start", source="startup")
    stage.payload("a", "prompt", text="mend the parser")
    stage.write("a", ("prompt", "mend the parser"), ("says", "done"), ("usage", "50000"))
    stage.payload("a", "tools")


def test_a_session_that_is_not_known_yet_has_only_a_place(stage: Stage) -> None:
    assert asked(stage) == "app"


def test_it_is_told_from_what_is_kept(stage: Stage) -> None:
    begun(stage)
    stage.now += 3 * MINUTE
    assert "25% 50k/200k" in asked(stage)
    assert asked(stage) == line_of(stage.engine(), stage.store.sessions(1)[0])


def test_what_the_harness_counts_now_is_newer(stage: Stage) -> None:
    begun(stage)
    assert "40% 80k/200k" in asked(stage, used=80_000)
    assert stage.store.sessions(1)[0].pressure.used == 50_000


def test_the_window_that_it_names_is_remembered(stage: Stage) -> None:
    begun(stage)
    assert "5% 50k/1M" in asked(stage, window=1_000_000)
    assert "5% 50k/1M" in asked(stage)


def test_asking_reads_no_transcript(stage: Stage) -> None:
    begun(stage)
    stage.write("a", ("usage", "90000"))
    assert "25% 50k/200k" in asked(stage)


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"cwd": "/x"}'])
def test_a_payload_that_names_no_session_gets_nothing(stage: Stage, payload: bytes) -> None:
    assert show_status(stage.engine(), "playhouse", payload) == b""
