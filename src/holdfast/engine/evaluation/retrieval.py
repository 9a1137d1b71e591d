"""Retrieval: whether recall finds what a question asks for, measured on conversations with known answers.

No model judges. Every finder gets the same questions about the same memories, in temporary stores; Holdfast's
is `engine.memory.recall` itself. The conversations are read from the files of public benchmarks.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from holdfast import harnesses
from holdfast.config import Config
from holdfast.core.evaluation.survival import Mean, mean
from holdfast.core.events.world import Project
from holdfast.core.memory.ranking import query_words
from holdfast.core.text.strings import content_words, query_terms
from holdfast.engine.engine import Engine
from holdfast.engine.index import EMBEDDER_FACT
from holdfast.engine.memory.recall import RECORD, Query, look_up
from holdfast.errors import TranscriptUnreadable
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Embedder
from holdfast.stores.base import EVERYWHERE, SearchDocument
from holdfast.stores.sqlite import open_store

PROJECT: Final = Project("", "", "evaluation", "", "")
DEPTH: Final = 50
"""Among how many memories the first right one is looked for."""
MEASURES: Final = ("r5", "r10", "hit1", "mrr", "answer5", "answer10")
HOLDFAST: Final = "holdfast"
LOCOMO: Final = "locomo"
DEVMEMBENCH: Final = "devmembench"
LOCOMO_CATEGORIES: Final = range(1, 5)
"""Without the fifth category, whose questions have no answer in the conversation."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One memory: a text of a session, and the evidence that it counts as."""

    id: str
    text: str
    session: str
    place: int
    counts_as: str
    """The evidence that questions name: the turn itself, or its session."""


@dataclass(frozen=True, slots=True)
class RetrievalQuestion:
    """A question, and the evidence for its answer."""

    text: str
    category: str
    evidence: frozenset[str]
    answer: str = ""
    """The answer in words, if the turns can be expected to contain them."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Memories that are searched together, and the questions about them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[RetrievalQuestion, ...]


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The scores of one finder for one question."""

    finder: str
    collection: str
    category: str
    measures: Mapping[str, float | None]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Library:
    """A searchable collection: its turns by id, once as records of their sessions and once each alone."""

    turns: Mapping[str, Turn]
    engine: Engine
    alone: Engine
    embedder: Embedder

    def by_words(self, question: str, limit: int) -> dict[str, float]:
        """Ids and scores of a keyword search, the best first."""
        return {
            hit.id: hit.score for hit in self.engine.store.search(query_words(question), EVERYWHERE, limit)
        }

    def by_meaning(self, question: str, limit: int) -> dict[str, float]:
        """Ids and cosines of the nearest vectors, the nearest first."""
        (vector,) = self.embedder.embed([question])
        return {hit.id: hit.score for hit in self.engine.store.nearest(vector, EVERYWHERE, limit)}


Finder: TypeAlias = Callable[[Library, str], list[str]]
"""The ids of at most `DEPTH` memories for a question, the best first."""


@contextmanager
def library_of(collection: Collection, embedder: Embedder) -> Generator[Library]:
    """The collection in temporary stores."""
    vectors = embedder.embed([turn.text for turn in collection.turns])
    documents = [
        SearchDocument(turn.id, RECORD, PROJECT.project_id, turn.text, vector, turn.session, place=turn.place)
        for turn, vector in zip(collection.turns, vectors, strict=True)
    ]
    alone = [replace(document, session="") for document in documents]
    with _engine_over(documents, embedder) as engine, _engine_over(alone, embedder) as desk_alone:
        yield Library({turn.id: turn for turn in collection.turns}, engine, desk_alone, embedder)


@contextmanager
def _engine_over(documents: Iterable[SearchDocument], embedder: Embedder) -> Generator[Engine]:
    """An engine over these documents and nothing else, at a time when all of them are new."""
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        store = open_store(Path(folder, "store.db"), Path(folder, "backups"), 0)
        try:
            with store.writing():
                for document in documents:
                    store.add_document(document)
                store.put_fact(EMBEDDER_FACT, embedder.name)
            yield Engine(
                store=store,
                harness=harnesses.get,
                config=lambda _: Config(),
                user_home=Path(folder),
                clock=lambda: 0,
                new_id=lambda: "",
                embedder=lambda: embedder,
            )
        finally:
            store.close()


def results_for(collection: str, question: RetrievalQuestion, library: Library) -> list[QuestionResult]:
    """The results of every finder for one question."""
    rows: list[QuestionResult] = []
    for name, finder in FINDERS.items():
        began = time.perf_counter()
        ids = finder(library, question.text)
        milliseconds = (time.perf_counter() - began) * 1000
        measures = scores(question, [library.turns[id] for id in ids])
        rows.append(QuestionResult(name, collection, question.category, measures, milliseconds))
    return rows


def scores(question: RetrievalQuestion, turns: Sequence[Turn]) -> dict[str, float | None]:
    """Every measure of the turns found for a question, which are ordered best first."""
    right = [turn.counts_as in question.evidence for turn in turns]
    return {
        **{f"r{k}": _share(question.evidence, {turn.counts_as for turn in turns[:k]}) for k in (5, 10)},
        "hit1": float(any(right[:1])),
        "mrr": 1 / (right.index(True) + 1) if any(right) else 0.0,
        **{f"answer{k}": _answer_share(question.answer, turns[:k]) for k in (5, 10)},
    }


def means(rows: Iterable[QuestionResult]) -> dict[str, Mean]:
    """The mean of every measure over these questions."""
    rows = tuple(rows)
    return {name: mean(row.measures[name] for row in rows) for name in MEASURES}


def _answer_share(answer: str, turns: Iterable[Turn]) -> float | None:
    """The share of an answer's content words that the turns contain; None if none are expected."""
    words = content_words(answer)
    return _share(words, content_words("\n".join(turn.text for turn in turns))) if words else None


def _share(expected: frozenset[str], actual: Iterable[str]) -> float:
    return len(expected.intersection(actual)) / len(expected)


def _by_recall(library: Library, question: str) -> list[str]:
    return _recalled(library.engine, question)


def _each_alone(library: Library, question: str) -> list[str]:
    """Recall as if no memory belonged to a session; the difference shows what sessions contribute."""
    return _recalled(library.alone, question)


def _recalled(engine: Engine, question: str) -> list[str]:
    findings = look_up(engine, PROJECT, Query(question, limit=DEPTH, kinds=(RECORD,)))
    return [finding.id for finding in findings]


def _grep(library: Library, question: str) -> list[str]:
    """A plain text search: any word in any case, the turns with the most words first."""
    words = query_terms(question, len(question)).lower().split()
    counts = {id: sum(word in turn.text.lower() for word in words) for id, turn in library.turns.items()}
    return sorted((id for id, count in counts.items() if count), key=lambda id: -counts[id])[:DEPTH]


FINDERS: Final[Mapping[str, Finder]] = {
    HOLDFAST: _by_recall,
    "holdfast_alone": _each_alone,
    "keywords": lambda library, question: list(library.by_words(question, DEPTH)),
    "meaning": lambda library, question: list(library.by_meaning(question, DEPTH)),
    "grep": _grep,
    "empty": lambda _library, _question: [],
}


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


def collections_in(data: Path) -> dict[str, list[Collection]]:
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
            RetrievalQuestion(one.question, str(one.category), turn_ids.intersection(_locomo_evidence(one)))
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
        RetrievalQuestion(
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
