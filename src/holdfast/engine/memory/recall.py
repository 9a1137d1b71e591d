"""Recall: what was said before, found by its words and by what it means, and put in order.

Looking is the store's work, and `core.memory.ranking` decides what comes first; docs/decisions/0007-recall.md
says why. Where there is no embedder, words alone are looked for. What is found is data: it is defanged and
fenced where it is shown.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import FADING, Memory, Merits, identity, strength
from holdfast.core.memory.ranking import NEIGHBOURS, POOL, SEEDS, Candidate, Pool, Ranked, query_words, ranked
from holdfast.core.session.session import Session
from holdfast.engine.engine import Engine
from holdfast.engine.index import memory_files
from holdfast.engine.index.index import index
from holdfast.engine.index.scope import named, within
from holdfast.engine.index.vectors import catch_up
from holdfast.engine.recording.memorize import KIND as MEMORY
from holdfast.errors import HoldfastError, StoreLocked
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Embedder
from holdfast.stores.base import Document, Hit, Within

CHECKPOINT: Final = "checkpoint"
RECORD: Final = "record"
"""The kind whose texts follow each other in a session, so that one can speak for that beside it."""
VECTORS_AT_ONCE: Final = 256
"""So many documents without a vector are given one while someone waits."""
STEPS_AT_ONCE: Final = 3
"""So many sessions, or stretches of one, are indexed while someone waits."""
COMPARED_CHARS: Final = 2_000
"""So much of a text is compared word by word."""
LIMIT_MOST: Final = 500


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for, and where."""

    text: str
    limit: int = 10
    kinds: tuple[str, ...] = ()
    """`memory`, `file`, `checkpoint`, `digest`, `record`; empty for all of them."""
    since: int = 0
    all_projects: bool = False
    """Only ever set by a person."""
    include_superseded: bool = False
    each_alone: bool = False
    """Whether no text speaks for one beside it: for what is given unasked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A text that was found; as it was said, for whoever shows it to make harmless."""

    id: str
    kind: str
    score: float
    """What it is worth for this query: 1 is all that a text could say by itself."""
    text: str
    at: int
    source: str
    """Where it comes from, for a person."""
    session: str = ""
    worded: bool = True
    """Whether it, or what stands beside it, says any of the words that were asked for."""


def recall(engine: Engine, project: Project, query: Query) -> list[Finding]:
    """What fits the query, the best first; that a memory was found is counted."""
    with contextlib.suppress(StoreLocked):
        _index_some(engine)
    found = look_up(engine, project, query)
    told = [finding.id for finding in found if finding.kind == MEMORY]
    # That it cannot be counted just now is no reason to give nothing.
    with contextlib.suppress(StoreLocked):
        if told:
            with engine.store.writing():
                engine.store.count_found(told, engine.clock())
    return found


def expand(engine: Engine, project: Project, id: str, *, all_projects: bool = False) -> Finding | None:
    """The whole text of that id, or of the only one that begins so; None if there is none here.

    Raises HoldfastError where it could be any of several.
    """
    document = named(engine, id, within(project, all_projects=all_projects))
    if document is None:
        return None
    return _finding(document, engine.store.memory(document.id), 0.0)


def note_recalled(engine: Engine, session: Session | None, ids: Sequence[str]) -> None:
    """Note what a session's agent was told when it asked; that it cannot be noted now is no harm."""
    if session is None or not ids:
        return
    with contextlib.suppress(StoreLocked), engine.store.writing():
        engine.store.add_recalls(session.key, ids, engine.clock())


def look_up(engine: Engine, project: Project, query: Query) -> list[Finding]:
    """What fits the query, the best first; nothing is counted."""
    if not query.text.strip():
        raise HoldfastError("there is nothing to look for: the query is empty", "name a few words of it")
    where = replace(within(project, all_projects=query.all_projects), kinds=query.kinds, since=query.since)
    if not query.kinds or memory_files.KIND in query.kinds:
        with contextlib.suppress(StoreLocked):
            memory_files.refresh(engine, project)
    embedder = engine.embedder() if engine.config(project).recall.vectors else None
    limit = min(query.limit, LIMIT_MOST)
    pool = _pool(engine, query, where, embedder, max(POOL, limit))
    reach = 0 if query.each_alone else len(NEIGHBOURS)
    documents = engine.store.around(_seeds(engine, query, pool, max(SEEDS, limit)), reach, where)
    if not query.include_superseded:
        documents = [one for one in documents if not (one.merits and one.merits.superseded_by)]
    found = _candidates(engine, query.text, pool, documents, embedder)
    best = ranked(one._replace(session="") for one in found) if query.each_alone else ranked(found)
    return list(islice(_findings(best, documents), limit))


def _index_some(engine: Engine) -> None:
    """Index what waits for it: where no daemon runs, nobody else does."""
    for _ in range(STEPS_AT_ONCE):
        if not index(engine):
            return


def _pool(engine: Engine, query: Query, where: Within, embedder: Embedder | None, count: int) -> Pool:
    """What the two searches say.

    Of words that nothing holds and that the embedder cannot read, something or other would still be the
    nearest: where there are no others, nothing is.
    """
    words = query_words(query.text)
    by_words = engine.store.search(words, where, count)
    by_meaning: list[Hit] = []
    if embedder is not None and (by_words or not words or embedder.knows(words)):
        with contextlib.suppress(StoreLocked):
            catch_up(engine, embedder, VECTORS_AT_ONCE)
        (vector,) = embedder.embed([query.text])
        by_meaning = engine.store.nearest(vector, where, count)
    return Pool({hit.id: hit.score for hit in by_words}, {hit.id: hit.score for hit in by_meaning})


def _seeds(engine: Engine, query: Query, pool: Pool, count: int) -> list[str]:
    """The texts that are worth a closer look; what is superseded takes nobody's place among them."""
    if query.include_superseded:
        return pool.seeds(count)
    best = pool.seeds(2 * count)
    gone = engine.store.superseded_among(best)
    return [id for id in best if id not in gone][:count]


def _candidates(
    engine: Engine,
    asked: str,
    pool: Pool,
    documents: Sequence[Document],
    embedder: Embedder | None,
) -> Iterator[Candidate]:
    now = engine.clock()
    texts = [document.text[:COMPARED_CHARS] for document in documents]
    near = embedder.nearness(query_words(asked), texts) if embedder else [0.0] * len(texts)
    said = pool.voices([document.id for document in documents])
    for (keywords, meaning), document, nearness in zip(said, documents, near, strict=True):
        memory = document.merits
        if memory is None:
            left = FADING ** (max(0, now - document.at) / DAY_MS)
            session, place = (document.session if document.kind == RECORD else ""), document.place
        else:
            left = 0.0 if memory.superseded_by else strength(memory, now)
            session, place = memory.stretch, memory.place
        yield Candidate(document.id, keywords, nearness, meaning, left, session, place)


def _findings(best: Iterable[Ranked], documents: Iterable[Document]) -> Iterator[Finding]:
    """Each text once, and of the checkpoints of a session, which say much the same, the best one."""
    by_id = {document.id: document for document in documents}
    given = set[tuple[str, str]]()
    for one in (one for one in best if not one.is_noise):
        document = by_id[one.candidate.id]
        finding = replace(_finding(document, document.merits, one.score), worded=one.worded)
        is_checkpoint = document.kind == CHECKPOINT and document.session
        same = (CHECKPOINT, document.session) if is_checkpoint else ("", identity(finding.text))
        if same not in given:
            given.add(same)
            yield finding


def _finding(document: Document, memory: Memory | Merits | None, score: float) -> Finding:
    text, at = document.text, document.at
    if memory is not None:
        # Its document also says what it is tagged with.
        text, at = memory.text, max(memory.created_at, memory.seen_at)
    source = document.source or document.kind
    return Finding(document.id, document.kind, score, text, at, source, document.session)
