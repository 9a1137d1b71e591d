"""Survival on transcripts: which are found, what each builder may see, and that they stay unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import harnesses
from holdfast.core.brief.compose import Reason
from holdfast.core.evaluation.survival import CutKind, Rarity, rarity
from holdfast.core.events.event import Action, Event
from holdfast.engine.evaluation.survival import (
    BUDGET,
    BUILDERS,
    HOLDFAST,
    Recording,
    Transcript,
    history,
    our_brief,
    scores_of,
    session_after,
    session_in,
    situations,
    transcripts,
)
from holdfast.engine.recording.preview import preview
from tests.core.scenes import called, prompt, returned, said
from tests.harnesses.claude_code_records import (
    Json,
    assistant,
    jsonl,
    record,
    text,
    tool_result,
    tool_use,
    user,
    written,
)

HARNESS = "claude-code"
NAMES = [f"fact_{number}" for number in range(20)]
RULE = "Never touch the vendored client."


def work(first: int, steps: int) -> list[Json]:
    """Steps of an agent: each says something, edits a file and runs a test that fails."""
    told: list[Json] = []
    for number in range(first, first + steps):
        names = " ".join(NAMES) if number % 10 == 0 else NAMES[number % 20]
        edit = tool_use("Edit", f"e{number}", file_path=f"/home/you/proj/src/part_{number % 7}.py")
        run = tool_use("Bash", f"b{number}", command=f"pytest tests/test_{number % 7}.py")
        told += [
            assistant(text(f"Now {names} is next."), uuid=f"s{number}", request=f"m{number}"),
            assistant(edit, uuid=f"e{number}", request=f"m{number}"),
            user([tool_result("done", f"e{number}")], uuid=f"f{number}"),
            assistant(run, uuid=f"b{number}", request=f"m{number}"),
            user([tool_result("1 failed", f"b{number}", is_error=True)], uuid=f"g{number}"),
        ]
    return told


def compaction(number: int) -> list[Json]:
    summary = "This session is being continued.\nSummary:\n1. fact_1 and fact_2 are next."
    return [
        record("system", f"c{number}", subtype="compact_boundary", compactMetadata={"preTokens": 9}),
        user(summary, uuid=f"d{number}", isCompactSummary=True),
    ]


def long_session() -> list[Json]:
    """Two hundred events, a compaction, and half as many again with a secret of the future at their end."""
    return [
        user(f"Mend the parts. {RULE}", uuid="p1"),
        *work(0, 40),
        *compaction(1),
        *work(40, 20),
        assistant(text("the_future is here"), uuid="z", request="z"),
    ]


def kept(path: Path, records: list[Json]) -> Path:
    return written(path.parent, jsonl(records), path.name)


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    path = kept(tmp_path / HARNESS / "s1.jsonl", long_session())
    found = session_in(Transcript(harnesses.reader(HARNESS), path))
    assert found is not None
    return found


def rare(recording: Recording) -> Rarity:
    return rarity([recording.mentions, [], []])


def test_transcripts_are_found_in_folders_named_after_their_harness(tmp_path: Path) -> None:
    wanted = kept(tmp_path / "more" / HARNESS / "project" / "s1.jsonl", long_session())
    dialect = kept(tmp_path / f"some-{HARNESS}" / "s2.jsonl", long_session())
    kept(tmp_path / "elsewhere" / "s3.jsonl", long_session())
    kept(wanted.parent / "s1" / "subagents" / "agent-a1.jsonl", work(0, 2))
    found = transcripts(tmp_path)
    assert [one.path for one in found] == [wanted, dialect]
    assert {one.harness.name for one in found} == {HARNESS}


def test_the_folder_itself_may_be_named_after_the_harness(tmp_path: Path) -> None:
    path = kept(tmp_path / HARNESS / "s1.jsonl", long_session())
    assert [one.path for one in transcripts(path.parent)] == [path]


def test_history_is_what_the_harness_wrote_in_the_home(tmp_path: Path) -> None:
    path = kept(tmp_path / ".claude" / "projects" / "p" / "s1.jsonl", long_session())
    assert [one.path for one in history(tmp_path, {})] == [path]


def test_a_transcript_that_tells_nothing_is_no_recording(tmp_path: Path) -> None:
    path = kept(tmp_path / "s1.jsonl", [])
    assert session_in(Transcript(harnesses.reader(HARNESS), path)) is None


def test_the_session_is_cut_where_it_was_compacted_and_twice_before(recording: Recording) -> None:
    kinds = [situation.cut.kind for situation in situations(recording, rare(recording))]
    assert kinds == [CutKind.VIRTUAL, CutKind.VIRTUAL, CutKind.REAL]


def test_no_builder_sees_what_comes_after_the_cut(recording: Recording) -> None:
    for situation in situations(recording, rare(recording)):
        for name, builder in BUILDERS.items():
            brief = builder(situation)
            assert "the_future" not in (brief or ""), name
            assert name == "summary" or len(brief or "") <= BUDGET


def test_what_a_subagent_did_later_is_not_known_at_the_cut(tmp_path: Path) -> None:
    path = kept(tmp_path / HARNESS / "s1.jsonl", long_session())
    told = [
        assistant(text("early"), uuid="x1", isSidechain=True),
        assistant(text("late"), uuid="x2", isSidechain=True, timestamp="2026-03-02T10:00:00.000Z"),
    ]
    kept(path.parent / "s1" / "subagents" / "agent-a1.jsonl", told)
    found = session_in(Transcript(harnesses.reader(HARNESS), path))
    assert found is not None
    situation = next(situations(found, rare(found)))
    assert [event.record for event in situation.before if event.agent != "main"] == ["x1"]


def test_our_brief_is_the_products_own(recording: Recording) -> None:
    shown = preview(recording.transcript.harness, recording.transcript.path)
    assert shown.brief_input.reason is Reason.COMPACT
    assert recording.brief(recording.events) == shown.brief.text


def test_our_brief_holds_no_secret(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    path = kept(tmp_path / "s1.jsonl", [user(f"use the token {secret} for it", uuid="p1")])
    found = session_in(Transcript(harnesses.reader(HARNESS), path))
    assert found is not None
    brief = our_brief(found.events, BUDGET)
    assert "for it" in brief
    assert secret not in brief


def test_nothing_happened_gives_no_brief() -> None:
    assert our_brief([], BUDGET) == ""


def test_the_controls_are_as_they_must_be(recording: Recording) -> None:
    rows, _ = scores_of(recording, rare(recording))
    by_builder = {name: [row for row in rows if row.builder == name] for name in BUILDERS}
    assert {row.score.survival for row in by_builder["empty"]} == {0.0}
    assert min(row.score.survival for row in by_builder["bare_list"]) > 0.5
    assert [row.kind for row in by_builder["summary"]] == [CutKind.REAL]
    assert all(row.score.constraints == 1.0 for row in by_builder["lead"])
    assert not any(row.form.is_readable for row in by_builder["bare_list"])


def test_the_same_session_measures_the_same(recording: Recording) -> None:
    again = session_in(recording.transcript)
    assert again is not None
    assert scores_of(again, rare(again)) == scores_of(recording, rare(recording))


def test_broken_files_and_repetitions_are_checked_and_harmless(recording: Recording) -> None:
    _, checks = scores_of(recording, rare(recording))
    for name in ("crash", "idempotence"):
        values = [check.value for check in checks if check.name == name]
        assert values, name
        assert set(values) == {1.0}
    assert {check.harness for check in checks} == {HARNESS}


def test_drift_is_looked_at_after_the_second_compaction(tmp_path: Path) -> None:
    records = [*long_session(), *compaction(2), *work(60, 2)]
    path = kept(tmp_path / HARNESS / "s1.jsonl", records)
    found = session_in(Transcript(harnesses.reader(HARNESS), path))
    assert found is not None
    _, checks = scores_of(found, rare(found))
    assert len([check for check in checks if check.name == "drift"]) == 1


EVENTS: tuple[Event, ...] = (
    prompt("mend the lexer", "p1"),
    called("c1", Action.EDIT, "/src/lexer.py"),
    returned("c1"),
    called("c2", Action.RUN, "make test"),
    returned("c2", ok=False, text="E   LexerError: no"),
    said("It fails still.", "a1"),
    prompt("now the writer", "p2"),
)


@given(st.lists(st.integers(0, len(EVENTS)), max_size=4))
def test_reading_any_beginning_again_changes_nothing(sizes: list[int]) -> None:
    beginnings = [event for size in sorted(sizes) for event in EVENTS[:size]]
    assert session_after([*beginnings, *EVENTS]) == session_after(EVENTS)


def test_ours_is_among_the_builders() -> None:
    assert next(iter(BUILDERS)) == HOLDFAST
