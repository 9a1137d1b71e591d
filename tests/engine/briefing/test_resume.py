"""Which session a starting one continues, the brief that it gets, and the queries at its end."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace

import pytest

from holdfast.core.brief.compose import Reason
from holdfast.core.events.event import Prompt
from holdfast.core.session.session import Phase, Process, Trigger
from holdfast.core.text.untrusted import TITLE, fence
from holdfast.engine.index import visible_from
from holdfast.engine.liveness import start_of
from holdfast.engine.memory.recall import Query, look_up
from holdfast.engine.memory.remember import MemoryRequest, remember
from holdfast.engine.privacy.forget import OneSession, forget
from holdfast.engine.repository.git import identity
from holdfast.engine.upkeep.maintain import redate
from holdfast.settings import Brief, Config, Continuity
from holdfast.stores.base import Within
from tests.engine.stage import HOUR, MINUTE, Stage

GONE = Process(2**22 - 1, 1)


@pytest.fixture
def alive() -> Process:
    return Process(os.getpid(), start_of(os.getpid()))


def play(stage: Stage, session: str, process: Process | None = GONE, **fields: str) -> None:
    """A session that was asked something and worked on it."""
    stage.payload(session, "start", source="startup", process=process, **fields)
    stage.payload(session, "prompt", text=f"task of {session}", process=process, **fields)
    edited = stage.file("main.c")
    stage.write(session, ("prompt", f"task of {session}"), ("fails", "make check"), ("edits", edited))


class TestCompaction:
    def test_the_brief_comes_with_the_very_next_start(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "compaction")
        brief = stage.payload("a", "start", source="compact")
        assert "task of a" in brief
        failed = "- `make check` failed: Error: make check broke (not run since the last edit)"
        assert failed in brief.partition("### Failures\n")[2].splitlines()
        assert "Just compacted" in brief

    def test_once_per_compaction(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "start", source="compact")
        stage.write("a", ("boundary", ""), ("brief", ""))
        assert stage.payload("a", "start", source="compact") == "" or stage.store.session("a").window == 2  # type: ignore[union-attr]
        assert "task of a" not in stage.payload("a", "prompt", text="go on")

    def test_again_after_the_second_compaction(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "start", source="compact")
        stage.write("a", ("boundary", ""), ("brief", ""))
        stage.now += 5 * MINUTE
        assert "task of a" in stage.payload("a", "start", source="compact")

    def test_the_session_context_given_before_it_comes_with_the_brief(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "compaction", context="half of the parser is ported")
        brief = stage.payload("a", "start", source="compact")
        assert "half of the parser is ported" in brief.partition("### Now\n")[2].partition("\n\n")[0]
        assert "Edited, not committed: main.c" in brief
        stage.write("a", ("boundary", ""), ("brief", ""))
        stage.now += 5 * MINUTE
        stage.payload("a", "compaction", text="keep the table")
        later = stage.payload("a", "start", source="compact")
        assert "half of the parser is ported" not in later
        assert "keep the table" not in later

    def test_behind_a_tool_if_it_came_in_mid_turn_and_nothing_mentioned_it(self, stage: Stage) -> None:
        play(stage, "a")
        stage.write("a", ("boundary", ""))
        brief = stage.payload("a", "tools")
        assert "task of a" in brief
        assert "The context window was compacted" in brief
        assert stage.payload("a", "tools") == ""
        assert stage.payload("a", "prompt", text="go on") == ""

    def test_not_behind_a_tool_if_a_start_was_given_it(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "start", source="compact")
        stage.write("a", ("boundary", ""))
        assert stage.payload("a", "tools") == ""

    def test_with_the_next_prompt_if_the_start_never_came(self, stage: Stage) -> None:
        play(stage, "a")
        stage.write("a", ("boundary", ""))
        brief = stage.payload("a", "prompt", text="go on")
        assert "The context window was compacted, and" in brief
        stage.write("a", ("brief", ""))
        assert stage.payload("a", "prompt", text="and on") == ""

    def test_with_the_next_prompt_if_the_answer_never_arrived(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "start", source="compact")
        stage.write("a", ("boundary", ""))
        assert "task of a" in stage.payload("a", "prompt", text="go on")

    def test_not_again_where_there_is_no_transcript_to_show_it(self, stage: Stage) -> None:
        stage.payload("a", "prompt", text="one", transcript="")
        assert "one" in stage.payload("a", "start", source="compact", transcript="")
        assert stage.payload("a", "prompt", text="two", transcript="") == ""

    def test_the_harnesss_own_summary_is_told_what_it_must_keep(self, stage: Stage) -> None:
        play(stage, "a")
        steering = stage.payload("a", "compaction")
        assert "## What the summary must keep" in steering
        assert "task of a" in steering
        assert len(steering) <= 1_500
        assert "Just compacted" in stage.payload("a", "start", source="compact")

    def test_the_state_is_safe_before_the_hook_is_answered(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "compaction", text="focus on ids")
        newest = stage.store.checkpoints_of_session("a", 1)[0]
        assert newest.trigger is Trigger.PRE_COMPACTION
        assert "focus on ids" in newest.digest
        assert "make check" in newest.digest


class TestStartup:
    def test_a_session_whose_harness_died_is_continued(self, stage: Stage) -> None:
        play(stage, "a")
        stage.now += MINUTE
        brief = stage.payload("b", "start", source="startup")
        assert "session a, 1 min old" in brief
        assert "task of a" in brief
        assert stage.store.session("a").phase is Phase.ORPHANED  # type: ignore[union-attr]
        assert stage.store.checkpoints_of_session("a", 1)[0].trigger is Trigger.ORPHAN
        assert stage.store.lineage("b").parent == "a"  # type: ignore[union-attr]

    def test_a_session_that_ended_is_continued(self, stage: Stage, alive: Process) -> None:
        play(stage, "a", alive)
        stage.payload("a", "end", reason="other", process=alive)
        assert "task of a" in stage.payload("b", "start", source="startup")

    def test_a_session_whose_process_lives_is_named_and_not_taken_over(
        self, stage: Stage, alive: Process
    ) -> None:
        play(stage, "aaaaaaaa-live", alive)
        brief = stage.payload("b", "start", source="startup")
        assert "Session aaaaaaaa is live" in brief
        assert "task of" not in brief
        assert "make check" not in brief

    def test_an_unrelated_project_gets_nothing(self, stage: Stage) -> None:
        play(stage, "a")
        assert stage.payload("b", "start", source="startup", cwd=stage.project("other")) == ""

    def test_nothing_is_given_after_the_window(self, stage: Stage) -> None:
        play(stage, "a")
        stage.now += 5 * HOUR
        assert stage.payload("b", "start", source="startup") == ""

    def test_the_window_is_the_users(self, stage: Stage) -> None:
        stage.config = Config(continuity=Continuity(recovery_window_hours=6))
        play(stage, "a")
        stage.now += 5 * HOUR
        assert "task of a" in stage.payload("b", "start", source="startup")

    def test_a_session_that_did_nothing_is_passed_over(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("b", "start", source="startup", process=GONE)
        stage.payload("b", "end", reason="other", process=GONE)
        assert "task of a" in stage.payload("c", "start", source="startup")

    def test_lineage_goes_before_the_newest(self, stage: Stage) -> None:
        play(stage, "a")
        stage.now += MINUTE
        play(stage, "b")
        assert "task of a" in stage.payload("c", "start", source="startup", previous="a")

    def test_lineage_never_crosses_projects(self, stage: Stage) -> None:
        play(stage, "a", cwd=stage.project("other"))
        assert stage.payload("c", "start", source="startup", previous="a") == ""

    def test_the_same_worktree_goes_before_the_same_project(self, stage: Stage) -> None:
        main, tree = _worktrees(stage)
        play(stage, "here", cwd=main)
        stage.now += MINUTE
        play(stage, "there", cwd=tree)
        assert "task of here" in stage.payload("b", "start", source="startup", cwd=main)
        assert "task of there" in stage.payload("c", "start", source="startup", cwd=tree)

    def test_another_worktree_of_the_project_is_better_than_nothing(self, stage: Stage) -> None:
        main, tree = _worktrees(stage)
        play(stage, "there", cwd=tree)
        assert "task of there" in stage.payload("b", "start", source="startup", cwd=main)

    def test_a_session_resumed_in_another_worktree_is_the_newest_there(self, stage: Stage) -> None:
        main, tree = _worktrees(stage)
        play(stage, "moved", cwd=main)
        stage.payload("moved", "end", reason="other", cwd=main, process=GONE)
        stage.now += MINUTE
        play(stage, "older", cwd=tree)
        stage.payload("older", "end", reason="other", cwd=tree, process=GONE)
        stage.now += MINUTE
        stage.payload("moved", "start", source="resume", cwd=tree, process=GONE)
        stage.payload("moved", "end", reason="other", cwd=tree, process=GONE)
        stage.now += MINUTE
        assert "task of moved" in stage.payload("new", "start", source="startup", cwd=tree)

    def test_a_session_that_only_enters_another_worktree_stays_where_it_is(self, stage: Stage) -> None:
        main, tree = _worktrees(stage)
        play(stage, "a", cwd=main)
        stage.payload("a", "prompt", text="look over there", cwd=tree, process=GONE)
        kept = stage.store.session("a")
        assert kept is not None
        assert kept.project.root == main

    @pytest.mark.parametrize("days", [2, 36_500])
    def test_a_session_dated_in_the_future_does_not_win_over_later_work(
        self, stage: Stage, days: int
    ) -> None:
        now = stage.now
        stage.now += days * 24 * HOUR
        lines = stage.write("ahead", ("prompt", "task of ahead"), ("edits", "/src/ahead.c"))
        stage.now = now
        stage.payload("ahead", "start", source="startup", process=GONE, transcript=str(lines))
        stage.payload("ahead", "end", reason="other", process=GONE, transcript=str(lines))
        kept = stage.store.session("ahead")
        assert kept is not None
        assert kept.last_event_at == now
        stage.now += MINUTE
        play(stage, "real")
        stage.payload("real", "end", reason="other", process=GONE)
        stage.now += MINUTE
        assert "task of real" in stage.payload("new", "start", source="startup")

    def test_sessions_kept_with_a_wrong_clock_come_in_the_order_in_which_they_were_received(
        self, stage: Stage
    ) -> None:
        play(stage, "first")
        stage.payload("first", "end", reason="other", process=GONE)
        stage.now += 365 * 24 * HOUR
        play(stage, "ahead")
        stage.payload("ahead", "end", reason="other", process=GONE)
        stage.now -= 365 * 24 * HOUR
        assert redate(stage.engine()) == 1
        assert [session.key for session in stage.store.sessions(9)] == ["ahead", "first"]
        stage.now += MINUTE
        play(stage, "real")
        stage.payload("real", "end", reason="other", process=GONE)
        assert "task of real" in stage.payload("new", "start", source="startup")

    def test_what_is_forgotten_does_not_come_back_because_it_is_dated_in_the_future(
        self, stage: Stage
    ) -> None:
        now = stage.now
        stage.now += 48 * HOUR
        path = stage.write("ahead", ("prompt", "task of ahead"))
        stage.now = now
        stage.payload("ahead", "start", source="startup", process=GONE, transcript=str(path))
        forget(stage.store, stage.home / "holdfast", OneSession("ahead"), now)
        stage.now += MINUTE
        moved = path.rename(path.with_stem("moved"))
        stage.payload("ahead", "stop", process=GONE, transcript=str(moved))
        assert not any(isinstance(event, Prompt) for event in stage.store.events("ahead", 99))

    def test_a_start_that_came_by_the_spool_is_answered_with_the_first_prompt(self, stage: Stage) -> None:
        play(stage, "a")
        stage.spooled("b", "start", source="startup")
        assert "task of a" in stage.payload("b", "prompt", text="hello", turn="t1")
        stage.write("b", ("prompt", "hello"), turn="t1")
        assert stage.payload("b", "prompt", text="more") == ""

    def test_a_start_that_was_answered_with_nothing_is_answered(self, stage: Stage) -> None:
        assert stage.payload("b", "start", source="startup") == ""
        play(stage, "later")
        stage.payload("later", "end", reason="other")
        assert stage.payload("b", "prompt", text="hello", turn="t1") == ""


class TestClear:
    def test_the_session_that_this_process_cleared_is_given_back(self, stage: Stage, alive: Process) -> None:
        play(stage, "newest-but-not-mine", GONE)
        play(stage, "a", alive)
        stage.payload("a", "end", reason="clear", process=alive)
        stage.now += 1
        brief = stage.payload("b", "start", source="clear", process=alive)
        assert "Ignore this if you start something new." in brief
        assert "task of a" in brief
        assert stage.store.lineage("b").kind == Reason.CLEAR  # type: ignore[union-attr]

    def test_never_simply_the_newest(self, stage: Stage, alive: Process) -> None:
        play(stage, "a", GONE)
        stage.payload("a", "end", reason="clear", process=GONE)
        assert stage.payload("b", "start", source="clear", process=alive) == ""


class TestResume:
    def test_nothing_is_repeated(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "end", reason="other")
        assert stage.payload("a", "start", source="resume") == ""

    def test_only_what_the_model_cannot_know(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "end", reason="other")
        stage.now += MINUTE
        stage.file("main.c")
        stage.now += HOUR
        brief = stage.payload("a", "start", source="resume")
        assert "main.c: changed since" in brief
        assert "task of a" not in brief

    def test_other_sessions_work_is_named(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "end", reason="other")
        stage.now += MINUTE
        play(stage, "bbbbbbbb-2")
        stage.payload("bbbbbbbb-2", "end", reason="other")
        stage.now += MINUTE
        brief = stage.payload("a", "start", source="resume")
        assert "Session bbbbbbbb" in brief
        assert "task of bbbb" not in brief

    def test_a_brief_that_never_arrived_is_given_now(self, stage: Stage) -> None:
        play(stage, "a")
        stage.write("a", ("boundary", ""))
        assert "task of a" in stage.payload("a", "start", source="resume")


def test_every_brief_has_its_receipt(stage: Stage) -> None:
    play(stage, "a")
    brief = stage.payload("b", "start", source="startup")
    receipt = stage.store.receipts("b", 10)[0]
    assert (receipt.text, receipt.predecessor, receipt.reason) == (brief, "a", Reason.STARTUP)
    assert len(brief) <= receipt.budget == 6_000
    assert all(item.rendered or item.omitted for item in receipt.items)


def test_the_budget_is_the_users(stage: Stage) -> None:
    stage.config = Config(continuity=replace(Continuity(), recovery_budget_chars=500))
    play(stage, "a")
    assert 0 < len(stage.payload("b", "start", source="startup")) <= 500


def _worktrees(stage: Stage) -> tuple[str, str]:
    main, tree = stage.home / "main", stage.home / "tree"
    git = ["git", "-c", "user.name=you", "-c", "user.email=you@example.org"]
    subprocess.run([*git, "init", "-q", str(main)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], cwd=main, check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree), "-b", "side"], cwd=main, check=True)
    return str(main), str(tree)


def test_an_answer_stays_within_the_harnesss_limit_by_leaving_items_out(stage: Stage) -> None:
    stage.config = Config(
        continuity=replace(Continuity(), recovery_budget_chars=20_000), brief=Brief(total_chars=50_000)
    )
    stage.payload("a", "start", source="startup", process=GONE)
    for n in range(12):
        stage.now += 1
        stage.write("a", ("prompt", f"{n} " + "𝔘" * 400), ("says", f"{n} " + "𝔖" * 400))
    stage.payload("a", "end", reason="other", process=GONE)
    brief = stage.payload("b", "start", source="startup")
    assert 5_000 < len(brief.encode()) <= 10_000
    assert brief.endswith("</holdfast-recall>")


GOAL = "Make the harbour crane unload containers by weight"
RULES = [
    rule
    for number in range(16)
    for rule in (
        f"Always grease bearing number {number} before crane shift {number} begins.",
        f"Never paint hull plate {number} while ship number {number} is still afloat.",
        f"Never open lock gate {number} until harbour pilot {number} has come aboard.",
    )
]


def worked(stage: Stage, goal: str = GOAL, rules: list[str] | None = None) -> None:
    """A session with a goal, and with more rules than a brief has room for."""
    stage.payload("a", "start", source="startup")
    stage.payload("a", "prompt", text=goal)
    stage.write("a", ("prompt", goal), ("edits", stage.file("main.c")))
    for rule in RULES if rules is None else rules:
        stage.now += MINUTE
        stage.write("a", ("prompt", rule))


def _here(stage: Stage) -> Within:
    return visible_from(identity(stage.project("app")))


def briefed(stage: Stage) -> str:
    stage.payload("a", "compaction")
    return stage.payload("a", "start", source="compact")


def remembered(stage: Stage, text: str) -> None:
    remember(stage.engine(), identity(stage.project("app")), MemoryRequest(text), source="cli")


def offers(brief: str) -> list[str]:
    """The queries in the last line before the closing mark."""
    return re.findall(r'recall "([^"]+)"', brief.splitlines()[-2])


def test_what_is_remembered_about_the_goal_comes_first_and_then_what_was_left_out(stage: Stage) -> None:
    worked(stage)
    remembered(stage, "The crane may unload containers of at most 30 t weight")
    brief = briefed(stage)
    first, second = offers(brief)
    assert first == "harbour crane unload"
    assert any(words in second for words in ("bearing number", "hull plate", "lock gate"))
    left_out = [rule for rule in RULES if rule not in brief]
    assert any(set(second.split()) <= set(re.split(r"[ .]", rule)) for rule in left_out)


def test_each_of_them_finds_something(stage: Stage) -> None:
    worked(stage)
    given = offers(briefed(stage))
    assert len(given) == 2
    for query in given:
        assert look_up(stage.engine(), identity(stage.project("app")), Query(query))


def test_a_goal_that_hook_and_transcript_report_is_told_once(stage: Stage) -> None:
    worked(stage, rules=[])
    briefed(stage)
    goals = [item for item in stage.store.receipts("a", 1)[0].items if item.section == "Goal"]
    assert [(item.text, item.kind, item.rendered) for item in goals] == [(GOAL, "goal", True)]


def test_a_brief_that_tells_everything_offers_nothing(stage: Stage) -> None:
    worked(stage, rules=[])
    assert offers(briefed(stage)) == []


def test_what_the_brief_tells_already_is_not_offered(stage: Stage) -> None:
    worked(stage, rules=[])
    remembered(stage, GOAL)
    assert offers(briefed(stage)) == []


def test_what_only_shares_a_word_is_not_offered(stage: Stage) -> None:
    worked(stage, rules=[])
    remembered(stage, "The harbour closes at nine")
    assert offers(briefed(stage)) == []


def test_what_was_superseded_is_not_offered(stage: Stage) -> None:
    worked(stage, goal="Which port does the staging database use, and why", rules=[])
    remembered(stage, "The staging database port is 5432")
    assert offers(briefed(stage))
    (memory,) = stage.store.memories(_here(stage), 10)
    with stage.store.writing():
        stage.store.put_memory(replace(memory, superseded_by="a newer one"))
    stage.now += 5 * MINUTE
    assert offers(briefed(stage)) == []


def test_nothing_of_another_project_is_offered(stage: Stage) -> None:
    worked(stage, rules=[])
    other = identity(stage.project("other"))
    remember(
        stage.engine(),
        other,
        MemoryRequest("The crane may unload containers of at most 30 t weight"),
        source="cli",
    )
    assert offers(briefed(stage)) == []


@pytest.mark.parametrize("source", ["startup", "resume", "clear"])
def test_only_a_compaction_takes_what_one_would_ask_for(stage: Stage, source: str) -> None:
    worked(stage)
    remembered(stage, "The crane may unload containers of at most 30 t weight")
    stage.payload("a", "end", reason="exit")
    assert "recall" not in stage.payload("b", "start", source=source).replace("holdfast-recall", "")


@pytest.mark.parametrize("budget", [200, 600, 1_000, 2_000])
def test_the_line_is_within_the_budget_and_a_twentieth_of_it_at_most(stage: Stage, budget: int) -> None:
    stage.config = replace(stage.config, continuity=Continuity(recovery_budget_chars=budget))
    worked(stage)
    brief = briefed(stage)
    assert len(brief) <= budget
    assert bool(offers(brief)) == (budget >= 2_000)
    assert len(brief.splitlines()[-2]) <= budget // 20 or not offers(brief)


def test_the_receipt_knows_what_was_offered_and_the_same_is_offered_again(stage: Stage) -> None:
    worked(stage)
    given = offers(briefed(stage))
    receipt = next(one for one in stage.store.receipts("a", 10) if one.text.startswith(fence(TITLE)[:40]))
    assert [item.text for item in receipt.items if item.kind == "query" and item.rendered] == given
    stage.now += 5 * MINUTE
    assert offers(briefed(stage)) == given
