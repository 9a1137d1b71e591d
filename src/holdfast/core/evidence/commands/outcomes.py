"""Outcomes: what a command's output says about how it ended.

Test runs are counted, the line that says why something failed is found, and success is told from failure,
all by rule. How each test runner counts stands in `runners`; what the command was is the subject of `shell`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from holdfast.core.evidence.commands.test_runners import signed_in
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
    """What the numbers are of, where that is not tests: a package has any number of them."""


@lru_cache(maxsize=2)  # How a run ended and what its tests came to are asked in turn, of the same output.
def tests(text: str) -> TestSummary | None:
    """What a test runner's output comes to; None where it is none that we know, or no test was run."""
    text = _readable(text)
    for runner in signed_in(text):
        if (counts := runner.count(text)) and any(counts):
            passed, failed = counts
            return TestSummary(passed, failed, _first(runner.failing, text) if failed else (), runner.unit)
    return None


def reason(text: str) -> str:
    """The line that says why something failed, shortened between words; nothing where there is none."""
    text = f"\n{_in_lines(_readable(text))}\n"
    return _clue(text) or _last_line(text)


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


def diagnosis(text: str) -> str:
    """The first line that a checker or a builder prints only when it fails; nothing where there is none.

    For a command whose status is not the checker's own. Tests that passed may well have printed such a line.
    """
    text = f"\n{_readable(text)}\n"
    if not any(sign in text for sign in _DIAGNOSTIC_SIGNS) or tests(text):
        return ""
    found = [match.start() for match in islice(_DIAGNOSTIC.finditer(text), _LINES_TRIED)]
    if not found:
        return ""
    # Where no such line says why, another may; of those the last is the least general.
    return _told(text, found) or _clue(text) or _on_one_line(_line(text, found[-1]))


_STATUS: Final = compiled(r"\s*(?:Exit code|Process exited with code) [1-9]")
_ENDING: Final = 2_000
_BEGINNING_READ: Final = 40_000
_END_READ: Final = 160_000
_BREAK: Final = "\\n"
_QUOTE: Final = compiled(r"[\"`]|(?<!\w)'|'(?!\w)")
_COLOURS: Final = compiled(r"\x1b\[[0-9;?]*+[A-Za-z]")


def _readable(text: str) -> str:
    """The text without colours; of a very long one the beginning and the end."""
    if len(text) > _BEGINNING_READ + _END_READ:
        text = f"{text[:_BEGINNING_READ]}\n{text[-_END_READ:]}"
    text = _COLOURS.sub("", text) if "\x1b" in text else text
    return text.replace("\r", "") if "\r" in text else text


def _in_lines(text: str) -> str:
    """The text with line breaks where a program wrote the sign for one; not within what it quotes."""
    if _BREAK not in text:
        return text
    lines = text.split("\n")
    return "\n".join(line.replace(_BREAK, "\n") if _is_of_many(line) else line for line in lines)


def _is_of_many(line: str) -> bool:
    before = line.partition(_BREAK)[0]
    # A name in a path may begin with n, but hardly two of them.
    return line.count(_BREAK) > 1 and len(_QUOTE.findall(before)) % 2 == 0


def _first(failing: re.Pattern[str], text: str) -> tuple[str, ...]:
    """The first failing tests, without those that only contain another."""
    found = dict.fromkeys(one_line(name).rstrip(":") for name in failing.findall(text))
    names = list(found)[: 4 * NAMES_KEPT]
    leaves = [name for name in names if not any(other.startswith(f"{name}/") for other in names)]
    return tuple(shortened(name, REASON_LENGTH) for name in leaves[:NAMES_KEPT])


# ---------------------------------------------------------------- diagnostics

_DIAGNOSTIC_SIGNS: Final = ("rror", "ERR!", "***", "✖", ".go:", "ail", "FAIL", "ELIFECYCLE", "offense")
_DIAGNOSTIC: Final = compiled(
    # Monorepo tools put the task in front of each line: `web:build: src/a.ts(3,5): error TS2304: …`.
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
_RAISED: Final = compiled(r"^[A-Za-z_][\w.]*(?:: .*)?$", re.MULTILINE)


def _raised(text: str) -> str:
    """The exception at the foot of the last traceback."""
    start = text.rfind(_TRACEBACK)
    raised = _RAISED.search(text, start + len(_TRACEBACK)) if start >= 0 else None
    return _told(text, [raised.start()]) if raised else ""


_PASSED_ON: Final = compiled(r"^(?:make(?:\[\d+\])?: \*\*\*|FAIL[ \t]+\S).*", re.MULTILINE)


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
        r"|^\s*(?:Error|ERROR|ERR_[A-Z_]+|npm ERR!|npm error|\d+:\d+ +error)\s+\S",
    ),
    _lines_with("No such file", "ot found", "ermission denied", "annot ", "can't ", "nable to "),
    # A test of Go says where it failed; the code under test may well have logged before.
    _lines_beginning(r"[ \t]+[\w./@-]+_test\.go:\d+: "),
    _lines_beginning(
        r"[ \t]*[\w./@-]+\.\w{1,5}(?::\d+(?::\d+)?:? | (?=(?:format|lint|parse|assist)\b[^\n]{0,60}━))"
    ),
    # Credo puts a bar before each finding, and its kind and weight.
    _lines_beginning(r"┃ \[[A-Z]\] \S "),
    _lines_with(
        *"ail nvalid issing nknown refused × ✗ ✘ ❌".split(),
        like=r"[×✗✘❌]|\b(?:[Ff]ail(?:s|ed|ure)?|FAILED|[Ii]nvalid|[Mm]issing|refused)\b"
        r"|\b[Uu]nknown (?:\w+ )?(?:option|flag|field|argument|(?:sub)?command|host)s?\b",
    ),
    _passed_on,
)
_VALUES: Final = compiled(
    r"^[ \t]*(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|got|code|left|right):? +\S.*", re.MULTILINE
)


def _clue(text: str) -> str:
    """What the first of the clues finds that finds anything."""
    return next(filter(None, (clue(text) for clue in _CLUES)), "")


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
    if drawn := _DRAWN.search(line):
        # Biome names the place above a line that is drawn, and says below it what is wrong there.
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
    r"|npm (?:ERR!|error)(?:\s*$| (?:code|errno|path|command|workspace|location|syscall|A complete|Lifecycle"
    r"|Failed at)\b)"
    r"|\[ERROR\] *(?:->|To see|Re-run|For more|\[Help|Failed to execute goal|$)"
    # what stands around an error
    r"|--> |Traceback \(|During handling|The above exception|(?:warning|note|help|hint|info|WARN|npm warn)\b"
    r"|Use `|To fix this issue"
    r")"
)
