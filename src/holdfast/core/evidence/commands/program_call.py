"""Program call: one run of a program inside a command line, with its options, and whether it succeeded.

Not here: what the run changed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Final, NamedTuple, TypeAlias

from holdfast.core.evidence.commands.shell import BODY, ShellStep, ShellWord, parse_command, past_options
from holdfast.core.evidence.commands.shell import placed_steps as steps_with_folders
from holdfast.core.evidence.commands.work_change import WorkChange
from holdfast.core.evidence.patches import is_temporary
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line


class RecordedCall(NamedTuple):
    """One run of a program: its subcommand, the words after it, and whether it must have succeeded."""

    place: int
    program: str
    subcommand: str
    args: Sequence[ShellWord]
    folder: str | None
    is_proven: bool
    """Whether the exit status of the command line shows that it ran and succeeded."""
    is_unfailed: bool
    """Whether it is proven, or certainly ran and printed no error, as git does when it fails."""
    text: str
    """The standard input, or the here-document inside its words."""


PlacedChange: TypeAlias = tuple[int, WorkChange]
"""The place of the call that made the change, and the change."""


def calls_of(
    programs: Container[str], command: str, output: str, *, ok: bool, project: str
) -> list[RecordedCall]:
    """The runs of these programs in a command line, except those in temporary folders."""
    steps = list(steps_with_folders(command, ""))
    bodies = parse_command(command).bodies
    proven = _proven([step for step, _, _ in steps], ok=ok)
    unfailed = _unfailed([step for step, _, _ in steps], output, ok=ok)
    unknown_is_temporary = "mktemp" in command
    calls: list[RecordedCall] = []
    for place, (step, words, folder) in enumerate(steps):
        program = words[0].text.rsplit("/", 1)[-1] if words else ""
        is_try = unknown_is_temporary if folder is None else is_temporary(folder, project)
        if program not in programs or is_try:
            continue
        args = words[1:]
        # `gh -R owner/name pr create` and `git -C folder commit` have options before the subcommand.
        args = args[past_options(args, 0, ("-C", "-c", "-R", "--repo", "--db")) :]
        if args:
            text = _text_of(step, args, bodies)
            is_unfailed = proven[place] or unfailed[place]
            calls.append(
                RecordedCall(place, program, args[0].text, args[1:], folder, proven[place], is_unfailed, text)
            )
    return calls


def _text_of(step: ShellStep, args: Sequence[ShellWord], bodies: Sequence[str]) -> str:
    marks = (BODY.search(word.text) for word in args)
    inside = [bodies[int(mark[1])] for mark in marks if mark and int(mark[1]) < len(bodies)]
    return next(iter((*step.bodies, *inside)), "")


def _proven(steps: Sequence[ShellStep], *, ok: bool) -> list[bool]:
    """For each step, whether the command line would have failed if the step had failed or not been run."""
    joints = [step.joined.strip("()\n") for step in steps]
    proven = [False] * len(steps)
    ends_all, is_piped = ok, False
    for place in range(len(steps) - 1, -1, -1):
        proven[place] = ends_all and not is_piped and joints[place] != "||"
        # A pipe hides only the status of the steps before it in the same pipeline.
        is_piped = joints[place] in _PIPES
        ends_all = ends_all and (is_piped or joints[place] in {"", "&&"})
    return proven


_PIPES: Final = frozenset({"|", "|&"})
_ERROR: Final = compiled(r"^(?:error|fatal): ", re.MULTILINE)
_CONDITIONS: Final = frozenset("if while until for case select function".split())


def _unfailed(steps: Sequence[ShellStep], output: str, *, ok: bool) -> list[bool]:
    """For each step, whether it ran whatever became of the others, and its error would have been seen."""
    runs = ok and not _ERROR.search(output) and not any(step.name in _CONDITIONS for step in steps)
    unfailed: list[bool] = []
    for place, step in enumerate(steps):
        joint = step.joined.strip("()\n")
        after_cd = place > 0 and steps[place - 1].name in {"cd", "pushd"}
        runs = runs and (joint in {"", ";"} or (joint == "&&" and after_cd))
        unfailed.append(runs and not _is_silenced(step))
    return unfailed


def _is_silenced(step: ShellStep) -> bool:
    return any(word.text == "/dev/null" for _, word in step.redirections)


def operands(args: Sequence[ShellWord], valued: str = "") -> list[ShellWord]:
    """The words that are neither options nor values of these options; all that follow `--`."""
    options = valued.split()
    operands: list[ShellWord] = []
    rest = iter(args)
    for word in rest:
        if word.text == "--":
            return [*operands, *rest]
        if not word.text.startswith("-") or word.text == "-":
            operands.append(word)
        elif word.text in options:
            next(rest, None)
    return operands


def has_option(args: Sequence[ShellWord], *options: str) -> bool:
    return any(word.text.split("=", 1)[0] in options for word in args)


def option_values(args: Sequence[ShellWord], *options: str) -> list[ShellWord]:
    """The values of an option: `--title x`, `--title=x`, and `-am x` for `-m`."""
    values: list[ShellWord] = []
    for place, word in enumerate(args):
        name, sign, value = word.text.partition("=")
        if sign and name in options:
            values.append(ShellWord(value, word.plain))
        elif place + 1 < len(args) and (name in options or _ends_in_flag(word.text, options)):
            values.append(args[place + 1])
    return values


def _ends_in_flag(text: str, options: Sequence[str]) -> bool:
    return _FLAGS.fullmatch(text) is not None and f"-{text[-1]}" in options


_FLAGS: Final = compiled(r"-[A-Za-z]{2,5}")


def option_value(args: Sequence[ShellWord], *options: str) -> str:
    """The last value of an option on one line; empty if only the shell knows it."""
    values = option_values(args, *options)
    return one_line(values[-1].path) if values else ""
