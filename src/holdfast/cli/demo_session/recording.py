"""The demo's recording, read from the files beside this one, and its replay through the real engine.

It is replayed in a home of its own, with the clock of the recording. No daemon runs and no network is used;
of the user's own home and settings nothing is read or written.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from importlib import resources
from itertools import takewhile
from pathlib import Path
from typing import Final

import msgspec

from holdfast import harnesses
from holdfast.config import Config
from holdfast.core.brief.compose import Reason
from holdfast.core.events.event import Compacted, CompactionImminent, CompactionSign, Prompt, ToolCalled
from holdfast.core.session.session import Trigger
from holdfast.engine.engine import Engine
from holdfast.engine.hook_events import receive_hook_event
from holdfast.harnesses.base import Envelope
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store

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
class RecordedHookEvent:
    """A hook event, and how many lines of the transcript had been written by then."""

    at: int
    shown: int
    payload: msgspec.Raw


@dataclass(frozen=True, slots=True)
class DemoRecording:
    """The story, the hook events, and the lines of the transcript."""

    story: Story
    moments: tuple[RecordedHookEvent, ...]
    transcript: tuple[bytes, ...]


def read(home: Path) -> DemoRecording:
    """The recording that comes with the package, as if it had been made in that home."""
    hook_events, transcript = _moved("hook_events.jsonl", home), _moved("transcript.jsonl", home)
    return DemoRecording(
        story=msgspec.json.decode(_moved("story.json", home), type=Story),
        moments=tuple(msgspec.json.decode(line, type=RecordedHookEvent) for line in hook_events.splitlines()),
        transcript=tuple(transcript.splitlines(keepends=True)),
    )


def _moved(name: str, home: Path) -> bytes:
    text = resources.files("holdfast.cli.demo_session").joinpath(name).read_bytes()
    return text.replace(HOME.encode(), msgspec.json.encode(str(home))[1:-1])


ALL = 10_000
"""More than one recording holds of anything."""


@dataclass(frozen=True, slots=True)
class FactOutcome:
    """A fact of the story: whether the compaction left it to the agent, and whether the brief holds it."""

    name: str
    text: str
    left: bool
    in_brief: bool


@dataclass(frozen=True, slots=True)
class DemoBrief:
    """The brief as the agent got it, and what it cost."""

    text: str
    characters: int
    budget: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of the recording, read back from the store."""

    harness: str
    title: str
    project: str
    prompts: tuple[str, ...]
    """Up to the compaction, as are the calls."""
    tool_calls: int
    events: int
    checkpoint: str
    left: str
    summary: str
    last_message: str
    brief: DemoBrief
    facts: tuple[FactOutcome, ...]


def replay(recording: DemoRecording, home: Path) -> Replayed:
    """Deliver each hook event when the transcript is as long as it was then, and collect the results."""
    _lay_out_project(recording)
    holdfast_home, story, lines = home / ".holdfast", recording.story, 0
    durations: list[float] = []
    with closing(
        open_store(holdfast_home / "store.db", holdfast_home / "backups", recording.moments[0].at)
    ) as store:
        for moment in recording.moments:
            _append(Path(story.transcript), recording.transcript[lines : moment.shown])
            lines = moment.shown
            is_answered, milliseconds = _deliver(_engine(store, home, moment), story, moment)
            # Others are answered too: prompts with the state of the window, the compaction with what to keep.
            durations += [milliseconds] if is_answered and not durations and _is_briefed(store, story) else []
        return _collect(store, story, home, durations[0])


def _is_briefed(store: Store, story: Story) -> bool:
    return any(receipt.reason is Reason.COMPACT for receipt in store.receipts(story.session, ALL))


def _lay_out_project(recording: DemoRecording) -> None:
    """Write the project's files as the session left them: a brief marks files that are gone or changed."""
    project, at = Path(recording.story.project), recording.moments[0].at / 1000
    # A repository of its own, or one around the temporary directory would pass for the project's.
    for folder in ("objects", "refs"):
        (project / ".git" / folder).mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    for name, text in recording.story.files.items():
        (project / name).write_text(text, encoding="utf-8")
        os.utime(project / name, (at, at))


def _append(transcript: Path, lines: Sequence[bytes]) -> None:
    if lines:  # the harness makes the file with its first lines
        transcript.parent.mkdir(parents=True, exist_ok=True)
        with transcript.open("ab") as file:
            file.writelines(lines)


def _engine(store: Store, home: Path, moment: RecordedHookEvent) -> Engine:
    return Engine(
        store=store,
        harness=harnesses.get,
        config=lambda _: Config(),
        user_home=home,
        clock=lambda: moment.at,
        new_id=lambda: str(uuid.uuid4()),
    )


def _deliver(engine: Engine, story: Story, moment: RecordedHookEvent) -> tuple[bool, float]:
    """Whether the hook event was answered, and how many milliseconds that took."""
    envelope = Envelope(engine.new_id(), story.harness, moment.at)
    began = time.perf_counter()
    answer = receive_hook_event(engine, envelope, bytes(moment.payload), lambda: True)
    return bool(answer), (time.perf_counter() - began) * 1000


def _collect(store: Store, story: Story, home: Path, milliseconds: float) -> Replayed:
    events = store.events(story.session, ALL)
    before = list(takewhile(lambda event: not isinstance(event, CompactionImminent), events))
    compactions = (event for event in events if isinstance(event, Compacted))
    # The transcript wraps the summary in other text; the hook event has it bare.
    summary = next(compaction.summary for compaction in compactions if compaction.sign is CompactionSign.HOOK)
    receipt = next(row for row in store.receipts(story.session, ALL) if row.reason is Reason.COMPACT)
    checkpoints = store.checkpoints_of_session(story.session, ALL)
    digest = next(row.digest for row in checkpoints if row.trigger is Trigger.PRE_COMPACTION)
    return Replayed(
        harness=story.harness,
        title=harnesses.get(story.harness).title,
        project=_at_home(story.project, home),
        prompts=tuple(event.text for event in before if isinstance(event, Prompt)),
        tool_calls=sum(isinstance(event, ToolCalled) for event in before),
        events=len(events),
        checkpoint=_at_home(digest, home),
        left=story.left,
        summary=_at_home(summary, home),
        last_message=story.last_message,
        brief=DemoBrief(receipt.text, len(receipt.text), receipt.budget, round(milliseconds, 1)),
        facts=_outcomes(story, f"{summary}\n{story.last_message}", receipt.text),
    )


def _outcomes(story: Story, window: str, brief: str) -> tuple[FactOutcome, ...]:
    return tuple(
        FactOutcome(fact.name, fact.text, fact.is_in(window), fact.is_in(brief)) for fact in story.facts
    )


def _at_home(text: str, home: Path) -> str:
    """The text with the temporary directory replaced by a usual home directory."""
    return text.replace(str(home), HOME)
