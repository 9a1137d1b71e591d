"""Retrieval sets: reads conversations with questions about them from the files of public benchmarks.

The sets' dialogues, messages and haystacks become the turns, sessions and evidence of
`engine.evaluation.retrieval`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from holdfast.engine.evaluation.retrieval import Collection, Question, Turn
from holdfast.errors import TranscriptUnreadable

LOCOMO: Final = "locomo"
DEVMEMBENCH: Final = "devmembench"
LOCOMO_CATEGORIES: Final = range(1, 5)
"""Without the fifth category, whose questions have no answer in the conversation."""

_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)")
_T = TypeVar("_T")


class _Spoken(msgspec.Struct):
    speaker: str
    dia_id: str
    text: str


class _Asked(msgspec.Struct):
    question: str
    category: int
    evidence: list[str] = []


class _Sample(msgspec.Struct):
    conversation: dict[str, Any]
    qa: list[_Asked]
    sample_id: str = ""


class _Message(msgspec.Struct):
    content: str


class _Session(msgspec.Struct, rename="camel"):
    session_id: str
    messages: list[_Message]


class _DevQuestion(msgspec.Struct, rename="camel"):
    question_type: str
    question: str
    ground_truth: str
    haystack_session_ids: list[str]


def sets(data: Path) -> dict[str, list[Collection]]:
    """The collections of every set below a folder, by set name."""
    locomo = [one for path in sorted(data.rglob("locomo10*.json")) for one in _locomo(path)]
    folders = [path for path in sorted(data.rglob(DEVMEMBENCH)) if path.is_dir()]
    if data.resolve().name == DEVMEMBENCH:
        folders.insert(0, data)
    dev = [one for folder in folders for one in _devmembench(folder)]
    return {name: collections for name, collections in ((LOCOMO, locomo), (DEVMEMBENCH, dev)) if collections}


def _locomo(path: Path) -> Iterator[Collection]:
    """One collection for each conversation; one memory for each turn, with its speaker's name before it."""
    for number, sample in enumerate(_decoded(path, list[_Sample])):
        name = sample.sample_id or f"{path.stem}:{number}"
        turns = tuple(_locomo_turns(path, sample))
        turn_ids = frozenset(turn.id for turn in turns)
        questions = (
            Question(one.question, str(one.category), turn_ids.intersection(_locomo_evidence(one)))
            for one in sample.qa
            if one.category in LOCOMO_CATEGORIES
        )
        yield Collection(name, turns, tuple(one for one in questions if one.evidence))


def _locomo_turns(path: Path, sample: _Sample) -> Iterator[Turn]:
    for key, value in sample.conversation.items():
        if match := _SESSION.fullmatch(key):
            for place, one in enumerate(_converted(path, value, list[_Spoken])):
                yield Turn(one.dia_id, f"{one.speaker}: {one.text}", match[1], place, one.dia_id)


def _locomo_evidence(question: _Asked) -> Iterator[str]:
    """The turns named as evidence; some entries name several, and some are misspelt."""
    for entry in question.evidence:
        yield from (f"D{session}:{turn}" for session, turn in _EVIDENCE.findall(entry))


def _devmembench(folder: Path) -> Iterator[Collection]:
    """One collection of all sessions; one memory for each message, and any of the right session counts."""
    sessions = [
        one for path in sorted(folder.glob("sessions*.json")) for one in _decoded(path, list[_Session])
    ]
    dev_questions = [
        one for path in sorted(folder.glob("questions*.json")) for one in _decoded(path, list[_DevQuestion])
    ]
    turns = tuple(
        Turn(f"{session.session_id}:{place}", message.content, session.session_id, place, session.session_id)
        for session in sessions
        for place, message in enumerate(session.messages)
    )
    session_ids = frozenset(turn.session for turn in turns)
    questions = (
        Question(
            one.question,
            one.question_type,
            session_ids.intersection(one.haystack_session_ids),
            one.ground_truth,
        )
        for one in dev_questions
    )
    # Questions without an answer test whether a model stays silent; a search has nothing to find for them.
    if answerable := tuple(one for one in questions if one.evidence):
        yield Collection(folder.name, turns, answerable)


def _decoded(path: Path, shape: type[_T]) -> _T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except (msgspec.MsgspecError, OSError) as error:
        raise _unreadable(path, error) from error


def _converted(path: Path, value: object, shape: type[_T]) -> _T:
    try:
        return msgspec.convert(value, shape)
    except msgspec.MsgspecError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> TranscriptUnreadable:
    return TranscriptUnreadable(f"`{path}` is not laid out as its set is: {error}")
