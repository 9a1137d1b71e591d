"""The demo's recording, read from the files beside this one, and its replay through the real engine.

The same session loses its context twice, each time in a home of its own: by the compaction that was recorded,
and by a crash just before it. The clock is that of the recording. No daemon runs and no network is used; of
the user's own home and settings nothing is read or written.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from typing import Final

import msgspec

from holdfast import harnesses
from holdfast.cli.demo_session.questions import Belief, DemoQuestion, Rightness, belief
from holdfast.config import Config
from holdfast.core.brief.compose import Reason, Receipt
from holdfast.core.events.durations import HOUR_MS
from holdfast.core.events.event import Compacted, CompactionImminent, CompactionSign, Prompt, ToolCalled
from holdfast.engine.engine import Engine
from holdfast.engine.hook_events import receive_hook_event
from holdfast.harnesses.base import Envelope
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store

HOME: Final = "/home/you"
"""The placeholder in the files for the home directory of a recording."""
IDLE_MS: Final = HOUR_MS
"""How long after the crash the other session starts; the process itself is not there to be looked at."""
ALL: Final = 10_000
"""More than one recording holds of anything."""


class LossKind(StrEnum):
    """How the context died."""

    COMPACTION = "compaction"
    CRASH = "crash"


@dataclass(frozen=True, slots=True)
class DemoBrief:
    """The brief as the agent got it, and what it cost."""

    text: str
    characters: int
    budget: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question, and the answers that the agent gives without and with the brief."""

    question: str
    without: Belief
    with_brief: Belief


@dataclass(frozen=True, slots=True)
class Loss:
    """One death of the context: what the harness left to the model, the brief, and what both lead to."""

    kind: LossKind
    context: str
    """What the harness itself tells the model of the work: a summary and the last words, or nothing."""
    brief: DemoBrief
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of the recording, read back from the stores."""

    harness: str
    title: str
    project: str
    prompts: tuple[str, ...]
    """Up to the compaction, as are the calls."""
    tool_calls: int
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class RecordedHookEvent:
    """A hook event, and how many lines of the transcript had been written by then."""

    at: int
    shown: int
    payload: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Story:
    """What the recording is about."""

    harness: str
    session: str
    project: str
    transcript: str
    hook_events_before: int
    """How many hook events came before the compaction,"""
    shown_before: int
    """and how many lines of the transcript."""
    last_words: str
    """What the compaction left of the conversation, beside its summary."""
    questions: tuple[DemoQuestion, ...]
    files: Mapping[str, str]
    """The project's files when the context died."""
    next_start: RecordedHookEvent
    """The start of another session in the same project."""


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
    text = Path(__file__).with_name(name).read_bytes()
    return text.replace(HOME.encode(), msgspec.json.encode(str(home))[1:-1])


def replay(home: Path) -> Replayed:
    """Let the recorded session lose its context in both ways, and collect the results."""
    compacted, crashed = home / LossKind.COMPACTION, home / LossKind.CRASH
    recording = read(compacted)
    story = recording.story
    with closing(_opened(compacted, recording)) as store:
        milliseconds = _deliver_all(store, compacted, recording)
        events = store.events(story.session, ALL)
        # The transcript wraps the summary in other text; the hook event has it bare.
        summary = next(
            event.summary
            for event in events
            if isinstance(event, Compacted) and event.sign is CompactionSign.HOOK
        )
        context = f"{summary}\n{story.last_words}"
        compaction = _loss(LossKind.COMPACTION, context, store, compacted, story, milliseconds)
    before = list(takewhile(lambda event: not isinstance(event, CompactionImminent), events))
    return Replayed(
        harness=story.harness,
        title=harnesses.get(story.harness).title,
        project=_at_home(story.project, compacted),
        prompts=tuple(event.text for event in before if isinstance(event, Prompt)),
        tool_calls=sum(isinstance(event, ToolCalled) for event in before),
        losses=(compaction, _crash(crashed, without_compaction(read(crashed)))),
    )


def without_compaction(recording: DemoRecording) -> DemoRecording:
    """The recording with a crash in the place of the compaction, after which another session starts."""
    story = recording.story
    moments = recording.moments[: story.hook_events_before]
    started = replace(story.next_start, at=moments[-1].at + IDLE_MS, shown=story.shown_before)
    return replace(recording, moments=(*moments, started))


def misleading(replayed: Replayed) -> list[str]:
    """The questions to which a brief does not give the right answer, each with the answer that it gives."""
    return [
        f"after a {loss.kind}, “{outcome.question}” is answered: {outcome.with_brief.answer or 'nothing'}"
        for loss in replayed.losses
        for outcome in loss.outcomes
        if outcome.with_brief.verdict is not Rightness.RIGHT
    ]


def _crash(home: Path, recording: DemoRecording) -> Loss:
    with closing(_opened(home, recording)) as store:
        milliseconds = _deliver_all(store, home, recording)
        return _loss(LossKind.CRASH, "", store, home, recording.story, milliseconds)


def _opened(home: Path, recording: DemoRecording) -> Store:
    _lay_out_project(recording)
    holdfast_home = home / ".holdfast"
    return open_store(holdfast_home / "store.db", holdfast_home / "backups", recording.moments[0].at)


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


def _deliver_all(store: Store, home: Path, recording: DemoRecording) -> float:
    """Deliver each hook event when the transcript is as long as it was then; how long the brief took."""
    story, lines = recording.story, 0
    milliseconds = 0.0
    for moment in recording.moments:
        _append(Path(story.transcript), recording.transcript[lines : moment.shown])
        lines = max(lines, moment.shown)
        took = _deliver(_engine(store, home, moment), story, moment)
        # Others are answered too: prompts with the state of the window, the compaction with what to keep.
        milliseconds = milliseconds or (took if _receipts(store) else 0.0)
    return milliseconds


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


def _deliver(engine: Engine, story: Story, moment: RecordedHookEvent) -> float:
    """Have a hook event recorded and answered; how many milliseconds that took."""
    envelope = Envelope(engine.new_id(), story.harness, moment.at)
    began = time.perf_counter()
    receive_hook_event(engine, envelope, bytes(moment.payload), lambda: True)
    return (time.perf_counter() - began) * 1000


def _receipts(store: Store) -> list[Receipt]:
    """The receipts of the briefs that were given after the loss, oldest first."""
    reasons = (Reason.COMPACT, Reason.STARTUP)
    receipts = [receipt for receipt in store.receipts("", ALL) if receipt.reason in reasons and receipt.text]
    return sorted(receipts, key=lambda receipt: receipt.created_at)


def _loss(kind: LossKind, context: str, store: Store, home: Path, story: Story, milliseconds: float) -> Loss:
    receipt = _receipts(store)[0]
    text, left = _at_home(receipt.text, home), _at_home(context, home)
    return Loss(
        kind,
        left,
        DemoBrief(text, len(text), receipt.budget, round(milliseconds, 1)),
        tuple(
            Outcome(question.text, belief(question, left), belief(question, text))
            for question in story.questions
        ),
    )


def _at_home(text: str, home: Path) -> str:
    """The text with the temporary directory replaced by a usual home directory."""
    return text.replace(str(home), HOME)
