"""Outcomes: what the output of a command says: its test counts, whether it failed, and why.

A table has the output of each test runner: how it is recognised, counted, and where it names failed tests.
`exit_meaning` decides what the outcome means for the work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, TypeAlias

from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass

NAMES_KEPT: Final = 3
REASON_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class TestSummary:
    """How many tests passed and failed (errors count as failures), and the first that failed."""

    passed: int
    failed: int
    failing: tuple[str, ...] = ()
    unit: str = ""
    """What is counted, if not tests: a package contains any number of them."""


@lru_cache(maxsize=2)  # Several callers ask about the same output in turn.
def count_tests(text: str) -> TestSummary | None:
    """The counts in a test runner's output; None for an unknown runner, or if no test was run."""
    text = _readable(text)
    for runner in _runners_in(text):
        if (counts := runner.count(text)) and any(counts):
            names = _first(runner.failing, text) if counts[1] else ()
            return TestSummary(*counts, names, runner.unit)
    return None


def failure_reason(text: str) -> str:
    """The line that says why something failed, shortened between words; empty if there is none."""
    text = f"\n{_in_lines(_readable(text))}\n"
    return _clue(text) or _last_line(text)


def is_failure(text: str, exit_status: int | None, *, ok: bool) -> bool:
    """Whether a command failed: by its exit status, the harness's report, or the test summary at its end.

    An exit status of 0 may be that of the `tail` which the tests were piped into.
    """
    if exit_status:
        return True
    if exit_status is None and (not ok or _STATUS.match(text)):
        return True
    summary = count_tests(text[-_ENDING:])
    return summary is not None and summary.failed > 0


def diagnosis(text: str) -> str:
    """The first line that a checker or a build prints only when it fails; empty if there is none.

    For commands whose exit status is not the checker's own. Tests that passed may also print such a line.
    """
    text = f"\n{_readable(text)}\n"
    if not any(sign in text for sign in _DIAGNOSTIC_SIGNS) or count_tests(text):
        return ""
    starts = [match.start() for match in islice(_DIAGNOSTIC.finditer(text), _LINES_TRIED)]
    if not starts:
        return ""
    # If no such line says why, another one may; the last diagnostic is the most specific.
    return _first_informative(text, starts) or _clue(text) or _on_one_line(_line(text, starts[-1]))


_STATUS: Final = compiled(r"\s*(?:Exit code|Process exited with code) [1-9]")
_ENDING: Final = 2_000
_BEGINNING_READ: Final = 40_000
_END_READ: Final = 160_000
_BREAK: Final = "\\n"
_QUOTE: Final = compiled(r"[\"`]|(?<!\w)'|'(?!\w)")
_COLOURS: Final = compiled(r"\x1b\[[0-9;?]*+[A-Za-z]")


def _readable(text: str) -> str:
    """The text without colours; only the beginning and end of a very long one."""
    if len(text) > _BEGINNING_READ + _END_READ:
        text = f"{text[:_BEGINNING_READ]}\n{text[-_END_READ:]}"
    text = _COLOURS.sub("", text) if "\x1b" in text else text
    return text.replace("\r", "") if "\r" in text else text


def _in_lines(text: str) -> str:
    """The text with escaped line breaks made real, except within quotation marks."""
    if _BREAK not in text:
        return text
    lines = text.split("\n")
    return "\n".join(line.replace(_BREAK, "\n") if _is_many_lines(line) else line for line in lines)


def _is_many_lines(line: str) -> bool:
    before = line.partition(_BREAK)[0]
    # One part of a Windows path may begin with n, but hardly two.
    return line.count(_BREAK) > 1 and len(_QUOTE.findall(before)) % 2 == 0


def _first(failing: re.Pattern[str], text: str) -> tuple[str, ...]:
    """The first failing tests, without parents of other failing tests."""
    unique = dict.fromkeys(one_line(name).rstrip(":") for name in failing.findall(text))
    names = list(unique)[: 4 * NAMES_KEPT]
    leaves = [name for name in names if not any(other.startswith(f"{name}/") for other in names)]
    return tuple(shortened(name, REASON_LENGTH) for name in leaves[:NAMES_KEPT])


# ---------------------------------------------------------------- diagnostics

_DIAGNOSTIC_SIGNS: Final = ("rror", "ERR!", "***", "✖", ".go:", "ail", "FAIL", "ELIFECYCLE", "offense")
_DIAGNOSTIC: Final = compiled(
    # Monorepo tools prefix each line with the task: `web:build: src/a.ts(3,5): error TS2304: …`.
    r"^(?:[\w@/.-]{1,60}:[\w.-]{1,40}: )?(?:"
    r"(?:[^\s:][^\n:]{0,200}?(?:\(\d+,\d+\):|:\d+:\d+ -) )?error TS\d{3,5}: \S"
    r"|(?:fatal )?error(?:\[E\d{4}\])?: \S"
    r"|[^\s:][^\n:]{0,200}:\d+(?::\d+)?: (?:fatal )?error: \S"
    r"|[\w./-]{1,200}\.go:\d+:\d+: \S|[ \t]+\d+:\d+[ \t]+error[ \t]+\S"
    r"|npm (?:ERR!|error)(?: |$)|ERR_PNPM_|[ \t]?ELIFECYCLE\b|error Command failed with exit code [1-9]"
    r"|(?:make(?:\[\d+\])?|ninja): (?:\*\*\* |build stopped)|\[[\w:-]+\] ERROR task failed"
    r"|Found [1-9]\d* errors?\b(?![^\n]*\b0 remaining)|✖ [1-9]\d* problems?\b(?! \(0 errors)"
    r"|\d+ files? inspected, [1-9]\d* offenses?\b"
    r"|Failed to compile\b|error during build:|BUILD FAILED\b|Build FAILED\.|FAILURE: Build failed"
    r"|\[(?:INFO|ERROR)\] BUILD FAILURE|== Compilation error in file |\*\* \(\w*(?:Error|Mix)\) "
    r")",
    re.MULTILINE,
)

# ---------------------------------------------------------------- reasons

_LINES_TRIED: Final = 200
_LINE_READ: Final = 400


def _lines_with(*signs: str, like: str = "") -> Callable[[str], str]:
    """A search for the first informative line that contains one of these signs and matches the pattern."""
    pattern = compiled(like)

    def find(text: str) -> str:
        starts = sorted({start for sign in signs for start in _starts(sign, text)})
        return _first_informative(text, (start for start in starts if pattern.search(_line(text, start))))

    return find


def _lines_beginning(like: str) -> Callable[[str], str]:
    """A search for the first informative line whose beginning matches the pattern."""
    # The engine looks for a line's end much faster than for `^`.
    pattern = compiled(rf"\n{like}")

    def find(text: str) -> str:
        return _first_informative(
            text, (match.start() + 1 for match in islice(pattern.finditer(text), _LINES_TRIED))
        )

    return find


def _starts(sign: str, text: str) -> Iterator[int]:
    """Where the lines with a sign begin; a sign that starts with a line break must be at the beginning."""
    at = text.find(sign)
    for _ in range(_LINES_TRIED):
        if at < 0:
            return
        yield text.rfind("\n", 0, at + 1) + 1
        at = text.find(sign, text.find("\n", at + 1))


_TRACEBACK: Final = "Traceback (most recent call last)"
_RAISED: Final = compiled(r"^[A-Za-z_][\w.]*(?:: .*)?$", re.MULTILINE)


def _raised(text: str) -> str:
    """The exception at the foot of the last traceback."""
    start = text.rfind(_TRACEBACK)
    raised = _RAISED.search(text, start + len(_TRACEBACK)) if start >= 0 else None
    return _first_informative(text, [raised.start()]) if raised else ""


_REPORTED_FAILURE: Final = compiled(r"^(?:make(?:\[\d+\])?: \*\*\*|FAIL[ \t]+\S).*", re.MULTILINE)


def _reported_failure(text: str) -> str:
    """The line that only reports the failure of something else."""
    match = _REPORTED_FAILURE.search(text) if "***" in text or "FAIL" in text else None
    return _on_one_line(match[0]) if match else ""


def _last_line(text: str) -> str:
    lines = (line[:_LINE_READ].strip() for line in reversed(text.splitlines()))
    return next((_on_one_line(line) for line in lines if not _UNINFORMATIVE.match(line)), "")


_EXCEPTIONS: Final = ("Error", "Exception", "Failure", "Timeout", "Expired", "Exit", "Interrupt")
_CLUES: Final = (
    # pytest marks the lines of an error; lines that compare two values follow.
    _lines_with("\nE  ", like=r"^E +(?![+?-] )\S"),
    # Small tools begin with their own name.
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
        r"|^\s*(?:Error|ERROR|ERR_[A-Z_]+|npm ERR!|npm error|\d+:\d+ +error)\s+\S",
    ),
    _lines_with("No such file", "ot found", "ermission denied", "annot ", "can't ", "nable to "),
    # A Go test says where it failed; the code under test may have logged before.
    _lines_beginning(r"[ \t]+[\w./@-]+_test\.go:\d+: "),
    _lines_beginning(
        r"[ \t]*[\w./@-]+\.\w{1,5}(?::\d+(?::\d+)?:? | (?=(?:format|lint|parse|assist)\b[^\n]{0,60}━))"
    ),
    # Credo prints a bar, a category and a priority before each finding.
    _lines_beginning(r"┃ \[[A-Z]\] \S "),
    _lines_with(
        *"ail nvalid issing nknown refused × ✗ ✘ ❌".split(),
        like=r"[×✗✘❌]|\b(?:[Ff]ail(?:s|ed|ure)?|FAILED|[Ii]nvalid|[Mm]issing|refused)\b"
        r"|\b[Uu]nknown (?:\w+ )?(?:option|flag|field|argument|(?:sub)?command|host)s?\b",
    ),
    _reported_failure,
)
_VALUES: Final = compiled(
    r"^[ \t]*(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|got|code|left|right):? +\S.*", re.MULTILINE
)


def _clue(text: str) -> str:
    """The first clue in the text."""
    return next(filter(None, (clue(text) for clue in _CLUES)), "")


def _first_informative(text: str, starts: Iterable[int]) -> str:
    """The first informative line of those that begin at `starts`, with the lines that belong to it."""
    for start in starts:
        line = _line(text, start).strip()
        if not _UNINFORMATIVE.match(line):
            end = text.find("\n", start)
            return _on_one_line(_completed(line, text[end : end + 1_000]))
    return ""


def _completed(line: str, after: str) -> str:
    """A line with the next one if it ends with a colon, and with the values that it compares."""
    if line.endswith(":"):
        following = next((rest.strip() for rest in after.splitlines() if rest.strip()), "")
        line = line if _UNINFORMATIVE.match(following) or following[:1].isdigit() else f"{line} {following}"
    if drawn := _DRAWN.search(line):
        # Biome names the place above a drawn line, and says below it what is wrong.
        finding = _FINDING.search(after)
        line = line[: drawn.start()] + (f": {finding[1].rstrip(':')}" if finding else "")
    if "expect(" in line or line.startswith(("Assertion with", "Failure/Error")):
        line = "; ".join((line, *(value.strip() for value in _VALUES.findall(after)[:3])))
    return line


def _line(text: str, start: int) -> str:
    return text[start : min(text.find("\n", start), start + _LINE_READ)]


def _on_one_line(line: str) -> str:
    return shortened(_MARK.sub("", one_line(line)), REASON_LENGTH)


_DRAWN: Final = compiled(r"\s*[━─═]{3,}+.*")
_FINDING: Final = compiled(r"\n[ \t]*[×✖] (\S[^\n]{0,200})")
_MARK: Final = compiled(r"^(?:E|┃) (?=\S)")
_UNINFORMATIVE: Final = compiled(
    r"(?:E +)?(?:"
    # what a harness or a runner adds
    r"Exit code \d|Process exited|Chunk ID: |Wall time: |Original token count: |Output:$|=+(?: |$)|[-+]{3} "
    r"|[\W_]*$|FAIL(?:ED)?(?: \(|$)|(?:--- )?FAIL:?\s|ok\s|\d+ (?:errors?|failed|problems?|tests?)\b"
    r"|Found \d+ |error: found \d|(?:> )?\d+ +[|│]|\# Unhandled error|Bun v\d|BUILD FAIL|\* What went wrong"
    # an error without a message, or one that only reports another
    r"|(?:[Ee]rror|ERROR|Error occurred)[:.!]?$|[\[(]?[\w:-]*[\])]? ?ERROR task|.*\(errors have been logged\)"
    r"|.*\berrors? w(?:ere|as) emitted|collect2: |.*ELIFECYCLE|make(?:\[\d+\])?: \*\*\*|ninja: build stopped"
    r"|.*(?:exit(?:ed with)? (?:code|status)|exitcode) '?\d+'?.{0,12}$"
    r"|error: (?:could not compile|aborting due|test failed|process didn't|recipe )"
    r"|npm (?:ERR!|error)(?:\s*$| (?:code|errno|path|command|workspace|location|syscall|A complete|Lifecycle"
    r"|Failed at)\b)"
    r"|\[ERROR\] *(?:->|To see|Re-run|For more|\[Help|Failed to execute goal|$)"
    # what surrounds an error
    r"|--> |Traceback \(|During handling|The above exception|(?:warning|note|help|hint|info|WARN|npm warn)\b"
    r"|Use `|To fix this issue"
    r")"
)


# ---------------------------------------------------------------- test runners

Counts: TypeAlias = tuple[int, int]
"""Passed and failed."""


@dataclass(frozen=True, slots=True)
class _Runner:
    """How a runner's output is recognised, by any of its signs, and counted; how failed tests are found."""

    signs: tuple[str, ...]
    count: Callable[[str], Counts | None]
    failing: re.Pattern[str]
    unit: str = ""
    """What is counted, if not tests."""


def _runners_in(text: str) -> Iterator[_Runner]:
    """The runners with a sign in the text, in the order in which they are to be tried."""
    words = {word for word in _WORDS if word in text}
    for word, sign, runner in _SIGNS if words else ():
        if word in words and sign in text:
            yield runner


def _multiline(pattern: str) -> re.Pattern[str]:
    return compiled(pattern, re.MULTILINE)


def _by(*patterns: str, summed: bool = False) -> Callable[[str], Counts | None]:
    """Counts by the named groups of these patterns: the last match of each, or the sum of all."""
    # The engine looks for a line's end much faster than for `^`.
    ready = [_multiline(rf"\n{pattern[1:]}" if pattern[0] == "^" else pattern) for pattern in patterns]

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


_PYTEST: Final = _multiline(r"^=*+ ?([0-9]+ [a-z]+(?:, [0-9]+ [a-z]+)*+) in [0-9.]+ ?s")
_PYTEST_COUNT: Final = compiled(r"([0-9]+) (passed|failed|error)")


def _pytest(text: str) -> Counts | None:
    summaries = _PYTEST.findall(text)
    seen = {name: int(number) for number, name in _PYTEST_COUNT.findall(summaries[-1])} if summaries else {}
    return (seen.get("passed", 0), seen.get("failed", 0) + seen.get("error", 0)) if seen else None


_GO_TEST: Final = _multiline(r"^ *--- (PASS|FAIL): (\S+)")
_GO_PACKAGE: Final = _multiline(
    r"^(ok|FAIL)[ \t]+(\S+)[ \t]+(?:[0-9.]+s|\(cached\)|\[(?:build|setup) failed\])"
)

_GO_FAILING: Final = _multiline(r"^(?: *--- FAIL: |FAIL[ \t]+(?=\S+[ \t]+\[(?:build|setup) failed\]))(\S+)")


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
    _Runner(
        (" passed in ", " passed, ", " failed in ", " failed, ", " error in ", " errors in ", " error, "),
        _pytest,
        _multiline(r"^(?:FAILED|ERROR) ([^\s:]+(?:::.+?)?)(?: - .*)?$"),
    ),
    _Runner(
        ("test result: ",),
        _by(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed", summed=True),
        _multiline(r"^test (\S+)(?: - should panic)? \.\.\. FAILED"),
    ),
    _Runner(
        (" tests run: ",),
        _by(r"\d+ tests? run: (?P<passed>\d+) passed(?: \([^)\n]*\))?(?:, (?P<failed>\d+) failed)?"),
        _multiline(r"^ +FAIL \[[^\]\n]*\] +(?:\([^)\n]*\) +)?\S+ (\S+)"),
    ),
    _Runner(
        ("Ran ",),
        _by(
            r"^Ran (?P<total>\d+) tests? in ",
            r"^(?:OK|FAILED) \((?:failures=(?P<failed>\d+))?(?:, )?(?:errors=(?P<errors>\d+))?"
            r"(?:, )?(?:skipped=(?P<skipped>\d+))?",
        ),
        _multiline(r"^(?:FAIL|ERROR): (\S+)"),
    ),
    _Runner(
        ("Tests:  ",),
        _by(
            r"^Tests: +(?:(?P<failed>\d+) failed, )?(?:\d+ skipped, )?(?:\d+ todo, )?"
            r"(?:(?P<passed>\d+) passed, )?\d+ total"
        ),
        _multiline(r"^ +● (.+ › .+)$"),
    ),
    _Runner(
        (" Tests ",),
        _by(r"^ +Tests +(?:(?P<failed>\d+) failed)?(?: \| )?(?:(?P<passed>\d+) passed)?.*\(\d+\)$"),
        _multiline(r"^ *(?:FAIL +|[×✗] )(\S.*? > .+?)(?: \d+ms)?$"),
    ),
    _Runner(
        (" pass\n",),
        _by(r"^ *(?P<passed>\d+) pass$", r"^ *(?P<failed>\d+) fail$"),
        _multiline(r"^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$"),
    ),
    _Runner(
        ("# pass ", "ℹ pass "),
        _by(r"^[#ℹ] pass (?P<passed>\d+)$", r"^[#ℹ] fail (?P<failed>\d+)$"),
        _multiline(r"^(?:not ok \d+ - |✖ (?!failing))(.+?)(?: \([\d.]+ms\))?$"),
    ),
    _Runner(
        (" passing", " failing"),
        _by(r"^ +(?P<passed>\d+) passing\b", r"^ +(?P<failed>\d+) failing$"),
        _multiline(r"^ +\d+\) (.+(?:\n {3,}\S.*){0,4}?:)$"),
    ),
    _Runner(
        (" failure",),
        _by(r"^(?:\d+ doctests?, )?(?:\d+ propert\w+, )?(?P<total>\d+) tests?, (?P<failed>\d+) failures?"),
        _multiline(r"^ +\d+\) (?:test|property|doctest) (.+)$"),
    ),
    _Runner(
        (" failure",),
        _by(r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?"),
        _multiline(r"^rspec \S+ # (.+)$"),
    ),
    _Runner(
        ("Tests run: ",),
        _by(
            r"Tests run: (?P<total>\d+), +Failures: (?P<failed>\d+)"
            r"(?:, +Errors: (?P<errors>\d+))?(?:, +Skipped: (?P<skipped>\d+))?"
        ),
        _multiline(r"^\[ERROR\] +(\w[\w.$]*\.\w+)(?::\d+| -- | +Time)"),
    ),
    _Runner(
        ("Assertions: ",),
        _by(
            r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
            r"(?:, Failures: (?P<failed>\d+))?(?:, [A-Z]\w+: \d+){0,4}?(?:, Skipped: (?P<skipped>\d+))?"
        ),
        _multiline(r"^\d+\) (\S+::\S+)"),
    ),
    _Runner(("OK (",), _by(r"^OK \((?P<total>\d+) tests?, \d+ assertions?\)"), _NEVER),
    _Runner(
        (" tests completed, ",),
        _by(r"(?P<total>\d+) tests completed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?"),
        _multiline(r"^(\S.* > .+) FAILED$"),
    ),
    _Runner(
        ("% tests passed",),
        _by(r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)"),
        _multiline(r"^\s*\d+ - (\S+) \("),
    ),
    _Runner(
        ("Failed:",),
        _by(r"(?:Passed|Failed)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+)"),
        _multiline(r"^ +Failed (\S+)"),
    ),
    # Go lists passed tests only in verbose mode; otherwise it reports packages.
    _Runner(("--- PASS: ",), _go_tests, _GO_FAILING),
    _Runner(("--- FAIL: ",), _go_packages, _GO_FAILING, "package"),
    _Runner(("ok  \t", "FAIL\t"), _go_packages, _multiline(r"^FAIL[ \t]+(\S+)[ \t]"), "package"),
    _Runner(("--- FAIL: ",), _go_tests, _GO_FAILING),
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
