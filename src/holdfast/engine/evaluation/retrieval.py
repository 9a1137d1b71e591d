"""Retrieval: whether recall finds what a question asks for, measured on conversations with known answers.

No model judges. Every finder gets the same questions about the same memories, in temporary stores; Holdfast's
is `engine.memory.recall` itself. `engine.evaluation.retrieval_sets` reads the sets from files.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from holdfast import harnesses
from holdfast.config import Config
from holdfast.core.evaluation.survival import Mean, mean
from holdfast.core.events.world import Project
from holdfast.core.memory.ranking import query_words
from holdfast.core.text.strings import content_words, query_terms
from holdfast.engine.engine import Engine
from holdfast.engine.index.vectors import MODEL
from holdfast.engine.memory.recall import RECORD, Query, look_up
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Embedder
from holdfast.stores.base import EVERYWHERE, Document
from holdfast.stores.sqlite import open_store

PROJECT: Final = Project("", "", "evaluation", "", "")
DEPTH: Final = 50
"""Among how many memories the first right one is looked for."""


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
class Question:
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
    questions: tuple[Question, ...]


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
def shelved(collection: Collection, embedder: Embedder) -> Generator[Library]:
    """The collection in temporary stores."""
    vectors = embedder.embed([turn.text for turn in collection.turns])
    documents = [
        Document(turn.id, RECORD, PROJECT.project_id, turn.text, vector, turn.session, place=turn.place)
        for turn, vector in zip(collection.turns, vectors, strict=True)
    ]
    alone = [replace(document, session="") for document in documents]
    with _engine_over(documents, embedder) as engine, _engine_over(alone, embedder) as desk_alone:
        yield Library({turn.id: turn for turn in collection.turns}, engine, desk_alone, embedder)


@contextmanager
def _engine_over(documents: Iterable[Document], embedder: Embedder) -> Generator[Engine]:
    """An engine over these documents and nothing else, at a time when all of them are new."""
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        store = open_store(Path(folder, "store.db"), Path(folder, "backups"), 0)
        try:
            with store.writing():
                for document in documents:
                    store.add_document(document)
                store.put_fact(MODEL, embedder.name)
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


def answered(collection: str, question: Question, library: Library) -> list[QuestionResult]:
    """The results of every finder for one question."""
    rows: list[QuestionResult] = []
    for name, finder in FINDERS.items():
        began = time.perf_counter()
        ids = finder(library, question.text)
        milliseconds = (time.perf_counter() - began) * 1000
        measures = scores(question, [library.turns[id] for id in ids])
        rows.append(QuestionResult(name, collection, question.category, measures, milliseconds))
    return rows


def scores(question: Question, turns: Sequence[Turn]) -> dict[str, float | None]:
    """Every measure of the turns found for a question, which are ordered best first."""
    right = [turn.counts_as in question.evidence for turn in turns]
    return {
        **{f"r{k}": _share(question.evidence, {turn.counts_as for turn in turns[:k]}) for k in (5, 10)},
        "hit1": float(any(right[:1])),
        "mrr": 1 / (right.index(True) + 1) if any(right) else 0.0,
        **{f"answer{k}": _answer_share(question.answer, turns[:k]) for k in (5, 10)},
    }


MEASURES: Final = ("r5", "r10", "hit1", "mrr", "answer5", "answer10")


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


OURS: Final = "holdfast"
FINDERS: Final[Mapping[str, Finder]] = {
    OURS: _by_recall,
    "holdfast_alone": _each_alone,
    "keywords": lambda library, question: list(library.by_words(question, DEPTH)),
    "meaning": lambda library, question: list(library.by_meaning(question, DEPTH)),
    "grep": _grep,
    "empty": lambda _library, _question: [],
}
