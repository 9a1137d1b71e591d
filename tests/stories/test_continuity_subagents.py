"""A subagent's transcript that a person names: its work is the source, as each harness writes it down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from holdfast.core.documents.continuity import ContinuityPart, LayerName, item_subject
from holdfast.core.documents.continuity_log import AuditScope
from holdfast.core.documents.promotion import ReviewState, ReviewStep
from holdfast.engine.documents import continuity_source, dream
from holdfast.engine.documents.continuity_source import SourceChoice
from holdfast.engine.recording.preview import session_and_events
from holdfast.errors import HoldfastError
from holdfast.harnesses import reader
from tests.stories.bench import Bench, bench_at
from tests.stories.test_brief_snapshots import Asks, Edits, Runs, Says
from tests.stories.test_brief_snapshots import Step as Did

AGENT: Final = "a8d5efd193d53b4c8"
STEPS: Final = (
    Asks("Look into why the parser of dates rejects a week. Never touch vendor/."),
    Edits("src/dates.py", "a", "b"),
    Runs("make test 2>&1 | tail -5", "E   ValueError: no week\n1 failed in 0.1s", 1),
    Says("I decided to use ISO weeks, because calendars agree on those. Next step: parse `2026-W09`."),
)
SHAPES: Final = ("claude-code", "claude-code beside the session", "codex", "gemini")
"""In which files subagents write: Claude Code has had two places for them."""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_at(tmp_path)


def subagent_transcript(bench: Bench, shape: str, *steps: Did) -> Path:
    """What a subagent of that harness wrote down of these steps."""
    harness = shape.partition(" ")[0]
    main = bench.transcript(harness, *steps)
    rows = [json.loads(line) for line in main.read_text(encoding="utf-8").splitlines()]
    main.unlink()
    for row in rows:
        _signed(harness, row)
    path = {
        "claude-code": bench.root / f"s1/subagents/agent-{AGENT}.jsonl",
        "claude-code beside the session": bench.root / f"agent-{AGENT}.jsonl",
        "codex": bench.root / f"rollout-2026-03-01T10-00-01-{AGENT}.jsonl",
        "gemini": bench.root / f"chats/s1/{AGENT}.jsonl",
    }[shape]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _signed(harness: str, row: dict[str, Any]) -> None:
    """A record as a subagent signs it."""
    match harness:
        case "claude-code":
            row |= {"isSidechain": True, "agentId": AGENT}
        case "codex" if row["type"] == "session_meta":
            spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}
            row["payload"] |= {"id": AGENT, "parent_thread_id": "parent", "source": spawned}
        case "gemini" if "kind" in row:
            row["kind"] = "subagent"
        case _:
            pass


@pytest.mark.parametrize("harness_option", ["named", ""])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_saved_and_refreshed_from(bench: Bench, shape: str, harness_option: str) -> None:
    harness = shape.partition(" ")[0]
    transcript = subagent_transcript(bench, shape, *STEPS)
    source = continuity_source.source_named(transcript, harness if harness_option else "")
    assert (source.choice, source.harness) == (SourceChoice.EXPLICIT, harness)
    outcome = bench.refresh(source)
    assert outcome.entry.counts.total > 0
    assert bench.said(LayerName.SHARED).goal.startswith("Look into why the parser")
    assert list(map(item_subject, bench.items(ContinuityPart.FAILED)[0])) == ["make test"]
    assert "`src/dates.py` edited" in bench.items(ContinuityPart.NOTES)[1]
    assert any("2026-W09" in item for item in bench.items(ContinuityPart.NEXT)[1])


@pytest.mark.parametrize("shape", SHAPES)
def test_its_candidates_are_blocked_until_they_are_adopted(bench: Bench, shape: str) -> None:
    transcript = subagent_transcript(bench, shape, *STEPS)
    snapshot = dream.build(
        bench.engine, bench.continuity_files, continuity_source.source_named(transcript, "")
    )
    assert {one.standing for one in snapshot.candidates} == {ReviewState.BLOCKED}
    decision = next(one for one in snapshot.candidates if "ISO weeks" in one.text)
    with pytest.raises(HoldfastError, match="is blocked"):
        dream.take(bench.engine, bench.continuity_files, decision.id, ReviewStep.APPROVE)
    assert (
        dream.take(bench.engine, bench.continuity_files, decision.id, ReviewStep.ADOPT).standing
        is ReviewState.PENDING
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_its_events_are_those_of_a_main_agent(bench: Bench, shape: str) -> None:
    _, events = session_and_events(reader(shape.partition(" ")[0]), subagent_transcript(bench, shape, *STEPS))
    assert {event.agent for event in events} == {"main"}


def test_one_that_was_only_given_its_task_says_that(bench: Bench) -> None:
    transcript = subagent_transcript(bench, "claude-code", STEPS[0])
    bench.refresh(continuity_source.source_named(transcript, "claude-code"))
    assert bench.said(LayerName.LOCAL).goal.startswith("Look into why the parser")


def test_sidechains_within_a_sessions_own_transcript_stay_the_subagents(bench: Bench) -> None:
    side = subagent_transcript(bench, "claude-code", Asks("Count the tests"), STEPS[2])
    main = bench.transcript("claude-code", STEPS[0])
    main.write_bytes(main.read_bytes() + side.read_bytes())
    bench.refresh(continuity_source.source_named(main, "claude-code"))
    assert bench.items(ContinuityPart.FAILED) == ((), ())
    assert bench.said(LayerName.LOCAL).goal.startswith("Look into why the parser")


EMPTY: Final = (Asks("Continue"),)
"""A session whose prompt names nothing, and that did nothing."""


@pytest.mark.parametrize("scope", AuditScope)
def test_a_refresh_does_not_replace_something_by_nothing(bench: Bench, scope: AuditScope) -> None:
    bench.save("claude-code", *STEPS)
    before = {layer: bench.file(layer).read_bytes() for layer in LayerName}
    empty = bench.transcript("claude-code", *EMPTY, name="empty")
    with pytest.raises(HoldfastError, match="has nothing to say to the layer"):
        bench.refresh(continuity_source.source_named(empty, "claude-code"), scope)
    assert {layer: bench.file(layer).read_bytes() for layer in LayerName} == before
    assert (len(bench.continuity_files.entries()), bench.continuity_files.markers()) == (1, [])


@pytest.mark.parametrize("text", ["## Mine\nA thought.\n", "A thought.\n", "---\nunfinished\n"])
def test_what_a_person_wrote_alone_is_something(bench: Bench, text: str) -> None:
    file = bench.file(LayerName.LOCAL)
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    empty = bench.transcript("claude-code", *EMPTY)
    with pytest.raises(HoldfastError, match="nothing to say to the layer `project-local`"):
        bench.refresh(continuity_source.source_named(empty, "claude-code"))
    assert file.read_text(encoding="utf-8") == text


def test_where_there_is_nothing_yet_an_empty_refresh_is_none_of_that(bench: Bench) -> None:
    source = continuity_source.source_named(bench.transcript("claude-code", *EMPTY), "claude-code")
    bench.refresh(source)
    bench.refresh(source)
    assert bench.said(LayerName.LOCAL).is_empty()
