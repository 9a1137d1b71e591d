"""Ids by how they begin: one resolver for every kind, and ids that are short and name one thing."""

from __future__ import annotations

import pytest

from holdfast.core.events.world import Project
from holdfast.core.evidence.trail import Trail, Utterance
from holdfast.core.session.session import begin
from holdfast.engine.ids import ambiguous, resolved_id, session_named, short_id
from holdfast.errors import HoldfastError, NotThere
from holdfast.stores.base import RowKind, Store
from holdfast.stores.sqlite import open_in_memory

KEYS = ("0199aa11-1111-7000", "0199aa11-2222-7000", "ses_e1f88da09ffe", "ses_e1f88da0aaaa", "s1", "s10")


@pytest.fixture
def store() -> Store:
    store = open_in_memory()
    trail = Trail(goal=Utterance("Split the parser into two modules", 1, "r"))
    with store.writing():
        for key in KEYS:
            session = begin(key, "h", Project("/p", "/p", "p", "w", "/p"), 1)
            store.put_session(session.__class__(**{**vars(session), "trail": trail}))
    return store


def test_a_short_id_is_at_least_eight_characters_and_names_one_session_alone(store: Store) -> None:
    shown = {key: short_id(store, RowKind.SESSION, key) for key in KEYS}
    assert shown == {
        "0199aa11-1111-7000": "0199aa11-1",
        "0199aa11-2222-7000": "0199aa11-2",
        "ses_e1f88da09ffe": "ses_e1f88da09",
        "ses_e1f88da0aaaa": "ses_e1f88da0a",
        "s1": "s1",
        "s10": "s10",
    }
    assert {session_named(store, short).key for short in shown.values()} == set(KEYS)


def test_an_id_may_be_typed_whole_or_as_far_as_it_is_unique(store: Store) -> None:
    assert session_named(store, "s1").key == "s1"
    assert session_named(store, "ses_e1f88da0a").key == "ses_e1f88da0aaaa"
    assert session_named(store, " 0199aa11-2… ").key == "0199aa11-2222-7000"


def test_an_ambiguous_id_is_answered_with_the_candidates_and_their_titles(store: Store) -> None:
    with pytest.raises(HoldfastError) as error:
        session_named(store, "0199")
    assert error.value.message == (
        "several sessions begin with `0199`: `0199aa11-1` (“Split the parser into two modules”), "
        "`0199aa11-2` (“Split the parser into two modules”)"
    )
    many = ambiguous("checkpoint", "a", [f"`a{number}`" for number in range(5)])
    assert many.message == "several checkpoints begin with `a`: `a0`, `a1`, `a2`, `a3` and others"


@pytest.mark.parametrize("kind", RowKind)
@pytest.mark.parametrize("name", ["nobody", "", "  "])
def test_what_is_not_there_is_said_so(store: Store, kind: RowKind, name: str) -> None:
    with pytest.raises(NotThere, match=f"there is no {kind}"):
        resolved_id(store, kind, name)
