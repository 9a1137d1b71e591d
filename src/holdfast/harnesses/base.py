"""The contract of a harness: what only a harness knows, in our own words.

Each harness has a folder with `hooks.py` (letters in, replies out), `transcript.py` (records in) and
`setup.py` (what to install). Nothing here or there stores, decides or writes: theirs becomes ours, and ours
becomes theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from holdfast.core.events import Event, Skipped, Source
from holdfast.core.session import Process
from holdfast.core.told import Kept
from holdfast.core.wanted import WantedEntry


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the hook says about a letter: who sent it, when, and from which process."""

    id: str
    harness: str
    at: int
    process: Process | None = None
    previous: str = ""
    environment: Mapping[str, str] = field(default_factory=lambda: {})


class Ask(StrEnum):
    """What the harness waits for."""

    NOTHING = "nothing"
    START = "start"
    """A session starts: a brief may be given back."""
    PROMPT = "prompt"
    """A prompt was sent: a brief that never arrived may be given back."""
    COMPACTION = "compaction"
    """The window is about to die: what was seen must be safe before we answer."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A letter, understood. The transcript, where there is one, tells the rest."""

    session: str
    cwd: str
    transcript: str
    ask: Ask
    events: tuple[Event, ...]
    """Told by the letter alone; recorded whether or not there is a transcript."""
    stand_ins: tuple[Event, ...] = ()
    """Also in the transcript: recorded from the letter only where there is no transcript to read."""
    source: Source | None = None
    previous: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some of a transcript, translated, and the cursor behind it. `done`: nothing whole is left to read."""

    events: tuple[Event, ...]
    skipped: tuple[Skipped, ...]
    cursor: str
    done: bool
    cwd: str = ""
    """The directory that the session works in, where the records say it."""


class Reader(Protocol):
    """A harness whose transcripts can be read."""

    name: str
    title: str
    kept: Kept
    """What it gives its model back by itself after a compaction."""

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        """Transcripts of subagents that belong to the session at this path."""
        ...

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:
        """Other transcripts in which the beginning of the session at this path stands."""
        ...

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        """The records behind the cursor (empty: from the start), about `limit` bytes; never raises."""
        ...


class Harness(Reader, Protocol):
    """A harness that Holdfast can be set up for: its letters are understood and its briefs delivered."""

    carried: tuple[str, ...]
    """Environment variables that the hook may carry; one that ends in `_PID` names the harness's process."""
    quiet: tuple[str, ...]
    """Hook events that need no answer."""
    answer_limit: int
    """How many UTF-16 units of answer the harness takes from one hook."""
    stores_injected_text: bool
    """Whether injected text stays in the conversation and is sent once, or must go with every request."""

    def parse_hook(self, letter: bytes, envelope: Envelope) -> Heard | Skipped:
        """What a hook's letter says."""
        ...

    def render_reply(self, heard: Heard, brief: str) -> bytes:
        """What the hook prints so that the model sees the brief; empty for an empty brief."""
        ...

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        """The only directories under which a transcript named by a letter is opened."""
        ...

    def present(self, home: Path, search_path: str) -> bool:
        """Whether this harness seems to be installed for the user whose home this is."""
        ...

    def wanted(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        """The entries that setup puts into the harness's own files."""
        ...
