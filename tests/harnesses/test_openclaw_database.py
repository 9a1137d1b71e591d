"""Sessions in OpenClaw's database: read in pieces like files, packed or not, and never written to."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core.events.event import AssistantText, Event, Prompt
from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch, Extent, KeptInRows
from holdfast.harnesses.openclaw.transcript import DATABASE
from tests.depth import examples
from tests.harnesses.openclaw_records import (
    AT,
    CWD,
    SESSION,
    assistant,
    header,
    in_database,
    jsonl,
    text,
    user,
    written,
)

FAR = 1 << 30
OPENCLAW = reader("openclaw")
AGAIN = """
insert into transcript_events
select session_id, seq + 100, event_json, null from transcript_events where seq = 3
"""
DAMAGED = "update transcript_events set event_json = null, event_zstd = ? where seq = 3"


def database(folder: Path) -> Path:
    return folder / "agents" / "main" / "agent" / DATABASE


def read(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return OPENCLAW.read_transcript(path, "s1", cursor, limit)


def extent(path: Path) -> Extent | None:
    assert isinstance(OPENCLAW, KeptInRows)
    return OPENCLAW.extent(path)


def read_on(path: Path, limit: int) -> list[Event]:
    events, cursor, done = list[Event](), "", False
    while not done:
        batch = read(path, cursor, limit)
        events += batch.events
        cursor, done = batch.cursor, batch.done
    return events


def test_each_session_in_it_has_a_path_beside_those_of_files(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    in_database(whole, "agent:main:other", "s-2", SESSION[:4])
    file = written(tmp_path / "agents", jsonl(SESSION), "s-3.jsonl")
    found = list(OPENCLAW.transcripts(tmp_path))
    assert found == [file, whole / "s-1", whole / "s-2"]
    assert [OPENCLAW.session_of(path) for path in found] == ["s-1", "s-1", "s-2"]


@pytest.mark.parametrize("pack", [False, True])
def test_it_tells_what_a_file_of_the_same_records_tells(tmp_path: Path, pack: bool) -> None:  # noqa: FBT001 - both ways
    rows = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION, pack=pack) / "s-1"
    file = written(tmp_path, jsonl(SESSION))
    in_rows = read(rows)
    assert in_rows.events == read(file).events
    assert (in_rows.cwd, in_rows.done, in_rows.skipped) == (CWD, True, ())


@given(limit=st.integers(1, 2_000))
@settings(
    max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_pieces_of_any_size_tell_the_same(tmp_path: Path, limit: int) -> None:
    whole = database(tmp_path)
    if not whole.exists():
        in_database(whole, "agent:main:main", "s-1", SESSION, pack=True)
    assert read_on(whole / "s-1", limit) == [*read(whole / "s-1").events]


def test_what_is_added_later_is_read_alone(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", [header(), user("first")])
    before = extent(whole / "s-1")
    batch = read(whole / "s-1")
    in_database(whole, "agent:main:main", "s-1", [assistant(text("second"))])
    after = extent(whole / "s-1")
    assert before is not None
    assert after is not None
    assert (before.changed_at, after.size > before.size) == (AT, True)
    assert [type(event) for event in read(whole / "s-1", batch.cursor).events][:1] == [AssistantText]


def test_a_database_that_was_replaced_is_read_from_its_start(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    cursor = read(whole / "s-1").cursor
    whole.unlink()
    in_database(whole, "agent:main:main", "s-1", [header(), user("anew")])
    told = [event.text for event in read(whole / "s-1", cursor).events if isinstance(event, Prompt)]
    assert told == ["anew"]


def test_nothing_is_written_while_its_owner_has_it_open(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    owner = sqlite3.connect(whole)
    owner.execute("pragma journal_mode = wal")
    owner.execute(AGAIN)
    owner.commit()
    print_of = sha256(whole.read_bytes()).digest()
    told = [event for event in read(whole / "s-1").events if isinstance(event, Prompt)]
    assert len(told) == 3, "what is only in the log is read too"
    assert list(OPENCLAW.transcripts(tmp_path)) == [whole / "s-1"]
    assert sha256(whole.read_bytes()).digest() == print_of
    owner.close()


def test_where_nobody_has_it_open_no_file_appears_beside_it(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    list(OPENCLAW.transcripts(tmp_path))
    read(whole / "s-1")
    assert [path.name for path in whole.parent.iterdir()] == [DATABASE]


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\x00" + bytes(200)])
def test_what_is_no_database_tells_nothing_and_harms_nobody(tmp_path: Path, content: bytes) -> None:
    whole = written(database(tmp_path).parent, content, DATABASE)
    assert list(OPENCLAW.transcripts(tmp_path)) == []
    assert extent(whole / "s-1") is None
    batch = read(whole / "s-1")
    assert (batch.events, batch.done) == ((), True)
    assert "cannot be read" in batch.skipped[0].reason


def test_a_session_that_is_not_in_it_has_no_extent_and_no_records(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    assert extent(whole / "s-9") is None
    assert read(whole / "s-9").events == ()


@pytest.mark.parametrize("id", ["../../x", "a/b", "", ".", ".."])
def test_an_id_that_would_lead_elsewhere_is_no_path(tmp_path: Path, id: str) -> None:
    in_database(database(tmp_path), "k", id, SESSION)
    assert list(OPENCLAW.transcripts(tmp_path)) == []


def test_a_record_that_cannot_be_unpacked_is_counted_and_costs_itself_alone(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    connection = sqlite3.connect(whole)
    connection.execute(DAMAGED, (b"no zstd",))
    connection.commit()
    connection.close()
    batch = read(whole / "s-1")
    assert [skipped.where for skipped in batch.skipped] == ["row 3"]
    assert [event.text for event in batch.events if isinstance(event, Prompt)] == ["Go on."]


def test_a_fork_names_the_session_that_it_left(tmp_path: Path) -> None:
    path = database(tmp_path)
    in_database(path, "agent:main:main", "s1", SESSION)
    marker = f"sqlite:main:s1:{path}"
    in_database(path, "agent:main:fork", "s2", [header(parentSession=marker), *SESSION[1:]])
    in_database(path, "agent:main:odd", "s3", [header(parentSession="sqlite:main:../s1:x")])
    in_database(path, "agent:main:file", "s4", [header(parentSession="/home/you/s1.jsonl")])
    origins = [OPENCLAW.earlier_transcripts(path / id) for id in ("s1", "s2", "s3", "s4", "gone")]
    assert origins == [(), (path / "s1",), (), (), ()]
    assert OPENCLAW.earlier_transcripts(tmp_path / "s1.jsonl") == ()
