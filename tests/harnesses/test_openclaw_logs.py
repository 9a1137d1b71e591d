"""Logs of OpenClaw and pi: found by key, read as trees from files and from the database, never written to."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from holdfast import harnesses
from holdfast.core.agent_log.context import Text, turns_of
from holdfast.core.agent_log.records import path_to, read_log
from holdfast.core.events.event import AssistantText, Prompt, ToolCalled, ToolReturned, Usage
from holdfast.harnesses.base import FoundLog, LogReader
from tests.harnesses.openclaw_records import (
    Json,
    assistant,
    header,
    in_database,
    record,
    text,
    tool_call,
    tool_result,
    user,
)

MAIN = "agent:main:main"
LOG: list[Json] = [
    header(),
    {**user("first"), "parentId": None},
    {**assistant(text("second")), "parentId": "u1"},
    {**user("aside", "u2"), "parentId": "u1"},
    {**user("third", "u3"), "parentId": "a1"},
    record("surprise", "x", parentId="u3", odd={"ü": [1]}),
]


@pytest.fixture
def reader() -> LogReader:
    return harnesses.log_reader()


def write(path: Path, records: Iterable[Json]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def parse(reader: LogReader, found: FoundLog) -> list[str]:
    path = path_to(reader.read_log(found).records)
    return [part.text for turn in turns_of(path) for part in turn.parts if isinstance(part, Text)]


def test_the_index_says_which_file_a_key_stands_for(reader: LogReader, tmp_path: Path) -> None:
    file = write(tmp_path / "0001.jsonl", LOG)
    entry = {"sessionId": "s-1", "updatedAt": 1772359200000, "sessionFile": "/gone/0001.jsonl"}
    (tmp_path / "sessions.json").write_text(json.dumps({MAIN: entry, "other": {"sessionId": "gone"}, "x": 5}))
    (found,) = reader.find_logs(tmp_path, "")
    assert found == FoundLog(MAIN, file, "s-1", 1772359200000)
    assert parse(reader, found) == ["first", "second", "third"]


def test_without_an_index_a_session_goes_by_its_own_id(reader: LogReader, tmp_path: Path) -> None:
    write(tmp_path / "--home-you--" / "2026_x.jsonl", LOG)
    write(tmp_path / "no-session.jsonl", [{"hello": 1}])
    assert [found.key for found in reader.find_logs(tmp_path, "jsonl")] == ["s-1"]
    assert reader.find_logs(tmp_path, "sqlite") == ()


def test_an_index_cannot_lead_out_of_its_folder(reader: LogReader, tmp_path: Path) -> None:
    write(tmp_path / "secret.jsonl", LOG)
    inside = tmp_path / "sessions"
    inside.mkdir()
    (inside / "sessions.json").write_text(
        json.dumps({MAIN: {"sessionId": "s", "sessionFile": "../secret.jsonl"}})
    )
    (inside / "linked.jsonl").symlink_to(tmp_path / "secret.jsonl")
    assert reader.find_logs(inside, "") == ()


@pytest.mark.parametrize("index", ["", "[]", "{", '{"a": {"sessionId": 5}}'])
def test_a_broken_index_leaves_the_files(reader: LogReader, tmp_path: Path, index: str) -> None:
    write(tmp_path / "a.jsonl", LOG)
    (tmp_path / "sessions.json").write_text(index)
    assert [found.key for found in reader.find_logs(tmp_path, "")] == ["s-1"]


def test_a_file_keeps_the_bytes_of_every_record(reader: LogReader, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", LOG)
    lines = file.read_text(encoding="utf-8").splitlines()
    (found,) = reader.find_logs(file, "")
    assert [each.line for each in reader.read_log(found).records] == lines


def test_half_a_character_and_half_a_line_cost_no_record_but_the_last(
    reader: LogReader, tmp_path: Path
) -> None:
    whole = [json.dumps(LOG[0]), '{"type":"message","message":{"role":"user","content":"half \\ud83d"}}']
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join([*whole, '{"type":"message","mess']), encoding="utf-8")
    assert parse(reader, FoundLog("s-1", file, "s-1", 0)) == ["half \N{REPLACEMENT CHARACTER}"]


def test_the_oldest_format_is_a_row_of_records(reader: LogReader, tmp_path: Path) -> None:
    first = {key: value for key, value in header().items() if key != "version"}
    said = [{"type": "message", "message": {"role": "user", "content": str(n)}} for n in range(4)]
    compaction = {"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 3, "tokensBefore": 9}
    file = write(tmp_path / "a.jsonl", [first, *said[:3], compaction, said[3]])
    summary, *rest = parse(reader, FoundLog("s-1", file, "s-1", 0))
    assert "so far" in summary
    assert rest == ["2", "3"]


@pytest.mark.parametrize("pack", [False, True])
def test_a_database_holds_the_same_records(reader: LogReader, tmp_path: Path, pack: bool) -> None:  # noqa: FBT001 - both ways
    database = in_database(tmp_path / "openclaw-agent.sqlite", MAIN, "s-1", LOG, pack=pack)
    in_database(database, "agent:main:other", "s-2", LOG[:2])
    before = database.read_bytes()
    main, other = sorted(reader.find_logs(tmp_path, ""), key=lambda found: found.session)
    assert main == FoundLog(MAIN, database, "s-1", 1772359200000)
    assert reader.read_log(main) == read_log(json.dumps(each) for each in LOG)
    assert parse(reader, other) == ["first"]
    assert database.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["openclaw-agent.sqlite"]


def test_a_database_is_read_while_its_owner_writes(reader: LogReader, tmp_path: Path) -> None:
    database = in_database(tmp_path / "openclaw-agent.sqlite", MAIN, "s-1", LOG[:2])
    owner = sqlite3.connect(database)
    owner.execute("pragma journal_mode = wal")
    owner.execute("insert into transcript_events values ('s-1', 9, ?, null)", (json.dumps(LOG[2]),))
    owner.commit()
    (found,) = reader.find_logs(database, "sqlite")
    assert parse(reader, found) == ["first", "second"]
    owner.close()


def test_a_packed_record_that_is_damaged_costs_itself_alone(reader: LogReader, tmp_path: Path) -> None:
    database = in_database(tmp_path / "openclaw-agent.sqlite", MAIN, "s-1", LOG)
    owner = sqlite3.connect(database)
    owner.execute("update transcript_events set event_json = null, event_zstd = x'00' where seq = 5")
    owner.commit()
    owner.close()
    log = reader.read_log(reader.find_logs(database, "")[0])
    assert len(log.records) == len(LOG) - 1
    assert len(log.skipped) == 1


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0 but no more"])
def test_what_is_no_database_holds_nothing(reader: LogReader, tmp_path: Path, content: bytes) -> None:
    database = tmp_path / "openclaw-agent.sqlite"
    database.write_bytes(content)
    assert reader.find_logs(database, "") == ()
    assert reader.read_log(FoundLog("k", database, "s", 0)).records == ()


def test_nothing_is_found_where_there_is_nothing(reader: LogReader, tmp_path: Path) -> None:
    assert reader.find_logs(tmp_path / "gone", "") == ()
    assert reader.read_log(FoundLog("k", tmp_path / "gone.jsonl", "s", 0)).records == ()


def test_its_own_places_are_known(reader: LogReader, tmp_path: Path) -> None:
    state = tmp_path / ".openclaw" / "agents" / "main"
    assert reader.log_sources(tmp_path, {}) == (
        state / "agent" / "openclaw-agent.sqlite",
        state / "sessions",
        tmp_path / ".pi" / "agent" / "sessions",
    )


def test_a_record_tells_the_same_events_wherever_it_is_kept(reader: LogReader, tmp_path: Path) -> None:
    usage = {"input": 5, "output": 1, "cacheRead": 0, "cacheWrite": 0}
    told_by = [
        header(),
        user("go"),
        assistant(text("I will"), tool_call("bash", command="ls"), usage=usage),
        tool_result("bash", "a.py"),
    ]
    file = write(tmp_path / "a.jsonl", told_by)
    read = reader.read_transcript(file, "s-1", "", 1 << 20).events
    log = reader.read_log(FoundLog("s-1", file, "s-1", 0))
    events = [event for each in log.records for event in reader.events_of("s-1", each)]
    assert [type(event) for event in events] == [Prompt, AssistantText, ToolCalled, Usage, ToolReturned]
    assert [(event.record, event.at) for event in events] == [(event.record, event.at) for event in read]
