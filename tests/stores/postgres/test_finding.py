"""What the contract does not say of finding in PostgreSQL: the scores are SQLite's, also in a crowd."""

from __future__ import annotations

import random
from collections.abc import Iterator

import psycopg
import pytest

from holdfast.stores.base import EVERYWHERE, Store
from holdfast.stores.postgres.connection import PostgresAddress
from holdfast.stores.postgres.store import PostgresStore, open_postgres
from holdfast.stores.sql import documents, words
from holdfast.stores.sqlite import open_in_memory
from tests.stores.contract import ALL, SHOP, document


@pytest.fixture
def store(database: str) -> Iterator[PostgresStore]:
    opened = open_postgres(PostgresAddress(database))
    yield opened
    opened.close()


def fill(store: Store, seed: int) -> None:
    """Sixty documents of a small vocabulary; each call with a seed writes the same."""
    draw = random.Random(seed)
    vocabulary = ["parse", "hook", "parse_hook", "cart", "rendered", "Crème", *map(str, range(90))]
    with store.writing():
        for number in range(60):
            text = " ".join(draw.choices(vocabulary, k=draw.randint(1, 30)))
            store.add_document(document(str(number), text, project_id="shop" if number % 3 else "elsewhere"))


@pytest.mark.parametrize("asked", [["hook"], ["hook", "cart", "creme"], ["rendering", "no_such", "zz"]])
def test_the_scores_are_those_of_sqlite(store: PostgresStore, asked: list[str]) -> None:
    other = open_in_memory()
    fill(store, 3)
    fill(other, 3)
    hits = store.search(asked, SHOP, 40)
    assert hits
    assert {hit.id: hit.score for hit in hits} == pytest.approx(
        {hit.id: hit.score for hit in other.search(asked, SHOP, 40)}
    )
    other.close()


def test_a_row_of_words_is_found_as_one(store: PostgresStore) -> None:
    with store.writing():
        store.add_document(document("a", "see parse_hook here"))
        store.add_document(document("b", "the hook that parses"))
    assert [hit.id for hit in store.search(["parse_hook"], EVERYWHERE, ALL)] == ["a"]
    assert {hit.id for hit in store.search(["hooks"], EVERYWHERE, ALL)} == {"a", "b"}


@pytest.fixture
def crowded(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> PostgresStore:
    """Twenty documents with a common word, where ten are too many to be scored."""
    monkeypatch.setattr(words, "SCORED_MOST", 10)
    monkeypatch.setattr(documents, "SCORED_MOST", 10)
    monkeypatch.setattr(documents, "NEWEST_MOST", 10)
    with store.writing():
        for number in range(20):
            store.add_document(document(str(number), f"common {'rare' if number in (3, 17) else 'plain'}"))
    return store


def test_beside_rare_words_a_common_one_is_not_looked_for(crowded: PostgresStore) -> None:
    assert sorted(hit.id for hit in crowded.search(["common", "rare"], SHOP, 10)) == ["17", "3"]


def test_where_every_word_is_common_the_newest_are_looked_at(crowded: PostgresStore) -> None:
    found = crowded.search(["common", "plain"], SHOP, 10)
    assert {int(hit.id) for hit in found} <= set(range(9, 20))
    assert len(found) >= 9


def test_a_text_longer_than_the_index_takes_is_stored_and_found(store: PostgresStore) -> None:
    text = " ".join(f"word{number}" for number in range(300_000))
    with store.writing():
        store.add_document(document("long", text))
    assert store.documents(EVERYWHERE, 1)[0].text == text
    assert [hit.id for hit in store.search(["word7"], EVERYWHERE, ALL)] == ["long"]


def test_how_many_words_there_are_follows_every_change(store: PostgresStore, database: str) -> None:
    with store.writing():
        for number in range(3):
            store.add_document(document(str(number), "one two three"))
        store.add_document(document("0", "one"))
        store.drop_document("1")
    with psycopg.connect(database) as connection:
        row = connection.execute("select documents, words from holdfast.documents_in_all").fetchone()
    assert row == (2, 4)
