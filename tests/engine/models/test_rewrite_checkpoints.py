"""Write better: a model writes a checkpoint once more, once, while it is news, and beside the one by rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from holdfast.core.agent_log.context import AgentTurn, Result, Text, ToolCall, UserTurn
from holdfast.core.agent_log.records import OWN
from holdfast.core.agent_log.summary import Failed, Written
from holdfast.core.events.event import (
    Action,
    Compacted,
    CompactionSign,
    Event,
    Origin,
    Prompt,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.events.world import Project
from holdfast.core.evidence.trail import Utterance
from holdfast.core.session.checkpoint import own_words, take
from holdfast.core.session.session import Trigger, begin
from holdfast.engine.models import (
    NEWS_MS,
    NOT_RECORDED,
    QUIET_MS,
    Means,
    conversation_turns,
    day_of,
    due,
    material_of,
    write,
)
from holdfast.engine.repository.git import identity
from holdfast.settings import Checkpoint as CheckpointSettings
from holdfast.settings import Config, Models
from tests.engine.stage import NOON, Stage
from tests.models.api_server import ApiServer, Said, anthropic

GOOD = "## Goal\n- Fix the parser.\n## Now\n- The parser is being fixed."
MEANS = Means({}, lambda seconds: None)


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer() as running:
        yield running


@pytest.fixture
def stage(stage: Stage, server: ApiServer) -> Stage:
    model = CheckpointSettings(model="anthropic/small", fallback_to_main=False)
    stage.config = Config(checkpoint=model, models=Models(base_url=server.url, key="k", retries=0))
    return stage


def taken(
    stage: Stage,
    id: str,
    trigger: Trigger = Trigger.THRESHOLD,
    harness: str = "playhouse",
    *,
    key: str = "s",
    turn_open: bool = False,
) -> None:
    """A session with a prompt, and a checkpoint of it, now."""
    session = begin(key, harness, identity(stage.project("app")), stage.now)
    session = replace(session, turn_open=turn_open)
    asked = Prompt(session=key, record=f"r-{id}", at=stage.now, origin=Origin.HUMAN, text="Fix the parser.")
    with stage.store.writing():
        stage.store.put_session(session)
        stage.store.add_event(asked)
        stage.store.add_checkpoint(take(session, trigger, "", id, stage.now)[1])


def test_what_a_model_writes_is_one_more_checkpoint(stage: Stage, server: ApiServer) -> None:
    taken(stage, "c1")
    stage.now += 1_000
    engine = stage.engine()
    checkpoint = due(engine)
    assert checkpoint is not None
    server.script(anthropic(GOOD))
    assert isinstance(write(engine, checkpoint, MEANS), Written)
    written, by_rule = stage.store.checkpoints(9)
    assert by_rule == checkpoint
    assert written.digest == written.words == GOOD
    assert (written.outline.model, written.created_at) == ("anthropic/small", NOON + 1_000)
    assert own_words(written) == Utterance(GOOD, NOON + 1_000, written.id, author="anthropic/small")
    assert "USER: Fix the parser." in server.seen[0].body["messages"][0]["content"]
    assert due(engine) is None, "it is asked once"


def test_one_that_no_model_could_write_is_not_asked_for_again(stage: Stage, server: ApiServer) -> None:
    taken(stage, "c1")
    checkpoint = due(stage.engine())
    assert checkpoint is not None
    server.script(Said({"error": {}}, 500))
    assert write(stage.engine(), checkpoint, MEANS) == Failed("anthropic/small: HTTP 500")
    assert due(stage.engine()) is None
    (kept,) = stage.store.checkpoints(9)
    assert kept.outline.no_answer == "anthropic/small: HTTP 500", "the checkpoint by rule says why"
    assert kept.digest == checkpoint.digest
    stage.now += 1
    taken(stage, "c2")
    assert due(stage.engine()) is not None, "the next one is another"


@pytest.mark.parametrize(
    ("trigger", "harness", "later"),
    [
        (Trigger.PERIODIC, "playhouse", 0),
        (Trigger.AGENT, "playhouse", 0),
        (Trigger.THRESHOLD, OWN, 0),
        (Trigger.THRESHOLD, "playhouse", NEWS_MS),
    ],
)
def test_nobody_is_asked_for_others(stage: Stage, trigger: Trigger, harness: str, later: int) -> None:
    taken(stage, "c1", trigger, harness)
    stage.now += later
    assert due(stage.engine()) is None


def test_nobody_is_asked_where_no_model_is_set(stage: Stage) -> None:
    taken(stage, "c1")
    stage.config = Config()
    assert due(stage.engine()) is None


def turn_ended(stage: Stage, key: str = "s") -> None:
    session = stage.store.session(key)
    assert session is not None
    with stage.store.writing():
        stage.store.put_session(replace(session, turn_open=False, last_event_at=stage.now))


def test_nobody_is_asked_in_the_middle_of_a_turn_however_long_it_takes(stage: Stage) -> None:
    taken(stage, "c1", turn_open=True)
    assert due(stage.engine()) is None
    stage.now += NEWS_MS * 4
    turn_ended(stage)
    checkpoint = due(stage.engine())
    assert checkpoint is not None
    assert checkpoint.id == "c1"


def test_of_several_that_one_turn_left_the_newest_alone_is_written(stage: Stage, server: ApiServer) -> None:
    for id in ("c1", "c2", "c3"):
        stage.now += 1_000
        taken(stage, id, turn_open=True)
        assert due(stage.engine()) is None
    turn_ended(stage)
    checkpoint = due(stage.engine())
    assert checkpoint is not None
    assert checkpoint.id == "c3"
    server.script(anthropic(GOOD))
    write(stage.engine(), checkpoint, MEANS)
    assert due(stage.engine()) is None


def test_a_session_in_its_turn_is_not_passed_over_for_a_later_one_of_another(
    stage: Stage, server: ApiServer
) -> None:
    taken(stage, "c1", key="busy", turn_open=True)
    assert due(stage.engine()) is None
    stage.now += 1_000
    taken(stage, "c2", key="other")
    checkpoint = due(stage.engine())
    assert checkpoint is not None
    assert checkpoint.session == "other"
    server.script(anthropic(GOOD))
    write(stage.engine(), checkpoint, MEANS)
    assert due(stage.engine()) is None
    turn_ended(stage, "busy")
    waited = due(stage.engine())
    assert waited is not None
    assert waited.session == "busy"


def test_where_no_end_of_a_turn_is_reported_a_long_silence_is_one(stage: Stage) -> None:
    taken(stage, "c1", turn_open=True)
    assert due(stage.engine()) is None
    stage.now += QUIET_MS
    assert due(stage.engine()) is not None


def test_what_an_earlier_version_noted_is_understood(stage: Stage) -> None:
    taken(stage, "c1")
    with stage.store.writing():
        stage.store.put_fact("written_until", str(stage.now))
    assert due(stage.engine()) is None


@pytest.mark.parametrize(
    "answer",
    ["No section at all.", json.dumps({"summary": "of another question"}), "## Goal\n- `never_said`"],
)
def test_an_answer_that_is_rejected_is_counted_and_reported_with_its_reason(
    stage: Stage, server: ApiServer, answer: str
) -> None:
    taken(stage, "c1")
    checkpoint = due(stage.engine())
    assert checkpoint is not None
    server.script(anthropic(answer))
    reports: list[str] = []
    failed = write(stage.engine(), checkpoint, replace(MEANS, report=reports.append))
    assert isinstance(failed, Failed)
    (report,) = reports
    assert report == f"the answer of anthropic/small was rejected: {failed.reason.partition(': ')[2]}"
    (spent,) = day_of(stage.store, stage.now).models.values()
    assert (spent.asked, spent.failed) == (1, 1)
    assert stage.store.skipped() == {"an answer of a model was rejected": 1}


def test_a_secret_that_a_model_repeats_is_not_kept(stage: Stage, server: ApiServer) -> None:
    key = "ghp_" + "aB3dE6" * 6
    taken(stage, "c1")
    checkpoint = due(stage.engine())
    assert checkpoint is not None
    server.script(anthropic(f"## Where\n- The token is {key}, they said."))
    assert isinstance(write(stage.engine(), checkpoint, MEANS), Written)
    assert all(key not in text.text for text in stage.store.texts())


def test_a_question_is_about_all_events_and_holds_the_last_summary_of_the_harness() -> None:
    summary = Compacted(
        session="s",
        record="k",
        at=NOON,
        origin=Origin.HARNESS,
        sign=CompactionSign.SUMMARY,
        summary="So far.",
    )
    boundary = replace(summary, record="b", sign=CompactionSign.BOUNDARY, summary="")
    prompts = [
        Prompt(session="s", record=f"p{number}", at=NOON, origin=Origin.HUMAN, text=f"step {number}")
        for number in range(700)
    ]
    session = begin("s", "playhouse", Project("/p", "/p", "p", "w", "/p"), NOON)
    material = material_of(session, [replace(summary, summary="Before."), *prompts, summary, boundary])
    assert material.earlier == "So far."
    assert material.turns[0] == UserTurn((Text("step 0"),))
    assert {"Before.", "step 0", "step 699"} <= set(material.said_before)


def test_events_are_reported_as_turns_and_every_call_has_its_result() -> None:
    asked = Prompt(session="s", record="p", at=NOON, origin=Origin.HUMAN, text="go")
    first = ToolCalled(
        session="s",
        record="c1",
        at=NOON,
        origin=Origin.ASSISTANT,
        call="c1",
        tool="bash",
        action=Action.RUN,
        subject="make",
    )
    returned = ToolReturned(session="s", record="r1", at=NOON, origin=Origin.TOOL, call="c1", ok=True)
    later: Event = replace(first, record="c2", call="c2")
    aside: Event = replace(asked, agent="sub")
    events: tuple[Event, ...] = (asked, first, aside, returned, later)
    given = '{"on":"make","with":""}'
    assert list(conversation_turns(events)) == [
        UserTurn((Text("go"),)),
        AgentTurn((ToolCall("c1", "bash", given),), (Result("c1", (Text("(no output)"),), ok=True),)),
        AgentTurn((ToolCall("c2", "bash", given),), (Result("c2", (Text(NOT_RECORDED),), ok=False),)),
    ]


@pytest.mark.parametrize(
    ("action", "is_short"),
    [
        (Action.READ, True),
        (Action.EDIT, True),
        (Action.WRITE, True),
        (Action.RUN, False),
        (Action.ASK, False),
    ],
)
def test_of_a_file_a_model_is_shown_the_beginning_and_of_a_report_all(action: Action, is_short: bool) -> None:  # noqa: FBT001 - a column
    called = ToolCalled(
        session="s",
        record="c",
        at=NOON,
        origin=Origin.ASSISTANT,
        call="c",
        tool="tool",
        action=action,
        subject="a.py",
        detail="word " * 200,
    )
    returned = ToolReturned(
        session="s", record="r", at=NOON, origin=Origin.TOOL, call="c", ok=True, text="word " * 200
    )
    (turn,) = conversation_turns((called, returned))
    assert isinstance(turn, AgentTurn)
    (part,), (result,) = turn.parts, turn.results
    assert isinstance(part, ToolCall)
    (text,) = result.parts
    assert isinstance(text, Text)
    assert [len(one) < 400 for one in (part.arguments, text.text)] == [is_short, is_short]
