"""Training data: the statements of real sessions with labels, and the probes by which a table is judged.

No session of a validation probe is among them, whatever file it stands in. Transcripts belong to one session
if they have a record in common, and to one project if they have a folder or a working directory in common.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from holdfast import harnesses
from holdfast.core.brief.budget import Budget
from holdfast.core.brief.compose import BriefInput, compose_for_start
from holdfast.core.evaluation.handover import CutScore, score_brief
from holdfast.core.evaluation.labels import (
    LabelSource,
    NeedLabel,
    StatementVerdict,
    SummarySentences,
    label_by_questions,
    label_by_use,
    label_by_verdict,
)
from holdfast.core.evaluation.regression import Row
from holdfast.core.evaluation.survival import Cut, CutKind, cuts, need
from holdfast.core.events.event import MAIN
from holdfast.core.session.session import Session
from holdfast.core.text.strings import one_line
from holdfast.core.text.untrusted import printable
from holdfast.core.work.compute import standing
from holdfast.core.work.state import Statement
from holdfast.core.work.worth import Features, Weights, features_of, setting_of
from holdfast.engine.evaluation.handover import ABOUT, Probe
from holdfast.engine.evaluation.survival import (
    Recording,
    Transcript,
    read,
    session_after,
    session_in,
    transcripts,
)
from holdfast.engine.recording.preview import preview
from holdfast.errors import HoldfastError, JudgementsUnreadable, ProbeUnreadable
from holdfast.lazy_dataclass import dataclass

MOST_STATEMENTS: Final = 60
"""How many statements of a cut without a probe are labelled; more would say little more."""
LABELLED_BY: Final = "labelled by"
"""Begins the feature of rows that no probe labelled: each source calls another share of statements needed."""


@dataclass(frozen=True, slots=True)
class TrainingOrigin:
    """The session and project of a row or a probe, each named after one of its transcripts."""

    session: str
    project: str


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A labelled statement, as the regression takes it."""

    row: Row
    source: LabelSource
    origin: TrainingOrigin


@dataclass(frozen=True, slots=True)
class ProbeCase:
    """A probe with everything that its brief is made from, except the table of weights."""

    probe: Probe
    brief_input: BriefInput
    origin: TrainingOrigin

    def score(self, weights: Weights, budget: int) -> CutScore:
        """The score of the brief that a table gives."""
        brief = compose_for_start(replace(self.brief_input, weights=weights), Budget(budget, budget))
        return score_brief(
            self.probe.name, printable(brief.text), budget, self.probe.questions, self.probe.traps
        )


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Everything to fit a table to, and to judge it by."""

    cases: tuple[ProbeCase, ...]
    rows: tuple[TrainingRow, ...]


@dataclass(frozen=True, slots=True)
class TranscriptOutline:
    """What tells to which session and project a transcript belongs."""

    transcript: Transcript
    name: str
    """Its path in the data."""
    record_keys: frozenset[Hashable]
    project_keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class UsableTranscripts:
    """The transcripts that may be used, with the origin of each, and how many are kept for validation."""

    transcripts: Mapping[str, Transcript]
    origins: Mapping[str, TrainingOrigin]
    left_out: int


def transcripts_of(data: Path, probes: Iterable[Probe]) -> list[Transcript]:
    """All transcripts in the data, those of the probes included."""
    by_path = {one.path: one for one in transcripts(data)}
    for probe in probes:
        path = data / probe.file
        by_path.setdefault(path, Transcript(harnesses.reader(probe.harness), path))
    return list(by_path.values())


def outline(transcript: Transcript, data: Path) -> TranscriptOutline:
    """What tells to which session and project a transcript belongs; no text of it is kept."""
    events, cwd = read(transcript.harness, transcript.path) if transcript.path.is_file() else ((), "")
    path = PurePosixPath(transcript.path.relative_to(data))
    # A record alone is often only a place in the file; together with its time it is unmistakable.
    records = frozenset((event.record, event.at) for event in events if event.at and event.agent == MAIN)
    return TranscriptOutline(transcript, str(path), records, frozenset(_project_keys(path, cwd)))


def usable(outlines: Sequence[TranscriptOutline], validation: frozenset[PurePosixPath]) -> UsableTranscripts:
    """The transcripts of which no copy, earlier or later part is kept for validation."""
    sessions = _groups({one.name: one.record_keys for one in outlines})
    projects = _groups({one.name: one.project_keys | one.record_keys for one in outlines})
    closed = {sessions[one.name] for one in outlines if PurePosixPath(one.name) in validation}
    remaining = {one.name: one.transcript for one in outlines if sessions[one.name] not in closed}
    origins = {name: TrainingOrigin(sessions[name], projects[name]) for name in remaining}
    return UsableTranscripts(remaining, origins, len(outlines) - len(remaining))


def case_of(probe: Probe, data: Path, usable_transcripts: UsableTranscripts) -> ProbeCase | None:
    """The probe's case; None if its session is kept for validation."""
    origin = usable_transcripts.origins.get(str(probe.file))
    if origin is None:
        return None
    try:
        harness = harnesses.reader(probe.harness)
        previewed = preview(harness, data / probe.file, until_line=probe.line - 1)
    except HoldfastError as error:
        raise ProbeUnreadable(
            f"there is no brief for probe `{probe.name}`: {error.message}",
            f"`{ABOUT}` names the harness, and the transcript by its path in --data",
        ) from error
    return ProbeCase(probe, previewed.brief_input, origin)


def rows_of_case(case: ProbeCase) -> Iterator[TrainingRow]:
    """Each statement at a probe's cut, labelled by its questions."""
    probe = case.probe
    for statement, features in _statements(case.brief_input.session):
        label = label_by_questions(statement.text, probe.questions, probe.traps)
        yield _training_row(features, label, case.origin)


@dataclass(frozen=True, slots=True)
class JudgedCut:
    """A cut at which readers judged the statements: after so many events of the main agent."""

    file: str
    events: int
    verdicts: Mapping[str, StatementVerdict]
    """By the text of the statement, in one line."""


class _JudgedLine(msgspec.Struct, frozen=True):
    file: str
    events: int
    text: str
    verdict: StatementVerdict


def judged_cuts(path: Path) -> list[JudgedCut]:
    """What readers judged, from a file with one JSON object for each statement."""
    by_cut: dict[tuple[str, int], dict[str, StatementVerdict]] = {}
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise JudgementsUnreadable(
            f"the judged statements in {path} cannot be read: {error.strerror}",
            "name a file that you may read",
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=_JudgedLine)
        except msgspec.MsgspecError as error:
            raise JudgementsUnreadable(
                f"line {number} of {path} is no judged statement: {error}",
                f"it needs `file`, `events`, `text` and `verdict` ({', '.join(StatementVerdict)})",
            ) from error
        by_cut.setdefault((row.file, row.events), {})[one_line(row.text)] = row.verdict
    return [JudgedCut(file, events, verdicts) for (file, events), verdicts in by_cut.items()]


def rows_of_judged(cut: JudgedCut, usable_transcripts: UsableTranscripts) -> Iterator[TrainingRow]:
    """The statements at a judged cut; none if its session is kept for validation or not there."""
    transcript = usable_transcripts.transcripts.get(cut.file)
    recording = session_in(transcript) if transcript else None
    if recording is None:
        return
    place = Cut(CutKind.VIRTUAL, cut.events, cut.events, cut.events)
    session = session_after(recording.before(place), recording.transcript.harness.name, recording.cwd)
    for statement, features in _statements(session) if session else ():
        verdict = cut.verdicts.get(one_line(statement.text))
        if verdict is not None:
            yield _training_row(features, label_by_verdict(verdict), usable_transcripts.origins[cut.file])


def rows_of_transcript(name: str, usable_transcripts: UsableTranscripts) -> Iterator[TrainingRow]:
    """The statements at a session's own cuts, labelled by its summaries and by what the agent used."""
    recording = session_in(usable_transcripts.transcripts[name])
    if recording is None:
        return
    places = cuts(recording.events)
    for cut in places:
        labels = list(_labels_at(recording, cut, is_last=cut is places[-1]))
        session = (
            session_after(recording.before(cut), recording.transcript.harness.name, recording.cwd)
            if labels
            else None
        )
        if session is not None:
            yield from _rows_at(session, labels, usable_transcripts.origins[name])


def _labels_at(
    recording: Recording, cut: Cut, *, is_last: bool
) -> Iterator[Callable[[str], NeedLabel | None]]:
    """What labels the statements at a cut: its summary, and at the last cut what the agent used after it."""
    if cut.summary:
        yield SummarySentences(cut.summary).label
    needs = need(recording.events, recording.mentions, cut) if is_last else None
    if needs is not None:
        needed = needs.needed
        yield lambda text: label_by_use(text, needed)


def _rows_at(
    session: Session, labels: Iterable[Callable[[str], NeedLabel | None]], origin: TrainingOrigin
) -> Iterator[TrainingRow]:
    statements = list(_statements(session))
    # Evenly over the whole session, so that no section is missing.
    thinned = statements[:: -(-len(statements) // MOST_STATEMENTS) or 1]
    for label_of in labels:
        for statement, features in thinned:
            label = label_of(statement.text)
            if label is not None:
                yield _training_row({**features, f"{LABELLED_BY} {label.source}": 1.0}, label, origin)


def _statements(session: Session) -> Iterator[tuple[Statement, Features]]:
    statements = standing(session.trail, session.git, session.project)
    return zip(statements, features_of(statements, setting_of(session.trail)), strict=True)


def _training_row(features: Features, label: NeedLabel, origin: TrainingOrigin) -> TrainingRow:
    return TrainingRow(Row(features, label.is_needed, label.weight), label.source, origin)


def _project_keys(path: PurePosixPath, cwd: str) -> Iterator[str]:
    """The folder of a transcript, unless that is its harness's, and the directory that its records name."""
    folder = path.parent
    if folder.name and not any(folder.name.endswith(name) for name in harnesses.readable()):
        yield f"folder {folder}"
    if cwd:
        yield f"directory {cwd}"


def _groups(keys: Mapping[str, Iterable[Hashable]]) -> dict[str, str]:
    """For each member the first member of its group: those that share a key, directly or through others."""
    leaders = {member: member for member in keys}

    def leader(member: str) -> str:
        while leaders[member] != member:
            member = leaders[member]
        return member

    owners: dict[Hashable, str] = {}
    for member, own in keys.items():
        for key in own:
            first, second = sorted((leader(owners.setdefault(key, member)), leader(member)))
            leaders[second] = first
    return {member: leader(member) for member in keys}
