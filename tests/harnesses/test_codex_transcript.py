"""A Codex rollout as events, and which rollouts belong to a session."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.events.event import (
    Compacted,
    CompactionSign,
    Event,
    ModelChanged,
    Prompt,
    ToolCalled,
    ToolReturned,
    Usage,
)
from holdfast.engine.recording.preview import preview
from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch
from holdfast.harnesses.codex.records import RecordContext
from tests.depth import examples
from tests.harnesses.codex_records import (
    AT,
    CHILD,
    CWD,
    THREAD,
    Json,
    call,
    completed,
    event,
    item,
    jsonl,
    message,
    meta,
    output,
    patch_call,
    ran,
    record,
    rollout,
    session,
    tokens,
    turn,
    written,
)

FAR = 1 << 30
WHOLE = jsonl(session())


def read(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return reader("codex").read_transcript(path, "s1", cursor, limit)


def parse(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = read(written(folder, jsonl(records)))
    assert batch.skipped == ()
    return batch.events


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("sample"), WHOLE)


def test_a_whole_session_is_read_in_order_and_each_thing_once(sample: Path) -> None:
    batch = read(sample)
    assert batch.skipped == ()
    assert batch.done
    assert batch.cwd == CWD
    assert [(type(one).__name__, one.record.partition("@")[0]) for one in batch.events] == [
        ("ModelChanged", ""),
        ("Prompt", ""),
        ("AssistantText", ""),
        ("ToolCalled", "call_1"),
        ("Usage", ""),
        ("ToolReturned", "call_1/end"),
        ("ToolCalled", "call_2"),
        ("ToolReturned", "call_2/end"),
        ("ToolCalled", "call_3"),
        ("LeftRunning", "call_3/running"),
        ("ToolReturned", "call_3/end"),
        ("TodosChanged", "call_5"),
        ("Compacted", ""),
        ("ModelChanged", ""),
        ("Prompt", "msg_2"),
    ]
    assert {(one.session, one.agent) for one in batch.events} == {("s1", "main")}
    assert len({one.record for one in batch.events}) == len(batch.events)


def test_the_first_generation_is_bare_items(tmp_path: Path) -> None:
    first: Json = {"id": THREAD, "timestamp": "2026-03-01T10:00:00Z", "instructions": None, "git": {}}
    bare = [
        one["payload"]
        for one in (
            message("user", "<environment_context>…</environment_context>"),
            message("user", "Fix it"),
            item("reasoning", summary=[]),
            call("shell", command=["bash", "-lc", "ls"]),
            output('{"output":"a","metadata":{"exit_code":0}}'),
            patch_call("*** Begin Patch\n*** Add File: a\n+b\n*** End Patch", "call_2"),
            message("assistant", "Done"),
        )
    ]
    events = parse(tmp_path, first, {"record_type": "state"}, *bare)
    kinds = ["Prompt", "ToolCalled", "ToolReturned", "ToolCalled", "AssistantText"]
    assert [type(one).__name__ for one in events] == kinds
    # Items have no time of their own there.
    assert {one.at for one in events} == {AT}


def test_a_record_without_an_id_is_known_by_its_place(tmp_path: Path) -> None:
    before = [meta(), turn()]
    *_, prompt = parse(tmp_path, *before, message("user", "Fix it"))
    assert prompt.record == f"@{len(jsonl(before))}"


def test_the_model_is_read_when_it_changes(tmp_path: Path) -> None:
    events = parse(tmp_path, turn("a"), turn("a"), turn("b"), record("turn_context", {}), turn("a"))
    assert [one.model for one in events if isinstance(one, ModelChanged)] == ["a", "b", "a"]


def test_the_directory_is_that_of_the_last_turn(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl([meta(), turn(cwd="/elsewhere"), event("task_started")]))
    first = read(path)
    assert first.cwd == "/elsewhere"
    assert read(path, first.cursor).cwd == "/elsewhere"
    assert read(written(tmp_path, jsonl([meta()]), "other.jsonl")).cwd == CWD


def test_tokens_are_those_of_the_last_request_and_the_cache_is_told_apart(tmp_path: Path) -> None:
    last = {"input_tokens": 900, "cached_input_tokens": 300, "output_tokens": 50, "total_tokens": 950}
    once = tokens(5_000, **last)
    (usage,) = parse(tmp_path, once, once, event("token_count", info=None), event("token_count"))
    assert isinstance(usage, Usage)
    assert (usage.input, usage.cache_read, usage.output, usage.window) == (600, 300, 50, 200_000)


def test_after_a_compaction_the_estimate_counts(tmp_path: Path) -> None:
    events = parse(
        tmp_path, tokens(5_000, input_tokens=900, total_tokens=950), tokens(5_000, total_tokens=70)
    )
    assert [one.input for one in events if isinstance(one, Usage)] == [900, 70]


def test_a_number_that_no_store_could_hold_is_bounded(tmp_path: Path) -> None:
    huge = {"input_tokens": 2**63, "output_tokens": 2**63, "cached_input_tokens": -5}
    (usage,) = parse(tmp_path, tokens(2**63, 2**63, **huge))
    assert isinstance(usage, Usage)
    assert max(usage.input, usage.output, usage.window) < 2**53
    assert usage.cache_read == 0


INTRODUCED = (
    "Another language model started to solve this problem. Use it to assist with your own analysis:\n"
)
SHORT, LONG = record("compacted", {"message": ""}), record("compacted", {"message": f"{INTRODUCED}Go on"})
SIGN = event("context_compacted")


@pytest.mark.parametrize(
    ("records", "summaries"),
    [
        ((SHORT, turn(), SIGN), [""]),
        ((LONG, completed("ContextCompaction", "x")), ["Go on"]),
        ((SIGN,), [""]),
        ((LONG,), ["Go on"]),
        ((LONG, SIGN, SHORT, SIGN), ["Go on", ""]),
        ((SHORT, LONG), ["", "Go on"]),
        ((record("compacted", {"message": "Bare"}),), ["Bare"]),
    ],
)
def test_a_compaction_is_read_once_with_its_summary_where_one_can_be_read(
    tmp_path: Path, records: tuple[Json, ...], summaries: list[str]
) -> None:
    events = [one for one in parse(tmp_path, *records) if isinstance(one, Compacted)]
    assert [(one.sign, one.summary) for one in events] == [
        (CompactionSign.BOUNDARY, text) for text in summaries
    ]


def test_what_a_compaction_kept_is_not_read_again(tmp_path: Path) -> None:
    kept = [message("user", "Fix it")["payload"]]
    events = parse(tmp_path, message("user", "Fix it"), record("compacted", {"replacement_history": kept}))
    assert [type(one) for one in events] == [Prompt, Compacted]


def test_a_subagent_s_work_is_its_own(tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p1", "depth": 1}}}
    for source in ({"source": spawned}, {"parent_thread_id": "p1"}, {"thread_source": "subagent"}):
        events = parse(tmp_path, meta("a7", **source), turn(), SHORT, call("exec_command", cmd="ls"))
        assert [(type(one), one.agent) for one in events] == [(ToolCalled, "a7")]


def test_a_place_in_a_subagent_s_file_is_no_place_in_the_session_s(tmp_path: Path) -> None:
    (said,) = parse(tmp_path, meta("a7", thread_source="subagent"), message("assistant", "Looking"))
    assert said.record.startswith("a7@")


def test_a_history_that_was_copied_does_not_change_whose_file_it_is(tmp_path: Path) -> None:
    copied = meta("a7", thread_source="subagent")
    (said,) = parse(tmp_path, meta(), copied, message("assistant", "Looking"))
    assert said.agent == "main"


@pytest.mark.parametrize(
    "one",
    [
        record("world_state", {"full": True}),
        record("token_usage_record", {"usage": {}}),
        record("inter_agent_communication", {}),
        event("task_complete", last_agent_message="Done"),
        event("something_new", message={"a": 1}),
        completed("SomethingNew", "x"),
        event("item_completed", item=None),
        item("something_new"),
        item("tool_search_call", arguments={"query": "x"}),
        item("reasoning", content=7),
        {"type": "reasoning", "summary": []},
        {"record_type": "state"},
    ],
)
def test_what_says_nothing_about_the_work_is_passed_over(tmp_path: Path, one: Json) -> None:
    assert parse(tmp_path, one) == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type":"response_item","payl', "not JSON"),
        (b"\x00\x00\x00\x00", "not JSON"),
        (b"\x80\x81", "not JSON"),
        (b"[]", "not as expected"),
        (b"7", "not as expected"),
        (b'{"type":"response_item","payload":7}', "not as expected"),
        (b'{"type":"response_item"}', "not as expected"),
        (b'{"type":"event_msg","payload":[]}', "not as expected"),
        (b'{"type":"session_meta","payload":{"id":5}}', "not as expected"),
        (b'{"type":"turn_context","payload":{"model":5}}', "not as expected"),
        (b'{"type":"compacted","payload":{"message":5}}', "not as expected"),
        (b'{"type":"event_msg","payload":{"type":"token_count","info":5}}', "not as expected"),
        (b'{"type":"response_item","payload":{"type":"message","role":5}}', "not as expected"),
        (b'{"x":' * 60_000 + b"1" + b"}" * 60_000, "nested too deeply"),
        (b'{"type":"of next year"}', "unknown record of next year"),
        (b'{"uuid":"u1"}', "record without a type"),
        (b'{"id":7}', "not as expected"),
    ],
)
def test_a_line_that_cannot_be_read_is_skipped_and_the_rest_goes_on(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    before, after = jsonl([message("user", "one", id="m1")]), jsonl([message("user", "two", id="m2")])
    batch = read(written(tmp_path, before + line + b"\n" + after))
    assert [one.record for one in batch.events] == ["m1", "m2"]
    (skipped,) = batch.skipped
    assert skipped.reason.startswith(reason)
    assert skipped.where == f"line at byte {len(before)}"


@pytest.mark.parametrize(
    "one",
    [
        message("user", "MARK"),
        event("user_message", message="MARK"),
        completed("UserMessage", "x", content=[{"type": "text", "text": "MARK"}]),
    ],
)
def test_text_cut_in_the_middle_of_a_character_is_not_lost(tmp_path: Path, one: Json) -> None:
    (prompt,) = read(written(tmp_path, jsonl([one]).replace(b"MARK", rb"cut \ud83d"))).events
    assert isinstance(prompt, Prompt)
    assert prompt.text == "cut \ufffd"


def test_arguments_cut_in_the_middle_of_a_character_are_not_lost(tmp_path: Path) -> None:
    lines = jsonl([call("exec_command", cmd="MARK")]).replace(b"MARK", rb"echo \\ud83d")
    (asked,) = read(written(tmp_path, lines)).events
    assert isinstance(asked, ToolCalled)
    assert asked.subject == "echo \ufffd"


JSON: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PLACES = [(number, name) for number, one in enumerate(session()) for name in one["payload"] if name != "type"]


@given(place=st.sampled_from(PLACES), other=JSON)
@settings(max_examples=examples(300))
def test_a_field_of_any_other_kind_never_raises(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[int, str], other: object
) -> None:
    records = session()
    number, name = place
    records[number]["payload"][name] = other
    batch = read(written(tmp_path_factory.mktemp("field"), jsonl(records)))
    assert batch.done
    assert len(batch.skipped) <= 1


def test_a_replaced_file_is_read_anew_without_what_was_remembered_of_the_old(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl([meta(), turn(), message("user", "Fix it")]))
    cursor = read(path).cursor
    path.write_bytes(jsonl([turn(turn_id=""), event("user_message", message="Fix it")]))
    model, prompt = read(path, cursor).events
    assert isinstance(model, ModelChanged)
    assert isinstance(prompt, Prompt)
    assert prompt.turn == ""


def test_what_waits_for_its_end_is_remembered_within_bounds(tmp_path: Path) -> None:
    def number(count: int) -> list[Json]:
        return [call("exec_command", f"call_{one}", cmd=f"run {one}") for one in range(count)]

    short = read(written(tmp_path, jsonl(number(100))))
    long = read(written(tmp_path, jsonl(number(1_000)), "long.jsonl"))
    assert len(long.cursor) <= len(short.cursor) + 200
    with written(tmp_path, jsonl(number(1_000)), "long.jsonl").open("ab") as file:
        file.write(jsonl([output(ran("fine"), "call_999"), output(ran("fine"), "call_1")]))
    ends = read(tmp_path / "long.jsonl").events[1_000:]
    assert [one.call for one in ends if isinstance(one, ToolReturned)] == ["call_999"]


def test_a_cursor_of_an_older_version_still_knows_the_last_messages() -> None:
    context = msgspec.json.decode(b'{"heard": [[7, ["item"]]]}', type=RecordContext)
    assert [(message.mark, message.ways) for message in context.messages] == [(7, ["item"])]
    assert b'"heard":[[7,["item"]]]' in msgspec.json.encode(context)


OLDEST = "0c0de000-0000-7000-8000-000000000000"


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
def test_where_a_fork_left_is_read_from_an_ordinal(tmp_path: Path, about: Json) -> None:
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


def test_a_parent_that_appears_later_is_not_read_out_of_order(tmp_path: Path) -> None:
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


def test_the_first_lines_of_a_fork_are_read_with_its_parent_s_history(tmp_path: Path) -> None:
    written(tmp_path / "sessions/2026/02/28", PARENT)
    path = fork(tmp_path / "sessions/2026/03/01", base())
    part = preview(reader("codex"), path, until_line=3).brief_input.session.trail.prompts
    assert [said.text for said in part] == ["one", "two", "and now"]
