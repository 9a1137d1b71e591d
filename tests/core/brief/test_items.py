"""Items: what a statement is labelled with where its section alone would mislead, and what it is worth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.brief.brief_input import BriefInput, Item, KeptByHarness, Reason
from holdfast.core.brief.items import GOAL_SCORE, LATEST_SCORE, candidates
from holdfast.core.brief.layout import lines
from holdfast.core.events.event import Action, Event, LeftRunning, Origin
from tests.core.scenes import KEY, MINUTE, NOON, after, called, prompt, ran, returned, said, session, touched

COMMIT = "git commit -m 'Mend the till'"
COMMITTED = "[main 1a2b3c4] Mend the till\n 1 file changed, 2 insertions(+)"


def of(*events: Event, reason: Reason = Reason.COMPACT) -> BriefInput:
    return BriefInput(reason, after(session(), *events), NOON)


def items(brief_input: BriefInput) -> dict[str, Item]:
    return {item.text: item for item in candidates(brief_input)}


def written(brief_input: BriefInput) -> list[str]:
    """Every line of a brief that has room for all."""
    return list(lines([replace(item, rendered=True) for item in candidates(brief_input)]))


def test_an_earlier_request_is_labelled_and_the_current_one_is_not() -> None:
    first = "Count the rows of the register, because the shop pays by them."
    goals = [
        item.text
        for item in candidates(
            of(prompt(first, "p1"), prompt("Now rename the till of the second shop", "p2", NOON + MINUTE))
        )
        if item.section == "Goal"
    ]
    assert goals == [f"Earlier: {first}", "Now rename the till of the second shop"]


def test_the_current_request_is_told_whatever_else_there_is() -> None:
    listed = items(of(prompt("Mend the till of the first shop", "p1"), said("It counts twice.", "a1")))
    assert listed["Mend the till of the first shop"].score == GOAL_SCORE
    assert listed["It counts twice."].score == LATEST_SCORE


def test_files_edited_since_the_last_commit_are_told_apart() -> None:
    work = (*touched("src/till.py"), *ran(COMMIT, text=COMMITTED), *touched("src/tax.py"))
    found = written(of(prompt("Mend the till", "p1"), *work))
    assert "- Edited, not committed: src/tax.py" in found
    assert "- Changed: src/till.py" in found


PUSHED = ran("git push", text="To example.org:shop.git\n   0f0f0f0..1a2b3c4  main -> main")
STASHED = ran("git stash", text="Saved working directory and index state WIP on main: 1a2b3c4 Mend the till")


def told_of(*events: Event) -> list[str]:
    """The lines that say what became of files, behind a prompt."""
    rows = written(of(prompt("Mend the till", "p1"), *events))
    return [row for row in rows if row.startswith(("- Edited", "- Changed", "- Read", "- The edits"))]


def test_a_push_commits_nothing() -> None:
    work = (*ran(COMMIT, text=COMMITTED), *touched("src/tax.py"), *PUSHED)
    assert told_of(*work) == ["- Edited, not committed: src/tax.py"]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git checkout -- src/till.py", ""),
        ("git checkout src", "Updated 1 path from the index"),
        ("git checkout .", "Updated 1 path from the index"),
        ("git restore src/till.py", ""),
        ("git checkout HEAD -- src/till.py", ""),
        ("git reset --hard", "HEAD is now at 1a2b3c4 Mend the till"),
    ],
)
def test_a_file_whose_edits_git_took_back_is_not_edited(command: str, output: str) -> None:
    edited = touched("src/till.py")
    assert told_of(*edited) == ["- Edited, not committed: src/till.py"]
    assert told_of(*edited, *ran(command, text=output)) == ["- Read last: src/till.py"]


def test_what_git_leaves_is_edited_still() -> None:
    new = touched("src/new.py", Action.WRITE)
    before = (*touched("src/tax.py"), *ran(COMMIT, text=COMMITTED))
    restored = ran("git checkout .", text="Updated 1 path from the index")
    assert told_of(*before, *touched("src/till.py"), *new, *restored) == [
        "- Edited, not committed: src/new.py",
        "- Changed: src/tax.py",
        "- Read last: src/till.py",
    ]
    other = ran("git checkout -- src/tax.py")
    assert told_of(*touched("src/till.py"), *other) == ["- Edited, not committed: src/till.py"]


def test_edits_that_were_stashed_are_told_so_until_they_are_back_or_dropped() -> None:
    work = (*touched("src/till.py"), *STASHED)
    hint = "- The edits are stashed, not committed: `git stash pop` brings them back."
    assert told_of(*work) == [hint, "- Edited, then stashed: src/till.py"]
    assert told_of(*work, *touched("src/tax.py"))[1:] == [
        "- Edited, then stashed: src/till.py",
        "- Edited, not committed: src/tax.py",
    ]
    back = ran("git stash pop", text="Dropped refs/stash@{0} (0123456789)")
    assert told_of(*work, *back) == ["- Edited, not committed: src/till.py"]
    dropped = ran("git stash drop", text="Dropped refs/stash@{0} (0123456789)")
    assert told_of(*work, *dropped) == ["- Read last: src/till.py"]


def test_a_file_that_differs_has_a_line_of_its_own() -> None:
    edited = of(prompt("Mend the till", "p1"), *touched("src/till.py"))
    marked = replace(edited, marks={"/home/you/app/src/till.py": "deleted", "/home/you/app/a.md": "changed"})
    found = written(marked)
    assert "- Edited src/till.py — UNCONFIRMED: deleted" in found
    assert "- a.md: UNCONFIRMED: changed" in found


def running(call: str) -> LeftRunning:
    return LeftRunning(session=KEY, record="r", at=NOON, origin=Origin.TOOL, call=call, handle="b1")


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        (Reason.COMPACT, "Left running: `npm run dev (all)` (b1)"),
        (Reason.STARTUP, "Was left running: `npm run dev (all)`"),
    ],
)
def test_what_was_left_running_has_its_handle_only_in_its_own_process(reason: Reason, line: str) -> None:
    started = (called("c1", Action.RUN, "npm run dev (all)"), running("c1"))
    assert line in items(of(*started, reason=reason))


def test_a_statement_about_a_deleted_file_says_so_and_a_step_about_it_is_gone() -> None:
    told = "The cause was `legacy.py`, which rounds twice."
    step = "Next: port legacy.py to the new rounding."
    work = (*touched("src/legacy.py"), said(f"{told} {step}", "a1"), *ran("rm src/legacy.py"))
    listed = items(of(prompt("Mend the sums", "p1"), *work))
    assert f"{told} (by now gone: legacy.py)" in listed
    assert not any("port legacy.py" in text for text in listed)


def test_prompts_that_the_harness_restores_count_less_but_not_the_goal() -> None:
    first = "Count the rows of the register, because the shop pays by them."
    plain = of(prompt(first, "p1"), prompt("Rename the till of the second shop", "p2", NOON + MINUTE))
    kept = replace(plain, kept_by_harness=KeptByHarness(prompts=True))
    before, restored = items(plain), items(kept)
    assert restored[f"Earlier: {first}"].score < before[f"Earlier: {first}"].score / 2
    assert restored["Rename the till of the second shop"].score == GOAL_SCORE


def test_after_a_compaction_outcomes_count_more() -> None:
    work = (prompt("Mend the till", "p1"), *ran("make test", text="12 passed"), said("Mended.", "a1"))
    compacted, started = items(of(*work)), items(of(*work, reason=Reason.STARTUP))
    (text,) = [one for one in compacted if one.startswith("`make test` passed")]
    assert compacted[text].score > started[text].score


def test_a_subagent_that_reported_is_told_in_its_own_process_alone() -> None:
    done = (called("c1", Action.DELEGATE, "Review the migrations"), running("c1"), returned("c1"))
    line = "Subagent done, can be asked again: “Review the migrations” (b1)"
    assert line in items(of(prompt("Mend it", "p1"), *done))
    assert not any(
        "Review" in text for text in items(of(prompt("Mend it", "p1"), *done, reason=Reason.STARTUP))
    )
