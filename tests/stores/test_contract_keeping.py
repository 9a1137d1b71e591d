"""What every store must do: checkpoints, what is dropped with age, and what is found again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core.session.rolling import Outline
from holdfast.core.session.session import Phase
from holdfast.core.work.answer import RejectedSentence
from holdfast.stores.base import Store
from tests.stores.contract import (
    ALL,
    CHECKPOINT,
    LINEAGE,
    MINUTE,
    NOON,
    NOWHERE,
    OTHERS,
    SHOP,
    checkpoint,
    document,
    ended,
    prompt,
    receipt,
    session,
)

# Checkpoints


def test_a_checkpoint_is_kept_whole(store: Store) -> None:
    bare = checkpoint("bare", memory_queries=(), recent_remembers=(), words="", created_at=NOON + 7)
    with store.writing():
        store.add_checkpoint(CHECKPOINT)
        store.add_checkpoint(bare)
    assert store.checkpoints(ALL) == [bare, CHECKPOINT]


def test_checkpoints_come_newest_first_and_of_equal_times_the_last_one_first(store: Store) -> None:
    with store.writing():
        for id, at in [("a", NOON + 5), ("b", NOON + 1), ("c", NOON + 5), ("d", NOON + 1_000)]:
            store.add_checkpoint(checkpoint(id, created_at=at))
        store.add_checkpoint(checkpoint("e", session="s2", project_id="other"))
    assert _ids(store.checkpoints_of_session("s1", ALL)) == ["d", "c", "a", "b"]
    assert _ids(store.checkpoints_of_session("s1", 2)) == ["d", "c"]
    assert _ids(store.checkpoints_of_project("shop", 3)) == ["d", "c", "a"]
    assert _ids(store.checkpoints_of_project("other", ALL)) == ["e"]
    assert _ids(store.checkpoints(ALL)) == ["d", "c", "a", "b", "e"]
    assert _ids(store.checkpoints(1)) == ["d"]


def test_trimming_drops_the_oldest_of_one_session(store: Store) -> None:
    with store.writing():
        for number in range(5):
            store.add_checkpoint(checkpoint(f"c{number}", created_at=NOON + number // 2))
        store.add_checkpoint(checkpoint("other", session="s2", created_at=0))
    with store.writing():
        assert store.trim_checkpoints("s1", 2) == 3
        assert store.trim_checkpoints("s1", 2) == 0
    assert _ids(store.checkpoints(ALL)) == ["c4", "c3", "other"]


def test_the_outline_of_a_checkpoint_can_be_replaced_and_nothing_else_changes(store: Store) -> None:
    noted = Outline("By rule.", model="m", left_out=(RejectedSentence("Wrong.", "why"),), no_answer="slow")
    with store.writing():
        store.add_checkpoint(checkpoint("a"))
        store.add_checkpoint(checkpoint("b"))
        store.put_outline("a", noted)
        store.put_outline("nothing has this id", noted)
    assert store.checkpoint("a") == checkpoint("a", outline=noted)
    assert store.checkpoint("b") == checkpoint("b")


def test_pruning_keeps_the_newest_of_each_session_longer(store: Store) -> None:
    rows = [
        ("s1", "old", 1),
        ("s1", "newest", 2),
        ("s2", "long gone", 0),
        ("s3", "old too", 5),
        ("s3", "recent", 20),
    ]
    with store.writing():
        for key, id, minute in rows:
            store.add_checkpoint(checkpoint(id, session=key, created_at=NOON + minute * MINUTE))
    with store.writing():
        assert store.prune_checkpoints(NOON + 10 * MINUTE, NOON + MINUTE, NOON + MINUTE) == 3
    assert _ids(store.checkpoints(ALL)) == ["recent", "newest"]


def test_pruning_keeps_what_is_as_old_as_the_limit(store: Store) -> None:
    with store.writing():
        store.add_checkpoint(checkpoint("a", created_at=NOON))
        store.add_checkpoint(checkpoint("b", created_at=NOON))
        assert store.prune_checkpoints(NOON, NOON, NOON) == 0
        assert store.prune_checkpoints(NOON + 1, NOON, NOON) == 1
    assert _ids(store.checkpoints(ALL)) == ["b"]


def test_the_newest_checkpoint_of_an_imported_session_is_kept_as_long_as_its_passages(store: Store) -> None:
    with store.writing():
        store.put_session(ended("s1", last_event_at=NOON))
        store.put_imported_work("s1", NOON, "")
        for number, key in enumerate(("s1", "s1", "s2")):
            store.add_checkpoint(checkpoint(f"{key}-{number}", session=key, created_at=NOON + number))
    late = NOON + 10 * MINUTE
    with store.writing():
        assert store.prune_checkpoints(late, late, NOON) == 2
    assert _ids(store.checkpoints(ALL)) == ["s1-1"]
    with store.writing():
        assert store.prune_checkpoints(late, late, late) == 1


# Sessions that are over


def test_a_pruned_session_goes_with_all_that_belongs_to_it(store: Store) -> None:
    with store.writing():
        for key in ("old", "kept"):
            at = NOON if key == "old" else NOON + 1
            store.put_session(ended(key, last_event_at=at, transcript=f"{key}.jsonl"))
            store.add_event(prompt("r1", session=key))
            store.put_cursor(f"{key}.jsonl", "10")
            store.add_lineage(replace(LINEAGE, child=key, parent="old"))
            store.add_receipt(receipt(key, session=key))
            store.add_document(document(key, "parser", kind="other", session=key, vector=(1.0, 0.0)))
            store.add_checkpoint(checkpoint(key, session=key))
        store.add_document(document("free", "parser"))
    with store.writing():
        assert store.prune_sessions(NOON + 1, NOON + 1) == 1
    assert store.session("old") is None
    assert store.events("old", ALL) == []
    assert store.cursor("old.jsonl") == ""
    assert store.lineage("old") is None
    assert _ids(store.receipts("", ALL)) == ["kept"]
    assert sorted(_ids(store.search(["parser"], SHOP, ALL))) == ["free", "kept"]
    assert _ids(store.nearest((1.0, 0.0), SHOP, ALL)) == ["kept"]
    assert _ids(store.checkpoints_of_session("old", ALL)) == ["old"], "checkpoints go by their own rule"
    assert store.events("kept", ALL) == [prompt("r1", session="kept")]
    assert store.cursor("kept.jsonl") == "10"
    assert store.lineage("kept") is not None
    assert store.check() == ""


def test_a_live_session_is_never_pruned(store: Store) -> None:
    with store.writing():
        for phase in Phase:
            store.put_session(session(phase.value, phase=phase, last_event_at=0))
        assert store.prune_sessions(NOON, NOON) == 2
    assert _keys(store) == ["live"]


# Finding again


def test_documents_that_hold_any_of_the_words_are_found(store: Store) -> None:
    with store.writing():
        store.add_document(document("both", "The parser drops the last line."))
        store.add_document(document("one", "A Parser for dates"))
        store.add_document(document("none", "Nothing of the kind"))
        store.add_document(document("elsewhere", "parser line", project_id="other"))
    hits = store.search(["parser", "line"], SHOP, ALL)
    assert _ids(hits) == ["both", "one"]
    assert hits[0].score > hits[1].score
    assert _ids(store.search(["parser", "line"], SHOP, 1)) == ["both"]
    assert _ids(store.search(["parser"], OTHERS, ALL)) == ["elsewhere"]
    assert store.search(["absent"], SHOP, ALL) == []
    assert store.search([], SHOP, ALL) == []


def test_a_document_added_again_is_replaced_and_a_dropped_one_is_gone(store: Store) -> None:
    with store.writing():
        store.add_document(document("d1", "parser"))
        store.add_document(document("d1", "lexer", kind="note"))
    assert store.search(["parser"], SHOP, ALL) == []
    assert _ids(store.search(["lexer"], SHOP, ALL)) == ["d1"]
    assert [(each.kind, each.text) for each in store.documents(SHOP, ALL)] == [("note", "lexer")]
    with store.writing():
        store.drop_document("d1")
        store.drop_document("never there")
    assert store.search(["lexer"], SHOP, ALL) == []
    assert store.check() == ""


@pytest.mark.parametrize(
    "word",
    [
        '"',
        '""',
        "'",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "(",
        ")",
        "*",
        "^",
        "text:",
        "-",
        "+",
        "{",
        "🚀",
        "\0",
        "",
        " ",
        "%",
    ],
)
def test_no_word_is_an_operator(store: Store, word: str) -> None:
    with store.writing():
        store.add_document(document("d1", "the parser"))
    assert _ids(store.search([word, "parser"], SHOP, ALL)) == ["d1"]
    assert store.search([word], SHOP, ALL) == []
    assert store.search([f'{word}" OR "parser'], NOWHERE, ALL) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.text()))
def test_searching_for_any_words_never_fails(store: Store, words: list[str]) -> None:
    assert store.search(words, SHOP, ALL) == []


def test_the_nearest_vectors_come_first_whatever_their_length(store: Store) -> None:
    with store.writing():
        store.add_document(document("same way", "a", vector=(10.0, 0.0)))
        store.add_document(document("near", "b", vector=(0.5, 0.5)))
        store.add_document(document("opposite", "c", vector=(-1.0, 0.0)))
        store.add_document(document("none", "d"))
        store.add_document(document("nowhere", "e", vector=(0.0, 0.0)))
        store.add_document(document("other length", "f", vector=(1.0, 0.0, 0.0)))
        store.add_document(document("elsewhere", "g", vector=(1.0, 0.0), project_id="other"))
    hits = store.nearest((2.0, 0.0), SHOP, ALL)
    assert _ids(hits) == ["same way", "near", "opposite"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, math.sqrt(0.5), -1.0], abs=1e-6)
    assert _ids(store.nearest((2.0, 0.0), SHOP, 1)) == ["same way"]
    assert store.nearest((), SHOP, ALL) == []
    assert store.nearest((0.0, 0.0), SHOP, ALL) == []


class _Named(Protocol):
    @property
    def id(self) -> str: ...


def _ids(found: Sequence[_Named]) -> list[str]:
    return [each.id for each in found]


def _keys(store: Store) -> list[str]:
    return [each.key for each in store.sessions(ALL)]
