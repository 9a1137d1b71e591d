"""A Claude Code transcript is read record by record, each told once, whatever the file looks like."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.core.events.event import (
    AssistantText,
    BriefSeen,
    Compacted,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    ToolReturned,
    Usage,
)
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import get
from holdfast.harnesses.base import Batch
from tests.harnesses.claude_code_records import (
    AT,
    Json,
    assistant,
    attachment,
    jsonl,
    record,
    text,
    tool_result,
    user,
    written,
)

FAR = 1 << 30
SAMPLE = Path(__file__).parent / "samples" / "claude_code_session.jsonl"


def read(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return get("claude-code").read_transcript(path, "s1", cursor, limit)


def parse(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = read(written(folder, jsonl(records)))
    assert batch.skipped == ()
    return batch.events


def test_a_whole_session_is_read_in_order() -> None:
    batch = read(SAMPLE)
    assert batch.skipped == ()
    assert batch.done
    assert [(type(event).__name__, event.record) for event in batch.events] == [
        ("Prompt", "u-1"),
        ("ModelChanged", "t-2"),
        ("Usage", "usage:msg_1"),
        ("AssistantText", "a-2"),
        ("Usage", "usage:msg_1"),
        ("ToolCalled", "a-3"),
        ("Usage", "usage:msg_1"),
        ("ToolReturned", "r-1"),
        ("ToolCalled", "a-4"),
        ("Usage", "usage:msg_2"),
        ("ToolReturned", "r-2"),
        ("Prompt", "q-1"),
        ("ToolCalled", "a-5"),
        ("Usage", "usage:msg_3"),
        ("ToolReturned", "r-3"),
        ("AssistantText", "a-6"),
        ("Usage", "usage:msg_4"),
        ("Compacted", "b-1"),
        ("Compacted", "m-1"),
        ("BriefSeen", "h-3"),
        ("Prompt", "u-2"),
        ("Titled", "@14060"),
    ]
    assert {(event.session, event.agent) for event in batch.events} == {("s1", "main")}


def test_prompts_carry_their_turn_also_one_that_was_sent_into_it() -> None:
    prompts = [event for event in read(SAMPLE).events if isinstance(event, Prompt)]
    assert [(one.text, one.turn, one.origin) for one in prompts] == [
        ("Fix the parser. Never touch the lexer.", "turn-1", Origin.HUMAN),
        ("Also add a test.", "turn-1", Origin.HUMAN),
        ("/ship it now", "turn-3", Origin.HUMAN),
    ]


def test_a_request_s_tokens_are_one_record_whose_later_revision_has_more_output() -> None:
    tokens = [event for event in read(SAMPLE).events if isinstance(event, Usage)][:3]
    assert {one.record for one in tokens} == {"usage:msg_1"}
    assert [one.revision for one in tokens] == [1, 1, 40]
    last = tokens[-1]
    assert (last.input, last.output, last.cache_read, last.cache_written) == (10, 40, 3000, 200)


def test_a_compaction_is_known_by_its_boundary_and_by_its_summary() -> None:
    boundary, summary = (event for event in read(SAMPLE).events if isinstance(event, Compacted))
    assert (boundary.sign, boundary.tokens_before, boundary.tokens_after) == (
        CompactionSign.BOUNDARY,
        150_000,
        9_000,
    )
    assert (summary.sign, summary.summary) == (CompactionSign.SUMMARY, "1. Fix the parser")


def test_only_our_own_words_show_that_the_brief_arrived() -> None:
    (seen,) = (event for event in read(SAMPLE).events if isinstance(event, BriefSeen))
    assert seen.origin is Origin.HOLDFAST
    assert "half done" in seen.text


def test_time_parent_and_id_are_the_record_s_own(tmp_path: Path) -> None:
    (event,) = parse(tmp_path, user("Fix it", "u7", parentUuid="p6"))
    assert (event.at, event.parent, event.record, event.revision) == (AT, "p6", "u7", 0)


def test_several_blocks_of_one_record_are_several_events(tmp_path: Path) -> None:
    blocks = [tool_result("a", "c1"), tool_result("b", "c2"), text("And now this"), text("and that")]
    events = parse(tmp_path, user(blocks, "u1"))
    assert [(type(event), event.record) for event in events] == [
        (ToolReturned, "u1"),
        (ToolReturned, "u1/1"),
        (Prompt, "u1/2"),
    ]


def test_a_record_without_time_or_id_borrows_them_from_where_it_stands(tmp_path: Path) -> None:
    first = user("one", "u1")
    second = user("two", "u2", timestamp="not a time")
    third = {**user("three"), "uuid": None, "timestamp": None}
    events = parse(tmp_path, first, second, third)
    assert [event.at for event in events] == [AT, AT, AT]
    assert events[2].record == f"@{len(jsonl([first, second]))}"


@pytest.mark.parametrize(
    "one",
    [
        user("You are told by the harness", isMeta=True),
        user("A notification", promptSource="system"),
        user("A notification", origin={"kind": "task-notification"}),
        user([{"type": "image", "source": {"data": "…"}}]),
        user(""),
        attachment("queued_command", prompt="from the harness", isMeta=True),
        attachment("queued_command", prompt="from the harness", origin={"kind": "coordinator"}),
        attachment("queued_command", prompt="ls", commandMode="bash"),
        attachment("queued_command"),
        attachment("something_new", prompt="Fix it"),
        record(
            "system", "s1", subtype="local_command", content="<local-command-stdout></local-command-stdout>"
        ),
        record("system", "s1", content="Running hook…"),
        record("attachment", "t1"),
        record("user", "u1"),
        record("assistant", "a1", message={"content": None}),
    ],
)
def test_what_nobody_typed_or_said_tells_nothing(tmp_path: Path, one: Json) -> None:
    assert parse(tmp_path, one) == ()


def test_a_prompt_with_a_picture_keeps_its_words(tmp_path: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    queued = attachment("queued_command", "q1", prompt=[text("like this"), picture])
    events = parse(tmp_path, user([text("Look at this"), picture], "u1"), queued)
    assert [event.text for event in events if isinstance(event, Prompt)] == ["Look at this", "like this"]


@pytest.mark.parametrize(
    "one",
    [
        user(f"Go on. {fence('secret recall')}"),
        assistant(text(f"As I recall: {fence('secret recall')} so.")),
        user([tool_result(f"cat: {fence('secret recall')}")]),
        user(f"Summary:\nIt said {fence('secret recall')}", isCompactSummary=True),
    ],
)
def test_what_we_injected_is_never_read_as_somebody_else_s(tmp_path: Path, one: Json) -> None:
    (event,) = parse(tmp_path, one)
    assert event.origin is not Origin.HOLDFAST
    assert "secret recall" not in repr(event)


def test_our_words_in_a_reminder_are_ours(tmp_path: Path) -> None:
    (event,) = parse(tmp_path, user(f"<system-reminder>\n{fence('recall')}\n</system-reminder>", isMeta=True))
    assert isinstance(event, BriefSeen)


def test_a_failed_request_is_nobody_s_word(tmp_path: Path) -> None:
    synthetic = assistant(text("No response requested."))
    synthetic["message"]["model"] = "<synthetic>"
    assert parse(tmp_path, synthetic, assistant(text("API Error"), isApiErrorMessage=True)) == ()


def test_a_subagent_s_work_is_its_own(tmp_path: Path) -> None:
    inline = [
        user("Look around", "u1", isSidechain=True),
        assistant(text("Looking"), uuid="a1", isSidechain=True),
        record("system", "b1", subtype="compact_boundary", isSidechain=True),
        attachment("model", "t1", identity={"modelId": "small"}) | {"isSidechain": True, "agentId": "a77"},
        user("Summary:\nx", "m1", isSidechain=True, isCompactSummary=True),
    ]
    (event,) = parse(tmp_path, *inline)
    assert isinstance(event, AssistantText)
    assert event.agent == "sidechain"


def test_a_subagent_s_file_is_its_own_even_where_its_records_do_not_say_so(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl([assistant(text("Looking"))]), "s1/subagents/agent-a77.jsonl")
    named = written(tmp_path, jsonl([assistant(text("x"), agentId="a78")]), "s1/subagents/agent-b.jsonl")
    assert [event.agent for event in read(path).events] == ["a77"]
    assert [event.agent for event in read(named).events] == ["a78"]


def test_the_model_is_read_whenever_it_is_named(tmp_path: Path) -> None:
    named = attachment("model", "t1", identity={"modelId": "model-y"})
    unnamed = attachment("model", "t2", identity={})
    events = parse(tmp_path, named, unnamed)
    assert [event.model for event in events if isinstance(event, ModelChanged)] == ["model-y"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type":"user","mess', "not JSON"),
        (b"\x00\x00\x00\x00", "not JSON"),
        (b"\x80\x81", "not JSON"),
        (b"[]", "not as expected"),
        (b"7", "not as expected"),
        (b"  {", "not JSON"),
        (b'{"type":"user","uuid":5}', "not as expected"),
        (b'{"type":' * 60_000, "not as expected"),
        (b'{"x":' * 60_000 + b"1" + b"}" * 60_000, "nested too deeply"),
        (b'{"type":"of next year"}', "unknown record of next year"),
        (b'{"uuid":"u1"}', "record without a type"),
    ],
)
def test_a_line_that_cannot_be_read_is_skipped_and_the_rest_goes_on(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    before, after = jsonl([user("one", "u1")]), jsonl([user("two", "u2")])
    batch = read(written(tmp_path, before + line + b"\n" + after))
    assert [event.record for event in batch.events] == ["u1", "u2"]
    (skipped,) = batch.skipped
    assert skipped.reason.startswith(reason)
    assert skipped.where == f"line at byte {len(before)}"


def test_a_number_that_no_store_could_hold_is_bounded(tmp_path: Path) -> None:
    huge = {"input_tokens": 2**63, "output_tokens": 2**63, "cache_read_input_tokens": -5}
    (event,) = parse(tmp_path, assistant(usage=huge))
    assert isinstance(event, Usage)
    assert max(event.input, event.output, event.revision) < 2**53
    assert event.cache_read == 0


def test_a_pretty_printed_file_is_skipped_line_by_line(tmp_path: Path) -> None:
    batch = read(written(tmp_path, b'[\n  {\n    "type": "user"\n  }\n]\n'))
    assert batch.events == ()
    assert len(batch.skipped) == 5


def test_text_cut_in_the_middle_of_a_character_is_not_lost(tmp_path: Path) -> None:
    line = jsonl([user("MARK")]).replace(b"MARK", rb"cut \ud83d")
    (event,) = read(written(tmp_path, line)).events
    assert isinstance(event, Prompt)
    assert event.text == "cut \ufffd"


def test_a_replaced_file_is_read_anew_without_what_was_remembered_of_the_old(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl([user("one", "u1", promptId="t1")]))
    cursor = read(path).cursor
    path.write_bytes(jsonl([{**attachment("queued_command", "q1", prompt="two"), "timestamp": None}]))
    (event,) = read(path, cursor).events
    assert isinstance(event, Prompt)
    assert (event.turn, event.at) == ("", 0)


def test_a_subagent_s_transcript_is_a_regular_file_in_its_session_s_folder(tmp_path: Path) -> None:
    session = written(tmp_path, b"")
    folder = session.with_suffix("") / "subagents"
    for name in (
        "agent-b.jsonl",
        "agent-a.jsonl",
        "agent-a.meta.json",
        "other.jsonl",
        "agent-acompact-1.jsonl",
    ):
        written(folder, b"", name)
    (folder / "agent-folder.jsonl").mkdir()
    (folder / "agent-link.jsonl").symlink_to(folder / "agent-a.jsonl")
    os.mkfifo(folder / "agent-fifo.jsonl")
    found = get("claude-code").subagent_transcripts(session)
    assert [path.name for path in found] == ["agent-a.jsonl", "agent-b.jsonl"]
    assert get("claude-code").subagent_transcripts(tmp_path / "none.jsonl") == ()
