"""An open session: checkpoints on the way, room when it is needed, and a model that is never in the way."""

from __future__ import annotations

import json
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import pytest

from holdfast.core.agent_log.context import SUMMARY, Text, turns_of
from holdfast.core.agent_log.record_bodies import Checkpoint as CheckpointBody
from holdfast.core.agent_log.record_bodies import Compaction, Rolling, body
from holdfast.core.agent_log.records import Record
from holdfast.core.agent_log.summary import Failed, Written
from holdfast.core.session.session import Process
from holdfast.engine.agent_log.append import Owner
from holdfast.engine.agent_log.open_session import RETRY_MS, OpenSession, Summarize
from holdfast.engine.repository.git import identity
from holdfast.settings import Checkpoint, Config, MemoryFlush, Pressure
from holdfast.settings import Compaction as CompactionSettings
from tests.embed.asked import Asked, AtOnce, ManualExecutor
from tests.engine.stage import Stage

WINDOW = 100_000
QUIET = Config(
    pressure=Pressure(show_in_context=False),
    memory_flush=MemoryFlush(enabled=False),
    compaction=CompactionSettings(keep_percent=0, keep_messages=2),
)
GOOD = Written("A model's summary of it.", "small", ("parsing",), ("which?",), ("by hand",))


def opened(
    stage: Stage, summarize: Summarize | None = None, executor: Executor | None = None, config: Config = QUIET
) -> OpenSession:
    stage.config = config
    owner = Owner("k", identity(stage.project("app")), Process(7, 100), WINDOW)
    return OpenSession(stage.engine(), owner, summarize, executor or AtOnce())


def asked(session: OpenSession, text: str) -> None:
    session.add("message", {"message": {"role": "user", "content": text}})


def answered(session: OpenSession, text: str, tokens: int, **call: Any) -> None:  # noqa: ANN401 - what a tool is given
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if call:
        content.append({"type": "toolCall", "id": "c1", "name": "write", "arguments": call})
    usage = {"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    said = {"role": "assistant", "content": content, "usage": usage, "model": "m", "stopReason": "stop"}
    session.add("message", {"message": said})


def filled(session: OpenSession, *tokens: int) -> None:
    """A question and an answer for each of these numbers, which say how full the window is then."""
    for number in tokens:
        asked(session, f"question at {number}")
        answered(session, f"answer at {number}", number)


def texts_in_turns(session: OpenSession) -> list[str]:
    return [part.text for turn in turns_of(session.path) for part in turn.parts if isinstance(part, Text)]


def compaction(session: OpenSession) -> Compaction:
    found = [body(record) for record in session.path if record.type == "compaction"]
    assert isinstance(found[-1], Compaction)
    return found[-1]


def checkpoints(session: OpenSession) -> list[Rolling]:
    found = [body(record) for record in session.path if record.type == "checkpoint"]
    return [each.checkpoint for each in found if isinstance(each, CheckpointBody)]


# Checkpoints on the way


def test_a_checkpoint_is_taken_at_each_share_of_the_window_once(stage: Stage) -> None:
    session = opened(stage)
    filled(session, 20_000, 25_000, 30_000, 49_000, 51_000, 52_000, 76_000)
    assert [taken.tokens for taken in checkpoints(session)] == [25_000, 51_000, 76_000]
    assert [taken.messages for taken in checkpoints(session)] == [4, 10, 14]
    stored = stage.store.checkpoints_of_session("k", 10)
    assert [(each.trigger, each.outline.tokens) for each in reversed(stored)] == [
        ("threshold", 25_000),
        ("threshold", 51_000),
        ("threshold", 76_000),
    ]


def test_a_checkpoint_stands_behind_what_it_covers_and_on_the_way_on(stage: Stage) -> None:
    session = opened(stage)
    filled(session, 30_000, 31_000)
    kinds = [record.type for record in session.path]
    assert kinds == ["message", "message", "checkpoint", "message", "message"]
    parents = [record.parent for record in session.path]
    assert parents == ["", *(record.id for record in session.path[:-1])]
    said = json.loads(session.path[2].line)["checkpoint"]
    assert said["summary"].startswith("## Session Checkpoint")
    assert "question at 30000" in said["summary"]


def test_checkpoints_may_be_switched_off(stage: Stage) -> None:
    session = opened(stage, config=replace(QUIET, checkpoint=Checkpoint(enabled=False)))
    filled(session, 30_000, 60_000, 80_000)
    assert checkpoints(session) == []


# Room


def test_nothing_is_done_before_the_reserve_is_touched(stage: Stage) -> None:
    session = opened(stage)
    filled(session, 50_000, 95_000)
    assert session.make_ready().used == 95_000
    assert compactions(session) == []


def compactions(session: OpenSession) -> list[Record]:
    return [record for record in session.path if record.type == "compaction"]


def test_a_checkpoint_that_covers_enough_makes_room_and_no_model_is_asked(stage: Stage) -> None:
    model = Asked([])
    session = opened(stage, None)
    filled(session, 30_000, 76_000, 96_500)
    fill = session.make_ready()
    assert model.about == []
    found = compaction(session)
    assert (found.from_checkpoint, found.tokens_before) == (True, 96_500)
    assert "question at 76000" in (found.summary or "")
    assert texts_in_turns(session)[1:] == ["question at 96500", "answer at 96500"]
    assert fill.used < 2_000, "what was counted before says nothing about the new window"


def test_otherwise_a_model_sums_up_what_goes(stage: Stage) -> None:
    model = Asked([GOOD, GOOD])
    config = replace(QUIET, checkpoint=Checkpoint(enabled=False))
    session = opened(stage, model, config=config)
    filled(session, 30_000, 60_000, 96_000)
    session.make_ready()
    found = compaction(session)
    assert (found.from_checkpoint, found.summary) == (False, GOOD.text)
    (about,) = model.about
    assert [part.text for turn in about.turns for part in turn.parts if isinstance(part, Text)] == [
        *("question at 30000", "answer at 30000", "question at 60000", "answer at 60000")
    ]
    assert about.trail.prompts[0].text == "question at 30000"
    filled(session, 96_000)
    session.make_ready()
    assert model.about[1].earlier == GOOD.text


@pytest.mark.parametrize("failure", [Failed("timed out"), ValueError("no key")])
def test_where_no_model_can_what_is_known_by_rule_stands_in(
    stage: Stage, failure: Failed | ValueError
) -> None:
    config = replace(QUIET, checkpoint=Checkpoint(enabled=False))
    session = opened(stage, Asked([failure]), config=config)
    asked(session, "Never touch the parser.")
    answered(session, "Understood.", 20_000)
    filled(session, 60_000, 96_000)
    session.make_ready()
    found = compaction(session)
    assert found.from_checkpoint is True
    assert found.note.no_model == ("timed out" if isinstance(failure, Failed) else "ValueError: no key")
    assert "Never touch the parser." in (found.summary or "")


def test_what_a_model_wrote_on_the_way_is_not_lost_when_it_fails_later(stage: Stage) -> None:
    model = Asked([GOOD, Failed("timed out")])
    config = replace(QUIET, checkpoint=Checkpoint(token_threshold_percents=(25,)))
    session = opened(stage, model, config=config)
    filled(session, 26_000)
    session.settle()
    filled(session, 60_000, 96_000)
    session.make_ready()
    assert GOOD.text in (compaction(session).summary or "")


def test_a_summary_that_is_owed_is_asked_for_again_later_and_takes_its_place(stage: Stage) -> None:
    model = Asked([Failed("timed out"), Failed("still"), GOOD])
    config = replace(QUIET, checkpoint=Checkpoint(enabled=False))
    session = opened(stage, model, config=config)
    filled(session, 60_000, 96_000)
    session.make_ready()
    by_rule = texts_in_turns(session)
    for _ in range(3):
        session.make_ready()
    assert len(model.about) == 1, "it is left alone for a while"
    stage.now += RETRY_MS
    session.make_ready()
    session.make_ready()
    assert len(model.about) == 2
    stage.now += RETRY_MS
    asked(session, "meanwhile")
    session.make_ready()
    session.make_ready()
    assert texts_in_turns(session) == [SUMMARY.format(GOOD.text), *by_rule[1:], "meanwhile"]
    assert session.state.window == 1, "nothing else was compacted"
    assert len(model.about) == 3
    assert model.about[2] == replace(model.about[0], trail=model.about[2].trail)
    stage.now += RETRY_MS
    session.make_ready()
    assert len(model.about) == 3


def test_after_a_compaction_everything_starts_at_nought(stage: Stage) -> None:
    session = opened(stage)
    filled(session, 30_000, 55_000, 96_000)
    session.make_ready()
    assert (session.state.window, session.state.pressure.used) == (1, 0)
    filled(session, 26_000)
    assert [taken.tokens for taken in checkpoints(session)][-1] == 26_000


def test_a_window_that_one_message_fills_is_made_room_in_all_the_same(stage: Stage) -> None:
    session = opened(stage)
    filled(session, 10_000)
    asked(session, "x" * 500_000)
    fill = session.make_ready()
    assert fill.used < WINDOW // 2
    assert compaction(session).first_kept == compactions(session)[-1].id


def test_a_session_outlives_its_window_many_times_and_its_first_rule_with_it(stage: Stage) -> None:
    session = opened(stage)
    asked(session, "Never touch the parser.")
    answered(session, "Understood.", 5_000)
    for _ in range(12):
        filled(session, 30_000, 60_000, 80_000, 97_000)
        session.make_ready()
        assert "Never touch the parser." in texts_in_turns(session)[0]
    assert session.state.window == 12
    assert len(session.path) < 20, "what is past is not carried along"
    again = opened(stage)
    assert again.path == session.path
    assert texts_in_turns(again) == texts_in_turns(session)


# A model behind one's back


def test_a_checkpoint_by_a_model_is_written_while_the_session_goes_on(stage: Stage) -> None:
    model, later = Asked([GOOD]), ManualExecutor()
    config = replace(QUIET, checkpoint=Checkpoint(token_threshold_percents=(60,)))
    session = opened(stage, model, later, config)
    filled(session, 61_000)
    covered = session.leaf
    filled(session, 70_000)
    session.make_ready()
    assert len(checkpoints(session)) == 1, "nobody waits for it"
    assert later.go() == 1
    filled(session, 90_000)
    session.make_ready()
    written = checkpoints(session)[-1]
    assert (written.summary, written.topics, written.tokens) == (GOOD.text, ["parsing"], 61_000)
    assert written.up_to == covered
    filled(session, 97_000)
    session.make_ready()
    found = compaction(session)
    assert (found.summary or "").startswith(GOOD.text)
    assert texts_in_turns(session)[1:3] == ["question at 70000", "answer at 70000"], "it did not cover these"


def test_why_a_model_wrote_no_checkpoint_is_noted(stage: Stage) -> None:
    session = opened(stage, Asked([Failed("it says nothing")]))
    filled(session, 61_000)
    session.settle()
    note = json.loads(session.path[-1].line)
    assert (note["customType"], note["data"]) == ("holdfast.no_summary", {"reason": "it says nothing"})
    assert len(checkpoints(session)) == 1


# What the model is told of its window


def test_the_model_sees_behind_a_prompt_how_full_its_window_is(stage: Stage) -> None:
    session = opened(stage, config=replace(QUIET, pressure=Pressure(show_in_context=True)))
    asked(session, "first")
    session.make_ready()
    assert texts_in_turns(session)[-1] == "first", "nothing depends on it yet"
    filled(session, 78_000)
    asked(session, "on")
    for _ in range(2):
        session.make_ready()
    assert texts_in_turns(session)[-2:] == ["on", "[Context: 78k/100k tokens (78%)]"]


def test_the_agent_is_asked_to_write_down_what_must_last(stage: Stage) -> None:
    session = opened(stage, config=replace(QUIET, memory_flush=MemoryFlush()))
    lines: list[str] = []
    for tokens in (40_000, 55_000, 80_000, 91_000, 92_000):
        filled(session, tokens)
        lines.append(session.system_line(session.make_ready()))
    half, more = "Context at 50%. Consider", "Context at 75%. Write important"
    assert [line[: len(half)] for line in lines[:2]] == ["", half]
    assert all(line.startswith(more) for line in lines[2:])
    asks = [text for text in texts_in_turns(session) if text.startswith("[SYSTEM:")]
    assert len(asks) == 1, "once in a window"
    assert "Compaction imminent" in asks[0]
    assert not session.state.flush.actioned


def test_whether_it_did_is_remembered_until_it_is_asked_again(stage: Stage) -> None:
    session = opened(stage, config=replace(QUIET, memory_flush=MemoryFlush()))
    filled(session, 91_000)
    session.make_ready()
    answered(session, "Noting.", 92_000, path="memory/2026-01-01.md", content="x")
    result = {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "write",
        "content": "ok",
        "isError": False,
    }
    session.add("message", {"message": result})
    assert session.state.flush.actioned
    filled(session, 97_000)
    session.make_ready()
    assert (session.state.flush.asked, session.state.flush.actioned) == ((), True)
    filled(session, 91_000)
    session.make_ready()
    assert not session.state.flush.actioned


def test_an_answer_that_has_nothing_to_say_is_not_reported_again(stage: Stage) -> None:
    session = opened(stage, config=replace(QUIET, memory_flush=MemoryFlush()))
    filled(session, 91_000)
    session.make_ready()
    answered(session, "NO_REPLY", 91_500)
    asked(session, "on")
    assert texts_in_turns(session) == ["question at 91000", "answer at 91000", "on"]
