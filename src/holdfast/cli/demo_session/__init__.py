"""The session that the demo replays, as it was recorded, and how it is read.

`scripts/record_demo.py` made the files beside this one with the real harness; the words of its model were scripted.
Replaying it and telling of it is `cli.demo`'s work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import msgspec


@dataclass(frozen=True, slots=True)
class Fact:
    """Something in the story that the work depends on, and the words that it cannot be told without."""

    name: str
    text: str
    signs: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        """Whether the text tells it, however its lines are broken."""
        folded = " ".join(text.split()).casefold()
        return all(sign.casefold() in folded for sign in self.signs)


@dataclass(frozen=True, slots=True)
class Moment:
    """A letter as it came, and how many lines of the transcript had been written by then."""

    at: int
    shown: int
    letter: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Story:
    """What the recording is about."""

    harness: str
    home: str
    """The home directory that stands in it for the one it was made in."""
    left: str
    """What the harness left to its model after the compaction, in words."""
    last_message: str
    """What it kept of the conversation as it was said."""
    facts: tuple[Fact, ...]
    files: Mapping[str, str]
    """The project's files when the session was over."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The story, what the hooks were told, and the lines of the transcript."""

    story: Story
    moments: tuple[Moment, ...]
    transcript: tuple[bytes, ...]


def read() -> Recording:
    """The recording that comes with the package."""
    here = resources.files(__name__)
    letters = here.joinpath("letters.jsonl").read_bytes().splitlines()
    transcript = here.joinpath("transcript.jsonl").read_bytes().splitlines(keepends=True)
    return Recording(
        story=msgspec.json.decode(here.joinpath("story.json").read_bytes(), type=Story),
        moments=tuple(msgspec.json.decode(line, type=Moment) for line in letters),
        transcript=tuple(transcript),
    )
