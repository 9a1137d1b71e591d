"""Which failures are evidence: those that happened, until they are over."""

from __future__ import annotations

from holdfast.core.events.event import Action
from holdfast.core.evidence.one_line import command_line
from tests.core.evidence.test_follow import trail
from tests.core.scenes import called, returned


def test_a_failure_that_was_made_good_in_another_way_is_none() -> None:
    result = trail(
        called("c1", Action.RUN, "git push"),
        returned("c1", ok=False, exit_status=128, text="fatal: The current branch has no upstream branch."),
        called("c2", Action.RUN, "git push -u origin topic"),
        returned("c2", exit_status=0),
    )
    assert [(run.command, run.ok) for run in result.commands] == [("git push -u origin topic", True)]


def test_a_build_that_was_piped_on_has_failed_if_it_says_so() -> None:
    wrong = "src/a.ts(3,5): error TS2304: Cannot find name 'y'."
    result = trail(
        called("c1", Action.RUN, "cd /app && npm run build 2>&1 | tail -5"),
        returned("c1", exit_status=0, text=f"{wrong}\nnpm error code 2"),
    )
    assert [(run.command, run.ok, run.reason) for run in result.commands] == [("npm run build", False, wrong)]


def test_a_failing_test_that_passed_by_itself_fails_no_more() -> None:
    result = trail(
        called("c1", Action.RUN, "go test ./..."),
        returned(
            "c1", ok=False, exit_status=1, text="--- FAIL: TestPrune (0.1s)\nFAIL\texample.com/a\t0.2s\n"
        ),
        called("c2", Action.RUN, "go test ./a -run TestPrune -v"),
        returned("c2", exit_status=0, text="--- PASS: TestPrune (0.1s)\nok  \texample.com/a\t0.2s\n"),
    )
    assert [run.command for run in result.commands] == ["go test ./a -run TestPrune -v"]


def test_of_the_same_tests_the_last_failure_counts() -> None:
    failing = "--- FAIL: TestPrune (0.1s)\nFAIL\texample.com/a\t0.2s\n"
    result = trail(
        called("c1", Action.RUN, "go test ./a/... -v | head -100"),
        returned("c1", exit_status=0, text=failing),
        called("c2", Action.RUN, "go test ./a/... | grep -A 20 FAIL"),
        returned("c2", exit_status=0, text=failing),
    )
    assert [run.command for run in result.commands] == ["go test ./a/... | grep -A 20 FAIL"]


def test_a_commit_that_finds_nothing_to_commit_ends_what_failed_before() -> None:
    result = trail(
        called("c1", Action.RUN, "git commit -m 'Mend it'"),
        returned("c1", ok=False, exit_status=1, text="error: a hook refused it"),
        called("c2", Action.RUN, "git commit -m 'Mend all of it'"),
        returned("c2", ok=False, exit_status=1, text="nothing to commit, working tree clean"),
    )
    assert [command_line(run) for run in result.commands] == [
        "Nothing to do: `git commit -m 'Mend all of it'`"
    ]
