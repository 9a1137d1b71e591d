"""A Codex rollout of any generation is read record by record, each thing told once."""

from __future__ import annotations

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
from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch
from holdfast.harnesses.codex.record_context import RecordContext
from tests.depth import examples
from tests.harnesses.codex_records import (
    AT,
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
    session,
    tokens,
    turn,
    written,
)

FAR = 1 << 30
WHOLE = jsonl(session())


def read(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return reader("codex").read_transcript(path, "s1", cursor, limit)


def told(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = read(written(folder, jsonl(records)))
    assert batch.skipped == ()
    return batch.events


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("sample"), WHOLE)


def test_a_whole_session_is_told_in_order_and_each_thing_once(sample: Path) -> None:
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
    events = told(tmp_path, first, {"record_type": "state"}, *bare)
    kinds = ["Prompt", "ToolCalled", "ToolReturned", "ToolCalled", "AssistantText"]
    assert [type(one).__name__ for one in events] == kinds
    # Items have no time of their own there.
    assert {one.at for one in events} == {AT}


def test_a_record_without_an_id_is_known_by_its_place(tmp_path: Path) -> None:
    before = [meta(), turn()]
    *_, prompt = told(tmp_path, *before, message("user", "Fix it"))
    assert prompt.record == f"@{len(jsonl(before))}"


def test_the_model_is_told_when_it_changes(tmp_path: Path) -> None:
    events = told(tmp_path, turn("a"), turn("a"), turn("b"), record("turn_context", {}), turn("a"))
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
    (usage,) = told(tmp_path, once, once, event("token_count", info=None), event("token_count"))
    assert isinstance(usage, Usage)
    assert (usage.input, usage.cache_read, usage.output, usage.window) == (600, 300, 50, 200_000)


def test_after_a_compaction_the_estimate_counts(tmp_path: Path) -> None:
    events = told(tmp_path, tokens(5_000, input_tokens=900, total_tokens=950), tokens(5_000, total_tokens=70))
    assert [one.input for one in events if isinstance(one, Usage)] == [900, 70]


def test_a_number_that_no_store_could_hold_is_bounded(tmp_path: Path) -> None:
    huge = {"input_tokens": 2**63, "output_tokens": 2**63, "cached_input_tokens": -5}
    (usage,) = told(tmp_path, tokens(2**63, 2**63, **huge))
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
def test_a_compaction_is_told_once_with_its_summary_where_one_can_be_read(
    tmp_path: Path, records: tuple[Json, ...], summaries: list[str]
) -> None:
    events = [one for one in told(tmp_path, *records) if isinstance(one, Compacted)]
    assert [(one.sign, one.summary) for one in events] == [
        (CompactionSign.BOUNDARY, text) for text in summaries
    ]


def test_what_a_compaction_kept_is_not_told_again(tmp_path: Path) -> None:
    kept = [message("user", "Fix it")["payload"]]
    events = told(tmp_path, message("user", "Fix it"), record("compacted", {"replacement_history": kept}))
    assert [type(one) for one in events] == [Prompt, Compacted]


def test_a_subagent_s_work_is_its_own(tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p1", "depth": 1}}}
    for source in ({"source": spawned}, {"parent_thread_id": "p1"}, {"thread_source": "subagent"}):
        events = told(tmp_path, meta("a7", **source), turn(), SHORT, call("exec_command", cmd="ls"))
        assert [(type(one), one.agent) for one in events] == [(ToolCalled, "a7")]


def test_a_place_in_a_subagent_s_file_is_no_place_in_the_session_s(tmp_path: Path) -> None:
    (said,) = told(tmp_path, meta("a7", thread_source="subagent"), message("assistant", "Looking"))
    assert said.record.startswith("a7@")


def test_a_history_that_was_copied_does_not_change_whose_file_it_is(tmp_path: Path) -> None:
    copied = meta("a7", thread_source="subagent")
    (said,) = told(tmp_path, meta(), copied, message("assistant", "Looking"))
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
    assert told(tmp_path, one) == ()


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


def test_a_replaced_file_is_told_anew_without_what_was_remembered_of_the_old(tmp_path: Path) -> None:
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
