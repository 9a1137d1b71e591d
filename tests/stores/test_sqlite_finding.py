"""What is true of finding in SQLite alone: vectors that are held in memory, and words that are too common."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.stores.base import EVERYWHERE, Store
from holdfast.stores.sql import documents, vectors, words
from holdfast.stores.sql.words import Posting
from holdfast.stores.sqlite.full_text import Fts5
from holdfast.stores.sqlite.schema import shipped
from holdfast.stores.sqlite.store import open_with
from tests.stores.contract import ALL, NOON, SHOP, document
from tests.stores.sqlite_files import opened

EAST, NORTH = (1.0, 0.0), (0.0, 1.0)


def near(store: Store, limit: int = ALL) -> list[str]:
    return [hit.id for hit in store.nearest(EAST, SHOP, limit)]


def test_what_another_process_changes_is_seen(path: Path) -> None:
    one, other = opened(path), opened(path)
    with one.writing():
        one.add_document(document("a", "x", vector=EAST))
        one.add_document(document("b", "x", vector=EAST))
    assert near(one) == ["a", "b"]
    with other.writing():
        other.drop_document("a")
        other.add_document(document("c", "x", vector=EAST))
        other.put_vector("b", NORTH)
    assert near(one) == ["c", "b"]
    assert near(one, 1) == ["c"]
    one.close()
    other.close()


def test_what_is_undone_is_not_held(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.add_document(document("a", "x", vector=EAST))
    assert near(store) == ["a"]
    with pytest.raises(ZeroDivisionError), store.writing():
        _look_and_fail(store)
    with store.writing():
        store.add_document(document("c", "x", vector=NORTH))
    hits = {hit.id: round(hit.score, 3) for hit in store.nearest(EAST, SHOP, ALL)}
    assert hits == {"a": 1.0, "c": 0.0}
    store.close()


def _look_and_fail(store: Store) -> None:
    store.add_document(document("b", "x", vector=EAST))
    assert near(store) == ["a", "b"]
    _ = 1 / 0


def test_so_many_may_be_gone_and_the_nearest_are_the_nearest_still(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "GONE_MOST", 4)
    store, draw = opened(path), random.Random(1)
    there: set[str] = set()
    for step in range(30):
        with store.writing():
            for number in range(3):
                id = f"{step} {number}"
                store.add_document(document(id, "x", vector=(1.0, draw.random())))
                there.add(id)
            for id in draw.sample(sorted(there), 1):
                store.drop_document(id)
                there.discard(id)
        assert set(near(store)) == there
        assert near(store, 2) == near(store)[:2]
    store.close()


def test_only_the_newest_are_held_where_there_are_too_many(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "MOST", 3)
    store = opened(path)
    with store.writing():
        for number in range(5):
            store.add_document(document(str(number), "x", vector=EAST))
    assert near(store) == ["2", "3", "4"]
    with store.writing():
        store.add_document(document("5", "x", vector=EAST))
    assert near(store) == ["3", "4", "5"]
    store.close()


def test_what_is_scrubbed_is_held_no_more(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.add_document(document("a", "x", vector=EAST))
    assert near(store) == ["a"]
    with store.writing():
        store.forget_all(NOON)
    store.scrub()
    assert store._vectors is None
    store.close()


def test_a_byte_for_each_dimension_is_close_enough(path: Path) -> None:
    store, draw = opened(path), random.Random(2)
    said = [tuple(draw.gauss(0, 1) for _ in range(192)) for _ in range(200)]
    with store.writing():
        for number, vector in enumerate(said):
            store.add_document(document(str(number), "x", vector=vector))
    hits = store.nearest(said[7], EVERYWHERE, 2)
    assert hits[0].id == "7"
    assert hits[0].score == pytest.approx(1, abs=1e-3)
    assert hits[1].score < 0.5
    store.close()


def test_a_process_that_looks_for_no_vector_compares_none(path: Path) -> None:
    look = (
        "import sys; from pathlib import Path; from holdfast.stores.sqlite import open_store;"
        "from holdfast.stores.base import EVERYWHERE;"
        f"store = open_store(Path({str(path)!r}), Path({str(path.parent / 'b')!r}), 0);"
        "store.search(['x'], EVERYWHERE, 3); store.close(); sys.exit('simsimd' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0


# Words


@pytest.fixture
def crowded(path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Twenty documents with a common word, where ten are too many to be scored."""
    monkeypatch.setattr(words, "SCORED_MOST", 10)
    monkeypatch.setattr(documents, "NEWEST_MOST", 10)
    store = opened(path)
    with store.writing():
        for number in range(20):
            store.add_document(document(str(number), f"common {'rare' if number in (3, 17) else 'plain'}"))
    return store


def test_beside_rare_words_a_common_one_is_not_looked_for(crowded: Store) -> None:
    assert sorted(hit.id for hit in crowded.search(["common", "rare"], SHOP, 10)) == ["17", "3"]
    crowded.close()


def test_a_common_word_alone_is_looked_for(crowded: Store) -> None:
    assert len(crowded.search(["common"], SHOP, 10)) == 10
    assert len(crowded.search(["common", "plain"], SHOP, 10)) == 10
    assert crowded.search(["absent"], SHOP, 10) == []
    crowded.close()


def test_where_every_word_is_common_the_rarest_is_looked_for_in_the_newest(crowded: Store) -> None:
    with crowded.writing():
        for number in range(20, 35):
            crowded.add_document(document(str(number), "common seldom"))
    found = crowded.search(["common", "seldom"], SHOP, 10)
    assert sorted(hit.id for hit in found) == [str(number) for number in range(25, 35)]
    crowded.close()


def test_how_common_a_word_is_is_asked_of_the_newest(crowded: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "SAMPLE", 5)
    with crowded.writing():
        for number in range(20, 25):
            crowded.add_document(document(str(number), "plain" if number == 22 else "rare"))
    found = crowded.search(["plain", "rare"], SHOP, 10)
    assert "3" not in {hit.id for hit in found}, "of the newest, most say `rare`"
    crowded.close()


def test_a_word_that_only_older_documents_hold_is_a_rare_one(
    crowded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "SAMPLE", 2)
    found = crowded.search(["common", "rare", "absent"], SHOP, 10)
    assert sorted(hit.id for hit in found) == ["17", "3"]
    crowded.close()


def test_whoever_wants_all_of_them_gets_all_of_them(crowded: Store) -> None:
    assert len(crowded.search(["common", "rare"], SHOP, ALL * ALL)) == 20
    crowded.close()


def test_how_common_a_word_is_is_asked_again_when_the_store_has_grown(crowded: Store) -> None:
    crowded.search(["rare", "plain"], SHOP, 10)
    with crowded.writing():
        for number in range(20, 40):
            crowded.add_document(document(str(number), "rare"))
    found = crowded.search(["rare", "17"], SHOP, 10)
    assert len(found) == 10, "now it is the common one"
    crowded.close()


@pytest.mark.parametrize(
    "asked", [["parse_hook"], ["hook", "parse_hook", "cart"], ["render", "no_such", "zz"]]
)
def test_words_are_scored_one_by_one_as_the_index_scores_them_together(
    path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    store, draw = opened(path), random.Random(3)
    said = ["parse hook", "parse_hook", "parse", "hook", "cart", "render", *map(str, range(120))]
    with store.writing():
        for number in range(60):
            text = " ".join(draw.choices(said, k=draw.randint(1, 30)))
            store.add_document(document(str(number), text, project_id="shop" if number % 3 else "elsewhere"))
    together = {hit.id: hit.score for hit in store.search(asked, SHOP, 40)}
    monkeypatch.setattr(words, "SCORED_MOST", 59)
    alone = {hit.id: hit.score for hit in store.search(asked, SHOP, 40)}
    assert alone == pytest.approx(together)
    assert list(alone) == list(together)
    assert alone
    store.close()


def test_what_another_program_removes_during_a_search_is_not_found(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = opened(path), opened(path)
    with store.writing():
        for number in range(3):
            store.add_document(document(str(number), "rare", project_id="shop"))
    held = Fts5.held

    def held_until_now(index: Fts5, word: str, limit: int) -> Posting:
        found = held(index, word, limit)
        with other.writing():
            other.forget_project("shop", NOON)
        return found

    monkeypatch.setattr(words, "SCORED_MOST", 1)
    monkeypatch.setattr(Fts5, "held", held_until_now)
    assert store.search(["rare"], SHOP, 2) == []
    store.close()
    other.close()


def test_what_is_looked_for_in_a_crowd_is_found_behind_better_matches_of_other_projects(
    crowded: Store,
) -> None:
    with crowded.writing():
        for number in range(20, 26):
            crowded.add_document(document(str(number), "rare rare", project_id="elsewhere"))
    assert sorted(hit.id for hit in crowded.search(["common", "rare"], SHOP, 2)) == ["17", "3"]
    crowded.close()


# Documents of an older schema


def test_documents_of_the_second_schema_keep_their_texts_and_get_a_time(path: Path, backups: Path) -> None:
    older = open_with(path, backups, NOON, shipped()[:2])
    older._database.rows(_OLD_ROWS)
    older.close()
    store = opened(path)
    known = {each.id: each for each in store.documents(EVERYWHERE, ALL)}
    assert known["c1"].text == "Fix it"
    assert (known["c1"].at, known["c1"].session) == (NOON + 7, "session-one")
    assert known["c1"].source == "session session-"
    assert (known["d1"].at, known["d1"].source, known["d1"].session) == (0, "", "s1")
    assert [hit.id for hit in store.search(["fix"], SHOP, ALL)] == ["c1"]
    assert {each.id for each in store.without_vector(ALL)} == {"c1", "d1"}
    assert store.redaction("2").stale == 1
    with store.writing():
        store.trim_checkpoints("session-one", 0)
    assert store.search(["fix"], SHOP, ALL) == []
    assert store.check() == ""
    store.close()


_OLD_ROWS = """
insert into session_checkpoints (
    id, session_key, harness, trigger, digest, prompt_count, created_at, project_id, worktree_id, window,
    words, redactor
) values (
    'c1', 'session-one', 'playhouse', 'periodic', 'Fix it', 1, '2026-01-01T12:00:00.007Z', 'shop', 'w', 0,
    '', '2'
);
insert into documents (id, kind, project_id, session_key, text, vector, redactor)
values ('c1', 'checkpoint', 'shop', '', 'Fix it', x'', '2'),
       ('d1', 'record', 'shop', 's1', 'Break it', x'0000803f', '1');
"""
