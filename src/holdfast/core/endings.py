"""Endings: what the end of a run means, given what was run.

A search that finds nothing has not failed, and a failure is over once the same was done. What an output says
by itself is the subject of `outcomes`.
"""

from __future__ import annotations

from typing import Final

from holdfast.core import shell
from holdfast.core.patterns import compiled
from holdfast.core.shell import Call
from holdfast.core.shell_steps import bare_words, read
from holdfast.core.trail import CommandRun

REFUSED: Final = "the user refused it"
"""What stands in place of its output where a person did not let a command run."""
STOPPED: Final = "it was stopped"
"""What stands in place of its output where a command in the background was ended from outside."""
FOUND_NOTHING: Final = "found nothing"
"""What stands in place of the reason where a search ended with 1 because nothing was there."""
_SEARCHES: Final = frozenset("grep egrep fgrep zgrep rg ag ack pgrep".split())
_COMPLAINT: Final = compiled(
    r"(?m)^(?:\S*/)?(?:[efz]?grep|rg|ag|ack|git|fatal|error|bash|zsh|sh)\b[^\n]{0,40}: "
)
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


def has_failed(run: CommandRun) -> bool:
    """Whether a run went wrong: not one that was refused or stopped, nor a search that found nothing."""
    return run.ok is False and run.reason not in (REFUSED, STOPPED, FOUND_NOTHING)


def found_nothing(command: str, output: str, exit_status: int | None) -> bool:
    """Whether a run ended as it did because a search found nothing."""
    steps = read(command).steps
    words = [word.text for word in bare_words(steps[-1].words)] if steps else []
    searched = words[:1] and (words[0] in _SEARCHES or words[:2] == ["git", "grep"])
    return exit_status == 1 and bool(searched) and not _COMPLAINT.search(output)


def made_good(failed: str, passed: str) -> bool:
    """Whether what failed has been done by what passed later: as a part of it, or in another way."""
    undone, done = shell.calls(failed, _FORM_CHARS), shell.calls(passed, _FORM_CHARS)
    return bool(undone) and all(
        any(_covers(late, early) for late in done) for early in undone if early.program != "git add"
    )


def _covers(done: Call, undone: Call) -> bool:
    """Whether a call that passed does what another was to do: the same, at last, or all tests for some."""
    if done.program != undone.program:
        return False
    if done.program in _ONCE:
        return True
    late, early = (_about(call) for call in (done, undone))
    # Of a form in which something is left out nobody knows whether it is the same.
    known = "…" not in (*late, *early)
    return (known and late == early) or " ".join(late) == _SUITES.get(done.program)


def _about(call: Call) -> list[str]:
    """What a call is about: its words without the program, and without what changes only what it prints."""
    words = call.form.removeprefix(call.program).split()
    return [word for word in words if not _HOW_TO_PRINT.fullmatch(word)]
