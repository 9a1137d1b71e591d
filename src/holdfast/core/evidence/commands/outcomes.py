"""Outcomes: what a command's output says about how it ended.

Rules count tests, find the line that says why something failed, and tell success from failure. `test_runners`
knows how each runner prints its counts; `shell` reads the command itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from holdfast.core.evidence.commands.test_runners import runners_in
from holdfast.core.text.patterns import compiled
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
def tests(text: str) -> TestSummary | None:
    """The counts in a test runner's output; None for an unknown runner, or if no test was run."""
    text = _readable(text)
    for runner in runners_in(text):
        if (counts := runner.count(text)) and any(counts):
            passed, failed = counts
            return TestSummary(passed, failed, _first(runner.failing, text) if failed else (), runner.unit)
    return None


def reason(text: str) -> str:
    """The line that says why something failed, shortened between words; empty if there is none."""
    text = f"\n{_in_lines(_readable(text))}\n"
    return _clue(text) or _last_line(text)


def failed(text: str, exit_status: int | None, *, ok: bool) -> bool:
    """Whether a command failed: by its exit status, the harness's report, or the test summary at its end.

    An exit status of 0 may be that of the `tail` which the tests were piped into.
    """
    if exit_status:
        return True
    if exit_status is None and (not ok or _STATUS.match(text)):
        return True
    summary = tests(text[-_ENDING:])
    return summary is not None and summary.failed > 0


def diagnosis(text: str) -> str:
    """The first line that a checker or a build prints only when it fails; empty if there is none.

    For commands whose exit status is not the checker's own. Tests that passed may also print such a line.
    """
    text = f"\n{_readable(text)}\n"
    if not any(sign in text for sign in _DIAGNOSTIC_SIGNS) or tests(text):
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
