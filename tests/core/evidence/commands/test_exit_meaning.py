"""What the end of a run means, given what was run."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.commands import outcomes
from holdfast.core.evidence.commands.exit_meaning import (
    FOUND_NOTHING,
    NOTHING_MATCHED,
    NOTHING_TO_DO,
    REFUSED,
    STOPPED,
    ExitMeaning,
    has_failed,
    interpret_exit,
    is_resolved_by,
    passes_failed_tests,
)
from holdfast.core.evidence.commands.purpose import Purpose, purpose_of
from holdfast.core.evidence.fact_lines import command_text as shown
from holdfast.core.evidence.trail import CommandRun
from tests.tables import every_row

WRONG_TYPE = "src/a.ts(5,15): error TS2305: No exported member."
PASSED = ExitMeaning(ok=True)
WRONG = ExitMeaning(ok=False, reason=WRONG_TYPE)
NOTHING = ExitMeaning(ok=False, reason=FOUND_NOTHING)
UNMATCHED = ExitMeaning(ok=False, reason=NOTHING_MATCHED)


@pytest.mark.parametrize(
    ("command", "output", "status", "ended"),
    [
        ("npm run build -w web 2>&1 | tail -5", f"{WRONG_TYPE}\nnpm error code 2", 0, WRONG),
        ("npx tsc --noEmit --pretty | head -30", WRONG_TYPE, None, WRONG),
        ("npx tsc --noEmit | grep src/a.ts", WRONG_TYPE, 0, WRONG),
        ("npm run build 2>&1 | tail -5", "built in 2s", 0, PASSED),
        ("npx tsc --noEmit", WRONG_TYPE, 0, PASSED),
        ("cat build.log | tail", WRONG_TYPE, 0, PASSED),
        ("npm run build | tail -3; sed -n 1,9p errors.md", WRONG_TYPE, 0, PASSED),
        ("npm test 2>&1 | tail -20", "error: as it should be\n# pass 4\n# fail 0", 0, PASSED),
        ("npx tsc --noEmit", WRONG_TYPE, 2, WRONG),
        ("grep -rn x src", "", 1, NOTHING),
    ],
)  # fmt: skip
def test_a_check_is_reported_by_its_own_words_where_its_status_is_anothers(
    command: str, output: str, status: int | None, ended: ExitMeaning
) -> None:
    assert interpret_exit(command, purpose_of(command), output, status, ok=not status) == ended


@every_row(
    ("command", "output", "status", "ended"),
    [
        ("grep -rn frobnicate src", "", 1, NOTHING),
        ("rg 'def x' src", "(no output)", 1, NOTHING),
        ("git grep -n x origin/main -- a.py", "", 1, NOTHING),
        ("nl -ba a.py | sed -n 1,80p && rg x b.py", "80 lines of a.py", 1, NOTHING),
        ("cd src && grep x a.py", "", 1, NOTHING),
        ("git log --oneline | grep x", "", 1, NOTHING),
        ("find . -name '*.py' | xargs grep -l x", "", 1, NOTHING),
        ("npx tsc --noEmit | grep -i footer", "", 1, UNMATCHED),
        ("npx tsc --noEmit | grep -v error", "", 1, UNMATCHED),
        ("npm run build && grep -c x dist/a.js", "built in 2s", 1, UNMATCHED),
        ("node list.js | grep x", "", 1, UNMATCHED),
        ("npx tsc --noEmit | grep 'error TS'", "", 1, PASSED),
        ("npm run lint 2>&1 | grep -iE 'error|warning'", "", 1, PASSED),
        ("npx tsc | tee a.log; test -s a.js && npx tsc | grep x", WRONG_TYPE, 1, WRONG),
    ],
)
def test_a_search_that_finds_nothing_has_not_failed(
    command: str, output: str, status: int, ended: ExitMeaning
) -> None:
    assert interpret_exit(command, purpose_of(command), output, status, ok=False) == ended


@pytest.mark.parametrize(
    ("command", "output", "status"),
    [
        ("grep x a.py", "grep: a.py: No such file or directory", 2),
        ("grep x a.py", "grep: a.py: No such file or directory", 1),
        ("git grep x", "fatal: not a git repository", 128),
        ("grep x a.py && make test", "make: *** [test] Error 1", 1),
        ("npx tsc --noEmit; grep x a.py", f"{WRONG_TYPE}\ngrep: a.py: No such file or directory", 2),
        ("git push", "", 1),
        ("grep x a.py", "", None),
        ("", "", 1),
    ],
)
def test_a_search_that_could_not_be_made_has_failed(command: str, output: str, status: int | None) -> None:
    assert interpret_exit(command, purpose_of(command), output, status, ok=False).went_wrong


CLEAN = "On branch main\nnothing to commit, working tree clean\n"


@pytest.mark.parametrize(
    ("command", "output", "done"),
    [
        ("git commit -m 'Mend it'", CLEAN, True),
        ("git add -A && git commit -m 'Mend it' && git push", f"{CLEAN}\n\nCommand exited with code 1", True),
        ("git pull", "Already up to date.", True),
        ("git merge main", "Already up-to-date.", True),
        ("git push 2>&1", "Everything up-to-date", True),
        ("git rebase main", "Current branch topic is up to date.", True),
        ("git commit -m x; make test", f"{CLEAN}make: *** [test] Error 1", False),
        ("git commit -m x", "error: gpg failed to sign the data", False),
        ("git commit -m x", "Changes not staged for commit:\nno changes added to commit", False),
        ("make install", "already up to date", False),
    ],
)
def test_what_git_had_done_already_has_not_failed(command: str, output: str, *, done: bool) -> None:
    ended = interpret_exit(command, purpose_of(command), output, 1, ok=False)
    assert (ended.reason == NOTHING_TO_DO) == done
    assert ended.went_wrong != done


@pytest.mark.parametrize(
    ("command", "reason", "failed"),
    [
        ("make test", "make: *** [test] Error 2", True),
        ("npm run check | tail -3", WRONG_TYPE, True),
        ("sed -n 1,80p missing.py", "sed: can't read missing.py: No such file", False),
        ("ls missing", "", False),
        ("rg x src", FOUND_NOTHING, False),
        ("npx tsc --noEmit | grep footer", NOTHING_MATCHED, False),
        ("git commit -m x", NOTHING_TO_DO, False),
        ("cat private.pem", REFUSED, False),
        ("npm run dev", STOPPED, False),
    ],
)
def test_a_look_up_in_vain_leaves_nothing_undone(command: str, reason: str, *, failed: bool) -> None:
    run = CommandRun(command, 0, ok=False, reason=reason, aim=purpose_of(command))
    assert has_failed(run) is failed


def test_what_passed_or_still_runs_has_not_looked_in_vain() -> None:
    runs = [CommandRun("ls missing", 0, ok, aim=Purpose.LOOK) for ok in (True, None)]
    assert not any(has_failed(run) for run in runs)


@every_row(
    ("failed", "passed", "good"),
    [
        ("git push", "git add -A && git commit -m x && git push", True),
        ("git push", "git push --set-upstream origin topic", True),
        ("git add a.py && git commit -m 'Mend it'", "git commit -m 'Mend it, formatted'", True),
        ("npm install", "npm install --legacy-peer-deps", True),
        ("pytest tests/a.py", "ruff check && pytest tests/a.py", True),
        ("pytest tests/a.py -q --tb=short", "pytest tests/a.py -v", True),
        ("pytest tests/a.py", "pytest -q", True),
        ("go test ./cmd/cli/... -v", "go test ./...", True),
        ("go test ./cmd/cli/... -run TestX", "go test ./cmd/cli/...", False),
        ("pytest tests/a.py", "pytest tests/b.py", False),
        ("pytest", "pytest tests/b.py", False),
        ("ruff check app/a.py", "ruff check /home/you/project/app/a.py", True),
        ("pytest /home/you/project/tests/a.py -q", "pytest tests/a.py", True),
        ("ruff check a.py", "ruff check /home/you/project/lib/a.py", False),
        ("go test ./cmd/cli/...", "go test", False),
        ("make test", "make", False),
        ("python -c 'import a; a.run(1, 2, 3)'", "python -c 'import b; b.run(4, 5, 6)'", False),
        ("git push && make deploy", "git push", False),
        ("ls missing", "ls", False),
    ],
)
def test_a_failure_is_over_once_the_same_was_done(failed: str, passed: str, *, good: bool) -> None:
    assert is_resolved_by(failed, passed) == good


@every_row(
    ("failed", "passed", "good"),
    [
        ("npx tsc --noEmit", "npm run check", True),
        ("npx tsgo --noEmit | grep reader.ts", "npm run build", True),
        ("cd packages/reader && npx tsc -p tsconfig.build.json", "npm run check", True),
        ("cd packages/reader && npx tsc", "cd packages/reader && npm run build", True),
        ("./node_modules/.bin/tsc -p packages/cli", "pnpm run check-types", True),
        ("bunx tsc", "bun run typecheck", True),
        ("mypy src", "make check", True),
        ("npx tsc", "cd packages/reader && npm run build", False),
        ("npx tsc", "pnpm --filter reader build", False),
        ("npx tsc", "npm run lint", False),
        ("npx tsc", "npm run build:docs", False),
        ("npx tsc && npx vitest run", "npm run check", False),
        ("npx eslint src", "npm run build", False),
        ("mypy src", "make build", False),
        ("npm run check", "npx tsc", False),
    ],
)
def test_a_type_checker_that_failed_passes_with_the_script_that_runs_it(
    failed: str, passed: str, *, good: bool
) -> None:
    assert is_resolved_by(failed, passed) == good


@pytest.mark.parametrize(
    ("output", "status", "reason"),
    [
        ("Command aborted", None, STOPPED),
        ("12 files read\n\n\nCommand aborted", None, STOPPED),
        ("Tool execution aborted", None, STOPPED),
        ("Command was interrupted by the user.\n", None, STOPPED),
        ("Command aborted", 1, "Command aborted"),
        ("error: the command aborted early", None, "error: the command aborted early"),
    ],
)
def test_what_a_person_broke_off_was_stopped(output: str, status: int | None, reason: str) -> None:
    assert interpret_exit("make all", purpose_of("make all"), output, status, ok=False) == ExitMeaning(
        ok=False, reason=reason
    )


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
