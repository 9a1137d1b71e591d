"""What was said before is found again: by words and by meaning, in its scope, and in the right order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from holdfast.core.session.session import Trigger
from holdfast.engine.index import EMBEDDER_FACT, embed_missing
from holdfast.engine.memory.recall import VECTORS_AT_ONCE, Query, expand, look_up
from holdfast.errors import HoldfastError
from holdfast.models.base import Vector
from holdfast.settings import Recall
from holdfast.stores.base import EVERYWHERE, SearchDocument
from tests.engine.library import DAY, EMBEDDER, OTHER, SHOP, Library
from tests.engine.stage import HOUR, NOON
from tests.stores.contract import checkpoint


def record(place: int, text: str, session: str = "s1", at: int = NOON) -> SearchDocument:
    id, source = f"{session}-record-{place}", f"session {session}"
    return SearchDocument(id, "record", "shop", text, session=session, at=at, place=place, source=source)


def test_a_memory_is_found_by_its_words_and_by_what_it_means(library: Library) -> None:
    library.remember("The invoice parser fails on Windows line endings")
    library.remember("Lunch is at noon")
    (finding, *_) = library.recall("invoice parser")
    assert finding.text == "The invoice parser fails on Windows line endings"
    assert (finding.kind, finding.source, finding.at) == ("memory", "memory", NOON + 1)
    assert 0 < finding.score <= 1
    library.remember("My car is red")
    assert library.texts("automobile") == ["My car is red"]


def test_an_identifier_is_found_whole_and_in_parts(library: Library) -> None:
    library.remember("parse_hook reads the letter")
    library.remember("parseConfig reads the settings")
    assert library.texts("where is parse_hook?", limit=1) == ["parse_hook reads the letter"]
    assert library.texts("hook", limit=1) == ["parse_hook reads the letter"]


def test_an_answer_is_found_beside_the_words_that_were_asked_for(library: Library) -> None:
    library.add(
        record(1, "Which database shall we take for the orders?"),
        record(2, "Postgres, because of the constraints."),
        record(3, "The harbour is for ferries.", session="s2"),
    )
    assert library.texts("Which database for the orders?")[:2] == [
        "Which database shall we take for the orders?",
        "Postgres, because of the constraints.",
    ]


def test_what_was_remembered_just_before_speaks_for_a_memory(library: Library) -> None:
    library.remember("Which database shall we take for the orders?")
    library.remember("Postgres, because of the constraints.")
    library.now += HOUR
    library.remember("Tabs, because of the width.")
    library.embedder = None
    assert library.texts("database orders") == [
        "Which database shall we take for the orders?",
        "Postgres, because of the constraints.",
    ]


def test_only_records_stand_beside_each_other(library: Library) -> None:
    near = replace(record(2, "Postgres."), id="digest-1", kind="digest")
    library.add(record(1, "Which database shall we take for the orders?"), near)
    library.embedder = None
    assert library.texts("database orders") == ["Which database shall we take for the orders?"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"memory", "file", "old"}),
        ({"kinds": ("file",)}, {"file"}),
        ({"kinds": ("file", "memory")}, {"file", "memory"}),
        ({"since": NOON}, {"memory", "file"}),
        ({"all_projects": True}, {"memory", "file", "old", "elsewhere"}),
        ({"kinds": ("nothing",)}, set()),
    ],
)
def test_it_looks_where_it_is_told_to(library: Library, query: dict[str, Any], expected: set[str]) -> None:
    library.remember("parser memory")
    library.add(
        SearchDocument("file-01", "file", "shop", "parser file", at=NOON, source="MEMORY.md › Rules"),
        SearchDocument("old-001", "record", "shop", "parser old", at=NOON - 1),
        SearchDocument("other-1", "record", "other", "parser elsewhere", at=NOON),
    )
    assert {text.split()[1] for text in library.texts("parser", **query)} == expected


def test_without_an_embedder_words_alone_are_looked_for(library: Library) -> None:
    library.remember("The invoice parser fails")
    library.embedder = None
    assert library.texts("invoice") == ["The invoice parser fails"]
    assert library.texts("bill") == []


def test_whoever_wants_no_vectors_gets_none(library: Library) -> None:
    library.remember("The invoice parser fails")
    library.config = replace(library.config, recall=Recall(vectors=False))
    assert library.texts("bill") == []
    assert len(library.store.without_vector(10)) == 1


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_an_empty_query_is_refused(library: Library, text: str) -> None:
    with pytest.raises(HoldfastError, match="the query is empty"):
        library.recall(text)


@pytest.mark.parametrize("text", ["what is it?", '" OR "', "🚀", "\x00", "a" * 100_000, "(*", "ü"])
def test_any_query_is_answered(library: Library, text: str) -> None:
    library.remember("The invoice parser fails")
    assert len(library.recall(text)) <= 1


def test_what_has_nothing_to_do_with_the_query_is_not_given(library: Library) -> None:
    library.remember("Lunch is at noon")
    library.now += HOUR
    library.remember("The ferry leaves at nine")
    assert library.texts("ferry") == ["The ferry leaves at nine"]
    assert library.texts("quantum chromodynamics") == []


def test_for_words_that_nobody_knows_nothing_is_given(library: Library) -> None:
    library.remember("The invoice parser fails on Windows line endings")
    library.remember("pytest -q runs the suite")
    assert library.texts("zorbleflux xkcdqwrt") == []
    assert library.texts("flibber quonk purple dishwasher") == [], "near to nothing"
    library.remember("The zorbleflux is off")
    assert library.texts("zorbleflux xkcdqwrt", limit=1) == ["The zorbleflux is off"]


def test_a_finding_says_whether_it_holds_any_of_the_words(library: Library) -> None:
    library.remember("My car is red")
    assert [finding.worded for finding in library.recall("automobile")] == [False]
    assert [finding.worded for finding in library.recall("which car")] == [True]


def test_what_is_superseded_comes_behind_what_supersedes_it(library: Library) -> None:
    library.remember("The port is 8080")
    library.remember("The port is 9090")
    assert library.texts("port", include_superseded=True) == ["The port is 9090", "The port is 8080"]


def test_an_empty_store_has_nothing(library: Library) -> None:
    assert library.recall("anything") == []


def test_the_limit_is_kept_and_reached(library: Library) -> None:
    for number in range(60):
        library.remember(f"parser number {number}")
    assert len(library.recall("parser", limit=3)) == 3
    assert len(library.recall("parser", limit=50)) == 50


def test_that_a_memory_was_found_is_counted_and_what_was_only_looked_up_is_not(library: Library) -> None:
    known = library.remember("The invoice parser fails").memory
    library.now += DAY
    look_up(library.engine(), SHOP, Query("invoice"))
    assert library.store.memory(known.id) == known
    library.recall("invoice")
    assert library.store.memory(known.id) == replace(known, found=1, found_at=library.now)


def test_among_equals_the_stronger_memory_leads(library: Library) -> None:
    pinned = library.remember("The parser drops a line in one case", pinned=True).memory
    library.now += 100 * DAY
    library.remember("The parser drops a line in two cases", importance=0.1)
    assert library.recall("parser drops a line")[0].id == pinned.id


def test_among_equals_the_newer_record_leads(library: Library) -> None:
    library.add(
        record(0, "The parser drops a line", session="s1", at=NOON - 200 * DAY),
        record(0, "The parser drops a row", session="s2", at=NOON),
        record(0, "The parser drops a cell", session="s3", at=NOON - 100 * DAY),
    )
    library.embedder = None
    sessions = [finding.session for finding in library.recall("parser drops")]
    assert sessions == ["s2", "s3", "s1"]


def test_of_a_sessions_checkpoints_the_best_is_given(library: Library) -> None:
    with library.store.writing():
        for number in range(3):
            taken = checkpoint(f"check-{number}", session="s1", trigger=Trigger.PERIODIC)
            library.store.add_checkpoint(taken)
            library.store.add_document(
                SearchDocument(taken.id, "checkpoint", "shop", f"parser {'lexer ' * number}", at=NOON)
            )
        library.store.add_checkpoint(checkpoint("check-9", session="s2"))
        library.store.add_document(SearchDocument("check-9", "checkpoint", "shop", "parser", at=NOON))
    assert sorted(finding.session for finding in library.recall("parser lexer")) == ["s1", "s2"]


def test_a_text_that_stands_in_two_places_is_given_once(library: Library) -> None:
    library.remember("The port is 8080")
    library.add(record(1, "the port is 8080."))
    assert len(library.recall("port")) == 1


# The whole text


def test_a_finding_is_expanded_by_the_beginning_of_its_id(library: Library) -> None:
    library.add(record(1, "parser " * 5_000, session="session-one"))
    memory = library.remember("[net]: The port is 8080").memory
    engine = library.engine()
    whole = expand(engine, SHOP, "session-one-r")
    assert whole is not None
    assert (whole.text, whole.source, whole.session) == (
        "parser " * 5_000,
        "session session-one",
        "session-one",
    )
    told = expand(engine, SHOP, memory.id)
    assert told is not None
    assert told.text == "The port is 8080"


def test_what_cannot_be_seen_from_here_is_not_expanded(library: Library) -> None:
    memory = library.remember("The port is 8080", OTHER).memory
    assert expand(library.engine(), SHOP, memory.id) is None
    assert expand(library.engine(), SHOP, memory.id, all_projects=True) is not None
    assert expand(library.engine(), SHOP, "") is None
    shortest = expand(library.engine(), OTHER, "m")
    assert shortest is not None, "any beginning names the only one"
    assert shortest.id == memory.id


def test_an_id_that_could_be_several_is_refused(library: Library) -> None:
    library.add(record(1, "a", session="session"), record(2, "b", session="session"))
    with pytest.raises(HoldfastError, match="several ids begin with `session-record`"):
        expand(library.engine(), SHOP, "session-record")


# Vectors


class OtherModel:
    """An embedder of another name, for which everything points the same way."""

    name: str = "another"
    dimensions: int = 2

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [(1.0, 0.0) for _ in texts]

    def nearness(self, words: Sequence[str], texts: Sequence[str]) -> list[float]:
        return [0.0 for _ in texts]

    def knows(self, words: Sequence[str]) -> bool:
        return True


def test_documents_get_their_vectors_when_someone_recalls(library: Library) -> None:
    library.add(*(record(place, f"fact {place}") for place in range(VECTORS_AT_ONCE + 5)))
    library.recall("fact")
    assert len(library.store.without_vector(1_000)) == 5
    assert embed_missing(library.engine(), EMBEDDER, 1_000) == 5
    assert embed_missing(library.engine(), EMBEDDER, 1_000) == 0


def test_vectors_of_another_model_are_made_anew(library: Library) -> None:
    library.remember("The invoice parser fails")
    library.recall("bill")
    assert library.store.fact(EMBEDDER_FACT) == EMBEDDER.name
    library.embedder = OtherModel()
    library.recall("anything")
    assert library.store.fact(EMBEDDER_FACT) == "another"
    assert len(library.store.nearest((1.0, 0.0), EVERYWHERE, 10)) == 1
