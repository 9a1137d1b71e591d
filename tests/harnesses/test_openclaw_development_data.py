"""Every session file of the development data is read to its end; HOLDFAST_DATA says where they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.core.events.event import Compacted, Prompt, ToolCalled, ToolReturned
from holdfast.harnesses import reader

DATA = os.environ.get("HOLDFAST_DATA", "")
FILES = sorted(Path(DATA, "pi-openclaw").rglob("*.jsonl")) if DATA else []

pytestmark = pytest.mark.skipif(not DATA, reason="HOLDFAST_DATA names no folder")


def test_every_session_is_read_to_its_end_and_only_what_was_made_to_drift_is_skipped() -> None:
    assert FILES
    for path in FILES:
        batch = reader("openclaw").read_transcript(path, "s1", "", 1 << 30)
        assert batch.done
        assert batch.cwd
        assert batch.events
        assert batch.skipped == () or "drift" in path.name, (path, batch.skipped)


def test_pieces_tell_the_same_as_the_whole() -> None:
    for path in FILES:
        whole, cursor, done = [*reader("openclaw").read_transcript(path, "s1", "", 1 << 30).events], "", False
        while not done:
            batch = reader("openclaw").read_transcript(path, "s1", cursor, 100_000)
            cursor, done = batch.cursor, batch.done
            assert [*batch.events] == whole[: len(batch.events)]
            whole = whole[len(batch.events) :]
        assert whole == []


def test_every_event_has_an_id_of_its_own_and_every_result_its_call() -> None:
    compactions = 0
    for path in FILES:
        events = reader("openclaw").read_transcript(path, "s1", "", 1 << 30).events
        assert len({event.record for event in events}) == len(events), path
        assert all(event.text.strip() for event in events if isinstance(event, Prompt))
        calls = {event.call for event in events if isinstance(event, ToolCalled)}
        assert {event.call for event in events if isinstance(event, ToolReturned)} <= calls
        compactions += sum(isinstance(event, Compacted) and bool(event.summary) for event in events)
    assert compactions
