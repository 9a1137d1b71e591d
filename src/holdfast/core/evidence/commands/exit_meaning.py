"""Endings: what the end of a run means, given what was run.

A search that finds nothing has not failed, a check whose output was piped on may well have, and a failure is
over once the same was done. What an output says by itself is the subject of `outcomes`.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.evidence.commands import outcomes, shell
from holdfast.core.evidence.commands.purpose import Purpose, search
from holdfast.core.evidence.commands.shell import Call
from holdfast.core.evidence.commands.shell_steps import read
from holdfast.core.evidence.trail import CommandRun
from holdfast.core.text.patterns import compiled
from holdfast.lazy_dataclass import dataclass

REFUSED: Final = "the user refused it"
"""What stands in place of its output where a person did not let a command run."""
STOPPED: Final = "it was stopped"
"""What stands in place of its output where a command was ended from outside."""
FOUND_NOTHING: Final = "found nothing"
"""What stands in place of the reason where a search ended with 1 because nothing was there."""
NOTHING_MATCHED: Final = "nothing matched"
"""What stands there where something was run, and what was searched for was not in its output."""
NOTHING_TO_DO: Final = "nothing to do"
"""What stands there where git ended with 1 because all was done already."""
_NO_FAILURE: Final = frozenset({REFUSED, STOPPED, FOUND_NOTHING, NOTHING_MATCHED, NOTHING_TO_DO})
_DONE_ALREADY: Final = compiled(
    r"(?im)^(?:nothing to commit|already up[ -]to[ -]date|everything up-to-date|current branch \S+ is up)\b"
    # Some harnesses say below an output how it ended.
    r"[^\n]{0,80}\s*(?:(?:\w+ )?exit(?:ed with)? code:? \d+\.?\s*)?\Z"
)
_BROKEN_OFF: Final = compiled(
    r"(?i)(?:^|\n)(?:command|tool execution|operation|request) (?:was )?"
    r"(?:aborted|interrupted|cancell?ed)(?: by (?:the )?user)?\.?\s*\Z"
)
"""What a harness puts below an output where a person ended the run."""
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
"""What runs all tests, and what it has to be told for that."""
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
"""What is done once it is done, however it was called: no later check of it tells anything else."""


_COMPILERS: Final = frozenset("tsc tsgo vue-tsc".split())
_TYPE_CHECKERS: Final = _COMPILERS | frozenset("mypy pyright basedpyright".split())
_SCRIPT: Final = compiled(
    r"(?:npm run|(?:pnpm|yarn|bun)(?: run)?|make|just|task|mise run)"
    r" (?:(?P<check>check|verify|ci|types|tsc|check[:-]?types|type[:-]?check|check:all)|build|compile)"
)
_ONE_PART: Final = compiled(r"(?:^|\s)(?:--filter|-F|--workspace|-w|--prefix|-C|--cwd|--dir)\b")
"""What has a script run in one of several packages: who knows whether that is the one which failed."""


@dataclass(frozen=True, slots=True)
class ExitMeaning:
    """How a run ended: whether all went well, and if not, why."""

    ok: bool
    reason: str = ""

    @property
    def went_wrong(self) -> bool:
        """Whether it failed: not where it was refused or stopped, or where there was nothing."""
        return not self.ok and self.reason not in _NO_FAILURE


def ending(command: str, aim: Purpose, output: str, exit_status: int | None, *, ok: bool) -> ExitMeaning:
    """How a command ended that was run for this aim; `ok` is the harness's word."""
    failed = outcomes.failed(output, exit_status, ok=ok)
    if failed and exit_status is None and _BROKEN_OFF.search(output[-_LAST_WORDS:]):
        return ExitMeaning(ok=False, reason=STOPPED)
    searched = search(command) if exit_status == 1 and not _COMPLAINT.search(output) else ()
    if aim is Purpose.CHECK and (searched or not failed) and (diagnosis := outcomes.diagnosis(output)):
        return ExitMeaning(ok=False, reason=diagnosis)
    if searched:
        return _without_a_match(aim, searched)
    # What git says last is what it ended with; what was to come after it has not been run.
    if failed and "git" in command and _DONE_ALREADY.search(output[-_LAST_WORDS:]):
        return ExitMeaning(ok=False, reason=NOTHING_TO_DO)
    return ExitMeaning(ok=not failed, reason=outcomes.reason(output) if failed else "")


def has_failed(run: CommandRun) -> bool:
    """Whether a run went wrong and has left something undone, as a look-up does not."""
    return run.ok is False and ExitMeaning(run.ok, run.reason).went_wrong and run.aim is not Purpose.LOOK


def looked_in_vain(run: CommandRun) -> bool:
    """Whether a run only looked for what was not there, or found that there was nothing to do."""
    return run.ok is False and run.reason not in (REFUSED, STOPPED) and not has_failed(run)


def is_done(run: CommandRun) -> bool:
    """Whether what a run was to do is done, by itself or before."""
    return bool(run.ok) or run.reason == NOTHING_TO_DO


def made_good(failed: str, passed: str) -> bool:
    """Whether what failed has been done by what passed later: as a part of it, or in another way."""
    undone, done = shell.calls(failed, _FORM_CHARS), shell.calls(passed, _FORM_CHARS)
    # What is run in the project's own folder checks the folders in it as well.
    checked = folders(passed) in ([], folders(failed))
    return bool(undone) and all(
        any(_covers(late, early) or (checked and _checks(late, early)) for late in done)
        for early in undone
        if early.program != "git add"
    )


def folders(command: str) -> list[str]:
    """The folders that a command line goes to, as it names them."""
    return [step.words[-1].text for step in read(command).steps if step.name == "cd"]


def about(call: Call) -> list[str]:
    """What a call is about: its words without the program, and without what changes only what it prints."""
    words = call.form.removeprefix(call.program).split()
    return [word for word in words if not _HOW_TO_PRINT.fullmatch(word)]


def _without_a_match(aim: Purpose, searched: tuple[str, ...]) -> ExitMeaning:
    """How a run ended whose last step, a search, found nothing: well, if it searched a check for errors."""
    if aim is Purpose.LOOK:
        return ExitMeaning(ok=False, reason=FOUND_NOTHING)
    for_errors = any(map(_ERRORS.search, searched)) and not any(map(_INVERTED.match, searched))
    if aim is Purpose.CHECK and for_errors:
        return ExitMeaning(ok=True)
    return ExitMeaning(ok=False, reason=NOTHING_MATCHED)


def _covers(done: Call, undone: Call) -> bool:
    """Whether a call that passed does what another was to do: the same, at last, or all tests for some."""
    if done.program != undone.program:
        return False
    if done.program in _ONCE:
        return True
    late, early = (about(call) for call in (done, undone))
    # Of a form in which something is left out nobody knows whether it is the same.
    known = "…" not in (*late, *early)
    alike = len(late) == len(early) and all(map(_is_same_word, late, early))
    return (known and alike) or " ".join(late) == _SUITES.get(done.program)


def _checks(done: Call, undone: Call) -> bool:
    """Whether a script of the project has passed that runs the type checker which failed by itself."""
    checker = next((word for word in undone.program.split() if word in _TYPE_CHECKERS), "")
    script = _SCRIPT.fullmatch(done.program)
    if not checker or not script or _ONE_PART.search(done.form):
        return False
    return bool(script["check"]) or checker in _COMPILERS


def _is_same_word(one: str, other: str) -> bool:
    """Whether two words mean the same, also where one is a whole path and the other is its end."""
    if one == other:
        return True
    whole, end = (one, other) if one.startswith("/") else (other, one)
    return whole.startswith("/") and "/" in end and whole.endswith(f"/{end}")
