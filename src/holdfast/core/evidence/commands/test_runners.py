"""Test runners: how the output of each runner is recognised and counted.

A table and its lookup. `outcomes` decides from the counts whether a command failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from holdfast.core.text.patterns import compiled
from holdfast.lazy_dataclass import dataclass

Counts: TypeAlias = tuple[int, int]
"""Passed and failed."""


@dataclass(frozen=True, slots=True)
class Runner:
    """How a runner's output is recognised, by any of its signs, and counted; how failed tests are found."""

    signs: tuple[str, ...]
    count: Callable[[str], Counts | None]
    failing: re.Pattern[str]
    unit: str = ""
    """What is counted, if not tests."""


def runners_in(text: str) -> Iterator[Runner]:
    """The runners with a sign in the text, in the order in which they are to be tried."""
    words = {word for word in _WORDS if word in text}
    for word, sign, runner in _SIGNS if words else ():
        if word in words and sign in text:
            yield runner


def _lines(pattern: str) -> re.Pattern[str]:
    return compiled(pattern, re.MULTILINE)


def _by(*patterns: str, summed: bool = False) -> Callable[[str], Counts | None]:
    """Counts by the named groups of these patterns: the last match of each, or the sum of all."""
    # The engine looks for a line's end much faster than for `^`.
    ready = [_lines(rf"\n{pattern[1:]}" if pattern[0] == "^" else pattern) for pattern in patterns]

    def count(text: str) -> Counts | None:
        seen: dict[str, int] = {}
        lines = f"\n{text}"
        for pattern in ready:
            matches = list(pattern.finditer(lines))
            for match in matches if summed else matches[-1:]:
                for name, number in match.groupdict().items():
                    seen[name] = seen.get(name, 0) + int(number or 0)
        return _counts(seen) if seen else None

    return count


def _counts(seen: dict[str, int]) -> Counts:
    failures = seen.get("failed", 0) + seen.get("errors", 0)
    passed = seen.get("passed", seen.get("total", 0) - failures - seen.get("skipped", 0))
    return max(passed, 0), failures


_PYTEST: Final = _lines(r"^=*+ ?([0-9]+ [a-z]+(?:, [0-9]+ [a-z]+)*+) in [0-9.]+ ?s")
_PYTEST_COUNT: Final = compiled(r"([0-9]+) (passed|failed|error)")


def _pytest(text: str) -> Counts | None:
    summaries = _PYTEST.findall(text)
    seen = {name: int(number) for number, name in _PYTEST_COUNT.findall(summaries[-1])} if summaries else {}
    return (seen.get("passed", 0), seen.get("failed", 0) + seen.get("error", 0)) if seen else None


_GO_TEST: Final = _lines(r"^ *--- (PASS|FAIL): (\S+)")
_GO_PACKAGE: Final = _lines(r"^(ok|FAIL)[ \t]+(\S+)[ \t]+(?:[0-9.]+s|\(cached\)|\[(?:build|setup) failed\])")

_GO_FAILING: Final = _lines(r"^(?: *--- FAIL: |FAIL[ \t]+(?=\S+[ \t]+\[(?:build|setup) failed\]))(\S+)")


def _go_tests(text: str) -> Counts | None:
    """The counts of single tests; a parent of subtests does not count."""
    results = _GO_TEST.findall(text)
    parents = {name.rpartition("/")[0] for _, name in results}
    verdicts = [verdict for verdict, name in results if name not in parents]
    return (verdicts.count("PASS"), verdicts.count("FAIL")) if verdicts else None


def _go_packages(text: str) -> Counts | None:
    verdicts = [verdict for verdict, _ in _GO_PACKAGE.findall(text)]
    return (verdicts.count("ok"), verdicts.count("FAIL")) if verdicts else None


_NEVER: Final = compiled(r"(?!)")
_RUNNERS: Final = (
    Runner(
        (" passed in ", " passed, ", " failed in ", " failed, ", " error in ", " errors in ", " error, "),
        _pytest,
        _lines(r"^(?:FAILED|ERROR) ([^\s:]+(?:::.+?)?)(?: - .*)?$"),
    ),
    Runner(
        ("test result: ",),
        _by(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed", summed=True),
        _lines(r"^test (\S+)(?: - should panic)? \.\.\. FAILED"),
    ),
    Runner(
        (" tests run: ",),
        _by(r"\d+ tests? run: (?P<passed>\d+) passed(?: \([^)\n]*\))?(?:, (?P<failed>\d+) failed)?"),
        _lines(r"^ +FAIL \[[^\]\n]*\] +(?:\([^)\n]*\) +)?\S+ (\S+)"),
    ),
    Runner(
        ("Ran ",),
        _by(
            r"^Ran (?P<total>\d+) tests? in ",
            r"^(?:OK|FAILED) \((?:failures=(?P<failed>\d+))?(?:, )?(?:errors=(?P<errors>\d+))?"
            r"(?:, )?(?:skipped=(?P<skipped>\d+))?",
        ),
        _lines(r"^(?:FAIL|ERROR): (\S+)"),
    ),
    Runner(
        ("Tests:  ",),
        _by(
            r"^Tests: +(?:(?P<failed>\d+) failed, )?(?:\d+ skipped, )?(?:\d+ todo, )?"
            r"(?:(?P<passed>\d+) passed, )?\d+ total"
        ),
        _lines(r"^ +● (.+ › .+)$"),
    ),
    Runner(
        (" Tests ",),
        _by(r"^ +Tests +(?:(?P<failed>\d+) failed)?(?: \| )?(?:(?P<passed>\d+) passed)?.*\(\d+\)$"),
        _lines(r"^ *(?:FAIL +|[×✗] )(\S.*? > .+?)(?: \d+ms)?$"),
    ),
    Runner(
        (" pass\n",),
        _by(r"^ *(?P<passed>\d+) pass$", r"^ *(?P<failed>\d+) fail$"),
        _lines(r"^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$"),
    ),
    Runner(
        ("# pass ", "ℹ pass "),
        _by(r"^[#ℹ] pass (?P<passed>\d+)$", r"^[#ℹ] fail (?P<failed>\d+)$"),
        _lines(r"^(?:not ok \d+ - |✖ (?!failing))(.+?)(?: \([\d.]+ms\))?$"),
    ),
    Runner(
        (" passing", " failing"),
        _by(r"^ +(?P<passed>\d+) passing\b", r"^ +(?P<failed>\d+) failing$"),
        _lines(r"^ +\d+\) (.+(?:\n {3,}\S.*){0,4}?:)$"),
    ),
    Runner(
        (" failure",),
        _by(r"^(?:\d+ doctests?, )?(?:\d+ propert\w+, )?(?P<total>\d+) tests?, (?P<failed>\d+) failures?"),
        _lines(r"^ +\d+\) (?:test|property|doctest) (.+)$"),
    ),
    Runner(
        (" failure",),
        _by(r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?"),
        _lines(r"^rspec \S+ # (.+)$"),
    ),
    Runner(
        ("Tests run: ",),
        _by(
            r"Tests run: (?P<total>\d+), +Failures: (?P<failed>\d+)"
            r"(?:, +Errors: (?P<errors>\d+))?(?:, +Skipped: (?P<skipped>\d+))?"
        ),
        _lines(r"^\[ERROR\] +(\w[\w.$]*\.\w+)(?::\d+| -- | +Time)"),
    ),
    Runner(
        ("Assertions: ",),
        _by(
            r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
            r"(?:, Failures: (?P<failed>\d+))?(?:, [A-Z]\w+: \d+){0,4}?(?:, Skipped: (?P<skipped>\d+))?"
        ),
        _lines(r"^\d+\) (\S+::\S+)"),
    ),
    Runner(("OK (",), _by(r"^OK \((?P<total>\d+) tests?, \d+ assertions?\)"), _NEVER),
    Runner(
        (" tests completed, ",),
        _by(r"(?P<total>\d+) tests completed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?"),
        _lines(r"^(\S.* > .+) FAILED$"),
    ),
    Runner(
        ("% tests passed",),
        _by(r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)"),
        _lines(r"^\s*\d+ - (\S+) \("),
    ),
    Runner(
        ("Failed:",),
        _by(r"(?:Passed|Failed)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+)"),
        _lines(r"^ +Failed (\S+)"),
    ),
    # Go lists passed tests only in verbose mode; otherwise it reports packages.
    Runner(("--- PASS: ",), _go_tests, _GO_FAILING),
    Runner(("--- FAIL: ",), _go_packages, _GO_FAILING, "package"),
    Runner(("ok  \t", "FAIL\t"), _go_packages, _lines(r"^FAIL[ \t]+(\S+)[ \t]"), "package"),
    Runner(("--- FAIL: ",), _go_tests, _GO_FAILING),
)

# Every sign contains one of these words. Most outputs contain few of them, which saves two searches of three.
_WORDS: Final = (
    *(" pass", " fail", " error", " tests ", "Tests", "FAIL", "PASS: ", "Failed:", "OK (", "Ran ", "ok  \t"),
    *("test result: ", "Assertions: "),
)
_SIGNS: Final = tuple(
    (next(word for word in _WORDS if word in sign), sign, runner)
    for runner in _RUNNERS
    for sign in runner.signs
)
