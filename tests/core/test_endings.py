"""What the end of a run means, given what was run."""

from __future__ import annotations

import pytest

from holdfast.core.endings import found_nothing, made_good


@pytest.mark.parametrize(
    ("command", "output", "status", "nothing"),
    [
        ("grep -rn frobnicate src", "", 1, True),
        ("rg 'def x' src", "(no output)", 1, True),
        ("git grep -n x origin/main -- a.py", "", 1, True),
        ("nl -ba a.py | sed -n 1,80p && rg x b.py", "80 lines of a.py", 1, True),
        ("cd src && grep x a.py", "", 1, True),
        ("grep x a.py", "grep: a.py: No such file or directory", 2, False),
        ("grep x a.py", "grep: a.py: No such file or directory", 1, False),
        ("git grep x", "fatal: not a git repository", 128, False),
        ("grep x a.py && make test", "make: *** [test] Error 1", 1, False),
        ("git push", "", 1, False),
        ("grep x a.py", "", None, False),
        ("", "", 1, False),
    ],
)
def test_a_search_that_finds_nothing_has_not_failed(
    command: str, output: str, status: int | None, *, nothing: bool
) -> None:
    assert found_nothing(command, output, status) == nothing


@pytest.mark.parametrize(
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
        ("go test ./cmd/cli/...", "go test", False),
        ("make test", "make", False),
        ("python -c 'import a; a.run(1, 2, 3)'", "python -c 'import b; b.run(4, 5, 6)'", False),
        ("git push && make deploy", "git push", False),
        ("ls missing", "ls", False),
    ],
)
def test_a_failure_is_over_once_the_same_was_done(failed: str, passed: str, *, good: bool) -> None:
    assert made_good(failed, passed) == good
