"""What the end of a run means, given what was run."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.commands.exit_meaning import (
    FOUND_NOTHING,
    NOTHING_MATCHED,
    NOTHING_TO_DO,
    REFUSED,
    STOPPED,
    ExitMeaning,
    ending,
    has_failed,
    is_resolved_by,
    looked_in_vain,
)
from holdfast.core.evidence.commands.purpose import Purpose, aim
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
def test_a_check_is_told_by_its_own_words_where_its_status_is_anothers(
    command: str, output: str, status: int | None, ended: ExitMeaning
) -> None:
    assert ending(command, aim(command), output, status, ok=not status) == ended


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
    assert ending(command, aim(command), output, status, ok=False) == ended


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
    assert ending(command, aim(command), output, status, ok=False).went_wrong


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
    ended = ending(command, aim(command), output, 1, ok=False)
    assert (ended.reason == NOTHING_TO_DO) == done
    assert ended.went_wrong != done


@pytest.mark.parametrize(
    ("command", "reason", "failed", "in_vain"),
    [
        ("make test", "make: *** [test] Error 2", True, False),
        ("npm run check | tail -3", WRONG_TYPE, True, False),
        ("sed -n 1,80p missing.py", "sed: can't read missing.py: No such file", False, True),
        ("ls missing", "", False, True),
        ("rg x src", FOUND_NOTHING, False, True),
        ("npx tsc --noEmit | grep footer", NOTHING_MATCHED, False, True),
        ("git commit -m x", NOTHING_TO_DO, False, True),
        ("cat private.pem", REFUSED, False, False),
        ("npm run dev", STOPPED, False, False),
    ],
)
def test_a_look_up_in_vain_leaves_nothing_undone(
    command: str, reason: str, *, failed: bool, in_vain: bool
) -> None:
    run = CommandRun(command, 0, ok=False, reason=reason, aim=aim(command))
    assert (has_failed(run), looked_in_vain(run)) == (failed, in_vain)


def test_what_passed_or_still_runs_has_not_looked_in_vain() -> None:
    runs = [CommandRun("ls missing", 0, ok, aim=Purpose.LOOK) for ok in (True, None)]
    assert not any(has_failed(run) or looked_in_vain(run) for run in runs)


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
    assert ending("make all", aim("make all"), output, status, ok=False) == ExitMeaning(
        ok=False, reason=reason
    )
