"""Recall: searches earlier sessions, memories and files by words and by meaning, and ranks the results.

The store searches, and `core.memory.ranking` decides the order; docs/decisions/0007-recall.md says why.
Without an embedder, only words are searched. Results are data: they are defanged and fenced where shown.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Final

from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import FADING, Memory, Merits, identity, strength
from holdfast.core.memory.ranking import (
    NEIGHBOURS,
    POOL,
    SEEDS,
    Pool,
    Ranked,
    RankingCandidate,
    query_words,
    rank,
    worth_showing,
)
from holdfast.core.session.session import Session
from holdfast.core.sharing.provenance import Provenance
from holdfast.engine import index
from holdfast.engine.engine import Engine
from holdfast.engine.index import document_named, embed_missing, index_next, visible_from
from holdfast.engine.machine import is_here
from holdfast.engine.recording.memorize import KIND as MEMORY
from holdfast.engine.shared_texts import authors_of_texts, refresh_shared_texts
from holdfast.errors import HoldfastError, StoreLocked
from holdfast.lazy_dataclass import dataclass
from holdfast.models.base import Embedder
from holdfast.stores.base import Hit, SearchDocument, Within

CHECKPOINT: Final = "checkpoint"
RECORD: Final = "record"
"""The kind whose texts follow each other in a session, so that a match also supports its neighbours."""
VECTORS_AT_ONCE: Final = 256
"""How many documents are embedded while the user waits."""
STEPS_AT_ONCE: Final = 3
"""How many indexing steps are taken while the user waits."""
COMPARED_CHARS: Final = 2_000
"""How much of a text is compared word by word."""
LIMIT_MOST: Final = 500
FILTER_SPREAD: Final = 5
"""How many times more texts are looked at for one harness, person or machine: the index knows none."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for, and where."""

    text: str
    limit: int = 10
    kinds: tuple[str, ...] = ()
    """`memory`, `file`, `checkpoint`, `digest`, `record`, `handoff`; empty for all of them."""
    since: int = 0
    all_projects: bool = False
    """Only ever set by the user."""
    include_superseded: bool = False
    harness: str = ""
    """Only what sessions of this harness said or left; empty for all."""
    person: str = ""
    """Only what this person said or shared; empty for all."""
    machine: str = ""
    """Only what is from this machine, by its name or how its id begins; empty for all."""
    each_alone: bool = False
    """Whether matches do not support their neighbours: for texts that are given unasked."""


@dataclass(frozen=True, slots=True)
class RecalledText:
    """A text that matches a query, unchanged: the code that shows it must defang it."""

    id: str
    kind: str
    score: float
    """How well it matches the query: 1 is the most that a text can reach by itself."""
    text: str
    at: int
    source: str
    """Where it comes from, in words for the user."""
    session: str = ""
    worded: bool = True
    """Whether it, or a neighbour, has any word of the query."""
    provenance: Provenance | None = None
    """Where it came from, if another machine or person shared it."""


def recall(engine: Engine, project: Project, query: Query) -> list[RecalledText]:
    """The texts that match a query, the best first. Each memory among them is counted as recalled."""
    with contextlib.suppress(StoreLocked):
        _index_some(engine)
    findings = look_up(engine, project, query)
    memory_ids = [finding.id for finding in findings if finding.kind == MEMORY]
    # A failure to count must not lose the results.
    with contextlib.suppress(StoreLocked):
        if memory_ids:
            with engine.store.writing():
                engine.store.count_found(memory_ids, engine.clock())
    return findings


def expand(engine: Engine, project: Project, id: str, *, all_projects: bool = False) -> RecalledText | None:
    """The whole text with that id, or with the only id that begins with it; None if there is none here.

    Raises HoldfastError if several match.
    """
    document = document_named(engine, id, visible_from(project, all_projects=all_projects))
    if document is None:
        return None
    finding = _finding(document, engine.store.memory(document.id), 0.0)
    author = authors_of_texts(engine.store, document.project_id).get(finding.id)
    is_elsewhere = document.project_id not in (project.project_id, index.USER)
    if author is not None and not author.is_mine and is_elsewhere:
        return None
    return replace(finding, provenance=author)


def note_recalled(engine: Engine, session: Session | None, ids: Sequence[str]) -> None:
    """Note which texts a session's agent was given when it asked; a failure to note is ignored."""
    if session is None or not ids:
        return
    with contextlib.suppress(StoreLocked), engine.store.writing():
        engine.store.add_recalls(session.key, ids, engine.clock())


def look_up(engine: Engine, project: Project, query: Query) -> list[RecalledText]:
    """The texts that match a query, the best first; nothing is counted."""
    if not query.text.strip():
        raise HoldfastError("there is nothing to look for: the query is empty", "name a few words of it")
    where = replace(
        visible_from(project, all_projects=query.all_projects), kinds=query.kinds, since=query.since
    )
    if not query.kinds or index.MEMORY_FILE in query.kinds:
        with contextlib.suppress(StoreLocked):
            index.refresh_memory_files(engine, project)
    with contextlib.suppress(StoreLocked):
        refresh_shared_texts(engine, project)
    embedder = engine.embedder() if engine.config(project).recall.vectors else None
    limit = min(query.limit, LIMIT_MOST)
    spread = FILTER_SPREAD if query.harness or query.person or query.machine else 1
    pool = _pool(engine, query, where, embedder, spread * max(POOL, limit))
    reach = 0 if query.each_alone else len(NEIGHBOURS)
    documents = engine.store.around(_seeds(engine, query, pool, spread * max(SEEDS, limit)), reach, where)
    if query.harness:
        documents = _of_harness(engine, documents, query.harness)
    if query.person or query.machine:
        documents = _of_author(engine, project, documents, query)
    if query.all_projects:
        documents = _without_others_elsewhere(engine, project, documents)
    if not query.include_superseded:
        documents = [one for one in documents if not (one.merits and one.merits.superseded_by)]
    candidates = _candidates(engine, query.text, pool, documents, embedder)
    best = rank(one._replace(session="") for one in candidates) if query.each_alone else rank(candidates)
    authors = authors_of_texts(engine.store, project.project_id)
    findings = islice(_findings(best, documents), limit)
    return [replace(each, provenance=authors.get(each.id)) for each in findings]


def _of_author(
    engine: Engine, project: Project, documents: Iterable[SearchDocument], query: Query
) -> list[SearchDocument]:
    """The documents of that person and machine."""
    authors, config = authors_of_texts(engine.store, project.project_id), engine.config(project)
    own = engine.home is not None and is_here(engine.home, config, query.person, query.machine)
    return [
        document
        for document in documents
        if (author.is_of(query.person, query.machine) if (author := authors.get(document.id)) else own)
    ]


def _without_others_elsewhere(
    engine: Engine, project: Project, documents: Iterable[SearchDocument]
) -> list[SearchDocument]:
    """The documents without what other people shared in other projects: that is found there alone."""

    @cache
    def authors(project_id: str) -> dict[str, Provenance]:
        return authors_of_texts(engine.store, project_id) if project_id != project.project_id else {}

    return [
        document
        for document in documents
        if (author := authors(document.project_id).get(document.id)) is None or author.is_mine
    ]


def _of_harness(engine: Engine, documents: Iterable[SearchDocument], harness: str) -> list[SearchDocument]:
    """The documents of sessions of that harness."""

    @cache
    def is_wanted(key: str) -> bool:
        session = engine.store.session(key) if key else None
        return session is not None and session.harness == harness

    return [document for document in documents if is_wanted(document.session)]


def _index_some(engine: Engine) -> None:
    """Index some of the backlog, because no daemon may be running to do it."""
    for _ in range(STEPS_AT_ONCE):
        if not index_next(engine):
            return


def _pool(engine: Engine, query: Query, where: Within, embedder: Embedder | None, count: int) -> Pool:
    """The results of the two searches.

    The nearest vectors of words that no text has and that the embedder does not know mean nothing, so they
    are left out if the query has no other words.
    """
    words = query_words(query.text)
    by_words = engine.store.search(words, where, count)
    by_meaning: list[Hit] = []
    if embedder is not None and (by_words or not words or embedder.knows(words)):
        with contextlib.suppress(StoreLocked):
            embed_missing(engine, embedder, VECTORS_AT_ONCE)
        (vector,) = embedder.embed([query.text])
        by_meaning = engine.store.nearest(vector, where, count)
    return Pool({hit.id: hit.score for hit in by_words}, {hit.id: hit.score for hit in by_meaning})


def _seeds(engine: Engine, query: Query, pool: Pool, count: int) -> list[str]:
    """The ids worth ranking; superseded memories do not displace others."""
    if query.include_superseded:
        return pool.seeds(count)
    best = pool.seeds(2 * count)
    superseded = engine.store.superseded_among(best)
    return [id for id in best if id not in superseded][:count]


def _candidates(
    engine: Engine,
    query_text: str,
    pool: Pool,
    documents: Sequence[SearchDocument],
    embedder: Embedder | None,
) -> Iterator[RankingCandidate]:
    now = engine.clock()
    texts = [document.text[:COMPARED_CHARS] for document in documents]
    near = embedder.nearness(query_words(query_text), texts) if embedder else [0.0] * len(texts)
    voices = pool.voices([document.id for document in documents])
    for (keywords, meaning), document, nearness in zip(voices, documents, near, strict=True):
        memory = document.merits
        if memory is None:
            remaining = FADING ** (max(0, now - document.at) / DAY_MS)
            session, place = (document.session if document.kind == RECORD else ""), document.place
        else:
            remaining = 0.0 if memory.superseded_by else strength(memory, now)
            session, place = memory.stretch, memory.place
        yield RankingCandidate(document.id, keywords, nearness, meaning, remaining, session, place)


def _findings(best: Sequence[Ranked], documents: Iterable[SearchDocument]) -> Iterator[RecalledText]:
    """Each text once, and only the best checkpoint of each session, because they are much alike."""
    by_id = {document.id: document for document in documents}
    yielded = set[tuple[str, str]]()
    for one in worth_showing(best):
        document = by_id[one.candidate.id]
        finding = replace(_finding(document, document.merits, one.score), worded=one.worded)
        is_checkpoint = document.kind == CHECKPOINT and document.session
        same = (CHECKPOINT, document.session) if is_checkpoint else ("", identity(finding.text))
        if same not in yielded:
            yielded.add(same)
            yield finding


def _finding(document: SearchDocument, memory: Memory | Merits | None, score: float) -> RecalledText:
    text, at = document.text, document.at
    if memory is not None:
        # Its document also contains its tags.
        text, at = memory.text, max(memory.created_at, memory.seen_at)
    source = document.source or document.kind
    return RecalledText(document.id, document.kind, score, text, at, source, document.session)
