"""Outcomes: what a command's output says about how it ended.

Test runs are counted, the line that says why something failed is found, and success is told from failure,
all by rule. What the command was is the subject of `shell`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from holdfast.core.patterns import compiled
from holdfast.core.text import one_line, shortened

NAMES_KEPT: Final = 3
REASON_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class TestSummary:
    """How many tests passed and failed (errors count as failures), and the first that failed."""

    passed: int
    failed: int
    failing: tuple[str, ...] = ()


def tests(text: str) -> TestSummary | None:
    """What a test runner's output comes to; None where it is none that we know, or no test was run."""
    text = _readable(text)
    for runner in _RUNNERS:
        if any(sign in text for sign in runner.signs) and (counts := runner.count(text)) and any(counts):
            passed, failed = counts
            return TestSummary(passed, failed, _first(runner.failing, text) if failed else ())
    return None


def reason(text: str) -> str:
    """The line that says why something failed, shortened between words; nothing where there is none."""
    text = f"\n{_readable(text)}\n"
    return next(filter(None, (clue(text) for clue in _CLUES)), "")


def failed(text: str, exit_status: int | None, *, ok: bool) -> bool:
    """Whether a command failed: by its status, by the harness's word, or by the test summary at its end.

    A status of 0 may be that of the `tail` which the tests were piped into.
    """
    if exit_status:
        return True
    if exit_status is None and (not ok or _STATUS.match(text)):
        return True
    summary = tests(text[-_ENDING:])
    return summary is not None and summary.failed > 0


_STATUS: Final = compiled(r"\s*(?:Exit code|Process exited with code) [1-9]")
_ENDING: Final = 2_000
_BEGINNING_READ: Final = 40_000
_END_READ: Final = 160_000
_COLOURS: Final = compiled(r"\x1b\[[0-9;?]*+[A-Za-z]")


def _readable(text: str) -> str:
    """The text without colours; of a very long one the beginning and the end."""
    if len(text) > _BEGINNING_READ + _END_READ:
        text = f"{text[:_BEGINNING_READ]}\n{text[-_END_READ:]}"
    text = _COLOURS.sub("", text) if "\x1b" in text else text
    return text.replace("\r", "") if "\r" in text else text


# ---------------------------------------------------------------- test runners

_Counts: TypeAlias = tuple[int, int]
"""Passed and failed."""


@dataclass(frozen=True, slots=True)
class _Runner:
    """How one runner's output is known by any of its signs, counted, and asked for the tests that failed."""

    signs: tuple[str, ...]
    count: Callable[[str], _Counts | None]
    failing: re.Pattern[str]


def _lines(pattern: str) -> re.Pattern[str]:
    return compiled(pattern, re.MULTILINE)


def _by(*patterns: str, summed: bool = False) -> Callable[[str], _Counts | None]:
    """Counts by the named groups of these patterns: the last match of each, or the sum of all."""
    ready = [_lines(pattern) for pattern in patterns]

    def count(text: str) -> _Counts | None:
        seen: dict[str, int] = {}
        for pattern in ready:
            matches = list(pattern.finditer(text))
            for match in matches if summed else matches[-1:]:
                for name, number in match.groupdict().items():
                    seen[name] = seen.get(name, 0) + int(number or 0)
        return _counts(seen) if seen else None

    return count


def _counts(seen: dict[str, int]) -> _Counts:
    failures = seen.get("failed", 0) + seen.get("errors", 0)
    passed = seen.get("passed", seen.get("total", 0) - failures - seen.get("skipped", 0))
    return max(passed, 0), failures


_PYTEST: Final = _lines(r"^=*+ ?([0-9]+ [a-z]+(?:, [0-9]+ [a-z]+)*+) in [0-9.]+ ?s")
_PYTEST_COUNT: Final = compiled(r"([0-9]+) (passed|failed|error)")


def _pytest(text: str) -> _Counts | None:
    found = _PYTEST.findall(text)
    seen = {name: int(number) for number, name in _PYTEST_COUNT.findall(found[-1])} if found else {}
    return (seen.get("passed", 0), seen.get("failed", 0) + seen.get("error", 0)) if seen else None


_GO_TEST: Final = _lines(r"^ *--- (PASS|FAIL): (\S+)")
_GO_PACKAGE: Final = _lines(r"^(ok|FAIL)[ \t]+(\S+)[ \t]+(?:[0-9.]+s|\(cached\)|\[(?:build|setup) failed\])")


def _go(text: str) -> _Counts | None:
    """Single tests where they are listed, otherwise packages; a parent of subtests is not one more."""
    found = _GO_TEST.findall(text)
    parents = {name.rpartition("/")[0] for _, name in found}
    verdicts = [verdict for verdict, name in found if name not in parents]
    packages = [verdict for verdict, _ in _GO_PACKAGE.findall(text)]
    passed = verdicts.count("PASS") or packages.count("ok")
    failures = verdicts.count("FAIL") or packages.count("FAIL")
    return (passed, failures) if verdicts or packages else None


_NEVER: Final = compiled(r"(?!)")
_RUNNERS: Final = (
    _Runner(
        (" passed in ", " passed, ", " failed in ", " failed, ", " error in ", " errors in ", " error, "),
        _pytest,
        _lines(r"^(?:FAILED|ERROR) ([^\s:]+(?:::.+?)?)(?: - .*)?$"),
    ),
    _Runner(
        ("test result: ",),
        _by(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed", summed=True),
        _lines(r"^test (\S+)(?: - should panic)? \.\.\. FAILED"),
    ),
    _Runner(
        (" tests run: ",),
        _by(r"\d+ tests? run: (?P<passed>\d+) passed(?: \([^)\n]*\))?(?:, (?P<failed>\d+) failed)?"),
        _lines(r"^ +FAIL \[[^\]\n]*\] +(?:\([^)\n]*\) +)?\S+ (\S+)"),
    ),
    _Runner(
        ("Ran ",),
        _by(
            r"^Ran (?P<total>\d+) tests? in ",
            r"^(?:OK|FAILED) \((?:failures=(?P<failed>\d+))?(?:, )?(?:errors=(?P<errors>\d+))?"
            r"(?:, )?(?:skipped=(?P<skipped>\d+))?",
        ),
        _lines(r"^(?:FAIL|ERROR): (\S+)"),
    ),
    _Runner(
        ("Tests:  ",),
        _by(
            r"^Tests: +(?:(?P<failed>\d+) failed, )?(?:\d+ skipped, )?(?:\d+ todo, )?"
            r"(?:(?P<passed>\d+) passed, )?\d+ total"
        ),
        _lines(r"^ +● (.+ › .+)$"),
    ),
    _Runner(
        (" Tests ",),
        _by(r"^ +Tests +(?:(?P<failed>\d+) failed)?(?: \| )?(?:(?P<passed>\d+) passed)?.*\(\d+\)$"),
        _lines(r"^ *(?:FAIL +|[×✗] )(\S.*? > .+?)(?: \d+ms)?$"),
    ),
    _Runner(
        (" pass\n",),
        _by(r"^ *(?P<passed>\d+) pass$", r"^ *(?P<failed>\d+) fail$"),
        _lines(r"^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$"),
    ),
    _Runner(
        ("# pass ", "ℹ pass "),
        _by(r"^[#ℹ] pass (?P<passed>\d+)$", r"^[#ℹ] fail (?P<failed>\d+)$"),
        _lines(r"^(?:not ok \d+ - |✖ (?!failing))(.+?)(?: \([\d.]+ms\))?$"),
    ),
    _Runner(
        (" passing", " failing"),
        _by(r"^ +(?P<passed>\d+) passing\b", r"^ +(?P<failed>\d+) failing$"),
        _lines(r"^ +\d+\) (.+(?:\n {3,}\S.*){0,4}?:)$"),
    ),
    _Runner(
        (" failure",),
        _by(r"^(?:\d+ doctests?, )?(?:\d+ propert\w+, )?(?P<total>\d+) tests?, (?P<failed>\d+) failures?"),
        _lines(r"^ +\d+\) (?:test|property|doctest) (.+)$"),
    ),
    _Runner(
        (" failure",),
        _by(r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?"),
        _lines(r"^rspec \S+ # (.+)$"),
    ),
    _Runner(
        ("Tests run: ",),
        _by(
            r"Tests run: (?P<total>\d+), +Failures: (?P<failed>\d+)"
            r"(?:, +Errors: (?P<errors>\d+))?(?:, +Skipped: (?P<skipped>\d+))?"
        ),
        _lines(r"^\[ERROR\] +(\w[\w.$]*\.\w+)(?::\d+| -- | +Time)"),
    ),
    _Runner(
        ("Assertions: ",),
        _by(
            r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
            r"(?:, Failures: (?P<failed>\d+))?(?:, [A-Z]\w+: \d+){0,4}?(?:, Skipped: (?P<skipped>\d+))?"
        ),
        _lines(r"^\d+\) (\S+::\S+)"),
    ),
    _Runner(("OK (",), _by(r"^OK \((?P<total>\d+) tests?, \d+ assertions?\)"), _NEVER),
    _Runner(
        (" tests completed, ",),
        _by(r"(?P<total>\d+) tests completed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?"),
        _lines(r"^(\S.* > .+) FAILED$"),
    ),
    _Runner(
        ("% tests passed",),
        _by(r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)"),
        _lines(r"^\s*\d+ - (\S+) \("),
    ),
    _Runner(
        ("Failed:",),
        _by(r"(?:Passed|Failed)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+)"),
        _lines(r"^ +Failed (\S+)"),
    ),
    _Runner(("--- FAIL: ",), _go, _lines(r"^ *--- FAIL: (\S+)")),
    _Runner(("--- PASS: ",), _go, _NEVER),
    _Runner(("ok  \t", "FAIL\t"), _go, _lines(r"^FAIL[ \t]+(\S+)[ \t]")),
)


def _first(failing: re.Pattern[str], text: str) -> tuple[str, ...]:
    """The first failing tests, without those that only contain another."""
    found = dict.fromkeys(one_line(name).rstrip(":") for name in failing.findall(text))
    names = list(found)[: 4 * NAMES_KEPT]
    leaves = [name for name in names if not any(other.startswith(f"{name}/") for other in names)]
    return tuple(shortened(name, REASON_LENGTH) for name in leaves[:NAMES_KEPT])


# ---------------------------------------------------------------- reasons

_LINES_TRIED: Final = 200
_LINE_READ: Final = 400


def _lines_with(*signs: str, like: str = "") -> Callable[[str], str]:
    """A search for the first line that holds one of these signs, is like the pattern, and says something."""
    pattern = compiled(like)

    def find(text: str) -> str:
        starts = sorted({start for sign in signs for start in _starts(sign, text)})
        return _told(text, (start for start in starts if pattern.search(_line(text, start))))

    return find


def _lines_beginning(like: str) -> Callable[[str], str]:
    """A search for the first line that begins like the pattern and says something."""
    # The engine looks for a line's end much faster than for `^`.
    pattern = compiled(rf"\n{like}")

    def find(text: str) -> str:
        return _told(text, (match.start() + 1 for match in islice(pattern.finditer(text), _LINES_TRIED)))

    return find


def _starts(sign: str, text: str) -> Iterator[int]:
    """Where the lines begin that hold a sign, or begin with it if it has a line's end in front."""
    at = text.find(sign)
    for _ in range(_LINES_TRIED):
        if at < 0:
            return
        yield text.rfind("\n", 0, at + 1) + 1
        at = text.find(sign, text.find("\n", at + 1))


_TRACEBACK: Final = "Traceback (most recent call last)"
_RAISED: Final = _lines(r"^[A-Za-z_][\w.]*(?:: .*)?$")


def _raised(text: str) -> str:
    """The exception at the foot of the last traceback."""
    start = text.rfind(_TRACEBACK)
    raised = _RAISED.search(text, start + len(_TRACEBACK)) if start >= 0 else None
    return _told(text, [raised.start()]) if raised else ""


_PASSED_ON: Final = _lines(r"^(?:make(?:\[\d+\])?: \*\*\*|FAIL[ \t]+\S).*")


def _passed_on(text: str) -> str:
    """The line that says no more than that something below it failed."""
    found = _PASSED_ON.search(text) if "***" in text or "FAIL" in text else None
    return _on_one_line(found[0]) if found else ""


def _last_line(text: str) -> str:
    lines = (line[:_LINE_READ].strip() for line in reversed(text.splitlines()))
    return next((_on_one_line(line) for line in lines if not _SAYS_NOTHING.match(line)), "")


_EXCEPTIONS: Final = ("Error", "Exception", "Failure", "Timeout", "Expired", "Exit", "Interrupt")
_CLUES: Final = (
    # pytest marks what it found; lines that compare two values follow.
    _lines_with("\nE  ", like=r"^E +(?![+?-] )\S"),
    # Small tools put their own name in front.
    _lines_beginning(
        r"(?:/\S*/)?(?:sed|ls|cat|rg|grep|cp|mv|rm|find|tree|bash|zsh|sh|\(eval\))(?::cd)?(?::\d+)?: "
    ),
    _raised,
    _lines_with(
        *_EXCEPTIONS,
        "panicked at",
        "Assertion with",
        "expect(received)",
        like=r"^\s*(?:(?:[\w@/.-]+:|Uncaught|Unhandled|Caused by:|Exception in thread \S+) |\*\* \(|\[)?"
        rf"(?:(?:[\w$]+(?:\.|::)){{0,6}}[A-Z]\w*(?:{'|'.join(_EXCEPTIONS)})(?:\)| \[\w+\])?:? \S"
        r"|thread '.* panicked at |Failure/Error: |Assertion with .* failed|expect\(received\))",
    ),
    _lines_with(
        "rror",
        "ERR",
        "fatal: ",
        "panic: ",
        like=r"\b(?:[Ee]rror|ERROR|fatal|panic)(?:\[[\w-]+\]| TS\d+| \([^)\n]*\))?: +\S"
        r"|^\s*(?:Error|ERROR|ERR_[A-Z_]+|npm ERR!|npm error|\d+:\d+ +error) +\S",
    ),
    _lines_with("No such file", "ot found", "ermission denied", "annot ", "can't ", "nable to "),
    # A test of Go says where it failed; the code under test may well have logged before.
    _lines_beginning(r"[ \t]+[\w./@-]+_test\.go:\d+: "),
    _lines_beginning(r"[ \t]*[\w./@-]+\.\w{1,5}:\d+(?::\d+)?:? "),
    _lines_with(
        *"ail nvalid issing refused × ✗ ✘ ❌".split(),
        like=r"[×✗✘❌]|\b(?:[Ff]ail(?:s|ed|ure)?|FAILED|[Ii]nvalid|[Mm]issing|refused)\b",
    ),
    _passed_on,
    _last_line,
)
_VALUES: Final = _lines(r"^[ \t]*(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|got|code|left|right):? +\S.*")


def _told(text: str, starts: Iterable[int]) -> str:
    """The first of these lines that says something, with what belongs to it."""
    for start in starts:
        line = _line(text, start).strip()
        if not _SAYS_NOTHING.match(line):
            end = text.find("\n", start)
            return _on_one_line(_completed(line, text[end : end + 1_000]))
    return ""


def _completed(line: str, after: str) -> str:
    """A line with the next one where it ends with a colon, and with the values that it compares."""
    if line.endswith(":"):
        following = next((rest.strip() for rest in after.splitlines() if rest.strip()), "")
        line = line if _SAYS_NOTHING.match(following) or following[:1].isdigit() else f"{line} {following}"
    if "expect(" in line or line.startswith(("Assertion with", "Failure/Error")):
        line = "; ".join((line, *(value.strip() for value in _VALUES.findall(after)[:3])))
    return line


def _line(text: str, start: int) -> str:
    return text[start : min(text.find("\n", start), start + _LINE_READ)]


def _on_one_line(line: str) -> str:
    return shortened(_PYTEST_MARK.sub("", one_line(line)), REASON_LENGTH)


_PYTEST_MARK: Final = compiled(r"^E (?=\S)")
_SAYS_NOTHING: Final = compiled(
    r"(?:E +)?(?:"
    # what a harness or a runner adds of its own
    r"Exit code \d|Process exited|Chunk ID: |Wall time: |Original token count: |Output:$|=+(?: |$)|[-+]{3} "
    r"|[\W_]*$|FAIL(?:ED)?(?: \(|$)|(?:--- )?FAIL:?\s|ok\s|\d+ (?:errors?|failed|problems?|tests?)\b"
    r"|Found \d+ |error: found \d|(?:> )?\d+ +[|│]|\# Unhandled error|Bun v\d|BUILD FAIL|\* What went wrong"
    # an error without a message, or one that only passes on another's
    r"|(?:[Ee]rror|ERROR|Error occurred)[:.!]?$|[\[(]?[\w:-]*[\])]? ?ERROR task|.*\(errors have been logged\)"
    r"|.*\berrors? w(?:ere|as) emitted|collect2: |.*ELIFECYCLE|make(?:\[\d+\])?: \*\*\*|ninja: build stopped"
    r"|.*(?:exit(?:ed with)? (?:code|status)|exitcode) '?\d+'?.{0,12}$"
    r"|error: (?:could not compile|aborting due|test failed|process didn't|recipe )"
    r"|npm (?:ERR!|error)(?: (?:code|errno|path|command|syscall|A complete|Lifecycle|Failed at)\b|\s*$)"
    r"|\[ERROR\] *(?:->|To see|Re-run|For more|\[Help|Failed to execute goal|$)"
    # what stands around an error
    r"|--> |Traceback \(|During handling|The above exception|(?:warning|note|help|hint|info|WARN|npm warn)\b"
    r"|Use `|To fix this issue"
    r")"
)
