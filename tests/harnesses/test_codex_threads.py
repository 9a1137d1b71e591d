"""A Codex session may continue another's file and have files of subagents beside its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.events.event import Event, Prompt
from holdfast.engine.recording.preview import preview
from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch
from tests.depth import examples
from tests.harnesses.codex_records import (
    CHILD,
    THREAD,
    Json,
    call,
    jsonl,
    message,
    meta,
    output,
    ran,
    rollout,
    turn,
    written,
)

FAR = 1 << 30
OLDEST = "0c0de000-0000-7000-8000-000000000000"


def read(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return reader("codex").read_transcript(path, "s1", cursor, limit)


def read_on(path: Path, limit: int = FAR, cursor: str = "") -> tuple[list[Event], str]:
    events: list[Event] = []
    for _ in range(10_000):
        batch = read(path, cursor, limit)
        events += batch.events
        cursor = batch.cursor
        if batch.done:
            return events, cursor
    raise AssertionError("it never came to an end")


def prompts(events: list[Event]) -> list[str]:
    return [one.text for one in events if isinstance(one, Prompt)]


def numbered(records: list[Json], first: int = 0) -> bytes:
    return jsonl([{**one, "ordinal": first + number} for number, one in enumerate(records)])


PARENT = numbered([meta(), turn(), message("user", "one"), message("user", "two"), message("user", "three")])


def base(thread: str = THREAD, end: int = 4, **more: object) -> Json:
    return {"history_base": {"thread_id": thread, "end_ordinal_exclusive": end, **more}}


def fork(folder: Path, about: Json, name: str = rollout(CHILD), first: int = 4) -> Path:
    records = [meta(CHILD, forked_from_id=THREAD, **about), turn(), message("user", "and now")]
    return written(folder, numbered(records, first), name)


def test_a_fork_tells_its_parent_s_history_up_to_where_it_left(tmp_path: Path) -> None:
    written(tmp_path, PARENT)
    events, _ = read_on(fork(tmp_path, base()))
    assert prompts(events) == ["one", "two", "and now"]
    assert {(one.session, one.agent) for one in events} == {("s1", "main")}
    assert len({one.record for one in events}) == len(events)


@pytest.mark.parametrize(
    "about",
    [
        {"forked_from_ordinal_exclusive": 4},
        {"history_base": {"thread_id": THREAD, "end_ordinal_exclusive": 4, "end_byte_offset": 1}},
    ],
)
def test_where_a_fork_left_is_told_by_an_ordinal(tmp_path: Path, about: Json) -> None:
    written(tmp_path, PARENT)
    assert prompts(read_on(fork(tmp_path, about))[0]) == ["one", "two", "and now"]


def test_without_ordinals_the_byte_counts(tmp_path: Path) -> None:
    records = [meta(), turn(), message("user", "one"), message("user", "two")]
    written(tmp_path, jsonl(records))
    path = fork(tmp_path, base(end_byte_offset=len(jsonl(records[:3]))))
    assert prompts(read_on(path)[0]) == ["one", "and now"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("sessions/2026/03/01", rollout()),
        ("sessions/2025/12/31", rollout(begun="2025-12-31T10-00-00")),
        ("sessions/2026/03/01", "any-name.jsonl"),
    ],
)
def test_the_parent_is_found_beside_the_fork_or_on_another_day(
    tmp_path: Path, folder: str, name: str
) -> None:
    written(tmp_path / folder, PARENT, name)
    path = fork(tmp_path / "sessions/2026/03/01", base())
    assert prompts(read_on(path)[0]) == ["one", "two", "and now"]


@pytest.mark.parametrize(
    "about",
    [
        {},  # an older fork has its parent's history in its own file
        base("0c0de000-0000-7000-8000-00000000dead"),
        base("*"),
        base("../elsewhere"),
        base(CHILD),
        {**base(), "thread_source": "subagent"},
    ],
)
def test_a_fork_without_its_parent_s_file_goes_on_alone(tmp_path: Path, about: Json) -> None:
    written(tmp_path, PARENT)
    events, _ = read_on(fork(tmp_path, about))
    assert prompts(events) == ([] if "thread_source" in about else ["and now"])


def test_a_parent_that_is_no_regular_file_is_not_followed(tmp_path: Path) -> None:
    written(tmp_path / "other", PARENT)
    (tmp_path / rollout()).symlink_to(tmp_path / "other" / rollout())
    path = fork(tmp_path, base())
    assert prompts(read_on(path)[0]) == ["and now"]
    (tmp_path / rollout()).unlink()
    os.mkfifo(tmp_path / rollout())
    assert prompts(read_on(path)[0]) == ["and now"]


def test_a_fork_of_a_fork_begins_with_the_oldest(tmp_path: Path) -> None:
    written(
        tmp_path, numbered([meta(OLDEST), message("user", "zero"), message("user", "not this")]), "o.jsonl"
    )
    middle = [meta(THREAD, **base(OLDEST, 2)), message("user", "one"), message("user", "nor this")]
    written(tmp_path, numbered(middle, 2))
    assert prompts(read_on(fork(tmp_path, base()))[0]) == ["zero", "one", "and now"]


def test_forks_that_point_at_each_other_come_to_an_end(tmp_path: Path) -> None:
    written(tmp_path, numbered([meta(THREAD, **base(CHILD, 9)), message("user", "one")]))
    assert prompts(read_on(fork(tmp_path, base()))[0]) == ["one", "and now"]


def test_a_command_that_was_running_when_the_fork_left_may_end_in_it(tmp_path: Path) -> None:
    written(tmp_path, numbered([meta(), call("exec_command", "c1", cmd="make")]))
    records = [meta(CHILD, **base(end=2)), output(ran("fine"), "c1")]
    events, _ = read_on(written(tmp_path, numbered(records, 2), rollout(CHILD)))
    assert [one.record for one in events] == ["c1", "c1/end"]


@given(limit=st.integers(1, 2_000))
@settings(max_examples=examples(30))
def test_pieces_of_any_size_tell_the_same_of_a_fork(
    tmp_path_factory: pytest.TempPathFactory, limit: int
) -> None:
    folder = tmp_path_factory.mktemp("fork")
    written(folder, PARENT)
    path = fork(folder, base())
    assert read_on(path, limit)[0] == read_on(path)[0]


def test_a_fork_that_was_read_goes_on_in_its_own_file(tmp_path: Path) -> None:
    parent = written(tmp_path, PARENT)
    path = fork(tmp_path, base())
    _, cursor = read_on(path)
    parent.write_bytes(PARENT + numbered([message("user", "later, elsewhere")], 5))
    with path.open("ab") as file:
        file.write(numbered([message("user", "later")], 9))
    assert prompts(read_on(path, cursor=cursor)[0]) == ["later"]


def test_a_parent_that_appears_later_is_not_told_out_of_order(tmp_path: Path) -> None:
    path = fork(tmp_path, base())
    _, cursor = read_on(path)
    written(tmp_path, PARENT)
    assert read_on(path, cursor=cursor)[0] == []


def test_a_fork_whose_first_line_is_half_written_waits_for_it(tmp_path: Path) -> None:
    written(tmp_path, PARENT)
    path = fork(tmp_path, base())
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    events, cursor = read_on(path)
    assert events == []
    path.write_bytes(whole)
    assert prompts(read_on(path, cursor=cursor)[0]) == ["one", "two", "and now"]


def test_subagents_are_those_that_the_session_or_its_subagents_started(tmp_path: Path) -> None:
    folder = tmp_path / "sessions/2026/03/01"
    path = written(folder, jsonl([meta()]))
    old_style = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}
    files = {
        "2026-03-01T10-00-01": meta("a1", parent_thread_id=THREAD, session_id=THREAD),
        "2026-03-01T10-00-02": meta("a2", parent_thread_id="a1", session_id=THREAD),
        "2026-03-01T10-00-03": meta("a3", source=old_style),
        "2026-03-01T10-00-04": meta("other"),
        "2026-03-01T10-00-05": meta("a5", parent_thread_id="other", session_id="other"),
        "2026-03-01T10-00-06": meta("a6", forked_from_id=THREAD),
        "2026-03-01T10-00-07": message("user", "no first line"),
        "2026-03-01T09-00-00": meta("a0", parent_thread_id=THREAD),
    }
    for begun, first in files.items():
        written(folder, jsonl([first]), rollout("x", begun))
    written(
        tmp_path / "sessions/2026/03/02",
        jsonl([meta("a8", parent_thread_id=THREAD)]),
        rollout("x", "2026-03-02"),
    )
    (folder / "rollout-2026-03-01T10-00-08-link.jsonl").symlink_to(
        folder / rollout("x", "2026-03-01T10-00-01")
    )
    os.mkfifo(folder / "rollout-2026-03-01T10-00-09-fifo.jsonl")
    found = reader("codex").subagent_transcripts(path)
    assert [one.name for one in found] == [
        rollout("x", "2026-03-01T10-00-01"),
        rollout("x", "2026-03-01T10-00-02"),
        rollout("x", "2026-03-01T10-00-03"),
        rollout("x", "2026-03-02"),
    ]


@pytest.mark.parametrize("content", [b"", b"not JSON\n", jsonl([message("user", "x")]), jsonl([meta("")])])
def test_a_file_that_does_not_say_whose_it_is_has_no_subagents(tmp_path: Path, content: bytes) -> None:
    written(tmp_path, jsonl([meta("a1", parent_thread_id=THREAD)]), "z.jsonl")
    assert reader("codex").subagent_transcripts(written(tmp_path, content)) == ()
    assert reader("codex").subagent_transcripts(tmp_path / "none" / "none.jsonl") == ()


def test_the_first_lines_of_a_fork_are_told_with_its_parent_s_history(tmp_path: Path) -> None:
    written(tmp_path / "sessions/2026/02/28", PARENT)
    path = fork(tmp_path / "sessions/2026/03/01", base())
    part = preview(reader("codex"), path, until_line=3).told.session.trail.prompts
    assert [said.text for said in part] == ["one", "two", "and now"]
