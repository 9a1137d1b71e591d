"""What every store must do: know whose redactor each text went through, and have old texts changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core.events.event import AssistantText, Origin, Todo, TodosChanged
from holdfast.core.events.world import GitState
from holdfast.core.evidence.trail import Trail, Utterance
from holdfast.core.session.session import Session
from holdfast.stores.base import UNREDACTED, Redaction, Rewritten, Store
from tests.depth import examples
from tests.stores.contract import ALL, NOON, SESSION, SHOP, checkpoint, document, prompt, receipt, session

ROWS = 1_000
CHARACTERS = 1_000_000
OLD, NEW = "1", "2"


def hushed(key: str, text: str) -> str:
    return text.replace("hunter2", f"[{key or 'nobody'}]")


def fill(store: Store, redactor: str) -> None:
    """One row of everything that holds texts, each with a word that must go."""
    said = Utterance("my password is hunter2", NOON, "hunter2-is-an-id")
    git = GitState("fix/hunter2", "hunter2", ("hunter2.txt",), ("add hunter2",))
    with store.writing():
        store.put_session(session("s1", trail=Trail(prompts=(said,)), git=git), redactor)
        store.add_event(prompt("r1", text="say hunter2"), redactor)
        todos = (Todo("hide hunter2", "pending"),)
        store.add_event(
            TodosChanged(session="s1", record="r2", at=NOON, origin=Origin.ASSISTANT, todos=todos), redactor
        )
        store.add_checkpoint(
            checkpoint(
                "c1",
                digest="with hunter2",
                words="words of hunter2",
                memory_queries=("hunter2",),
                recent_remembers=("hunter2?",),
            ),
            redactor,
        )
        items = tuple(replace(each, key=each.text, text="an item of hunter2") for each in receipt("b").items)
        store.add_receipt(receipt("b1", text="brief of hunter2", items=items), redactor)
        store.add_document(document("c1", "with hunter2", kind="checkpoint", vector=(1.0, 0.0)), redactor)
        store.add_document(document("d1", "nothing secret", vector=(0.0, 1.0)), redactor)
    assert any("hunter2" in text.text for text in store.texts())


def rewritten(store: Store, redactor: str, rows: int = ROWS, characters: int = CHARACTERS) -> Rewritten:
    with store.writing():
        return store.rewrite(redactor, hushed, rows, characters)


def test_a_newer_redactor_changes_every_text_and_nothing_else(store: Store) -> None:
    fill(store, OLD)
    assert store.redaction(NEW) == Redaction(rows=7, stale=7)
    assert rewritten(store, NEW) == Rewritten(rows=7, changed=6)
    assert store.redaction(NEW) == Redaction(rows=7, stale=0)
    kept = store.session("s1")
    assert kept is not None
    (said,) = kept.trail.prompts
    assert (said.text, said.record) == ("my password is [s1]", "hunter2-is-an-id")
    assert kept.git == GitState("fix/[s1]", "hunter2", ("[s1].txt",), ("add [s1]",))
    asked, todos = store.events("s1", ALL)
    assert asked == prompt("r1", text="say [s1]")
    assert isinstance(todos, TodosChanged)
    assert todos.todos == (Todo("hide [s1]", "pending"),)
    (taken,) = store.checkpoints(ALL)
    assert (taken.digest, taken.words) == ("with [s1]", "words of [s1]")
    assert (taken.memory_queries, taken.recent_remembers) == (("[s1]",), ("[s1]?",))
    (given_back,) = store.receipts("", ALL)
    assert given_back.text == "brief of [s1]"
    assert {item.text for item in given_back.items} == {"an item of [s1]"}


def test_the_index_and_the_vectors_follow_the_text(store: Store) -> None:
    fill(store, OLD)
    assert [hit.id for hit in store.search(["hunter2"], SHOP, ALL)] == ["c1"]
    rewritten(store, NEW)
    assert store.search(["hunter2"], SHOP, ALL) == []
    (hit,) = store.search(["with"], SHOP, ALL)
    assert [(each.id, each.text) for each in store.around([hit.id], 0, SHOP)] == [("c1", "with [s1]")]
    assert [hit.id for hit in store.nearest((1.0, 1.0), SHOP, ALL)] == ["d1"], "what changed has no vector"
    assert store.check() == ""


def test_it_goes_on_where_it_stopped(store: Store) -> None:
    fill(store, OLD)
    steps = [rewritten(store, NEW, rows=3).rows for _ in range(4)]
    assert steps == [3, 3, 1, 0]


def test_a_step_ends_after_so_many_characters(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION, NEW)
        for number in range(5):
            store.add_event(prompt(f"r{number}", text="x" * 400), OLD)
    assert [rewritten(store, NEW, characters=700).rows for _ in range(4)] == [2, 2, 1, 0]


def test_sessions_are_first_because_briefs_are_made_of_them(store: Store) -> None:
    fill(store, OLD)
    assert rewritten(store, NEW, rows=1) == Rewritten(1, 1)
    kept = store.session("s1")
    assert kept is not None
    assert kept.trail.prompts[0].text == "my password is [s1]"


def test_what_nobody_vouches_for_is_stale(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION)
        store.add_event(prompt("r1"))
        store.add_checkpoint(checkpoint("c1"))
        store.add_receipt(receipt("b1"))
        store.add_document(document("d1", "text"))
    assert store.redaction(NEW) == Redaction(5, 5)
    assert store.redaction(UNREDACTED) == Redaction(5, 0)


@pytest.mark.parametrize(
    ("redactors", "stale"),
    [
        ((NEW,), False),
        ((NEW, NEW), False),
        ((NEW, ""), False),
        ((OLD, ""), True),
        ((OLD, NEW), True),
        ((NEW, OLD), True),
        ((NEW, OLD, NEW), True),
        (("",), True),
    ],
)
def test_a_session_is_as_good_as_all_that_went_into_it(
    store: Store, redactors: tuple[str, ...], *, stale: bool
) -> None:
    for redactor in redactors:
        with store.writing():
            store.put_session(SESSION, redactor)
    assert bool(store.redaction(NEW).stale) is stale


def test_what_is_replaced_carries_its_own_redactor(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION, NEW)
        store.add_event(prompt("r1"), OLD)
        store.add_document(document("d1", "text"), OLD)
    assert store.redaction(NEW).stale == 2
    with store.writing():
        store.add_event(prompt("r1", revision=1), NEW)
        store.add_document(document("d1", "text"), NEW)
    assert store.redaction(NEW).stale == 0


def test_a_rewriting_that_is_undone_changed_nothing(store: Store) -> None:
    fill(store, OLD)
    before = store.events("s1", ALL), store.session("s1"), store.checkpoints(ALL)
    with pytest.raises(ZeroDivisionError), store.writing():
        store.rewrite(NEW, lambda _, text: text if len(text) < 15 else str(1 / 0), ROWS, CHARACTERS)
    assert (store.events("s1", ALL), store.session("s1"), store.checkpoints(ALL)) == before
    assert store.redaction(NEW).stale == 7


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50))
@given(text=st.text())
def test_any_text_survives_being_looked_at_again(store: Store, text: str) -> None:
    said = AssistantText(session="s1", record="r1", at=NOON, origin=Origin.ASSISTANT, text=text)
    kept: Session = session("s1", trail=Trail(statements=(Utterance(text, NOON),)))
    with store.writing():
        store.forget_all(0)
        store.put_session(kept, OLD)
        store.add_event(said, OLD)
    before = store.session("s1"), store.events("s1", ALL)
    with store.writing():
        assert store.rewrite(NEW, lambda _, text: text, ROWS, CHARACTERS) == Rewritten(2, 0)
    assert (store.session("s1"), store.events("s1", ALL)) == before


# Secrets and facts


def test_the_first_secret_of_a_name_stands(store: Store) -> None:
    assert store.secret("redaction", b"a" * 16) == b"a" * 16
    assert store.secret("redaction", b"b" * 16) == b"a" * 16
    with store.writing():
        assert store.secret("redaction", b"c" * 16) == b"a" * 16
        assert store.secret("another", b"d" * 16) == b"d" * 16
    assert store.secret("another", b"e" * 16) == b"d" * 16


def test_a_fact_is_what_was_noted_last(store: Store) -> None:
    assert store.fact("owed") == ""
    for fact in ("much", "little", ""):
        with store.writing():
            store.put_fact("owed", fact)
        assert store.fact("owed") == fact


def test_every_text_is_reported_with_its_place(store: Store) -> None:
    fill(store, OLD)
    with store.writing():
        store.count_skipped("unknown record hunter2", 1)
    told = [text for text in store.texts() if "hunter2" in text.text]
    assert len({text.place for text in told}) >= 6
    assert sum(text.text == "say hunter2" for text in told) == 1
