"""A session file of pi or OpenClaw is read record by record, and each is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.core.events.event import (
    AssistantText,
    BriefSeen,
    Compacted,
    CompactionSign,
    DigestGiven,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    SessionEnded,
    Usage,
)
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch
from tests.harnesses.openclaw_records import (
    AT,
    CWD,
    WHOLE,
    Json,
    assistant,
    header,
    image,
    jsonl,
    message,
    record,
    text,
    thinking,
    tokens,
    tool_call,
    user,
    written,
)


def read(path: Path, cursor: str = "") -> Batch:
    return reader("openclaw").read_transcript(path, "s1", cursor, 1 << 30)


def told(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = read(written(folder, jsonl(records)))
    assert batch.skipped == ()
    return batch.events


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("session"), WHOLE)


def test_a_whole_session_is_told_in_order(session: Path) -> None:
    batch = read(session)
    assert batch.skipped == ()
    assert batch.done
    assert batch.cwd == CWD
    assert [(type(event).__name__, event.record) for event in batch.events] == [
        ("ModelChanged", "m1"),
        ("Prompt", "u1"),
        ("AssistantText", "a1/1"),
        ("ToolCalled", "a1/2"),
        ("Usage", "a1/usage"),
        ("ToolReturned", "t1"),
        ("ToolCalled", "a2"),
        ("Usage", "a2/usage"),
        ("ToolReturned", "t2"),
        ("ToolCalled", "b1"),
        ("ToolReturned", "b1/end"),
        ("Compacted", "z1"),
        ("BriefSeen", "h1"),
        ("Prompt", "u2"),
        ("AssistantText", "a3"),
        ("Usage", "a3/usage"),
    ]
    assert {(event.session, event.agent, event.at) for event in batch.events} == {("s1", "main", AT)}


def test_a_compaction_is_a_boundary_with_its_summary_and_its_tokens(session: Path) -> None:
    (event,) = (event for event in read(session).events if isinstance(event, Compacted))
    assert (event.sign, event.summary) == (CompactionSign.BOUNDARY, "Goal: fix.")
    assert (event.tokens_before, event.tokens_after) == (9000, 200)


def test_a_request_s_tokens_are_told_and_a_failed_one_s_are_not(tmp_path: Path) -> None:
    failed = assistant(id="a2", usage=tokens(0, 0), stopReason="error", errorMessage="429")
    (event,) = told(tmp_path, assistant(id="a1", usage=tokens(10, 40, 3000, 200)), failed)
    assert isinstance(event, Usage)
    assert (event.input, event.output, event.cache_read, event.cache_written) == (10, 40, 3000, 200)


def test_the_oldest_files_have_no_ids_and_name_the_model_in_their_header(tmp_path: Path) -> None:
    old = {key: value for key, value in user("Fix it").items() if key not in ("id", "parentId")}
    first = header(version=None, modelId="model-x")
    model, prompt = told(tmp_path, first, old)
    assert isinstance(model, ModelChanged)
    assert model.model == "model-x"
    assert (prompt.record, prompt.parent, prompt.at) == (f"@{len(jsonl([first]))}", "", AT)


@pytest.mark.parametrize(
    ("outer", "inner", "at"),
    [
        ("2026-03-01T10:00:00.000Z", 5, AT),
        ("2026-03-01T12:00:00+02:00", 5, AT),
        (AT, 5, AT),
        (float(AT), 5, AT),
        (None, AT, AT),
        ("soon", AT, AT),
        (-1, AT, AT),
        (10**40, AT, AT),
        (None, None, 0),
    ],
)
def test_a_time_is_iso_or_milliseconds_and_the_record_s_own_before_the_message_s(
    tmp_path: Path, outer: object, inner: object, at: int
) -> None:
    (event,) = told(tmp_path, {**user("Fix it", timestamp=inner), "timestamp": outer})
    assert event.at == at


def test_a_record_without_a_time_borrows_it_from_the_one_before_also_across_two_reads(tmp_path: Path) -> None:
    late = {**user("two", "u2", timestamp=None), "timestamp": None}
    path = written(tmp_path, jsonl([user("one", "u1")]))
    cursor = read(path).cursor
    path.write_bytes(path.read_bytes() + jsonl([late]))
    (event,) = read(path, cursor).events
    assert (event.record, event.at) == ("u2", AT)


def test_a_side_that_was_left_stays_told_and_every_event_names_its_parent(tmp_path: Path) -> None:
    tree = [
        user("Fix it", "u1") | {"parentId": None},
        assistant(text("With a regex."), id="a1") | {"parentId": "u1"},
        record("branch_summary", "s1", fromId="a1", summary="A regex was tried."),
        assistant(text("With a parser."), id="a2") | {"parentId": "u1"},
    ]
    events = told(tmp_path, *tree)
    assert [(event.record, event.parent) for event in events] == [("u1", ""), ("a1", "u1"), ("a2", "u1")]


def test_a_message_that_was_cut_off_keeps_its_words_and_none_of_its_calls(tmp_path: Path) -> None:
    for stop in ("aborted", "error"):
        cut = assistant(text("I will"), tool_call("write", path="a.py", content="x"), stopReason=stop)
        (event,) = told(tmp_path, cut)
        assert isinstance(event, AssistantText)


def test_a_checkpoint_record_is_a_digest(tmp_path: Path) -> None:
    kept = {
        "summary": "Parser half done.",
        "topics": ["parser"],
        "keyDecisions": ["no regex"],
        "openQuestions": ["lexer?"],
        "tokensAtCheckpoint": 5,
    }
    (event,) = told(tmp_path, record("checkpoint", "1772359200000_c1a2", checkpoint=kept))
    assert isinstance(event, DigestGiven)
    assert event.origin is Origin.HARNESS
    assert event.text == (
        "Parser half done.\n\nTopics:\n- parser\n\nKey decisions:\n- no regex\n\nOpen questions:\n- lexer?"
    )


def test_a_reset_ends_what_was_before_it_as_a_clear_does(tmp_path: Path) -> None:
    (event,) = told(tmp_path, record("reset", "r1", reason="new"))
    assert isinstance(event, SessionEnded)
    assert event.reason == "clear"


@pytest.mark.parametrize(
    "one",
    [
        header(),
        user(""),
        user(None),
        user([image()]),
        user("hello", provenance={"kind": "inter_session", "sourceTool": "sessions_send"}),
        user("hello", provenance={"kind": "internal_system"}),
        user("[SYSTEM: memory flush]\nWrite it down."),
        assistant(thinking("hm")),
        assistant(text("NO_REPLY")),
        assistant(text("Sent to Ann."), provider="openclaw", model="delivery-mirror", usage=tokens(0, 0)),
        message("system", "y1", content=[text("updated")]),
        message("custom", "y1", customType="note", content="You are told by a plugin", display=True),
        message("compactionSummary", "y1", summary="x"),
        record("message", "y1"),
        record("custom_message", "y1", customType="openclaw.runtime-context", content="Injected."),
        record("checkpoint", "y1"),
        record("checkpoint", "y1", checkpoint={}),
        record("model_change", "y1", modelId=""),
        record("thinking_level_change", "y1", thinkingLevel="off"),
        record("custom", "y1", customType="openclaw.cache-ttl", data={}),
        record("label", "y1", targetId="u1", label="here"),
        record("session_info", "y1", name="parser"),
        {"id": "y1", "type": "label"},
    ],
)
def test_what_nobody_wrote_or_said_tells_nothing(tmp_path: Path, one: Json) -> None:
    assert told(tmp_path, one) == ()


def test_a_person_s_words_from_outside_are_a_prompt(tmp_path: Path) -> None:
    (event,) = told(
        tmp_path, user("Fix it", provenance={"kind": "external_user", "sourceChannel": "webchat"})
    )
    assert isinstance(event, Prompt)
    assert event.origin is Origin.HUMAN


@pytest.mark.parametrize(
    "one",
    [
        user(f"Go on. {fence('secret recall')}"),
        assistant(text(f"As I recall: {fence('secret recall')} so.")),
        record("compaction", "z1", summary=f"It said {fence('secret recall')}"),
        record("checkpoint", "k1", checkpoint={"summary": f"It said {fence('secret recall')}"}),
    ],
)
def test_what_we_injected_is_never_told_as_somebody_else_s(tmp_path: Path, one: Json) -> None:
    (event,) = told(tmp_path, one)
    assert event.origin is not Origin.OURS
    assert "secret recall" not in repr(event)


def test_our_words_in_a_plugin_s_message_are_ours(tmp_path: Path) -> None:
    plugin = message("custom", "y1", customType="holdfast", content=[text(fence("recall"))])
    (event,) = told(tmp_path, plugin)
    assert isinstance(event, BriefSeen)
    assert event.origin is Origin.OURS


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type":"message","mess', "not JSON"),
        (b"\x00\x00\x00\x00", "not JSON"),
        (b"[]", "not as expected"),
        (b"null", "not as expected"),
        (b'{"type":"message","id":5}', "not as expected"),
        (b'{"type":"message","message":{"role":"user","content":{"a":1}}}', "not as expected"),
        (b'{"type":"message","message":{"role":"user","content":["a"]}}', "not as expected"),
        (b'{"x":' * 60_000 + b"1" + b"}" * 60_000, "nested too deeply"),
        (b'{"type":"of next year"}', "unknown record of next year"),
        (b'{"id":"u1"}', "record without a name"),
        (b'{"type":"message","message":{"role":"oracle"}}', "unknown role oracle"),
        (b'{"type":"message","message":{}}', "role without a name"),
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
    (event,) = told(tmp_path, assistant(usage=tokens(2**63, 2**63, -5)))
    assert isinstance(event, Usage)
    assert max(event.input, event.output) < 2**53
    assert event.cache_read == 0


def test_text_cut_in_the_middle_of_a_character_is_not_lost(tmp_path: Path) -> None:
    line = jsonl([user("MARK")]).replace(b"MARK", rb"cut \ud83d")
    (event,) = read(written(tmp_path, line)).events
    assert isinstance(event, Prompt)
    assert event.text == "cut \ufffd"


def test_a_subagent_is_a_session_of_its_own(session: Path) -> None:
    written(session.parent, WHOLE, "s-2.jsonl")
    assert reader("openclaw").subagent_transcripts(session) == ()
