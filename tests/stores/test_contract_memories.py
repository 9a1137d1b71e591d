"""What every store must do: keep memories, and know which say the same or speak of the same subject."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core.memory.memory import Label, Memory, MemoryKind, MemoryScope, mark_superseded
from holdfast.stores.base import EVERYWHERE, Dropped, Redaction, Rewritten, Store, Within
from holdfast.stores.codec import clean
from tests.depth import examples
from tests.stores.contract import ALL, MEMORY, NOON, SHOP, document, ended, memory, session

WHOLE = memory(
    "whole",
    kind=MemoryKind.RULE,
    scope=MemoryScope.WORKTREE,
    worktree_id="shop-main",
    tags=("net", "ops"),
    importance=0.9,
    pinned=True,
    labels=(Label.TRANSIENT, Label.CONTRADICTS),
    source="cli",
    session="s1",
    seen=3,
    seen_at=NOON + 1,
    found=2,
    found_at=NOON + 2,
    superseded_by="m2",
    stretch="m0",
    place=4,
)


def kept(store: Store, *memories: Memory) -> None:
    """Memories with their documents."""
    with store.writing():
        for each in memories:
            store.put_memory(each)
            store.add_document(
                document(
                    each.id,
                    each.text,
                    kind="memory",
                    project_id=each.project_id,
                    worktree_id=each.worktree_id,
                    at=each.created_at,
                )
            )


def ids(memories: list[Memory]) -> list[str]:
    return [each.id for each in memories]


def found(store: Store, word: str, within: Within = EVERYWHERE) -> list[str]:
    return [hit.id for hit in store.search([word], within, ALL)]


def test_a_memory_is_kept_whole(store: Store) -> None:
    kept(store, WHOLE, MEMORY)
    assert store.memory("whole") == WHOLE
    assert store.memory("m1") == MEMORY
    assert store.memory("nowhere") is None
    assert sorted(ids(store.memories_named(["m1", "whole", "m1", "nowhere"]))) == ["m1", "whole"]


def test_a_memory_is_found_with_what_it_is_weighed_by(store: Store) -> None:
    kept(store, WHOLE)
    with store.writing():
        store.add_document(document("other", "no memory"))
    merits = {each.id: each.merits for each in store.around(["whole", "other"], 0, EVERYWHERE)}
    assert merits == {
        "whole": (WHOLE.text, WHOLE.created_at, 0.9, True, NOON + 1, NOON + 2, "m2", "m0", 4),
        "other": None,
    }
    assert {each.merits for each in store.documents(EVERYWHERE, ALL)} == {None}


def test_a_memory_put_again_is_replaced(store: Store) -> None:
    kept(store, WHOLE)
    with store.writing():
        store.put_memory(replace(MEMORY, id="whole"))
    assert store.memory("whole") == replace(MEMORY, id="whole")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50))
@given(text=st.text(st.characters()), tags=st.lists(st.text()).map(tuple))
def test_any_text_is_kept_as_it_was_said(store: Store, text: str, tags: tuple[str, ...]) -> None:
    said = memory("m1", text=text, tags=tags)
    with store.writing():
        store.put_memory(said)
    assert store.memory("m1") == clean(said)
    assert store.memory_like(replace(said, id="other")) == clean(said)


def test_memories_come_newest_first_and_from_where_they_hold(store: Store) -> None:
    kept(
        store,
        memory("old", created_at=NOON - 1),
        memory("shop"),
        memory("here", worktree_id="here", scope=MemoryScope.WORKTREE),
        memory("there", worktree_id="there", scope=MemoryScope.WORKTREE),
        memory("user", project_id="", scope=MemoryScope.USER),
        memory("elsewhere", project_id="other"),
        memory("past", superseded_by="shop"),
    )
    here = Within(("shop", ""), "here")
    assert ids(store.memories(here, ALL)) == ["user", "here", "shop", "old"]
    assert ids(store.memories(here, 2)) == ["user", "here"]
    assert ids(store.memories(replace(here, since=NOON), ALL)) == ["user", "here", "shop"]
    assert ids(store.superseded_memories(here, ALL)) == ["past"]
    assert store.superseded_among(["past", "shop", "nowhere"]) == {"past"}
    assert ids(store.memories(EVERYWHERE, ALL)) == ["elsewhere", "user", "there", "here", "shop", "old"]
    assert store.memories(replace(here, kinds=("file",)), ALL) == []


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (memory("new", text="the port is 8080"), True),
        (memory("new", text="The port is 8081."), False),
        (memory("new", project_id="other"), False),
        (memory("new", worktree_id="here", scope=MemoryScope.WORKTREE), False),
        (MEMORY, False),
    ],
)
def test_what_says_the_same_in_the_same_scope_is_found(store: Store, other: Memory, *, same: bool) -> None:
    kept(store, MEMORY)
    assert (store.memory_like(other) is not None) is same


@pytest.mark.parametrize(
    ("other", "about"),
    [
        (memory("new", text="Our port is 9"), ["m1"]),
        (memory("new", text="The part is 9"), []),
        (memory("new", text="Prefer tabs"), []),
        (memory("new", text="Our port is 9", project_id=""), []),
        (MEMORY, []),
    ],
)
def test_what_speaks_of_the_same_subject_is_found(store: Store, other: Memory, about: list[str]) -> None:
    kept(store, MEMORY, memory("plain", text="Prefer spaces"), memory("gone", superseded_by="m1"))
    assert ids(store.memories_about(other)) == about


def test_the_last_memory_is_the_newest_of_the_same_scope(store: Store) -> None:
    kept(
        store,
        memory("old", created_at=NOON - 1),
        memory("one"),
        memory("two"),
        memory("user", project_id="", scope=MemoryScope.USER, created_at=NOON + 1),
    )
    assert store.last_memory(memory("new")) == memory("two")
    assert store.last_memory(memory("two")) == memory("one")
    assert store.last_memory(memory("new", project_id="nowhere")) is None


def test_that_a_memory_was_recalled_is_counted(store: Store) -> None:
    kept(store, MEMORY, memory("m2"))
    with store.writing():
        store.count_found(["m1", "nowhere"], NOON + 5)
        store.count_found(["m1"], NOON + 9)
    assert store.memory("m1") == replace(MEMORY, found=2, found_at=NOON + 9)
    assert store.memory("m2") == memory("m2")


def test_a_memory_goes_with_its_document_and_what_it_superseded_holds_again(store: Store) -> None:
    transient = memory("m1", labels=(Label.TRANSIENT,))
    kept(store, mark_superseded(transient, "m2"), mark_superseded(memory("m3"), "m4"), memory("m2"))
    with store.writing():
        store.drop_memory("m2")
        store.drop_memory("nowhere")
    assert store.memory("m2") is None
    assert store.memory("m1") == transient
    assert store.memory("m3") == mark_superseded(memory("m3"), "m4")
    assert found(store, "port") == ["m1", "m3"]


# Forgetting, pruning, redaction


def test_what_was_said_in_a_session_is_forgotten_with_it(store: Store) -> None:
    user = memory("user", session="s1", project_id="", scope=MemoryScope.USER)
    kept(store, memory("m1", session="s1"), memory("m2", session="s2"), memory("m3"), user)
    assert store.keys() == ["s1", "s2"]
    with store.writing():
        assert store.forget(["s1"], NOON) == Dropped(memories=2)
    assert sorted(found(store, "port")) == ["m2", "m3"]
    assert store.memory("user") is None


def test_a_session_of_which_only_a_memory_is_left_is_known_by_it(store: Store) -> None:
    kept(store, memory("m1", session="s1"), memory("m2", session="s2", project_id="other", created_at=1))
    assert store.keys_of_project("shop") == ["s1"]
    assert store.keys_before(NOON) == ["s2"]
    assert store.keys_before(NOON + 1) == ["s1", "s2"]


def test_the_memories_of_a_project_are_forgotten_and_those_of_the_user_stay(store: Store) -> None:
    here = memory("here", worktree_id="here", scope=MemoryScope.WORKTREE)
    kept(store, MEMORY, here, memory("user", project_id=""), memory("other", project_id="other"))
    with store.writing():
        store.add_document(document("d1", "the port"))
        assert store.forget_project("shop", NOON) == Dropped(documents=1, memories=2)
    assert sorted(found(store, "port")) == ["other", "user"]


def test_everything_is_memories_too(store: Store) -> None:
    kept(store, memory("m1", session="s1"), memory("user", project_id=""))
    with store.writing():
        store.add_document(document("d1", "the port"))
        assert store.forget_all(NOON) == Dropped(documents=1, memories=2)
    assert store.memories(EVERYWHERE, ALL) == []
    assert found(store, "port") == []


def test_a_memory_outlives_the_session_that_it_was_said_in(store: Store) -> None:
    kept(store, memory("m1", session="s1"))
    with store.writing():
        store.put_session(ended("s1", last_event_at=0))
        assert store.prune_sessions(NOON, NOON) == 1
    assert found(store, "port", SHOP) == ["m1"]
    assert store.memory("m1") == memory("m1", session="s1")


def test_an_older_redactors_memories_are_changed_and_known_by_what_they_say_now(store: Store) -> None:
    said = memory("m1", text="The password is hunter2", tags=("hunter2",), session="s1", source="hunter2")
    kept(store, said)
    with store.writing():
        store.put_session(session("s1"), "2")
        assert store.redaction("2") == Redaction(rows=3, stale=2)
        told = store.rewrite("2", lambda key, text: text.replace("hunter2", f"[{key}]"), ALL, ALL * ALL)
    assert told == Rewritten(rows=2, changed=2)
    now = replace(said, text="The password is [s1]", tags=("[s1]",))
    assert store.memory("m1") == now
    assert store.memory_like(replace(now, id="new")) == now
    assert store.memory_like(replace(said, id="new")) is None
    assert found(store, "hunter2") == []
    assert found(store, "s1") == ["m1"], "its document has the same tag"
    assert not any("hunter2" in text.text for text in store.texts() if "source" not in text.place)


def test_what_changes_no_text_leaves_the_redactor(store: Store) -> None:
    with store.writing():
        store.put_memory(MEMORY)
        assert store.redaction("2") == Redaction(rows=1, stale=1)
        store.put_memory(MEMORY, "2")
        store.put_memory(replace(MEMORY, pinned=True))
    assert store.redaction("2") == Redaction(rows=1, stale=0)
    assert store.memory("m1") == replace(MEMORY, pinned=True)


def test_a_failed_transaction_leaves_memories_as_they_were(store: Store) -> None:
    kept(store, MEMORY)
    with pytest.raises(ZeroDivisionError), store.writing():
        _change_and_fail(store)
    assert ids(store.memories(EVERYWHERE, ALL)) == ["m1"]
    assert found(store, "port") == ["m1"]


def _change_and_fail(store: Store) -> None:
    store.put_memory(memory("m2"))
    store.drop_memory("m1")
    _ = 1 / 0
