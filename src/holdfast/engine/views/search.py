"""Search: one query over everything that is stored, with its results by session.

`engine.memory.recall` finds and ranks; here the sentence that matches is chosen from each text, and the
results are filtered by what that sentence is. Texts are as stored: the caller redacts them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from holdfast.core.events.world import Project
from holdfast.core.evidence.prose.reader import decisions
from holdfast.core.memory.excerpts import Excerpt, LineKind, best_excerpts
from holdfast.core.memory.ranking import query_words
from holdfast.core.session.session import Session
from holdfast.core.sharing.provenance import provenance_row
from holdfast.engine.engine import Engine
from holdfast.engine.memory.recall import Query, RecalledText, look_up
from holdfast.engine.repository.projects import project_named
from holdfast.engine.views.serialisation import Row, session_row
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import to_iso

RESULTS_MOST: Final = 30
HITS_SHOWN: Final = 3
"""How many sentences of one session are shown."""
HITS_OF_ONE: Final = 100
"""How many are shown of a session that is asked about alone."""
TEXTS_MOST: Final = 120
TEXTS_FILTERED: Final = 200
"""How many texts are looked through for sentences of one kind."""
SENTENCES_LOOKED_AT: Final = 12
NEAR_MOST: Final = 5
NO_PROJECT: Final = Project("", "", "", "", os.devnull)
"""Stands for no project: with it everything is searched."""


class SearchKind(StrEnum):
    """What is searched for; the values are in addresses."""

    SESSION = "session"
    PROMPT = "prompt"
    DECISION = "decision"
    FILE = "file"
    COMMAND = "command"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The words, and the filters; an empty one lets everything pass."""

    words: str
    kind: SearchKind | None = None
    project_id: str = ""
    harness: str = ""
    since: int = 0
    session: str = ""
    """Shows more sentences than those of a list: all that were found in this session."""


def search(engine: Engine, request: SearchRequest) -> list[Row]:
    """The results, the best first; one for each session, memory or section of a memory file."""
    words = query_words(request.words)
    project = project_named(engine, request.project_id) if request.project_id else NO_PROJECT
    query = Query(
        request.words,
        TEXTS_FILTERED if request.kind in _LINES or request.harness else TEXTS_MOST,
        _TEXT_KINDS.get(request.kind, ()),
        request.since,
        all_projects=not request.project_id,
    )
    first: dict[str, RecalledText] = {}
    hits: dict[str, list[Row]] = {}
    sessions: dict[str, Session | None] = {}
    for text in look_up(engine, project, query):
        matching = list(_hits(text, words, request.kind))
        session = _session(engine, text, sessions)
        if not matching or (request.harness and (session is None or session.harness != request.harness)):
            continue
        name = _name(text)
        if request.session and name != request.session:
            continue
        if name in first or len(first) < RESULTS_MOST:
            first.setdefault(name, text)
            hits.setdefault(name, []).extend(matching)
    shown = HITS_OF_ONE if request.session else HITS_SHOWN
    # A text without any of the words is near in meaning only: it is shown where nothing else is found.
    worded = [name for name in first if any(hit["matches"] for hit in hits[name])]
    return [
        _result(engine, first[name], sessions.get(first[name].session), hits[name], shown)
        for name in worded or list(first)[:NEAR_MOST]
    ]


_TEXT_KINDS: Final[Mapping[SearchKind | None, tuple[str, ...]]] = {
    SearchKind.SESSION: ("record", "digest", "checkpoint"),
    SearchKind.PROMPT: ("record",),
    SearchKind.DECISION: ("record", "digest", "checkpoint"),
    SearchKind.FILE: ("record",),
    SearchKind.COMMAND: ("record",),
    SearchKind.MEMORY: ("memory", "file"),
}
_LINES: Final[Mapping[SearchKind | None, frozenset[LineKind]]] = {
    SearchKind.PROMPT: frozenset({LineKind.PROMPT}),
    SearchKind.DECISION: frozenset({LineKind.DECISION}),
    SearchKind.FILE: frozenset({LineKind.FILE}),
    SearchKind.COMMAND: frozenset({LineKind.COMMAND, LineKind.OUTCOME}),
}
"""The kinds of lines that a search is for; without an entry, any line."""
_OF_SESSIONS: Final = frozenset({"record", "digest", "checkpoint"})


def _hits(text: RecalledText, words: Iterable[str], kind: SearchKind | None) -> Iterator[Row]:
    """The sentences of a text that match, of the kind that is searched for."""
    lines = _LINES.get(kind)
    sentences = best_excerpts(text.text, tuple(words), SENTENCES_LOOKED_AT if lines else HITS_SHOWN)
    for excerpt in map(_classified, sentences):
        if lines is None or (excerpt.matches and excerpt.kind in lines):
            shown = text.kind if text.kind not in _OF_SESSIONS else excerpt.kind.value
            yield {
                "id": text.id,
                "kind": shown,
                "text": excerpt.text,
                "matches": excerpt.matches,
                "at": to_iso(text.at) if text.at else None,
            }


def _classified(excerpt: Excerpt) -> Excerpt:
    is_spoken = excerpt.kind in (LineKind.STATEMENT, LineKind.SUMMARY)
    return replace(excerpt, kind=LineKind.DECISION) if is_spoken and decisions(excerpt.text) else excerpt


def _name(text: RecalledText) -> str:
    """What a result is known by: its session, if it is a part of one."""
    return text.session if text.session and text.kind in _OF_SESSIONS else text.id


def _session(engine: Engine, text: RecalledText, known: dict[str, Session | None]) -> Session | None:
    if text.session and text.session not in known:
        known[text.session] = engine.store.session(text.session)
    return known.get(text.session)


def _result(
    engine: Engine, text: RecalledText, session: Session | None, hits: Sequence[Row], most: int
) -> Row:
    matching = [hit for hit in hits if hit["matches"]] or hits
    each = list({hit["text"]: hit for hit in reversed(matching)}.values())[::-1]
    return {
        "id": text.id,
        "kind": "session" if text.kind in _OF_SESSIONS and not text.provenance else text.kind,
        "session": session_row(engine, session) if session else None,
        "source": text.source,
        **provenance_row(text.provenance),
        "at": to_iso(text.at) if text.at else None,
        "score": round(text.score, 4),
        "hits": each[:most],
        "more": sum(bool(hit["matches"]) for hit in each[most:]),
    }
