"""The demo: a recorded session loses its context and gets it back, told in plain words.

The letters and the growing transcript of the recording go through the engine as they do in earnest, into a store of
the demo's own that is removed at the end. No daemon runs, no network is used, and nothing of the user's is touched.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import textwrap
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import which

import click
import msgspec
from rich.console import Console
from rich.text import Text

from holdfast import harnesses
from holdfast.cli.demo_session import Fact, Moment, Recording, read
from holdfast.config import Config
from holdfast.core.brief import Reason
from holdfast.core.events import Compacted, CompactionImminent, Event, Prompt, ToolCalled
from holdfast.core.session import Trigger
from holdfast.engine.desk import Desk
from holdfast.engine.receive import receive
from holdfast.harnesses.base import Envelope
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store

ALL = 10_000
WIDTH = 80
INDENT = "   "
BAR = "   | "


@dataclass(frozen=True, slots=True)
class Outcome:
    """A fact of the story, whether the compaction left it to the agent, and whether the brief holds it."""

    name: str
    text: str
    left: bool
    back: bool


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of the recording, read back from the store."""

    harness: str
    title: str
    project: str
    prompts: tuple[str, ...]
    """What was asked before the compaction."""
    tool_calls: int
    events: int
    checkpoint: str
    left: str
    summary: str
    last_message: str
    brief: str
    brief_characters: int
    brief_budget: int
    brief_milliseconds: float
    facts: tuple[Outcome, ...]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and do not stay up.")
def demo(*, as_json: bool) -> None:
    """See it work: a recorded session loses its context and gets it back.

    Replays a session of a real harness through a compaction, in a temporary directory: what was captured, the
    checkpoint, what the agent lost, and the brief it got back. On a terminal it stays up until Ctrl-C.

    \b
    Example:
      holdfast demo --json | python -m json.tool
    """
    with _temporary_home() as home:
        replayed = replay(read(), home)
        if as_json:
            click.echo(msgspec.json.encode(asdict(replayed)))
            return
        console = Console(width=_width(), highlight=False, emoji=False, markup=False)
        tell(console, replayed)
        if sys.stdin.isatty() and sys.stdout.isatty():
            _stay(console, home)


def replay(recording: Recording, home: Path) -> Replayed:
    """Deliver the recorded letters to the engine, each when the transcript was as long as it was then."""
    _lay_out_project(recording, home)
    first, last = recording.moments[0], recording.moments[-1]
    brief_took = 0.0
    with closing(open_store(home / ".holdfast" / "store.db", home / ".holdfast" / "backups", first.at)) as store:
        for before, moment in zip((None, *recording.moments), recording.moments, strict=False):
            letter = _moved(bytes(moment.letter), recording, home)
            _write_on(recording, before.shown if before else 0, moment.shown, letter, home)
            began = time.perf_counter()
            answer = receive(_desk(store, home, moment), _envelope(recording, moment), letter, lambda: True)
            if answer:
                brief_took = time.perf_counter() - began
        return _read_back(store, recording, home, last, brief_took)


def tell(console: Console, replayed: Replayed) -> None:
    """Say what happened, in sections that a person reads from top to bottom."""
    _say(console, f"A session of {replayed.title} loses its context and gets it back.", "bold")
    _say(console, "Recorded with the real program; only the words of its model were scripted.")
    _tell_story(console, replayed)
    _tell_checkpoint(console, replayed)
    _tell_loss(console, replayed)
    _tell_brief(console, replayed)
    _say(console, f"\nAttach your own harness:  {_program()} setup {replayed.harness}", "bold")
    _say(console, f"Read more:                README.md, {_program()} --help")


# What the replay is made of.


@contextmanager
def _temporary_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as name:
        # Some systems reach their temporary directory through a link; paths are compared in full.
        yield Path(name).resolve()


def _lay_out_project(recording: Recording, home: Path) -> None:
    """The project as the session left it: a brief doubts files that are gone or were changed later."""
    project = Path(os.fsdecode(_moved(_project(recording).encode(), recording, home)))
    # A repository of its own, or one around the temporary directory would pass for the project's.
    for folder in ("objects", "refs"):
        (project / ".git" / folder).mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    at = recording.moments[0].at / 1000
    for name, text in recording.story.files.items():
        (project / name).write_text(text, encoding="utf-8")
        os.utime(project / name, (at, at))
