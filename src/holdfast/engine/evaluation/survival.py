"""Survival: reads transcripts, cuts them, has every builder write its brief, and measures the briefs.

`core.evaluation.survival` defines the measures. Nothing is stored: the same transcripts give the same
numbers.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from holdfast import harnesses
from holdfast.core.brief.compose import BriefInput, Reason, compose
from holdfast.core.evaluation.facts import Fact, Form, constraints_in, form_of, holds
from holdfast.core.evaluation.survival import (
    LEAST_BEFORE,
    Cut,
    CutKind,
    Mean,
    Need,
    Rarity,
    Score,
    cuts,
    deleted_file_names,
    facts_of_event,
    human_texts,
    is_conversation,
    last_state,
    mean,
    need,
    offered_as_present,
    score,
)
from holdfast.core.events.event import AssistantText, Event, Prompt, ToolCalled, map_text
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import redact
from holdfast.core.session.session import Policy, Session, advance, begin, revise
from holdfast.harnesses.base import Reader
from holdfast.lazy_dataclass import dataclass

BUDGET = 2_000
BATCH_BYTES = 16 << 20
PIECE_BYTES = 1 << 16
CRASHES = 2
"""At how many places each transcript is truncated."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session's file, and its harness."""

    harness: Reader
    path: Path


@dataclass(frozen=True, slots=True)
class Recording:
    """A session's events, with the facts that each of them names."""

    transcript: Transcript
    cwd: str
    """Its directory, as far as its records say."""
    events: tuple[Event, ...]
    beside: tuple[Event, ...]
    """The events of its subagents."""
    mentions: tuple[frozenset[Fact], ...]

    def before(self, cut: Cut) -> tuple[Event, ...]:
        """Everything that had happened at the cut."""
        main_events = self.events[: cut.at]
        last = max((event.at for event in main_events), default=0)
        return (*main_events, *(event for event in self.beside if event.at <= last))

    def brief(self, events: Iterable[Event]) -> str:
        """Holdfast's own brief from these events of the session."""
        return our_brief(events, BUDGET, self.transcript.harness.name, self.cwd)


@dataclass(frozen=True, slots=True)
class Situation:
    """What a builder makes its brief from."""

    name: str
    before: Sequence[Event]
    cut: Cut
    need: Need
    rarity: Rarity
    own_brief: str
    """Holdfast's own brief."""


Builder: TypeAlias = Callable[[Situation], str | None]
"""Writes a brief for a situation; None where it has nothing to write it from."""


@dataclass(frozen=True, slots=True)
class CutResult:
    """The scores of one builder at one cut of a harness's session."""

    builder: str
    harness: str
    kind: CutKind
    score: Score
    form: Form
    needed: int
    rediscovered: int


@dataclass(frozen=True, slots=True)
class Checked:
    """One property that was checked in Holdfast's brief or state, and how far it holds."""

    name: str
    harness: str
    value: float


def our_brief(events: Iterable[Event], budget: int, harness: str = "", cwd: str = "") -> str:
    """Holdfast's own brief from the events before a cut."""
    session = session_after(events, harness, cwd)
    if session is None:
        return ""
    return compose(BriefInput(Reason.COMPACT, session, session.last_event_at), budget).text


def session_after(events: Iterable[Event], harness: str = "", cwd: str = "") -> Session | None:
    """The session after these events, redacted and each counted once, as `record` would store it."""
    session, revisions, project, policy = None, dict[str, int](), Project(cwd, cwd, "", "", cwd), Policy()
    for event in events:
        session = session or begin(event.session, harness, project, event.at)
        if event.record not in revisions:
            session, _ = advance(session, map_text(event, redact), policy)
        elif event.revision > revisions[event.record]:
            session = revise(session, map_text(event, redact))
        revisions[event.record] = max(event.revision, revisions.get(event.record, 0))
    return session


def transcripts(data: Path) -> list[Transcript]:
    """Every transcript below folders named after a harness."""
    by_path: dict[Path, Transcript] = {}
    for path in sorted(data.rglob("*.jsonl")):
        folders = (data.resolve().name, *path.relative_to(data).parts[:-1])
        for name in harnesses.readable():
            if any(folder == name or folder.endswith(f"-{name}") for folder in folders):
                by_path.setdefault(path, Transcript(harnesses.reader(name), path))
    return _without_subagents(by_path)


def history(home: Path, environment: Mapping[str, str]) -> list[Transcript]:
    """Every transcript that the harnesses of this user have written, the newest first."""
    every = (
        Transcript(harness, path)
        for harness in map(harnesses.reader, harnesses.readable())
        for root in harness.transcript_roots(home, environment)
        for path in harness.transcripts(root)
        if harness.session_of(path)
    )
    return sorted(every, key=lambda one: one.path.stat().st_mtime, reverse=True)


def _without_subagents(by_path: Mapping[Path, Transcript]) -> list[Transcript]:
    """The transcripts without those of subagents, which are read with their sessions."""
    belong = {beside for one in by_path.values() for beside in one.harness.subagent_transcripts(one.path)}
    return [one for path, one in by_path.items() if path not in belong]


def session_in(transcript: Transcript) -> Recording | None:
    """The session in a transcript; None if it has no events."""
    harness, path = transcript.harness, transcript.path
    events, cwd = read(harness, path)
    if not events:
        return None
    subagents = harness.subagent_transcripts(path)
    beside = [event for one in subagents for event in read(harness, one, path.stem)[0]]
    return Recording(transcript, cwd, events, tuple(beside), tuple(map(facts_of_event, events)))


def read(
    harness: Reader, path: Path, session: str = "", limit: int = BATCH_BYTES
) -> tuple[tuple[Event, ...], str]:
    """All events of a transcript, read in pieces of about `limit` bytes, and its session's directory."""
    events: list[Event] = []
    cursor, cwd, done = "", "", False
    while not done:
        batch = harness.read_transcript(path, session or path.stem, cursor, limit)
        done = batch.done or batch.cursor == cursor
        cursor, cwd = batch.cursor, cwd or batch.cwd
        events += batch.events
    return tuple(events), cwd


def situations(recording: Recording, rarity: Rarity, recurring: int = 1) -> Iterator[Situation]:
    """The session at each of its cuts with enough facts to measure."""
    for cut in cuts(recording.events):
        needs = need(recording.events, recording.mentions, cut, recurring)
        if needs is not None:
            before, name = recording.before(cut), recording.transcript.path.name
            yield Situation(name, before, cut, needs, rarity, recording.brief(before))


def scores_of(
    recording: Recording, rarity: Rarity, recurring: int = 1
) -> tuple[list[CutResult], list[Checked]]:
    """The scores of each builder at each cut of a session, and further checks of Holdfast's brief."""
    harness = recording.transcript.harness.name
    rows: list[CutResult] = []
    checks = [Checked(name, harness, value) for name, value in _whole_session(recording)]
    for situation in situations(recording, rarity, recurring):
        rows += _measured(situation, harness)
        checks += [Checked(name, harness, value) for name, value in _at_cut(situation)]
    return rows, checks


def _measured(situation: Situation, harness: str) -> Iterator[CutResult]:
    needs = situation.need
    for name, builder in BUILDERS.items():
        brief = builder(situation)
        if brief is not None:
            how = score(brief, needs, situation.rarity), form_of(brief)
            yield CutResult(
                name, harness, situation.cut.kind, *how, len(needs.needed), len(needs.rediscovered)
            )


def _bare_list(situation: Situation) -> str:
    """Facts by recency, frequency and rarity: unreadable, but it shows how much fits."""
    worth = {
        fact: situation.rarity.weight(fact) * sighting.times / (1 + sighting.ago / 40)
        for fact, sighting in situation.need.seen.items()
    }
    words, budget = list[str](), BUDGET
    for fact in sorted(worth, key=lambda fact: (-worth[fact], fact)):
        word = f"`{fact}`" if fact.replace(" ", "").isalpha() else fact
        if len(word) < budget:
            words.append(word)
            budget -= len(word) + 1
    return " ".join(words)


def _tail(situation: Situation) -> str:
    return "\n".join(_own_words(situation.before))[-BUDGET:]


def _lead(situation: Situation) -> str:
    return "\n".join(human_texts(situation.before))[:BUDGET]


def _random_sentences(situation: Situation) -> str:
    texts = [event.text for event in situation.before if isinstance(event, Prompt | AssistantText)]
    sentences = sorted({line.strip() for text in texts for line in text.splitlines() if line.strip()})
    # Seeded by the session and the place, so that every run draws the same.
    draw = random.Random(f"{situation.name}:{situation.cut.at}")  # noqa: S311 - no secret depends on it
    draw.shuffle(sentences)
    return "\n".join(sentences)[:BUDGET]


def _summary(situation: Situation) -> str | None:
    return situation.cut.summary or None


def _own_words(events: Iterable[Event]) -> Iterator[str]:
    """Prompts and answers, without the outputs of tools."""
    for event in events:
        if not is_conversation(event):
            continue
        match event:
            case Prompt(text=text) | AssistantText(text=text):
                yield text
            case ToolCalled(subject=subject, detail=detail):
                yield f"{subject}\n{detail}"
            case _:
                pass


HOLDFAST = "holdfast"
BESIDE_SUMMARY = "holdfast_beside_summary"
"""Holdfast's brief again, but only at cuts with a summary, so that the two are comparable."""
BUILDERS: Final[Mapping[str, Builder]] = {
    HOLDFAST: lambda situation: situation.own_brief,
    "bare_list": _bare_list,
    "tail": _tail,
    "lead": _lead,
    "random": _random_sentences,
    "summary": _summary,
    "summary_first": lambda situation: situation.cut.summary[:BUDGET] or None,
    "summary_last": lambda situation: situation.cut.summary[-BUDGET:] or None,
    BESIDE_SUMMARY: lambda situation: situation.own_brief if situation.cut.summary else None,
    "empty": lambda _: "",
}


def _at_cut(situation: Situation) -> Iterator[tuple[str, float]]:
    """Whether Holdfast's brief has the last state, and nothing outdated."""
    held = last_state(situation.before).held(situation.own_brief)
    if held:
        yield "last_state", sum(held) / len(held)
        yield "last_state_all", float(all(held))
    for name in sorted(deleted_file_names(situation.before)):
        yield "stale_facts", float(not offered_as_present(situation.own_brief, name))


def _whole_session(recording: Recording) -> Iterator[tuple[str, float]]:
    """Whether a rule survives compactions, a truncated file loses nothing, and a replay changes nothing."""
    yield from (("drift", float(held)) for held in _drift(recording))
    if sum(map(is_conversation, recording.events)) >= LEAST_BEFORE:
        yield from (("crash", float(safe)) for safe in _broken_off(recording))
        yield "idempotence", float(_is_idempotent(recording))


def _drift(recording: Recording) -> Iterator[bool]:
    """Whether the user's first rule is in the brief after the second and third compaction."""
    real = [cut for cut in cuts(recording.events) if cut.kind is CutKind.REAL]
    for cut in real[1:3]:
        before = recording.before(cut)
        rules = constraints_in(human_texts(before))
        if rules:
            yield holds(recording.brief(before), rules[0])


def _broken_off(recording: Recording) -> Iterator[bool]:
    """Whether a file that ends in the middle of a record gives all of the complete records, and no more."""
    harness = recording.transcript.harness
    with _copied(recording.transcript.path) as copy:
        whole, _ = read(harness, copy)
        draw = random.Random(recording.transcript.path.name)  # noqa: S311 - no secret depends on it
        size = copy.stat().st_size
        # From the longest to the shortest, so that one copy can be cut again and again.
        for place in sorted((draw.randrange(size) for _ in range(CRASHES)), reverse=True):
            os.truncate(copy, place)
            torn, _ = read(harness, copy)
            os.truncate(copy, _end_of_records(copy.read_bytes()))
            clean, _ = read(harness, copy)
            # The brief depends on the events alone: the same events need no second check.
            same = torn == clean or recording.brief(torn) == recording.brief(clean)
            yield same and clean == whole[: len(clean)]


def _is_idempotent(recording: Recording) -> bool:
    """Whether reading in pieces and repeating the beginning changes nothing."""
    events, third = recording.events, len(recording.events) // 3
    pieces, _ = read(recording.transcript.harness, recording.transcript.path, limit=PIECE_BYTES)
    again = itertools.chain(events[:third], events[: 2 * third], events)
    return pieces == events and session_after(again) == session_after(events)


def _end_of_records(content: bytes) -> int:
    """Where the last complete record ends; its newline may be missing."""
    whole = content.rfind(b"\n") + 1
    try:
        msgspec.json.decode(content[whole:])
    except (ValueError, RecursionError):
        return whole
    return len(content)


@contextmanager
def _copied(path: Path) -> Generator[Path]:
    """A temporary copy that may be truncated, with the same file and folder name."""
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        copy = Path(folder, path.parent.name, path.name)
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, copy)
        yield copy


MEASURES: Final[Mapping[str, Callable[[CutResult], float | None]]] = {
    "survival": lambda one: one.score.survival,
    "survival_old": lambda one: one.score.survival_old,
    "survival_without_names": lambda one: one.score.survival_without_names,
    "precision": lambda one: one.score.precision,
    "constraints": lambda one: one.score.constraints,
    "form": lambda one: float(one.form.is_readable),
    "form_sections": lambda one: one.form.sections,
    "form_readable": lambda one: one.form.readable,
    "form_plain": lambda one: one.form.plain,
    "form_repeated": lambda one: one.form.repeated,
    "needed": lambda one: one.needed,
    "rediscovered": lambda one: one.rediscovered,
}


def means(rows: Iterable[CutResult]) -> dict[str, Mean]:
    """The mean of every measure over these cuts."""
    rows = tuple(rows)
    return {name: mean(map(measure, rows)) for name, measure in MEASURES.items()}
