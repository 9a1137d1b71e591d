"""Sessions of pi and OpenClaw, in files and in databases, as events."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
from holdfast.harnesses.base import Batch, Extent, KeptInRows
from holdfast.harnesses.openclaw.transcript import DATABASE
from tests.depth import examples
from tests.harnesses.openclaw_records import (
    AT,
    CWD,
    SESSION,
    WHOLE,
    Json,
    assistant,
    header,
    image,
    in_database,
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


def parse(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = read(written(folder, jsonl(records)))
    assert batch.skipped == ()
    return batch.events


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("session"), WHOLE)


def test_a_whole_session_is_read_in_order(session: Path) -> None:
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


def test_a_request_s_tokens_are_read_and_a_failed_one_s_are_not(tmp_path: Path) -> None:
    failed = assistant(id="a2", usage=tokens(0, 0), stopReason="error", errorMessage="429")
    (event,) = parse(tmp_path, assistant(id="a1", usage=tokens(10, 40, 3000, 200)), failed)
    assert isinstance(event, Usage)
    assert (event.input, event.output, event.cache_read, event.cache_written) == (10, 40, 3000, 200)


def test_the_oldest_files_have_no_ids_and_name_the_model_in_their_header(tmp_path: Path) -> None:
    old = {key: value for key, value in user("Fix it").items() if key not in ("id", "parentId")}
    first = header(version=None, modelId="model-x")
    model, prompt = parse(tmp_path, first, old)
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
    (event,) = parse(tmp_path, {**user("Fix it", timestamp=inner), "timestamp": outer})
    assert event.at == at


def test_a_record_without_a_time_borrows_it_from_the_one_before_also_across_two_reads(tmp_path: Path) -> None:
    late = {**user("two", "u2", timestamp=None), "timestamp": None}
    path = written(tmp_path, jsonl([user("one", "u1")]))
    cursor = read(path).cursor
    path.write_bytes(path.read_bytes() + jsonl([late]))
    (event,) = read(path, cursor).events
    assert (event.record, event.at) == ("u2", AT)


def test_a_branch_that_was_left_stays_and_every_event_names_its_parent(tmp_path: Path) -> None:
    tree = [
        user("Fix it", "u1") | {"parentId": None},
        assistant(text("With a regex."), id="a1") | {"parentId": "u1"},
        record("branch_summary", "s1", fromId="a1", summary="A regex was tried."),
        assistant(text("With a parser."), id="a2") | {"parentId": "u1"},
    ]
    events = parse(tmp_path, *tree)
    assert [(event.record, event.parent) for event in events] == [("u1", ""), ("a1", "u1"), ("a2", "u1")]


def test_a_message_that_was_cut_off_keeps_its_words_and_none_of_its_calls(tmp_path: Path) -> None:
    for stop in ("aborted", "error"):
        cut = assistant(text("I will"), tool_call("write", path="a.py", content="x"), stopReason=stop)
        (event,) = parse(tmp_path, cut)
        assert isinstance(event, AssistantText)


def test_a_checkpoint_record_is_a_digest(tmp_path: Path) -> None:
    kept = {
        "summary": "Parser half done.",
        "topics": ["parser"],
        "keyDecisions": ["no regex"],
        "openQuestions": ["lexer?"],
        "tokensAtCheckpoint": 5,
    }
    (event,) = parse(tmp_path, record("checkpoint", "1772359200000_c1a2", checkpoint=kept))
    assert isinstance(event, DigestGiven)
    assert event.origin is Origin.HARNESS
    assert event.text == (
        "Parser half done.\n\nTopics:\n- parser\n\nKey decisions:\n- no regex\n\nOpen questions:\n- lexer?"
    )


def test_a_reset_ends_what_was_before_it_as_a_clear_does(tmp_path: Path) -> None:
    (event,) = parse(tmp_path, record("reset", "r1", reason="new"))
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
        {"id": "y1", "type": "label"},
    ],
)
def test_what_nobody_wrote_or_said_tells_nothing(tmp_path: Path, one: Json) -> None:
    assert parse(tmp_path, one) == ()


def test_a_person_s_words_from_outside_are_a_prompt(tmp_path: Path) -> None:
    (event,) = parse(
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
def test_what_we_injected_is_never_read_as_somebody_else_s(tmp_path: Path, one: Json) -> None:
    (event,) = parse(tmp_path, one)
    assert event.origin is not Origin.HOLDFAST
    assert "secret recall" not in repr(event)


def test_our_words_in_a_plugin_s_message_are_ours(tmp_path: Path) -> None:
    plugin = message("custom", "y1", customType="holdfast", content=[text(fence("recall"))])
    (event,) = parse(tmp_path, plugin)
    assert isinstance(event, BriefSeen)
    assert event.origin is Origin.HOLDFAST


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
    (event,) = parse(tmp_path, assistant(usage=tokens(2**63, 2**63, -5)))
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


FAR = 1 << 30
OPENCLAW = reader("openclaw")
AGAIN = """
insert into transcript_events
select session_id, seq + 100, event_json, null from transcript_events where seq = 3
"""
DAMAGED = "update transcript_events set event_json = null, event_zstd = ? where seq = 3"


def database(folder: Path) -> Path:
    return folder / "agents" / "main" / "agent" / DATABASE


def read_rows(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return OPENCLAW.read_transcript(path, "s1", cursor, limit)


def extent(path: Path) -> Extent | None:
    assert isinstance(OPENCLAW, KeptInRows)
    return OPENCLAW.extent(path)


def read_all_rows(path: Path, limit: int) -> list[Event]:
    events, cursor, done = list[Event](), "", False
    while not done:
        batch = read_rows(path, cursor, limit)
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
    in_rows = read_rows(rows)
    assert in_rows.events == read_rows(file).events
    assert (in_rows.cwd, in_rows.done, in_rows.skipped) == (CWD, True, ())


@given(limit=st.integers(1, 2_000))
@settings(
    max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_pieces_of_any_size_tell_the_same(tmp_path: Path, limit: int) -> None:
    whole = database(tmp_path)
    if not whole.exists():
        in_database(whole, "agent:main:main", "s-1", SESSION, pack=True)
    assert read_all_rows(whole / "s-1", limit) == [*read_rows(whole / "s-1").events]


def test_what_is_added_later_is_read_alone(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", [header(), user("first")])
    before = extent(whole / "s-1")
    batch = read_rows(whole / "s-1")
    in_database(whole, "agent:main:main", "s-1", [assistant(text("second"))])
    after = extent(whole / "s-1")
    assert before is not None
    assert after is not None
    assert (before.changed_at, after.size > before.size) == (AT, True)
    assert [type(event) for event in read_rows(whole / "s-1", batch.cursor).events][:1] == [AssistantText]


def test_a_database_that_was_replaced_is_read_from_its_start(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    cursor = read_rows(whole / "s-1").cursor
    whole.unlink()
    in_database(whole, "agent:main:main", "s-1", [header(), user("anew")])
    told = [event.text for event in read_rows(whole / "s-1", cursor).events if isinstance(event, Prompt)]
    assert told == ["anew"]


def test_nothing_is_written_while_its_owner_has_it_open(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    owner = sqlite3.connect(whole)
    owner.execute("pragma journal_mode = wal")
    owner.execute(AGAIN)
    owner.commit()
    print_of = sha256(whole.read_bytes()).digest()
    told = [event for event in read_rows(whole / "s-1").events if isinstance(event, Prompt)]
    assert len(told) == 3, "what is only in the log is read too"
    assert list(OPENCLAW.transcripts(tmp_path)) == [whole / "s-1"]
    assert sha256(whole.read_bytes()).digest() == print_of
    owner.close()


def test_where_nobody_has_it_open_no_file_appears_beside_it(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    list(OPENCLAW.transcripts(tmp_path))
    read_rows(whole / "s-1")
    assert [path.name for path in whole.parent.iterdir()] == [DATABASE]


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\x00" + bytes(200)])
def test_what_is_no_database_tells_nothing_and_harms_nobody(tmp_path: Path, content: bytes) -> None:
    whole = written(database(tmp_path).parent, content, DATABASE)
    assert list(OPENCLAW.transcripts(tmp_path)) == []
    assert extent(whole / "s-1") is None
    batch = read_rows(whole / "s-1")
    assert (batch.events, batch.done) == ((), True)
    assert "cannot be read" in batch.skipped[0].reason


def test_a_session_that_is_not_in_it_has_no_extent_and_no_records(tmp_path: Path) -> None:
    whole = in_database(database(tmp_path), "agent:main:main", "s-1", SESSION)
    assert extent(whole / "s-9") is None
    assert read_rows(whole / "s-9").events == ()


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
    batch = read_rows(whole / "s-1")
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


def read_file_lines(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return reader("openclaw").read_transcript(path, "s1", cursor, limit)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(SESSION), st.data())
def test_a_field_of_any_other_kind_is_read_or_skipped(
    tmp_path_factory: pytest.TempPathFactory, one: Json, data: st.DataObject
) -> None:
    inner = "message" in one and data.draw(st.booleans())
    drifted = one["message"] if inner else one
    name = data.draw(st.sampled_from(sorted(drifted)))
    drifted = {**drifted, name: data.draw(JSON)}
    records = [{**one, "message": drifted} if inner else drifted, user("Go on.", "last")]
    batch = read_file_lines(written(tmp_path_factory.mktemp("drift"), jsonl(records)))
    assert batch.events[-1].record == "last"


def test_a_replaced_file_is_read_anew_without_what_was_remembered_of_the_old(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl([user("one", "u1")]))
    cursor = read_file_lines(path).cursor
    path.write_bytes(jsonl([{**user("two", "u2", timestamp=None), "timestamp": None}]))
    (event,) = read_file_lines(path, cursor).events
    assert (event.record, event.at) == ("u2", 0)
