"""The rules of continuity, each told as a story by sessions of every harness that can be read."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.documents.continuity import ContinuityPart, LayerName, item_subject
from holdfast.core.documents.continuity_log import AuditScope, AuditTrigger, WriteMode, earlier_entries
from holdfast.engine.documents import continuity, continuity_source
from holdfast.engine.documents.continuity_source import ContinuitySource, SourceChoice
from holdfast.errors import HoldfastError, TranscriptUnreadable
from tests.stories.bench import Bench, bench_at
from tests.stories.test_brief_snapshots import TELLINGS, Asks, Edits, Plans, Runs, Says

pytestmark = pytest.mark.parametrize("harness", TELLINGS)
GOAL = Asks("Make the parser of dates accept a week. Never touch vendor/.")
FAILED = Runs("make test 2>&1 | tail -5", "E   ValueError: no week\n1 failed in 0.1s", 1)
PASSED = Runs("make test 2>&1 | tail -5", "4 passed in 0.1s")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_at(tmp_path)


def test_what_was_found_out_is_shared_and_what_comes_next_stays_here(bench: Bench, harness: str) -> None:
    bench.save(
        harness,
        GOAL,
        Edits("src/dates.py", "a", "b"),
        PASSED,
        Runs("make lint 2>&1 | tail -5", "E501 line too long\nFound 1 error.", 1),
        Plans((("Describe the week in docs/dates.md", "pending"),)),
        Says("I decided to use ISO weeks, because calendars agree on those. Next step: parse `2026-W09`."),
    )
    shared, local = bench.items(ContinuityPart.CONFIRMED)
    assert (list(map(item_subject, shared)), local) == (["make test"], ())
    assert [item_subject(item) for item in bench.items(ContinuityPart.FAILED)[0]] == ["make lint"]
    shared, local = bench.items(ContinuityPart.NEXT)
    assert (shared, sorted("W09" in item or "docs/dates.md" in item for item in local)) == ((), [True, True])
    shared, local = bench.items(ContinuityPart.NOTES)
    assert any("ISO weeks" in item for item in shared)
    assert "Never touch vendor/." in shared
    assert local == ("`src/dates.py` edited",)


def test_what_is_said_to_hold_only_here_stays_here(bench: Bench, harness: str) -> None:
    bench.save(harness, Asks("Speed up the parser. Never use the network in this worktree."), PASSED)
    shared, local = bench.items(ContinuityPart.NOTES)
    assert ("Never use the network in this worktree." in local, "network" in str(shared)) == (True, False)


def test_files_are_named_from_the_top_of_the_repository(bench: Bench, harness: str) -> None:
    bench.save(harness, GOAL, Edits("src/a.py", "a", "b"), Edits("docs/b.md", "a", "b"))
    assert bench.items(ContinuityPart.NOTES)[1] == ("`src/a.py` edited", "`docs/b.md` edited")


@pytest.mark.parametrize(
    "prompt",
    ["Continue", "continue.", "Run checks", "Check it again", "Can you look into it?", "继续", "再检查一下"],
)
def test_a_prompt_that_names_nothing_is_neither_goal_nor_next_step(
    bench: Bench, harness: str, prompt: str
) -> None:
    bench.save(harness, GOAL, PASSED)
    bench.save(harness, Asks(prompt), PASSED, name="s2")
    assert bench.said(LayerName.LOCAL).goal.startswith("Make the parser of dates")
    assert bench.items(ContinuityPart.NEXT) == ((), ())


def test_a_question_that_names_something_is_a_goal(bench: Bench, harness: str) -> None:
    bench.save(harness, GOAL, PASSED)
    bench.save(harness, Asks("Why does the date parser drop the time zone of a week?"), PASSED, name="s2")
    assert bench.said(LayerName.LOCAL).goal.startswith("Why does the date parser")


def test_a_failure_that_passed_later_does_not_linger(bench: Bench, harness: str) -> None:
    bench.save(harness, GOAL, FAILED)
    assert list(map(item_subject, bench.items(ContinuityPart.FAILED)[0])) == ["make test"]
    bench.save(harness, Asks("Now mend the week in the parser"), PASSED, name="s2")
    assert bench.items(ContinuityPart.FAILED) == ((), ())
    assert list(map(item_subject, bench.items(ContinuityPart.CONFIRMED)[0])) == ["make test"]


def test_a_stale_next_step_does_not_linger(bench: Bench, harness: str) -> None:
    bench.save(harness, GOAL, Says("Next step: parse the week."))
    bench.save(harness, Asks("Write the docs of the week"), Says("Next step: draw a table."), name="s2")
    assert bench.items(ContinuityPart.NEXT)[1] == ("Next step: draw a table.",)


def test_the_last_commands_are_reported_not_the_first(bench: Bench, harness: str) -> None:
    checks = [Runs(f"make check-{number} 2>&1 | tail -5", "1 passed in 0.1s") for number in range(15)]
    bench.save(harness, GOAL, *checks)
    assert [item.split("`")[1] for item in bench.items(ContinuityPart.CONFIRMED)[0]] == [
        f"make check-{number}" for number in range(3, 15)
    ]


def test_a_save_keeps_what_a_person_wrote_and_a_refresh_does_not(bench: Bench, harness: str) -> None:
    first = bench.save(harness, GOAL, FAILED)
    local = bench.file(LayerName.LOCAL)
    mine = "## Not yet tried\n- ask Ada about weeks\n"
    local.write_text(local.read_text().replace("## Not yet tried\n", mine), encoding="utf-8")
    bench.save(harness, GOAL, FAILED, PASSED)
    assert bench.items(ContinuityPart.UNTRIED)[1] == ("ask Ada about weeks",)
    bench.refresh(first.source)
    assert bench.items(ContinuityPart.UNTRIED)[1] == ()
    history = bench.continuity_files.places.versions(LayerName.LOCAL)
    assert "ask Ada about weeks" in history[0].read_text()


def test_one_layer_can_be_replaced_alone(bench: Bench, harness: str) -> None:
    first = bench.save(harness, GOAL, FAILED)
    for layer in LayerName:
        path = bench.file(layer)
        path.write_text(path.read_text() + "\n## Mine\nA thought.\n", encoding="utf-8")
    bench.refresh(first.source, AuditScope.LOCAL)
    kept = {layer: "A thought." in bench.file(layer).read_text() for layer in LayerName}
    assert kept == {LayerName.SHARED: True, LayerName.LOCAL: False}


def test_a_refresh_takes_the_noted_source_of_exactly_these_layers(bench: Bench, harness: str) -> None:
    latest = bench.transcript(harness, GOAL, PASSED, name="latest")
    bench.knows(harness, "latest", latest)
    bench.save(harness, GOAL, FAILED, name="both")
    bench.save(harness, GOAL, FAILED, scope=AuditScope.LOCAL, name="local")

    def chosen(scope: AuditScope) -> tuple[SourceChoice, str]:
        room = bench.continuity_files
        found = continuity_source.trusted_source(
            bench.engine, bench.project, scope, room.markers(), room.entries(), {}
        )
        return found.choice, found.session

    assert chosen(AuditScope.BOTH) == (SourceChoice.AUDIT, "both")
    assert chosen(AuditScope.LOCAL) == (SourceChoice.AUDIT, "local")
    assert chosen(AuditScope.SHARED) == (SourceChoice.PRIMARY, "latest"), (
        "one of both layers does not stand for one"
    )
    entry = replace(bench.continuity_files.entries()[0], session="marked")
    continuity_source.mark(bench.continuity_files.recovery, entry, "the disk was full")
    assert chosen(AuditScope.BOTH) == (SourceChoice.MARKER, "marked")
    assert chosen(AuditScope.LOCAL) == (SourceChoice.AUDIT, "local")


def test_a_noted_source_that_is_gone_is_an_error_and_nothing_is_written(bench: Bench, harness: str) -> None:
    outcome = bench.save(harness, GOAL, FAILED)
    bench.knows(harness, "other", bench.transcript(harness, GOAL, PASSED, name="other"))
    outcome.source.transcript.unlink()
    before = bench.file(LayerName.LOCAL).read_bytes()
    room = bench.continuity_files
    source = continuity_source.trusted_source(
        bench.engine, bench.project, AuditScope.BOTH, room.markers(), room.entries(), {}
    )
    with pytest.raises(TranscriptUnreadable, match="the latest-audit-entry names it"):
        bench.refresh(source)
    assert bench.file(LayerName.LOCAL).read_bytes() == before


def test_forks_are_left_out_unless_they_are_named(bench: Bench, harness: str) -> None:
    bench.knows(harness, "main", bench.transcript(harness, GOAL, FAILED, name="main"))
    fork = bench.transcript(harness, Asks("Review the parser of dates"), PASSED, name="fork")
    bench.knows(harness, "fork", fork, fork_of="main")
    assert continuity_source.latest_primary(bench.engine, bench.project, {}).session == "main"
    outcome = bench.refresh(ContinuitySource(SourceChoice.EXPLICIT, harness, fork, "fork"))
    assert outcome.entry.session == "fork"
    assert bench.said(LayerName.LOCAL).goal.startswith("Review the parser")


def test_a_mark_is_of_one_source_and_layers_whoever_wrote_it(bench: Bench, harness: str) -> None:
    outcome = bench.save(harness, GOAL, FAILED)
    recovery = bench.continuity_files.recovery
    same = replace(outcome.entry, trigger=AuditTrigger.REFRESH, write_mode=WriteMode.REPLACE)
    others = [replace(same, scope=AuditScope.LOCAL), replace(same, session="s9")]
    for entry in (same, *others):
        continuity_source.mark(recovery, entry, "the disk was full")
    bench.save(harness, GOAL, FAILED)
    assert {(one.entry.scope, one.entry.session) for one in bench.continuity_files.markers()} == {
        (AuditScope.LOCAL, "s1"),
        (AuditScope.BOTH, "s9"),
    }


def test_a_summary_that_could_not_be_written_leaves_a_mark(bench: Bench, harness: str) -> None:
    bench.file(LayerName.LOCAL).mkdir(parents=True)
    with pytest.raises(HoldfastError):
        bench.save(harness, GOAL, FAILED)
    assert [one.entry.session for one in bench.continuity_files.markers()] == ["s1"]
    shutil.rmtree(bench.file(LayerName.LOCAL).parent)
    bench.save(harness, GOAL, FAILED)
    assert bench.continuity_files.markers() == []


def test_nothing_of_the_account_is_in_the_markdown(bench: Bench, harness: str) -> None:
    entry = bench.save(harness, GOAL, FAILED).entry
    for layer in LayerName:
        text = bench.file(layer).read_text()
        told = [entry.id, entry.transcript, entry.trigger, entry.confidence, "heuristic", "evidence"]
        assert [word for word in told if word in text] == []


def test_a_save_and_a_refresh_of_one_source_are_two_events(bench: Bench, harness: str) -> None:
    source = bench.save(harness, GOAL, FAILED).source
    bench.save(harness, GOAL, FAILED)
    bench.refresh(source)
    bench.save(harness, GOAL, FAILED)
    told = [(one.entry.trigger, one.times) for one in earlier_entries(bench.continuity_files.entries(), 5)]
    assert told == [(AuditTrigger.REFRESH, 1), (AuditTrigger.SAVE, 2)]


def test_worktrees_share_one_layer_and_have_one_of_their_own(bench: Bench, harness: str) -> None:
    git = ["git", "-C", str(bench.worktree), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(bench.root / "second")], check=True)
    bench.save(harness, GOAL, FAILED, Says("Next step: parse the week."))
    second = replace(bench, worktree=bench.root / "second")
    assert list(map(item_subject, second.items(ContinuityPart.FAILED)[0])) == ["make test"]
    assert second.items(ContinuityPart.NEXT) == ((), ())
    second.save(harness, Asks("Draw the calendar of weeks"), Says("Next step: pick a font."))
    assert bench.items(ContinuityPart.NEXT)[1] == ("Next step: parse the week.",)
    for worktree in (bench.worktree, second.worktree):
        seen = subprocess.run(
            ["git", "-C", str(worktree), "status", "--short"], capture_output=True, text=True, check=True
        )
        assert seen.stdout == ""


def test_looking_writes_nothing(bench: Bench, harness: str) -> None:
    bench.save(harness, GOAL, FAILED)
    before = {path: path.stat().st_mtime_ns for path in bench.root.rglob("*")}
    continuity.layers(bench.continuity_files)
    bench.continuity_files.entries()
    bench.continuity_files.markers()
    assert {path: path.stat().st_mtime_ns for path in bench.root.rglob("*")} == before
