"""Every rollout of the development data is read to its end; HOLDFAST_DATA says where they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.core.events.event import Action, Event, Prompt, ToolCalled, ToolReturned
from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch

DATA = os.environ.get("HOLDFAST_DATA", "")
ROLLOUTS = sorted((Path(DATA) / "codex").rglob("*.jsonl")) if DATA else []

pytestmark = pytest.mark.skipif(not DATA, reason="HOLDFAST_DATA names no folder")


def read(path: Path, cursor: str = "", limit: int = 1 << 30) -> Batch:
    return reader("codex").read_transcript(path, "s1", cursor, limit)


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.name)
def test_a_rollout_is_read_to_its_end(path: Path) -> None:
    batch = read(path)
    assert batch.done
    assert batch.events
    assert batch.skipped == ()
    assert batch.cwd.startswith("/")


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.name)
def test_pieces_tell_the_same_as_the_whole(path: Path) -> None:
    whole: list[Event] = [*read(path).events]
    cursor, done = "", False
    while not done:
        batch = read(path, cursor, 100_000)
        cursor, done = batch.cursor, batch.done
        assert [*batch.events] == whole[: len(batch.events)]
        del whole[: len(batch.events)]
    assert whole == []


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.name)
def test_every_event_has_an_id_of_its_own(path: Path) -> None:
    known = [(one.record, one.revision) for one in read(path).events]
    assert len(known) == len(set(known))


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.name)
def test_prompts_are_a_person_s_and_commands_have_outcomes(path: Path) -> None:
    events = read(path).events
    prompts = [one.text for one in events if isinstance(one, Prompt)]
    assert prompts
    assert not any(text.startswith(("<", "# AGENTS.md", "# Context from")) for text in prompts)
    runs = {
        one.call: one.subject for one in events if isinstance(one, ToolCalled) and one.action is Action.RUN
    }
    assert all(runs.values())
    ends = {one.call for one in events if isinstance(one, ToolReturned)}
    # A process may still run when the session ends.
    assert len(runs.keys() - ends) <= len(runs) // 50
