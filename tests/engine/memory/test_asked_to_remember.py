"""A prompt `/remember …` becomes a memory, once, however often and by whomever it is told."""

from __future__ import annotations

import pytest

from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory
from holdfast.engine.memory.recall import Query, note_recalled, recall
from holdfast.engine.memory.remember import MemoryRequest, remember
from holdfast.engine.recording.memorize import LONGEST
from holdfast.engine.repository.git import identity
from holdfast.stores.base import EVERYWHERE
from tests.engine.stage import MINUTE, NOON, Stage

ASKED = "/remember [net]: The staging port is 5433"


def memories(stage: Stage) -> list[Memory]:
    return stage.store.memories(EVERYWHERE, 10)


def app(stage: Stage) -> Project:
    return identity(stage.project("app"))


def digest(stage: Stage) -> str:
    stage.payload("s1", "compaction")
    (checkpoint, *_) = stage.store.checkpoints(1)
    return checkpoint.digest


def test_a_hook_event_alone_is_enough(stage: Stage) -> None:
    stage.payload("s1", "prompt", text=ASKED, transcript="")
    (memory,) = memories(stage)
    assert (memory.text, memory.tags) == ("The staging port is 5433", ("net",))
    assert (memory.source, memory.session, memory.created_at) == ("prompt", "s1", NOON)
    assert memory.project_id == app(stage).project_id


def test_so_is_the_transcript(stage: Stage) -> None:
    stage.write("s1", ("prompt", ASKED))
    stage.payload("s1", "end", reason="exit")
    assert [memory.seen for memory in memories(stage)] == [1]


def test_hook_event_and_transcript_count_once(stage: Stage) -> None:
    stage.write("s1", ("prompt", "hello"))
    stage.payload("s1", "prompt", text=ASKED)
    assert [memory.seen for memory in memories(stage)] == [1]
    stage.now += MINUTE
    stage.write("s1", ("prompt", ASKED), ("says", "I will."))
    stage.payload("s1", "prompt", text="go on")
    stage.payload("s1", "prompt", text="and on")
    assert [memory.seen for memory in memories(stage)] == [1]


def test_said_twice_it_is_one_memory_seen_twice(stage: Stage) -> None:
    for _ in range(2):
        stage.now += MINUTE
        stage.write("s1", ("prompt", ASKED))
    stage.payload("s1", "end", reason="exit")
    assert [memory.seen for memory in memories(stage)] == [2]


@pytest.mark.parametrize(
    "text", ["/remember", "please /remember this", "remember the port", "/remembering", "/remember  "]
)
def test_any_other_prompt_is_none(stage: Stage, text: str) -> None:
    stage.payload("s1", "prompt", text=text, transcript="")
    assert memories(stage) == []


def test_what_is_too_long_for_a_memory_is_a_prompt_still(stage: Stage) -> None:
    stage.payload("s1", "prompt", text=f"/remember {'x' * (LONGEST + 1)}", transcript="")
    assert memories(stage) == []
    session = stage.store.session("s1")
    assert session is not None
    assert session.prompts_told == 1


def test_no_secret_gets_in_by_a_prompt(stage: Stage) -> None:
    key = "sk-ant-" + "api03-" + "Zq8Lw2Rt5Xv9Bn3Mk7Jh4Gf6Ds1Pa0Yu" * 2
    stage.payload("s1", "prompt", text=f"/remember the key is {key}", transcript="")
    (memory,) = memories(stage)
    assert key not in memory.text
    assert not any(key in text.text for text in stage.store.texts())


def test_it_is_in_the_next_digest(stage: Stage) -> None:
    stage.payload("s1", "prompt", text=ASKED, transcript="")
    assert "Remembered: The staging port is 5433" in digest(stage)


def test_what_was_forgotten_does_not_come_back_with_its_transcript(stage: Stage) -> None:
    stage.write("s1", ("prompt", ASKED))
    stage.payload("s1", "end", reason="exit")
    with stage.store.writing():
        stage.store.forget(["s1"], stage.now)
    stage.payload("s1", "end", reason="exit")
    assert memories(stage) == []


# What was found


def test_a_digest_names_the_memories_that_the_session_was_told_since_the_last_one(stage: Stage) -> None:
    engine = stage.engine()
    remember(engine, app(stage), MemoryRequest("The staging port is 5433"), source="cli")
    stage.write("s1", ("prompt", "Mend the parser"))
    assert "Top memories accessed" not in digest(stage)
    stage.now += MINUTE
    (found,) = recall(engine, app(stage), Query("staging"))
    note_recalled(engine, stage.store.session("s1"), [found.id, "of-another-kind"])
    stage.write("s1", ("prompt", "Go on"))
    assert f"Top memories accessed: {found.id[:8]} “The staging port is 5433”" in digest(stage)
    stage.now += MINUTE
    stage.write("s1", ("prompt", "And on"))
    assert "Top memories accessed" not in digest(stage)
