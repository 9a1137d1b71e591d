"""The recording as values, read from the files beside this one.

It is only read here; `replay` plays it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from holdfast.lazy_dataclass import dataclass

HOME: Final = "/home/you"
"""The placeholder in the files for the home directory of a recording."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that the work depends on, and the words that a text must contain to state it."""

    name: str
    text: str
    signs: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        """Whether the text states it, however its lines are broken."""
        folded = " ".join(text.split()).casefold()
        return all(sign.casefold() in folded for sign in self.signs)


@dataclass(frozen=True, slots=True)
class Story:
    """What the recording is about."""

    harness: str
    session: str
    project: str
    transcript: str
    left: str
    """What the compaction left to the model, in words."""
    last_message: str
    """The last message that the compaction left verbatim."""
    facts: tuple[Fact, ...]
    files: Mapping[str, str]
    """The project's files when the session was over."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A hook event, and how many lines of the transcript had been written by then."""

    at: int
    shown: int
    payload: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Recording:
    """The story, the hook events, and the lines of the transcript."""

    story: Story
    moments: tuple[Moment, ...]
    transcript: tuple[bytes, ...]


def read(home: Path) -> Recording:
    """The recording that comes with the package, as if it had been made in that home."""
    hook_events, transcript = _moved("hook_events.jsonl", home), _moved("transcript.jsonl", home)
    return Recording(
        story=msgspec.json.decode(_moved("story.json", home), type=Story),
        moments=tuple(msgspec.json.decode(line, type=Moment) for line in hook_events.splitlines()),
        transcript=tuple(transcript.splitlines(keepends=True)),
    )


def _moved(name: str, home: Path) -> bytes:
    text = resources.files("holdfast.cli.demo_session").joinpath(name).read_bytes()
    return text.replace(HOME.encode(), msgspec.json.encode(str(home))[1:-1])
