"""One search over sessions, prompts, decisions, files, commands and memories."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.engine.views.search import HITS_SHOWN, SearchKind, SearchRequest, search
from holdfast.engine.views.serialisation import Row
from holdfast.stores.base import SearchDocument
from tests.engine.library import DAY, OTHER, SHOP, Library, library
from tests.engine.stage import NOON
from tests.stores.contract import session

__all__ = ["library"]


def passage(
    place: int, text: str, session: str = "s1", project: str = "shop", at: int = NOON
) -> SearchDocument:
    id, source = f"{session}-{place}", f"session {session}"
    return SearchDocument(id, "record", project, text, session=session, at=at, place=place, source=source)


@pytest.fixture
def filled(library: Library) -> Library:
    library.add(
        passage(1, "User: Mend the lantern in the shop.\nEdited src/lantern.py\nRan: pytest -k lantern"),
        passage(2, "Agent: I decided to keep the lantern in cents, because floats drift."),
        passage(1, "User: Paint the lantern.", session="s2", project="other", at=NOON + 2 * DAY),
        passage(1, "User: An old lantern.", session="gone"),
    )
    with library.store.writing():
        library.store.put_session(session("s1", project=SHOP))
        library.store.put_session(session("s2", project=OTHER, harness="codex"))
    library.remember("The lantern is green")
    library.now = NOON + 3 * DAY
    return library


def found(library: Library, words: str, **filters: Any) -> dict[str, list[tuple[str, str]]]:  # noqa: ANN401
    """What is found: for each session or memory the sentences, each with its kind."""
    rows: list[Any] = search(library.engine(), SearchRequest(words, **filters))
    keys = [(row["session"] or {}).get("session_key") or row["kind"] for row in rows]
    return {
        key: [(hit["kind"], hit["text"]) for hit in row["hits"]] for key, row in zip(keys, rows, strict=True)
    }


def test_results_are_grouped_by_session_each_with_the_sentences_that_match(filled: Library) -> None:
    results = found(filled, "lantern")
    assert set(results) == {"s1", "s2", "session", "memory"}
    assert ("prompt", "Mend the lantern in the shop.") in results["s1"]
    assert len(results["s1"]) == HITS_SHOWN
    assert results["memory"] == [("memory", "The lantern is green")]


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [
        (SearchKind.PROMPT, {"Mend the lantern in the shop.", "Paint the lantern.", "An old lantern."}),
        (SearchKind.DECISION, {"I decided to keep the lantern in cents, because floats drift."}),
        (SearchKind.FILE, {"Edited src/lantern.py"}),
        (SearchKind.COMMAND, {"pytest -k lantern"}),
        (SearchKind.MEMORY, {"The lantern is green"}),
    ],
)
def test_one_kind_of_sentence_is_searched_for(filled: Library, kind: SearchKind, sentences: set[str]) -> None:
    results = found(filled, "lantern", kind=kind)
    assert {text for hits in results.values() for _, text in hits} == sentences


def test_project_harness_and_time_are_filters(filled: Library) -> None:
    assert set(found(filled, "lantern", harness="codex")) == {"s2"}
    assert set(found(filled, "lantern", since=NOON + DAY)) == {"s2"}
    assert "s2" not in found(filled, "lantern", project_id="shop")


def test_words_that_nothing_has_find_nothing(filled: Library) -> None:
    assert found(filled, "xyzzyq") == {}


def test_of_one_session_all_sentences_are_shown(filled: Library) -> None:
    filled.add(*(passage(place, f"User: The lantern number {place}.") for place in range(3, 9)))
    (listed,) = (row for row in search(filled.engine(), SearchRequest("lantern")) if key_of(row) == "s1")
    (alone,) = search(filled.engine(), SearchRequest("lantern", session="s1"))
    hits: Any = alone["hits"]
    assert len(hits) == HITS_SHOWN + int(str(listed["more"])) == 10
    assert hits[:HITS_SHOWN] == listed["hits"]
    assert alone["more"] == 0


def key_of(row: Row) -> str:
    session_row: Any = row["session"]
    return str((session_row or {}).get("session_key"))
