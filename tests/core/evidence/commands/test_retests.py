"""Whether tests that failed have passed since."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.commands import outcomes
from holdfast.core.evidence.commands.retests import passes_failed_tests
from holdfast.core.evidence.one_line import ran as shown
from holdfast.core.evidence.trail import CommandRun
from tests.tables import every_row


def ran(command: str, passed: int, failed: int = 0, *failing: str) -> CommandRun:
    return CommandRun(command, 0, ok=not failed, tests=outcomes.TestSummary(passed, failed, failing))


@every_row(
    ("failed", "passed"),
    [
        # by their names
        (ran("go test ./cli/...", 4, 1, "TestPrune"), ran('go test ./cli/... -run "TestPrune|TestX" -v', 2)),
        (ran("go test ./...", 4, 1, "TestPrune/empty"), ran("go test ./cli -run TestPrune", 3)),
        (ran("pytest -q", 9, 1, "tests/a.py::test_sum"), ran("uv run pytest tests/a.py::test_sum", 1)),
        (ran("pytest", 9, 1, "tests/a.py::T::test_sum[1-2]"), ran("python -m pytest -k test_sum", 2)),
        (ran("pytest", 9, 1, "tests/a.py::test_sum"), ran("pytest tests/a.py -q", 3)),
        (ran("pytest", 9, 2, "tests/a.py::test_x", "b.py::test_y"), ran("pytest tests/a.py b.py", 5)),
        # among all of them
        (ran("pytest tests/a.py", 2, 1), ran("pytest tests", 40)),
        (ran("pytest tests/a.py -k sum", 0, 1), ran("poetry run pytest tests/a.py --tb=short", 3)),
        (ran("npm test", 40, 2), ran("npx vitest run", 42)),
        (ran("npx vitest run src/a.test.ts", 3, 1), ran("pnpm test", 80)),
        (ran("cd web && npm test", 3, 1), ran("cd web && npm test -- --silent", 4)),
        (ran("go test ./cli/... -run TestX", 1, 1), ran("go test ./cli/... -count=1", 9)),
    ],
)  # fmt: skip
def test_tests_that_have_passed_since_fail_no_more(failed: CommandRun, passed: CommandRun) -> None:
    assert passes_failed_tests(failed, passed)


@every_row(
    ("failed", "passed"),
    [
        (ran("pytest tests/a.py", 2, 1), ran("pytest tests/b.py", 9)),
        (ran("pytest tests/a.py", 2, 1), ran("pytest -k other", 9)),
        (ran("pytest tests/a.py tests/b.py", 2, 1), ran("pytest tests/a.py", 9)),
        (ran("pytest", 20, 1), ran("pytest tests", 8)),
        (ran("pytest", 20, 4, "tests/a.py::test_x"), ran("pytest tests/a.py", 2)),
        (ran("pytest", 20, 1, "tests/a.py::test_x"), ran("pytest tests/a.py -k test_y", 1)),
        (ran("pytest", 20, 1, "tests/a.py::test_x"), ran("pytest -k test_xy", 1)),
        (ran("pytest tests/a.py", 2, 1), ran("pytest tests", 40, 1)),
        (ran("cargo test", 2, 1), ran("pytest", 40)),
        (ran("cd web && npm test", 2, 1), ran("cd api && npm test", 40)),
        (ran("make check", 2, 1), ran("make all", 40)),
        (ran("npm test", 2, 1), CommandRun("npm test", 0, ok=True)),
        (ran("npm test", 2, 1), CommandRun("npm test", 0)),
    ],
)
def test_tests_that_were_not_run_again_still_fail(failed: CommandRun, passed: CommandRun) -> None:
    assert not passes_failed_tests(failed, passed)


def packages(command: str, passed: int, failed: int = 0, *failing: str) -> CommandRun:
    counted = outcomes.TestSummary(passed, failed, failing, "package")
    return CommandRun(command, 0, ok=not failed, tests=counted)


@pytest.mark.parametrize(
    ("failed", "passed", "over"),
    [
        (packages("go test ./...", 4, 1, "TestPrune"), packages("go test ./...", 5), True),
        (packages("go test ./...", 4, 1, "TestPrune"), ran("go test ./cli -run TestPrune -v", 1), True),
        (packages("go test ./...", 4, 1, "TestPrune", "TestX"), ran("go test -run TestPrune -v", 1), False),
        (packages("go test ./...", 4, 1, "TestA", "TestB", "TestC"), ran("go test -run Test", 3), False),
        (ran("go test ./cli/... -v", 30, 1), packages("go test ./cli/...", 2), True),
        (ran("go test ./cli/... -v", 30, 1), packages("go test ./web/...", 2), False),
    ],
)  # fmt: skip
def test_packages_and_tests_are_compared_by_what_was_run(
    failed: CommandRun, passed: CommandRun, *, over: bool
) -> None:
    assert passes_failed_tests(failed, passed) is over


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (packages("go test ./...", 1), "`go test ./...` (1 package passed)"),
        (packages("go test ./...", 2, 1, "TestX"), "`go test ./...` (1 of 3 packages failed: TestX)"),
        (ran("go test -v ./...", 2, 1, "TestX"), "`go test -v ./...` (1 of 3 failed: TestX)"),
    ],
)
def test_a_count_says_what_it_is_of_where_that_is_not_tests(run: CommandRun, told: str) -> None:
    assert shown(run) == told
