"""Retests: whether failed tests passed in a later run of the same test runner.

Only for runs whose tests were counted. `exit_meaning` compares commands of any other kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import arguments, folders
from holdfast.core.evidence.commands.outcomes import NAMES_KEPT, TestSummary
from holdfast.core.evidence.commands.shell import Call
from holdfast.core.evidence.trail import CommandRun
from holdfast.lazy_dataclass import dataclass

_FORM_CHARS: Final = 200
_RUNNER: Final = re.compile(r"(?:py)?tests?\b|jest|mocha|nextest|rspec|phpunit|unittest|\bava\b")
_OF_SCRIPTS: Final = re.compile(r"(?:npm|pnpm|yarn|bun run|npx|bunx)\b|jest|vitest|mocha|ava")
_LAUNCHERS: Final = frozenset("python python3 -m uv run poetry pdm hatch rye pipenv bundle exec".split())
_VALUED: Final = re.compile(
    r"-(?:k|m|t|g|p|w|run|skip|tags)|--(?:grep|only|filter|workspace|package|project)"
)
_PASSED_ON: Final = frozenset("-- --run run test".split())
_PARTS: Final = re.compile(r"::| [›>] ")


def passes_failed_tests(failed: CommandRun, passed: CommandRun) -> bool:
    """Whether the tests that failed in one run passed in another: by name, or as part of the whole suite."""
    then, now = failed.tests, passed.tests
    if then is None or now is None or now.failed or not passed.ok:
        return False
    early, late = _test_call(failed.command), _test_call(passed.command)
    if not early or not late or _family(early) != _family(late):
        return False
    if folders(failed.command) != folders(passed.command):
        return False
    # Packages and tests cannot be compared; then only the paths and options count.
    as_many = now.unit != then.unit or now.passed >= then.passed + then.failed
    selection = _selection(late)
    is_superset = as_many and _leaves_nothing_out(selection, _selection(early))
    return is_superset or _names_failed_tests(then, passed.command, selection)


def _test_call(command: str) -> Call | None:
    return next((call for call in shell.calls(command, _FORM_CHARS) if _RUNNER.search(call.program)), None)


def _family(call: Call) -> str:
    """The test runner, without what starts it."""
    if _OF_SCRIPTS.search(call.program):
        return "script"
    return " ".join(word for word in call.program.split() if word not in _LAUNCHERS)


@dataclass(frozen=True, slots=True)
class _Selection:
    """The tests that a call selects: below these paths, with these options; empty means all."""

    paths: tuple[str, ...]
    options: tuple[str, ...]


def _selection(call: Call) -> _Selection:
    words = iter(arguments(call))
    paths: list[str] = []
    options: list[str] = []
    for word in words:
        if _VALUED.fullmatch(word):
            options.append(f"{word} {next(words, '')}")
        elif word not in _PASSED_ON:
            (options if word.startswith("-") else paths).append(word)
    return _Selection(tuple(paths), tuple(options))


def _leaves_nothing_out(late: _Selection, early: _Selection) -> bool:
    """Whether the later call selects at least the same tests: no narrower paths, no additional options."""
    known = "…" not in (*late.paths, *early.paths, *late.options, *early.options)
    below = all(_is_in(path, late.paths) for path in early.paths) and bool(early.paths)
    return known and set(late.options) <= set(early.options) and (below or not late.paths)


def _is_in(path: str, folders: Sequence[str]) -> bool:
    whole = [folder.removesuffix("...").rstrip("/") for folder in folders]
    return any(path == folder or path.startswith(f"{folder}/") or folder == "." for folder in whole)


def _names_failed_tests(then: TestSummary, command: str, late: _Selection) -> bool:
    """Whether all failed tests are known by name, and the later call selects each by name or by file."""
    if not then.failing or len(then.failing) < then.failed:
        return False
    if (
        then.unit and len(then.failing) == NAMES_KEPT
    ):  # more tests of a package may have failed than are named
        return False
    return all(
        _names_test(test, command) or (not late.options and _is_in(test.partition("::")[0], late.paths))
        for test in then.failing
    )


def _names_test(test: str, command: str) -> bool:
    """Whether a command names a test or its parent test."""
    leaf = _PARTS.split(test.partition("[")[0])[-1]
    names = {leaf, leaf.partition("/")[0] if leaf.startswith("Test") else leaf}
    return any(re.search(rf"(?<!\w){re.escape(name)}(?![\w.])", command) for name in names)
