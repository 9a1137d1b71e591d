"""Handover on probes: reads folders of questions about cuts in real sessions, and has a brief made for each.

`core.evaluation.handover` defines the scores. A brief is the one that `holdfast brief --transcript` prints;
nothing is stored. Probes are files from elsewhere: their sizes are bounded, and none leads out of the data.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, TypeVar

import msgspec

from holdfast import harnesses
from holdfast.core.evaluation.handover import (
    CutScore,
    ExpectedContent,
    Question,
    score_brief,
    without_nuggets_in,
)
from holdfast.core.text.untrusted import printable
from holdfast.engine.recording.preview import preview
from holdfast.errors import HoldfastError, ProbeUnreadable
from holdfast.lazy_dataclass import dataclass

ABOUT, QUESTIONS, TRAPS, SUMMARY = "about.json", "questions.json", "traps.json", "native.txt"
VALIDATION = "validation.txt"
FILE_BYTES = 4 << 20
"""The largest file of a probe that is read."""

_Expression = Annotated[str, msgspec.Meta(max_length=2_000)]
_T = TypeVar("_T")


class _About(msgspec.Struct, frozen=True):
    """Where a cut is: a transcript, by its path in the data, and the first line that a brief may not see."""

    file: str
    harness: str
    line: Annotated[int, msgspec.Meta(ge=2)]


class _Statement(msgspec.Struct, frozen=True):
    """A nugget or a trap as it is written."""

    text: str
    any: tuple[_Expression, ...]


class _Question(msgspec.Struct, frozen=True):
    """A question as it is written."""

    id: str
    kind: str
    nuggets: tuple[_Statement, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """One cut in a session, with what one must know to go on from there."""

    name: str
    harness: str
    file: PurePosixPath
    """The transcript, in the data."""
    line: int
    questions: tuple[Question, ...]
    traps: tuple[ExpectedContent, ...]
    is_for_validation: bool
    """Whether only its numbers may be looked at."""


WriteBrief = Callable[[Probe, int], str]
"""Writes the brief for a probe, within a budget."""


def probes_in(folder: Path, is_selected: Callable[[str], bool]) -> list[Probe]:
    """The selected probes in a folder, by name; raises an error if there are none."""
    return _read_probes(folder, _selected(folder, is_selected))


def probes_beside_summary(folder: Path, is_selected: Callable[[str], bool]) -> list[Probe]:
    """The selected probes that have a harness's summary, without the nuggets that it holds."""
    with_summary = [one for one in _selected(folder, is_selected) if (one / SUMMARY).exists()]
    return [
        replace(probe, questions=without_nuggets_in(probe.questions, _text(folder / probe.name / SUMMARY)))
        for probe in _read_probes(folder, with_summary)
    ]


def probes_to_fit(
    folder: Path, is_selected: Callable[[str], bool]
) -> tuple[list[Probe], frozenset[PurePosixPath]]:
    """The selected probes that are not for validation, and the transcripts of all those that are.

    Of a probe for validation nothing is read but which transcript it is about.
    """
    listed = _validation_list(folder / VALIDATION)
    files = {one: _transcript_of(one) for one in _selected(folder, lambda _: True)}
    for_validation = {one for one, file in files.items() if _is_listed(one, file, listed)}
    probes = [one for one in files if is_selected(one.name) and one not in for_validation]
    return _read_probes(folder, probes), listed.union(files[one] for one in for_validation)


def briefs_from(data: Path) -> WriteBrief:
    """Holdfast's own briefs, from the transcripts in this folder."""

    def write(probe: Probe, budget: int) -> str:
        try:
            harness = harnesses.reader(probe.harness)
            previewed = preview(harness, data / probe.file, until_line=probe.line - 1, budget=budget)
        except HoldfastError as error:
            raise ProbeUnreadable(
                f"there is no brief for probe `{probe.name}`: {error.message}",
                f"`{ABOUT}` names the harness, and the transcript by its path in --data",
            ) from error
        # As the command prints it.
        brief = printable(previewed.brief.text)
        if not brief.strip():
            raise ProbeUnreadable(f"the brief for probe `{probe.name}` is empty", "give a larger --budget")
        return brief

    return write


def texts_in(folder: Path) -> WriteBrief:
    """Briefs that someone else wrote: `<probe>.txt` in this folder, whatever the budget."""
    return lambda probe, _: _text(folder / f"{probe.name}.txt")


def score_probe(probe: Probe, write_brief: WriteBrief, budget: int) -> CutScore:
    """The score of the brief that is written for a probe."""
    return score_brief(probe.name, write_brief(probe, budget), budget, probe.questions, probe.traps)


def _selected(folder: Path, is_selected: Callable[[str], bool]) -> list[Path]:
    return sorted(one for one in _entries(folder) if is_selected(one.name) and (one / QUESTIONS).exists())


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise ProbeUnreadable(f"`{folder}` cannot be listed: {error.strerror}", _LAYOUT) from error


def _read_probes(folder: Path, probe_folders: Sequence[Path]) -> list[Probe]:
    if not probe_folders:
        raise ProbeUnreadable(f"there is no probe to score in `{folder}`", _LAYOUT)
    validation = _validation_list(folder / VALIDATION)
    return [_read_probe(one, validation) for one in probe_folders]


def _read_probe(folder: Path, validation: frozenset[PurePosixPath]) -> Probe:
    about = _decoded(folder / ABOUT, _About)
    file = _transcript_of(folder)
    questions = _decoded(folder / QUESTIONS, tuple[_Question, ...])
    traps = _decoded(folder / TRAPS, tuple[_Statement, ...]) if (folder / TRAPS).exists() else ()
    return Probe(
        folder.name,
        about.harness,
        file,
        about.line,
        tuple(
            Question(one.id, one.kind, _statements(folder / QUESTIONS, one.nuggets, f" of `{one.id}`"))
            for one in questions
        ),
        _statements(folder / TRAPS, traps, ""),
        _is_listed(folder, file, validation),
    )


def _transcript_of(folder: Path) -> PurePosixPath:
    """The transcript that a probe is about, by its path in the data."""
    name = _decoded(folder / ABOUT, _About).file
    file = PurePosixPath(name)
    if file.is_absolute() or ".." in file.parts or "\0" in name:
        raise ProbeUnreadable(
            f"`{folder / ABOUT}` names a transcript outside of the data", "give its path in --data"
        )
    return file


def _is_listed(folder: Path, file: PurePosixPath, validation: frozenset[PurePosixPath]) -> bool:
    return not validation.isdisjoint((file, PurePosixPath(folder.name)))


def _statements(path: Path, statements: Sequence[_Statement], of: str) -> tuple[ExpectedContent, ...]:
    return tuple(
        ExpectedContent(
            statement.text,
            tuple(_compiled(expression, f"`{path}`: statement {place}{of}") for expression in statement.any),
        )
        for place, statement in enumerate(statements, 1)
    )


def _compiled(expression: str, where: str) -> re.Pattern[str]:
    """The expression; an error names its place but does not quote it, since it may be one for validation."""
    try:
        return re.compile(expression, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise ProbeUnreadable(
            f"{where} has an invalid regular expression: {error}", "write it as Python's `re` reads it"
        ) from error


def _validation_list(path: Path) -> frozenset[PurePosixPath]:
    """The transcripts or probes that are for validation, one in each line; none without this file."""
    if not path.exists():
        return frozenset()
    return frozenset(PurePosixPath(line) for raw in _text(path).splitlines() if (line := raw.strip()))


def _decoded(path: Path, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(_bytes(path), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProbeUnreadable(f"`{path}` is malformed: {error}", _SHAPES[path.name]) from error


def _text(path: Path) -> str:
    return _bytes(path).decode(errors="replace")


def _bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ProbeUnreadable(f"`{path}` is not a regular file")
        if status.st_size > FILE_BYTES:
            raise ProbeUnreadable(f"`{path}` is larger than {FILE_BYTES >> 20} MB")
        return path.read_bytes()
    except OSError as error:
        raise ProbeUnreadable(f"`{path}` cannot be read: {error.strerror}", _LAYOUT) from error


_LAYOUT: Final = f"a probe is a folder with `{ABOUT}` and `{QUESTIONS}`"
_SHAPES: Final[Mapping[str, str]] = {
    ABOUT: 'write {"file": "session.jsonl", "harness": "HARNESS", "line": 200}',
    QUESTIONS: 'write [{"id": "…", "kind": "goal", "nuggets": [{"text": "…", "any": ["expression"]}]}]',
    TRAPS: 'write [{"text": "…", "any": ["expression"]}]',
}
