"""Every transcript of the development data is read to its end; HOLDFAST_DATA says where they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.core.events.event import Prompt, Skipped, Usage
from holdfast.harnesses import get, names

DATA = os.environ.get("HOLDFAST_DATA", "")

pytestmark = pytest.mark.skipif(not DATA, reason="HOLDFAST_DATA names no folder")


def transcripts(harness: str) -> list[Path]:
    return sorted((Path(DATA) / harness).rglob("*.jsonl"))


@pytest.mark.parametrize("harness", names())
def test_every_transcript_is_read_to_its_end(harness: str) -> None:
    skipped: dict[Path, tuple[Skipped, ...]] = {}
    told = 0
    for path in transcripts(harness):
        batch = get(harness).read_transcript(path, "s1", "", 1 << 30)
        assert batch.done
        told += len(batch.events)
        if batch.skipped:
            skipped[path] = batch.skipped
    assert told > 0
    assert skipped == {}


@pytest.mark.parametrize("harness", names())
def test_pieces_tell_the_same_as_the_whole(harness: str) -> None:
    for path in transcripts(harness):
        whole, cursor, done = [*get(harness).read_transcript(path, "s1", "", 1 << 30).events], "", False
        while not done:
            batch = get(harness).read_transcript(path, "s1", cursor, 100_000)
            cursor, done = batch.cursor, batch.done
            assert [*batch.events] == whole[: len(batch.events)]
            whole = whole[len(batch.events) :]
        assert whole == []


@pytest.mark.parametrize("harness", names())
def test_every_event_has_an_id_of_its_own(harness: str) -> None:
    for path in transcripts(harness):
        events = get(harness).read_transcript(path, "s1", "", 1 << 30).events
        known = [(event.record, event.revision) for event in events if not isinstance(event, Usage)]
        assert len(known) == len(set(known)), path
        assert all(event.text.strip() for event in events if isinstance(event, Prompt))
