"""The demo: a recorded session loses its context and gets it back.

`demo_session` replays it; this prints the result, on a terminal or as JSON.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import textwrap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import which

import click
import msgspec
from rich.console import Console
from rich.text import Text

from holdfast.cli.demo_session.recording import FactOutcome, Replayed, read, replay
from holdfast.cli.options import command, json_option

WIDTH = 80
MARGIN = "   "
QUOTED = "   | "


@command("holdfast demo", "holdfast demo --json | python -m json.tool")
@json_option("Print one JSON document, and do not stay up.")
def demo(*, as_json: bool) -> None:
    """See it work: a recorded session loses its context and gets it back.

    Replays a session of a real harness through a compaction, in a temporary directory: what was captured, the
    checkpoint, what the agent lost, and the brief it got back. On a terminal it then stays up until Ctrl-C.
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as directory:
        # Some systems reach their temporary directory through a link, and paths are compared in full.
        home = Path(directory).resolve()
        replayed = replay(read(home), home)
        if as_json:
            click.echo(msgspec.json.encode(replayed))
            return
        console = Console(highlight=False, emoji=False, markup=False)
        tell(console, replayed)
        if sys.stdin.isatty() and sys.stdout.isatty():
            _stay(console, home)


def tell(console: Console, replayed: Replayed) -> None:
    """Say what happened, in sections that a person reads from top to bottom."""
    _print(console, f"A session of {replayed.title} loses its context and gets it back.", style="bold")
    _print(console, "Recorded with the real program; only the words of its model were scripted.")
    _tell_story(console, replayed)
    _tell_checkpoint(console, replayed)
    _tell_loss(console, replayed)
    _tell_brief(console, replayed)
    console.print()
    _print(console, f"Attach your own harness:  {_program()} setup {replayed.harness}", style="bold")
    _print(console, f"Read more:                README.md, or {_program()} --help")


def _tell_story(console: Console, replayed: Replayed) -> None:
    prompts, done = len(replayed.prompts), replayed.tool_calls
    _head(console, "1. What happened")
    _say(console, f"In {replayed.project} the user asked {prompts} times, and the agent called {done} tools.")
    for prompt in replayed.prompts:
        _quote(console, f"- {prompt}")
    _say(console, f"{len(replayed.facts)} things were said or found out that the work depends on:")
    for fact in replayed.facts:
        _say(console, f"- {fact.name}: {fact.text}")


def _tell_checkpoint(console: Console, replayed: Replayed) -> None:
    _head(console, "2. What Holdfast kept")
    _say(
        console,
        f"{replayed.events} events from the harness's hooks and its own transcript, and a checkpoint that "
        "was on disk before the harness was answered and went on to compact:",
    )
    _quote(console, replayed.checkpoint)


def _tell_loss(console: Console, replayed: Replayed) -> None:
    lost = sum(not fact.left for fact in replayed.facts)
    _head(console, "3. The window dies")
    _say(console, f"The compaction left the agent {replayed.left}. The summary:")
    _quote(console, replayed.summary)
    _say(console, "The last message:")
    _quote(console, replayed.last_message)
    _say(console, f"Of the {len(replayed.facts)} things the agent has lost {lost}:")
    _list(console, replayed, lambda fact: ("kept", "green") if fact.left else ("LOST", "red"))


def _tell_brief(console: Console, replayed: Replayed) -> None:
    brief, count = replayed.brief, sum(fact.in_brief for fact in replayed.facts)
    _head(console, "4. What the agent is given back")
    _say(
        console,
        f"With the very next request, in {brief.characters:,} of at most {brief.budget:,} characters, "
        f"after {brief.milliseconds:.0f} ms:",
    )
    _quote(console, brief.text)
    _say(console, f"Of the {len(replayed.facts)} things the brief holds {count}:")
    _list(console, replayed, lambda fact: ("back", "green") if fact.in_brief else ("MISSING", "red"))


def _list(console: Console, replayed: Replayed, judged: Callable[[FactOutcome], tuple[str, str]]) -> None:
    for fact in replayed.facts:
        word, style = judged(fact)
        console.print(Text.assemble(MARGIN, (word.ljust(8), style), fact.name), soft_wrap=True)


def _head(console: Console, text: str) -> None:
    console.print()
    _print(console, text, style="bold")


def _say(console: Console, text: str) -> None:
    _print(console, text, MARGIN)


def _quote(console: Console, text: str) -> None:
    for line in text.splitlines():
        _print(console, line, QUOTED)


def _print(console: Console, text: str, margin: str = "", style: str = "") -> None:
    """A text in lines that fit; a bullet's further lines stand under its first."""
    lines = textwrap.wrap(
        text,
        min(WIDTH, console.width),
        initial_indent=margin,
        subsequent_indent=margin + ("  " if text.startswith("- ") else ""),
        break_on_hyphens=False,
        break_long_words=False,
    )
    for line in lines or [margin.rstrip()]:
        console.print(Text(line, style), soft_wrap=True)


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
