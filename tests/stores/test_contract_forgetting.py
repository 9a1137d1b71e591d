"""What every store must do: forget sessions with all that was made of them, and not take them in again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core.events.event import BriefSeen, Origin, Remembered
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.trail import Note, Trail
from holdfast.core.memory.passages import passages
from holdfast.core.memory.wordings import Wordings, fingerprints
from holdfast.stores.base import Dropped, Store
from holdfast.stores.codec import hashed
from holdfast.stores.forgettable import ForgottenWording, memory_name
from tests.stores.contract import (
    ALL,
    LINEAGE,
    MINUTE,
    NOON,
    PROJECT,
    SHOP,
    checkpoint,
    document,
    memory,
    prompt,
    receipt,
    session,
)

OTHER = replace(PROJECT, project_id="other", normalized="/home/you/other")


def keep(store: Store, key: str, at: int = NOON, project: str = "shop") -> None:
    """A session with one of everything that belongs to it."""
    own = replace(PROJECT, project_id=project)
    store.put_session(session(key, project=own, last_event_at=at, transcript=f"/t/{key}.jsonl"))
    store.add_event(prompt("r1", session=key))
    store.add_checkpoint(checkpoint(f"c-{key}", session=key, project_id=project, created_at=at))
    store.add_document(document(f"c-{key}", "parser", kind="checkpoint", project_id=project))
    store.add_document(document(f"d-{key}", "parser", session=key, project_id=project, vector=(1.0, 0.0)))
    store.add_receipt(receipt(f"b-{key}", session=key, predecessor=key, created_at=at))
    store.put_cursor(f"/t/{key}.jsonl", f"10:{key}")
    store.put_cursor(f"/t/{key}/subagents/a.jsonl", f"20:{key}")


ONE = Dropped(sessions=1, events=1, checkpoints=1, receipts=1, documents=2)


def inheriting(store: Store, key: str, *predecessors: str) -> None:
    """A session that inherited a rule from each of these, and has one of its own."""
    notes = tuple(
        Note(NoteKind.CONSTRAINT, f"Never do what {each or key} did.", NOON, "r", inherited=each)
        for each in (*predecessors, "")
    )
    keep(store, key)
    kept = session(key, trail=Trail(notes=notes, inherits=predecessors), transcript=f"/t/{key}.jsonl")
    store.put_session(kept)


def rules(store: Store, key: str) -> list[str]:
    kept = store.session(key)
    assert kept is not None
    return [note.inherited or "own" for note in kept.trail.notes]


def test_what_others_inherited_goes_and_the_briefs_that_told_of_it(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        inheriting(store, "two", "one")
        inheriting(store, "three", "one", "two")
        inheriting(store, "four", "two")
    assert store.heirs(["one"]) == ["two", "three"]
    assert store.heirs([]) == []
    with store.writing():
        assert store.forget(["one"], NOON) == replace(ONE, receipts=3)
    assert [rules(store, key) for key in ("two", "three", "four")] == [
        ["own"],
        ["two", "own"],
        ["two", "own"],
    ]
    assert [len(store.receipts(key, ALL)) for key in ("two", "three", "four")] == [0, 0, 1]
    assert store.heirs(["one"]) == []


def test_a_session_of_which_only_heirs_are_left_can_still_be_forgotten(store: Store) -> None:
    with store.writing():
        inheriting(store, "two", "one")
    assert store.keys() == ["one", "two"]
    with store.writing():
        store.forget(["one"], NOON)
    assert store.keys() == ["two"]
    assert rules(store, "two") == ["own"]


def test_a_session_goes_with_all_that_belongs_to_it(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        keep(store, "two")
    with store.writing():
        assert store.forget(["one"], NOON) == ONE
    assert store.keys() == ["two"]
    assert store.session("one") is None
    assert store.events("one", ALL) == []
    assert [each.session for each in store.checkpoints(ALL)] == ["two"]
    assert [each.session for each in store.receipts("", ALL)] == ["two"]
    assert sorted(hit.id for hit in store.search(["parser"], SHOP, ALL)) == ["c-two", "d-two"]
    assert [hit.id for hit in store.nearest((1.0, 0.0), SHOP, ALL)] == ["d-two"]
    assert store.events("two", ALL) == [prompt("r1", session="two")]
    assert store.check() == ""


def test_what_others_were_told_of_it_goes_too(store: Store) -> None:
    told = BriefSeen(session="two", record="r9", at=NOON, origin=Origin.HOLDFAST, text="it was about parsers")
    with store.writing():
        keep(store, "one")
        keep(store, "two")
        keep(store, "three")
        store.add_event(told)
        store.add_event(replace(told, session="three", text="of nobody else"))
        store.add_receipt(receipt("told", session="two", predecessor="one"))
        store.add_lineage(replace(LINEAGE, child="two", parent="one"))
    with store.writing():
        assert store.forget(["one"], NOON) == replace(ONE, receipts=2)
    assert store.lineage("two") is None
    assert replace(told, text="") in store.events("two", ALL)
    assert replace(told, session="three", text="of nobody else") in store.events("three", ALL)
    assert not any("parsers" in text.text for text in store.texts())


def test_its_sources_are_known_still_and_named_no_more(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        keep(store, "two")
        store.forget(["one"], NOON)
    assert store.cursor("/t/one.jsonl") == "10:one"
    assert store.cursor("/t/one/subagents/a.jsonl") == "20:one"
    assert store.cursor("/t/two.jsonl") == "10:two"
    assert store.cursor("/t/new.jsonl") == ""
    assert not any("/t/one" in text.text for text in store.texts())
    with store.writing():
        store.put_cursor("/t/one.jsonl", "30")
    assert store.cursor("/t/one.jsonl") == "30"


def test_until_when_it_is_forgotten_is_remembered(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        store.forget(["one"], NOON)
    assert store.forgotten_at("one") == NOON
    assert store.forgotten_at("two") == 0
    with store.writing():
        store.forget(["one"], NOON + 1)
    assert store.forgotten_at("one") == NOON + 1


def test_the_sessions_of_a_project_are_those_of_which_anything_is_kept(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        keep(store, "two", project="other")
        store.add_checkpoint(checkpoint("left", session="pruned"))
        store.add_document(document("note", "parser"))
    assert store.keys_of_project("shop") == ["one", "pruned"]
    assert store.keys_of_project("other") == ["two"]
    assert store.keys_of_project("nowhere") == []
    assert store.keys() == ["one", "pruned", "two"]
    with store.writing():
        store.forget(store.keys_of_project("shop"), NOON)
        assert store.forget_project("shop", NOON) == Dropped(documents=1)
    assert store.keys() == ["two"]
    assert store.search(["parser"], SHOP, ALL) == []


@pytest.mark.parametrize(
    ("minute", "keys"), [(0, []), (1, ["pruned"]), (2, ["one", "pruned"]), (9, ["one", "pruned", "two"])]
)
def test_a_session_is_as_old_as_its_last_event(store: Store, minute: int, keys: list[str]) -> None:
    with store.writing():
        keep(store, "one", at=NOON + MINUTE)
        keep(store, "two", at=NOON + 2 * MINUTE)
        # Taken when the session was long over: this does not make it younger.
        store.add_checkpoint(checkpoint("late", session="one", created_at=NOON + 5 * MINUTE))
        store.add_checkpoint(checkpoint("left", session="pruned", created_at=NOON + 999))
    assert store.keys_before(NOON + minute * MINUTE) == keys


def test_everything_is_everything(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        keep(store, "two", project="other")
        store.add_document(document("note", "parser"))
        store.put_cursor("/t/other.jsonl", "7")
        store.count_skipped("not JSON", 1)
        store.put_fact("logs", "2")
        store.secret("redaction", b"a" * 16)
    with store.writing():
        assert store.forget_all(NOON) == Dropped(2, 2, 2, 2, 5)
    assert store.keys() == []
    assert {text.place for text in store.texts()} <= {"forgotten.cursor"}
    assert store.skipped() == {}
    assert store.fact("logs") == ""
    assert store.cursor("/t/other.jsonl") == "7"
    assert store.forgotten_at("two") == NOON
    assert store.secret("redaction", b"b" * 16) == b"b" * 16, "tags of before mean nothing any more"


def test_a_checkpoint_that_is_dropped_cannot_be_found_any_more(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        store.trim_checkpoints("one", 0)
    assert [hit.id for hit in store.search(["parser"], SHOP, ALL)] == ["d-one"]


def test_scrubbing_loses_nothing(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        keep(store, "two")
        store.forget(["one"], NOON)
    store.scrub()
    assert store.events("two", ALL) == [prompt("r1", session="two")]
    assert sorted(hit.id for hit in store.search(["parser"], SHOP, ALL)) == ["c-two", "d-two"]
    assert store.check() == ""


WORDING = "The staging database lives at db-7.internal and Petra rotates its password on Tuesdays"
KEY = b"k" * 16


def wordings(*texts: str) -> Wordings:
    return Wordings(KEY, [each for text in texts for each in fingerprints(text, KEY)])


def put_everywhere(store: Store, text: str) -> None:
    """One of everything that can say it."""
    store.put_session(session("one", pending_remembers=(text, "Use tabs"), pending_queries=(text,)))
    store.add_event(prompt("r1", session="one", text=f"/remember {text}"))
    store.add_event(Remembered(session="one", record="r2", at=NOON, origin=Origin.HUMAN, text=text))
    digest = f"## Session Checkpoint\nRemembered: {text}; Use tabs\n- {text[:60]}…"
    own = checkpoint("c-1", session="one", digest=digest, recent_remembers=(text,), words=f"so: {text}")
    store.add_checkpoint(own)
    store.add_document(document("c-1", digest, kind="checkpoint"))
    store.add_document(document("d-1", f"User: {text}", session="one", vector=(1.0, 0.0)))
    store.add_receipt(receipt("b-1", session="one", text=f"- {text}"))
    store.put_memory(memory("m-1", text=text))
    store.put_memory(memory("m-2", text=text.upper(), project_id="other"))
    store.count_skipped(f"not JSON: {text}", 2)


def test_a_wording_is_taken_out_of_every_text(store: Store) -> None:
    with store.writing():
        put_everywhere(store, WORDING)
        store.put_memory(memory("m-3", text=f"As I said: {WORDING}. And more"))
    with store.writing():
        assert store.erase(wordings(WORDING), NOON) == Dropped(memories=2, mentions=9)
    assert not [text for text in store.texts() if "staging" in text.text.lower()]
    assert [each.id for each in store.memories_named(["m-1", "m-2", "m-3"])] == ["m-3"]
    kept = store.session("one")
    assert kept is not None
    assert (kept.pending_remembers, kept.pending_queries) == (("Use tabs",), ())
    assert [each.recent_remembers for each in store.checkpoints(ALL)] == [()]
    assert store.skipped() == {"not JSON: [forgotten]": 2}
    assert store.nearest((1.0, 0.0), SHOP, ALL) == []
    assert {hashed(memory_name(id)) for id in ("m-1", "m-2")} <= store.forgotten_names().keys()
    assert store.check() == ""


def test_a_short_wording_goes_only_where_it_was_to_be_remembered(store: Store) -> None:
    with store.writing():
        put_everywhere(store, "ok")
        store.add_event(prompt("r9", session="one", text="ok"))
        store.erase(wordings("ok"), NOON)
    said = [text.text for text in store.texts() if text.text.strip().endswith("ok")]
    assert sorted(said) == ["- ok", "User: ok", "not JSON: ok", "ok", "so: ok"]
    assert store.memory_ids() == []


def test_what_shares_only_some_words_stays(store: Store) -> None:
    others = (
        WORDING.replace("Tuesdays", "Fridays"),
        "The staging database lives at home",
        f"{WORDING.rsplit(' ', 1)[0]} every week",
    )
    with store.writing():
        store.put_session(session("one"))
        for number, text in enumerate(others):
            store.add_event(prompt(f"r{number}", session="one", text=text))
            store.put_memory(memory(f"m{number}", text=text))
        assert store.erase(wordings(WORDING), NOON) == Dropped()


def test_forgotten_wordings_are_known_until_they_are_remembered_again(store: Store) -> None:
    (wording,) = fingerprints(WORDING, KEY)
    with store.writing():
        store.put_forgotten_wordings([ForgottenWording(wording, NOON)])
        store.put_forgotten_wordings([ForgottenWording(wording, NOON - 1)])
    assert store.forgotten_wordings() == [ForgottenWording(wording, NOON)]
    assert store.forgotten_wordings()[0].holds
    with store.writing():
        store.put_forgotten_wordings([ForgottenWording(wording, 0, NOON + 1)])
    assert not store.forgotten_wordings()[0].holds
    with store.writing():
        store.forget_all(NOON + 2)
    assert store.forgotten_wordings(), "everything is forgotten but what was"


def test_the_wordings_of_a_memory_go_with_it(store: Store) -> None:
    (wording,) = fingerprints(WORDING, KEY)
    with store.writing():
        store.put_memory(memory("m-1", text="Use tabs"))
        store.add_memory_wordings("m-1", [wording, wording])
    assert store.memory_wordings("m-1") == [wording]
    with store.writing():
        assert store.forget_memory("m-1", NOON) == Dropped(memories=1)
    assert store.memory_wordings("m-1") == []
    assert store.forgotten_at(memory_name("m-1")) == NOON


def test_names_are_noted_with_their_latest_time_and_sources_are_not_among_them(store: Store) -> None:
    with store.writing():
        keep(store, "one")
        store.forget(["one"], NOON)
        store.note_forgotten({hashed("one"): NOON - 5, hashed("two"): NOON})
    assert store.forgotten_names() == {hashed("one"): NOON, hashed("two"): NOON}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.integers(0, 1_000), length=st.integers(6, 400))
def test_a_wording_that_passages_cut_leaves_no_word(store: Store, before: int, length: int) -> None:
    wording = " ".join(f"word{number}" for number in range(length))
    said = prompt("r1", session="one", text=f"{'x ' * (before // 2)}{wording} is what I mean")
    with store.writing():
        store.drop_records("one", 0)
        for place, each in enumerate(passages([said])):
            store.add_document(document(f"d-{place}", each.text, kind="record", session="one", place=place))
        store.erase(wordings(wording), NOON)
    left = " ".join(each.text for each in store.documents(SHOP, ALL))
    assert "word" not in left
    assert all(each in left for each in ("is", "what", "mean"))
