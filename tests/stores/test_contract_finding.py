"""What every store must do: find documents where they hold, with what stands beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.stores.base import EVERYWHERE, Hit, SearchDocument, Store, Within
from tests.stores.contract import ALL, NOON, SHOP, checkpoint, document, memory

HERE = Within(("shop", ""), "here")

PLACED = (
    document("shop", "parser", at=NOON),
    document("here", "parser", at=NOON, worktree_id="here"),
    document("there", "parser", at=NOON, worktree_id="there"),
    document("user", "parser", at=NOON, project_id=""),
    document("other", "parser", at=NOON, project_id="other"),
    document("old", "parser", at=NOON - 1),
    document("file", "parser", at=NOON, kind="file"),
)


def kept(store: Store, *documents: SearchDocument, vector: tuple[float, ...] = ()) -> None:
    with store.writing():
        for each in documents:
            store.add_document(replace(each, vector=vector or each.vector))


def ids(found: list[SearchDocument] | list[Hit]) -> list[str]:
    return [each.id for each in found]


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (HERE, {"shop", "here", "user", "old", "file"}),
        (SHOP, {"shop", "here", "there", "old", "file"}),
        (EVERYWHERE, {"shop", "here", "there", "user", "other", "old", "file"}),
        (Within(("",)), {"user"}),
        (Within(()), set()),
        (replace(HERE, kinds=("file", "digest")), {"file"}),
        (replace(HERE, since=NOON), {"shop", "here", "user", "file"}),
        (Within(None, "there", ("record",), NOON), {"shop", "there", "user", "other"}),
    ],
)
def test_a_document_is_found_where_it_holds(store: Store, within: Within, expected: set[str]) -> None:
    kept(store, *PLACED, vector=(1.0, 0.0))
    assert set(ids(store.search(["parser"], within, ALL))) == expected
    assert set(ids(store.nearest((1.0, 0.0), within, ALL))) == expected
    assert set(ids(store.documents(within, ALL))) == expected
    assert set(ids(store.documents_beginning("", within, ALL))) == expected
    assert set(ids(store.around([each.id for each in PLACED], 0, within))) == expected


def test_a_document_is_read_whole_but_for_its_vector(store: Store) -> None:
    whole = document(
        "d1",
        "parser",
        kind="file",
        session="s1",
        at=NOON,
        place=3,
        source="MEMORY.md › Rules",
        worktree_id="here",
        vector=(1.0, 0.0),
    )
    kept(store, whole)
    assert store.documents(EVERYWHERE, ALL) == [replace(whole, vector=())]
    assert store.documents_beginning("d", EVERYWHERE, ALL) == [replace(whole, vector=())]
    assert store.around(["d1"], 0, EVERYWHERE) == [replace(whole, vector=())]


def test_a_document_knows_the_session_of_its_checkpoint_or_memory(store: Store) -> None:
    kept(store, document("c1", "a", kind="checkpoint"), document("m1", "b", kind="memory"))
    with store.writing():
        store.add_checkpoint(checkpoint("c1", session="s1"))
        store.put_memory(memory("m1", session="s2"))
    assert [each.session for each in store.documents_beginning("", EVERYWHERE, ALL)] == ["s1", "s2"]


def test_documents_come_newest_first(store: Store) -> None:
    kept(store, document("a", "x", at=NOON), document("b", "x", at=NOON + 1), document("c", "x", at=NOON))
    assert ids(store.documents(EVERYWHERE, ALL)) == ["b", "c", "a"]
    assert ids(store.documents(EVERYWHERE, 1)) == ["b"]


def test_a_beginning_is_a_beginning_and_no_pattern(store: Store) -> None:
    kept(store, *(document(id, "x") for id in ("ab1", "ab2", "a%b", "b", "AB")))
    assert ids(store.documents_beginning("ab", EVERYWHERE, ALL)) == ["ab1", "ab2"]
    assert ids(store.documents_beginning("ab", EVERYWHERE, 1)) == ["ab1"]
    assert ids(store.documents_beginning("a%", EVERYWHERE, ALL)) == ["a%b"]
    assert store.documents_beginning("ab11", EVERYWHERE, ALL) == []


def test_what_stands_beside_is_of_the_same_session_and_kind(store: Store) -> None:
    kept(
        store,
        *(document(f"r{place}", "x", session="s1", place=place) for place in range(6)),
        document("other session", "x", session="s2", place=2),
        document("other kind", "x", session="s1", place=2, kind="digest"),
        document("alone", "x", place=2),
        document("also alone", "x", place=3),
    )
    assert set(ids(store.around(["r2"], 2, EVERYWHERE))) == {"r0", "r1", "r2", "r3", "r4"}
    assert set(ids(store.around(["r0", "r1", "alone"], 1, EVERYWHERE))) == {"r0", "r1", "r2", "alone"}
    assert store.around(["nowhere"], 2, EVERYWHERE) == []
    assert store.around([], 2, EVERYWHERE) == []


def test_memories_that_were_said_together_stand_beside_each_other(store: Store) -> None:
    with store.writing():
        for id, stretch, place in [
            ("a0", "a", 0),
            ("a1", "a", 1),
            ("a3", "a", 3),
            ("b1", "b", 1),
            ("c", "", 0),
        ]:
            store.put_memory(memory(id, stretch=stretch, place=place))
            store.add_document(document(id, "x", kind="memory"))
        store.put_memory(memory("c2"))
    assert set(ids(store.around(["a1"], 2, EVERYWHERE))) == {"a0", "a1", "a3"}
    assert set(ids(store.around(["a0"], 2, EVERYWHERE))) == {"a0", "a1"}
    assert set(ids(store.around(["b1", "c"], 2, EVERYWHERE))) == {"b1", "c"}


# Vectors


def test_documents_wait_for_a_vector_until_they_are_given_one(store: Store) -> None:
    kept(store, *(document(id, "x") for id in ("a", "b", "c")), document("d", "x", vector=(1.0, 0.0)))
    assert ids(store.without_vector(ALL)) == ["c", "b", "a"]
    assert ids(store.without_vector(2)) == ["c", "b"]
    with store.writing():
        store.put_vector("a", (0.0, 1.0))
        store.put_vector("b", ())
        store.put_vector("nowhere", (1.0, 0.0))
    assert ids(store.without_vector(ALL)) == ["c"], "one that points nowhere waits no more"
    assert ids(store.nearest((0.0, 1.0), EVERYWHERE, ALL)) == ["a", "d"]


def test_a_vector_given_again_replaces_the_first(store: Store) -> None:
    kept(store, document("a", "x", vector=(1.0, 0.0)))
    with store.writing():
        store.put_vector("a", (0.0, 1.0))
    assert [hit.score for hit in store.nearest((0.0, 1.0), EVERYWHERE, ALL)] == pytest.approx([1.0])


def test_a_document_said_anew_without_a_vector_waits_for_one(store: Store) -> None:
    kept(store, document("a", "x", vector=(1.0, 0.0)), document("a", "y"))
    assert store.nearest((1.0, 0.0), EVERYWHERE, ALL) == []
    assert ids(store.without_vector(ALL)) == ["a"]


def test_another_model_gives_all_of_them_new_vectors(store: Store) -> None:
    kept(store, document("a", "x", vector=(1.0, 0.0)), document("b", "x"))
    with store.writing():
        store.drop_vectors()
    assert store.nearest((1.0, 0.0), EVERYWHERE, ALL) == []
    assert set(ids(store.without_vector(ALL))) == {"a", "b"}


def test_a_dropped_document_waits_for_nothing(store: Store) -> None:
    kept(store, document("a", "x"))
    with store.writing():
        store.drop_document("a")
    assert store.without_vector(ALL) == []


def test_a_rewritten_text_waits_for_its_vector(store: Store) -> None:
    kept(store, document("a", "hunter2", vector=(1.0, 0.0)), document("b", "plain", vector=(1.0, 0.0)))
    with store.writing():
        store.rewrite("2", lambda _, text: text.replace("hunter2", "[gone]"), ALL, ALL)
    assert ids(store.without_vector(ALL)) == ["a"]
    assert ids(store.nearest((1.0, 0.0), EVERYWHERE, ALL)) == ["b"]
