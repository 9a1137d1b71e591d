"""A model that the settings name: it writes behind the agent's back, and nobody waits while there is room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import embed
from holdfast.core.agent_log.record_bodies import Checkpoint, Compaction, body
from holdfast.embed import SessionStore
from tests.embed.loop import said, texts, turns, write_settings
from tests.models.api_server import ApiServer, Said, anthropic

SUMMARY = "## Now\n- The parser is being fixed."
GOOD = f"{SUMMARY}\n## Next\n- Go on with it."
WINDOW = 100_000


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer() as running:
        yield running


@pytest.fixture
def store(server: ApiServer, home: Path, project: Path) -> Iterator[SessionStore]:
    write_settings(
        home,
        pressure={"show_in_context": False},
        memory_flush={"enabled": False},
        checkpoint={"model": "anthropic/small", "fallback_to_main": False, "token_threshold_percents": [60]},
        models={"base_url": server.url, "key": "k", "retries": 0},
        compaction={"keep_percent": 0, "keep_messages": 2},
    )
    opened = embed.open_store(home, project=project)
    yield opened
    opened.close()


def test_a_checkpoint_is_written_behind_the_agents_back(store: SessionStore, server: ApiServer) -> None:
    server.script(anthropic(GOOD))
    session = store.load("k", window=WINDOW)
    turns(session, 1, 61_000)
    session.settle()
    written = body(session.records[-1])
    assert isinstance(written, Checkpoint)
    assert (written.checkpoint.summary or "").startswith(SUMMARY)
    turns(session, 1, 97_000, start=1)
    session.request()
    assert SUMMARY in texts(session.messages())[0]
    assert len(server.seen) == 1, "a checkpoint covers enough: nobody is asked again"


def test_what_is_under_way_is_kept_when_the_store_closes(
    store: SessionStore, server: ApiServer, home: Path, project: Path
) -> None:
    server.script(anthropic(GOOD))
    session = store.load("k", window=WINDOW)
    turns(session, 1, 61_000)
    store.close()
    again = embed.open_store(home, project=project)
    assert any("The parser is being fixed" in record.line for record in again.load("k").records)
    again.close()


def test_where_there_is_no_room_a_model_is_waited_for(store: SessionStore, server: ApiServer) -> None:
    server.script(anthropic(GOOD))
    session = store.load("k", window=WINDOW)
    turns(session, 3, 9_000)
    session.ask("word " * 100_000)
    session.request()
    assert SUMMARY in texts(session.messages())[0]


def test_a_model_that_cannot_is_in_nobodys_way(store: SessionStore, server: ApiServer) -> None:
    server.script(Said({"error": {"message": "out of credit"}}, 402))
    session = store.load("k", window=WINDOW)
    turns(session, 3, 9_000)
    session.ask("word " * 100_000)
    request = session.request()
    assert "question 0" in texts(request.messages)[0]
    compaction = body(session.records[-1])
    assert isinstance(compaction, Compaction)
    assert compaction.note.no_model.startswith("anthropic/small: HTTP 402:")
    assert "out of credit" in compaction.note.no_model


def test_an_agent_may_bring_its_own_model(home: Path, project: Path) -> None:
    def sum_up(about: embed.Material) -> embed.Written | embed.Failed:
        return embed.Written(f"{len(about.turns)} turns of {about.main_model}", "mine")

    store = embed.open_store(home, project=project, summarize=sum_up)
    session = store.load("k", window=WINDOW)
    turns(session, 3, 9_000)
    session.compact()
    session.answer(said("on"))
    assert "turns of some-model" in texts(session.messages())[0]
    store.close()
