"""The demo: a recorded session loses its context and gets it back.

`demo_session` replays it; this prints the result, on a terminal or as JSON.
"""

from __future__ import annotations

import re
import signal
import sys
import tempfile
import textwrap
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from shutil import which
from typing import Final

import click
import msgspec
from rich.console import Console
from rich.text import Text

from holdfast import environment
from holdfast.cli.demo_session.questions import Belief, Rightness
from holdfast.cli.demo_session.recording import Loss, Outcome, Replayed, misleading, replay
from holdfast.cli.options import command, json_option
from holdfast.errors import HoldfastError

WIDTH = 100
LEFT_WIDTH = 26
BETWEEN = " | "
MARGIN = "   "
STYLES: Final = {Rightness.RIGHT: "green", Rightness.PARTLY: "yellow"}
UNHELPFUL: Final = "red"
ANSWER_LINES = 2
_FRAME = re.compile(r"</?holdfast-recall>|## .*|")
"""The lines of a brief that mark where it begins and ends, and the empty ones."""


@command("holdfast demo", "holdfast demo --json | python -m json.tool")
@json_option("Print one JSON document, and do not stay up.")
def demo(*, as_json: bool) -> None:
    """See it work: a recorded session loses its context and gets it back.

    Replays a session of a real harness, in a temporary directory, through a compaction and through a crash.
    Shows what the harness left of its context and the brief, and how the agent would answer three questions
    without and with the brief. Fails if the brief leads to a wrong answer. On a terminal it then stays up
    until Ctrl-C.
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as directory:
        # Some systems reach their temporary directory through a link, and paths are compared in full.
        home = Path(directory).resolve()
        replayed = replay(home)
        console = Console(highlight=False, emoji=False, markup=False)
        if as_json:
            click.echo(msgspec.json.encode(replayed))
        else:
            tell(console, replayed)
        require_right(replayed)
        if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
            _stay(console, home)


def require_right(replayed: Replayed) -> None:
    """Fail if a brief tells an overturned decision as standing, a finished item as open, or not enough."""
    answers = misleading(replayed)
    if answers:
        raise HoldfastError(f"the brief misleads: {'; '.join(answers)}")


def tell(console: Console, replayed: Replayed) -> None:
    """Say what happened, on one screen."""
    _print(
        console, f"A session of {replayed.title} loses its context in the middle of an edit.", style="bold"
    )
    _print(console, "Recorded with the real program; only the words of its model were scripted. Prompts:")
    for prompt in replayed.prompts:
        _print(console, f"- {' '.join(prompt.split())}", MARGIN)
    compaction = replayed.losses[0]
    console.print()
    _side_by_side(console, compaction)
    console.print()
    _print(console, "What the agent would answer, looked up in what its model was sent:", style="bold")
    for place, outcome in enumerate(compaction.outcomes):
        _print(console, outcome.question, style="bold")
        _tell_belief(console, "summary alone", outcome.without)
        _tell_belief(console, "with the brief", outcome.with_brief)
        for loss in replayed.losses[1:]:
            _tell_pair(console, f"after a {loss.kind}", loss.outcomes[place])
    console.print()
    if environment.is_temporary(sys.prefix):
        _print(
            console,
            "Install it:               uv tool install holdfast (or pipx install holdfast)",
            style="bold",
        )
        _print(console, "Then connect your own:    holdfast setup", style="bold")
        return
    _print(console, f"Attach your own harness:  {_program()} setup", style="bold")
    _print(console, f"Read more:                README.md, or {_program()} --help")


def _side_by_side(console: Console, loss: Loss) -> None:
    """What the harness left of the context, and the brief, in two columns."""
    brief = loss.brief
    width = min(WIDTH, console.width) - LEFT_WIDTH - len(BETWEEN)
    cost = f"{brief.characters:,} of {brief.budget:,} characters, {brief.milliseconds:.0f} ms"
    left = [*_wrapped(f"THE {loss.kind.upper()} LEFT", LEFT_WIDTH), *_wrapped(loss.context, LEFT_WIDTH)]
    right = [*_wrapped(f"THE BRIEF ({cost})", width), *_wrapped(brief_lines(brief.text), width)]
    for one, other in zip_longest(left, right, fillvalue=""):
        console.print(Text(f"{one:{LEFT_WIDTH}}{BETWEEN}{other}".rstrip()), soft_wrap=True)


def brief_lines(text: str) -> str:
    """A brief without its frame and its empty lines."""
    return "\n".join(line.removeprefix("### ") for line in text.splitlines() if not _FRAME.fullmatch(line))


def _tell_belief(console: Console, whose: str, believed: Belief) -> None:
    lead = f"{MARGIN}{whose:16}{believed.verdict:9}"
    room = min(WIDTH, console.width) - len(lead)
    lines = _wrapped(believed.answer, room, ANSWER_LINES) or ["(nothing)"]
    style = STYLES.get(believed.verdict, UNHELPFUL)
    console.print(Text.assemble(lead[:-9], (lead[-9:], style), lines[0]), soft_wrap=True)
    for line in lines[1:]:
        console.print(Text(" " * len(lead) + line), soft_wrap=True)


def _tell_pair(console: Console, whose: str, outcome: Outcome) -> None:
    """Both verdicts in one line, where the answer is known already."""
    without, with_brief = outcome.without.verdict, outcome.with_brief.verdict
    parts = (
        f"{MARGIN}{whose:16}",
        (f"{with_brief:9}", STYLES.get(with_brief, UNHELPFUL)),
        f"(without the brief: {without})",
    )
    console.print(Text.assemble(*parts), soft_wrap=True)


def _print(console: Console, text: str, margin: str = "", style: str = "") -> None:
    """A text in lines that fit."""
    for line in _wrapped(text, min(WIDTH, console.width) - len(margin)):
        console.print(Text(margin + line, style), soft_wrap=True)


def _wrapped(text: str, width: int, most: int | None = None) -> list[str]:
    """The lines of a text, wrapped; a bullet's further lines stand under its first."""
    return [
        wrapped
        for line in text.splitlines()
        for wrapped in textwrap.wrap(
            line,
            width,
            subsequent_indent="  " if line.startswith("- ") else "",
            max_lines=most,
            placeholder=" …",
            break_on_hyphens=False,
        )
    ]


def _program() -> str:
    """How the user can run Holdfast: by name, or by the path that was just used."""
    called = Path(sys.argv[0])
    if which("holdfast") or called.name != "holdfast":
        return "holdfast"
    return str(called.relative_to(Path.cwd()) if called.is_relative_to(Path.cwd()) else called)


def _stay(console: Console, home: Path) -> None:
    """Wait until the user leaves; the home is removed in any case."""
    console.print()
    _print(console, f"This ran in {home}, which goes when you leave. Nothing of yours was read or changed.")
    if sys.platform == "win32":
        with suppress(KeyboardInterrupt):
            click.pause("Press Ctrl-C to leave.")
    else:
        leaving = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        # Blocked before the prompt is printed, so that no signal is lost between prompt and wait.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, leaving)
        _print(console, "Press Ctrl-C to leave.")
        signal.sigwait(leaving)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
