"""Exit meaning: whether a command failed, given its exit status, its output and its purpose.

A search that finds nothing has not failed; a check whose output is piped may have. A failure is resolved once
the same work was done, or once the tests that failed pass in a later run. `outcomes` reads the output itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from holdfast.core.evidence.commands import outcomes, shell
from holdfast.core.evidence.commands.outcomes import NAMES_KEPT, TestSummary
from holdfast.core.evidence.commands.purpose import Purpose, final_search
from holdfast.core.evidence.commands.shell import ProgramCall, parse_command
from holdfast.core.evidence.trail import CommandRun
from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass

REFUSED: Final = "the user refused it"
"""Replaces the output of a command that the user did not allow to run."""
STOPPED: Final = "it was stopped"
"""Replaces the output of a command that was stopped from outside."""
FOUND_NOTHING: Final = "found nothing"
"""The reason of a search with exit status 1, which means that nothing was found."""
NOTHING_MATCHED: Final = "nothing matched"
"""The reason where the output of a program was searched, without a match."""
NOTHING_TO_DO: Final = "nothing to do"
"""The reason where git ended with 1 because there was nothing to do."""
_NO_FAILURE: Final = frozenset({REFUSED, STOPPED, FOUND_NOTHING, NOTHING_MATCHED, NOTHING_TO_DO})
_DONE_ALREADY: Final = compiled(
    r"(?im)^(?:nothing to commit|already up[ -]to[ -]date|everything up-to-date|current branch \S+ is up)\b"
    # Some harnesses add the exit status below the output.
    r"[^\n]{0,80}\s*(?:(?:\w+ )?exit(?:ed with)? code:? \d+\.?\s*)?\Z"
)
_BROKEN_OFF: Final = compiled(
    r"(?i)(?:^|\n)(?:command|tool execution|operation|request) (?:was )?"
    r"(?:aborted|interrupted|cancell?ed)(?: by (?:the )?user)?\.?\s*\Z"
)
"""What a harness adds below the output if the user stopped the command."""
_COMPLAINT: Final = compiled(
    r"(?m)^(?:\S*/)?(?:[efz]?grep|rg|ag|ack|git|fatal|error|bash|zsh|sh)\b[^\n]{0,40}: "
)
_ERRORS: Final = compiled(r"(?i)err(?:or)?\b|errors|fail|warn|panic|fatal|not ok|TS\d")
_INVERTED: Final = compiled(r"-[A-Za-z]*v[A-Za-z]*$|--invert-match")
_LAST_WORDS: Final = 400
_FORM_CHARS: Final = 200
_HOW_TO_PRINT: Final = compiled(
    r"-v+|-q+|-s|-x|-rA|--verbose|--quiet|--silent|--tb=\w+|--no-header|--bail|--maxfail=\d+|-count=\d+"
    r"|--colou?r(?:=\w+)?|--no-color|--reporter=\w+|--nocapture|--trace|--no-cov"
)
_SUITES: Final = {
    **dict.fromkeys(("pytest", "python -m pytest", "python3 -m pytest", "uv run pytest", "jest"), ""),
    **dict.fromkeys(("cargo test", "mix test", "bun test", "npm test", "pnpm test", "yarn test"), ""),
    "go test": "./...",
}
"""Programs that run all tests, with the arguments they need for that."""
_ONCE: Final = frozenset(
    f"{program} {verb}"
    for program, verbs in {
        "git": "commit push pull fetch merge rebase cherry-pick",
        "npm": "install ci",
        "pnpm": "install add",
        "yarn": "install add",
        "bun": "install add",
        "pip": "install",
        "uv": "sync add",
        "poetry": "install add",
        "mix": "deps.get",
        "go": "get",
    }.items()
    for verb in verbs.split()
)
"""Commands that stay done once they succeed, whatever their arguments."""


_COMPILERS: Final = frozenset("tsc tsgo vue-tsc".split())
_TYPE_CHECKERS: Final = _COMPILERS | frozenset("mypy pyright basedpyright".split())
_SCRIPT: Final = compiled(
    r"(?:npm run|(?:pnpm|yarn|bun)(?: run)?|make|just|task|mise run)"
    r" (?:(?P<check>check|verify|ci|types|tsc|check[:-]?types|type[:-]?check|check:all)|build|compile)"
)
_ONE_PART: Final = compiled(r"(?:^|\s)(?:--filter|-F|--workspace|-w|--prefix|-C|--cwd|--dir)\b")
"""Options that run a script in one of several packages, which may not be the one that failed."""


@dataclass(frozen=True, slots=True)
class ExitMeaning:
    """How a run ended: whether it succeeded, and if not, why."""

    ok: bool
    reason: str = ""

    @property
    def went_wrong(self) -> bool:
        """Whether it failed; being refused, stopped or without a match is no failure."""
        return not self.ok and self.reason not in _NO_FAILURE


def interpret_exit(
    command: str, purpose: Purpose, output: str, exit_status: int | None, *, ok: bool
) -> ExitMeaning:
    """How a command with this purpose ended; `ok` is what the harness reported."""
    failed = outcomes.is_failure(output, exit_status, ok=ok)
    if failed and exit_status is None and _BROKEN_OFF.search(output[-_LAST_WORDS:]):
        return ExitMeaning(ok=False, reason=STOPPED)
    searched = final_search(command) if exit_status == 1 and not _COMPLAINT.search(output) else ()
    if purpose is Purpose.CHECK and (searched or not failed) and (diagnosis := outcomes.diagnosis(output)):
        return ExitMeaning(ok=False, reason=diagnosis)
    if searched:
        return _without_a_match(purpose, searched)
    # The last output is git's, so the commands after it were not run.
    if failed and "git" in command and _DONE_ALREADY.search(output[-_LAST_WORDS:]):
        return ExitMeaning(ok=False, reason=NOTHING_TO_DO)
    return ExitMeaning(ok=not failed, reason=outcomes.failure_reason(output) if failed else "")


def has_failed(run: CommandRun) -> bool:
    """Whether a run failed and left something undone; a look-up never does."""
    return run.ok is False and ExitMeaning(run.ok, run.reason).went_wrong and run.aim is not Purpose.LOOK


def is_done(run: CommandRun) -> bool:
    """Whether the work of a run is done, by this run or before."""
    return bool(run.ok) or run.reason == NOTHING_TO_DO


def is_resolved_by(failed: str, passed: str) -> bool:
    """Whether a later command that passed did the work of the failed one, alone or among other things."""
    undone, done = shell.calls(failed, _FORM_CHARS), shell.calls(passed, _FORM_CHARS)
    # A check in the project's own folder includes its subfolders.
    checked = _folders(passed) in ([], _folders(failed))
    return bool(undone) and all(
        any(_covers(late, early) or (checked and _checks(late, early)) for late in done)
        for early in undone
        if early.program != "git add"
    )


def _folders(command: str) -> list[str]:
    """The folders that a command line changes to, as written."""
    return [step.words[-1].text for step in parse_command(command).steps if step.name == "cd"]


def _arguments(call: ProgramCall) -> list[str]:
    """The words of a call without the program and without options that change only its output."""
    words = call.form.removeprefix(call.program).split()
    return [word for word in words if not _HOW_TO_PRINT.fullmatch(word)]


def _without_a_match(purpose: Purpose, searched: tuple[str, ...]) -> ExitMeaning:
    """The meaning of a final search without a match: success, if it searched a check's output for errors."""
    if purpose is Purpose.LOOK:
        return ExitMeaning(ok=False, reason=FOUND_NOTHING)
    for_errors = any(map(_ERRORS.search, searched)) and not any(map(_INVERTED.match, searched))
    if purpose is Purpose.CHECK and for_errors:
        return ExitMeaning(ok=True)
    return ExitMeaning(ok=False, reason=NOTHING_MATCHED)


def _covers(done: ProgramCall, undone: ProgramCall) -> bool:
    """Whether a call that passed includes the work of another: the same call, or all tests for some."""
    if done.program != undone.program:
        return False
    if done.program in _ONCE:
        return True
    late, early = (_arguments(call) for call in (done, undone))
    # Where a part of the call is left out, the two cannot be compared.
    known = "…" not in (*late, *early)
    alike = len(late) == len(early) and all(map(_is_same_word, late, early))
    return (known and alike) or " ".join(late) == _SUITES.get(done.program)


def _checks(done: ProgramCall, undone: ProgramCall) -> bool:
    """Whether a project script passed that includes the type checker which failed on its own."""
    checker = next((word for word in undone.program.split() if word in _TYPE_CHECKERS), "")
    script = _SCRIPT.fullmatch(done.program)
    if not checker or not script or _ONE_PART.search(done.form):
        return False
    return bool(script["check"]) or checker in _COMPILERS


def _is_same_word(word: str, other: str) -> bool:
    """Whether two words are equal, or one is an absolute path that ends with the other."""
    if word == other:
        return True
    whole, end = (word, other) if word.startswith("/") else (other, word)
    return whole.startswith("/") and "/" in end and whole.endswith(f"/{end}")


# ---------------------------------------------------------------- failed tests that pass later

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
    if _folders(failed.command) != _folders(passed.command):
        return False
    # Packages and tests cannot be compared; then only the paths and options count.
    as_many = now.unit != then.unit or now.passed >= then.passed + then.failed
    selection = _selection(late)
    is_superset = as_many and _leaves_nothing_out(selection, _selection(early))
    return is_superset or _names_failed_tests(then, passed.command, selection)


def _test_call(command: str) -> ProgramCall | None:
    return next((call for call in shell.calls(command, _FORM_CHARS) if _RUNNER.search(call.program)), None)


def _family(call: ProgramCall) -> str:
    """The test runner, without what starts it."""
    if _OF_SCRIPTS.search(call.program):
        return "script"
    return " ".join(word for word in call.program.split() if word not in _LAUNCHERS)


@dataclass(frozen=True, slots=True)
class _Selection:
    """The tests that a call selects: below these paths, with these options; empty means all."""

    paths: tuple[str, ...]
    options: tuple[str, ...]


def _selection(call: ProgramCall) -> _Selection:
    words = iter(_arguments(call))
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
    below = all(_is_in_folders(path, late.paths) for path in early.paths) and bool(early.paths)
    return known and set(late.options) <= set(early.options) and (below or not late.paths)


def _is_in_folders(path: str, parents: Sequence[str]) -> bool:
    whole = [folder.removesuffix("...").rstrip("/") for folder in parents]
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
        _names_test(test, command)
        or (not late.options and _is_in_folders(test.partition("::")[0], late.paths))
        for test in then.failing
    )


def _names_test(test: str, command: str) -> bool:
    """Whether a command names a test or its parent test."""
    leaf = _PARTS.split(test.partition("[")[0])[-1]
    names = {leaf, leaf.partition("/")[0] if leaf.startswith("Test") else leaf}
    return any(re.search(rf"(?<!\w){re.escape(name)}(?![\w.])", command) for name in names)
