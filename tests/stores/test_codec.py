"""Values survive being kept, whatever is in them."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from enum import Enum
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.compose import Item
from holdfast.core.events.event import KINDS, Event, Todo
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.trail import CommandRun, Note, Trail, Utterance
from holdfast.core.session.session import Session, Trigger
from holdfast.errors import StoreCorrupt, StoreTooNew
from holdfast.stores import codec
from tests.stores.contract import PROMPT, RECEIPT, SESSION

INTEGERS = st.integers(-(2**63), 2**63 - 1)
WHOLE_TEXT = st.text()
ANY_TEXT = st.text(st.characters())
"""Lone surrogates are characters to Python."""


Annotation: TypeAlias = Any


def values_of(kind: Annotation, text: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Any value of that type, built from its annotations: a new field is tried as soon as it is there."""
    if kind is str:
        return text
    if kind is bool:
        return st.booleans()
    if kind is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if kind is int:
        return INTEGERS
    if kind is type(None):
        return st.none()
    if isinstance(kind, types.UnionType):
        return st.one_of([values_of(part, text) for part in typing.get_args(kind)])
    if getattr(kind, "__origin__", None) is tuple:
        return st.lists(values_of(typing.get_args(kind)[0], text), max_size=3).map(tuple)
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{field.name: values_of(hints[field.name], text) for field in fields(kind)})


def events(text: st.SearchStrategy[str]) -> st.SearchStrategy[Event]:
    return st.one_of([values_of(kind, text) for kind in KINDS])


@given(events(WHOLE_TEXT))
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    assert codec.decode_event(codec.kind_of(event), codec.encode_event(event)) == event


@given(values_of(Session, WHOLE_TEXT))
def test_a_session_comes_back_as_it_was(session: Session) -> None:
    assert codec.decode_session(codec.encode_session(session)) == session


@given(st.lists(values_of(Item, WHOLE_TEXT), max_size=3).map(tuple))
def test_items_come_back_as_they_were(items: tuple[Item, ...]) -> None:
    assert codec.decode_items(codec.encode_items(items)) == items


@given(events(ANY_TEXT))
def test_an_event_with_half_characters_comes_back_cleaned(event: Event) -> None:
    assert codec.decode_event(codec.kind_of(event), codec.encode_event(event)) == codec.clean(event)


@given(values_of(Session, ANY_TEXT))
def test_a_session_with_half_characters_comes_back_cleaned(session: Session) -> None:
    assert codec.decode_session(codec.encode_session(session)) == codec.clean(session)


@given(st.lists(ANY_TEXT).map(tuple))
def test_texts_with_half_characters_come_back_cleaned(texts: tuple[str, ...]) -> None:
    cleaned = codec.clean(texts)
    assert codec.decode_texts(codec.encode_texts(texts)) == cleaned
    assert [len(text) for text in cleaned] == [len(text) for text in texts]
    assert all(text.encode() for text in cleaned if text)


@given(events(WHOLE_TEXT))
def test_cleaning_changes_nothing_that_is_whole(event: Event) -> None:
    assert codec.clean(event) == event


def test_each_kind_of_event_has_a_name_of_its_own() -> None:
    assert codec.kind_of(PROMPT) == "prompt"
    assert len(codec._EVENTS) == len(KINDS)
    assert {"tool_called", "session_started", "compaction_imminent"} < codec._EVENTS.keys()


def test_fields_of_a_later_version_are_passed_over() -> None:
    later = codec.encode_event(PROMPT).replace("{", '{"mood": "calm", ', 1)
    assert codec.decode_event("prompt", later) == PROMPT
    later = codec.encode_session(SESSION).replace("{", '{"mood": {"now": "calm"}, ', 1)
    assert codec.decode_session(later) == SESSION


def test_fields_that_are_missing_take_their_defaults() -> None:
    least = (
        '{"session": "s1", "record": "r1", "at": 1767268800000, "origin": "human", "text": "Fix the parser"}'
    )
    assert codec.decode_event("prompt", least) == PROMPT
    optional = {field.name for field in fields(SESSION) if field.default is not MISSING}
    assert {"phase", "trail", "git"} < optional


def test_a_session_from_before_anything_was_inherited_can_be_read() -> None:
    said = Utterance("continue", 1)
    trail = Trail(
        goal=said,
        prompts=(said,),
        notes=(Note(NoteKind.NEXT, "grease it", 1, "r"),),
        commands=(CommandRun("make", 1),),
        todos=(Todo("oil it", "pending"),),
    )
    written = codec.encode_session(replace(SESSION, trail=trail))
    before = written.replace(',"inherited":""', "").replace(',"inherits":[]', "")
    assert "inherit" in written
    assert "inherit" not in before
    assert codec.decode_session(before).trail == trail


def test_an_event_only_a_later_version_can_read_is_passed_over() -> None:
    assert codec.decode_event("mood_changed", "{}") is None
    later = codec.encode_event(PROMPT).replace('"human"', '"oracle"')
    assert codec.decode_event("prompt", later) is None


def test_a_session_only_a_later_version_can_read_is_refused() -> None:
    with pytest.raises(StoreTooNew, match="phase") as refused:
        codec.decode_session(codec.encode_session(SESSION).replace('"live"', '"dreaming"'))
    assert "upgrade" in refused.value.hint


@pytest.mark.parametrize(
    "read", [lambda text: codec.decode_event("prompt", text), codec.decode_session, codec.decode_items]
)
def test_what_is_no_json_is_damage(read: Callable[[str], object]) -> None:
    with pytest.raises(StoreCorrupt):
        read("half")


def test_a_name_only_a_later_version_knows_is_refused() -> None:
    assert codec.decode_name(Trigger, "periodic") is Trigger.PERIODIC
    with pytest.raises(StoreTooNew, match="`dreamt` for Trigger"):
        codec.decode_name(Trigger, "dreamt")


def test_a_time_that_is_none_is_damage() -> None:
    with pytest.raises(StoreCorrupt):
        codec.from_iso("noon")


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_a_time_comes_back_to_the_millisecond(at: int) -> None:
    assert codec.from_iso(codec.to_iso(at)) == at


@given(st.integers(0, 253_402_300_799_998))
def test_times_as_text_sort_as_times(at: int) -> None:
    assert codec.to_iso(at) < codec.to_iso(at + 1)


def test_a_time_is_iso_8601_in_utc_with_milliseconds() -> None:
    assert codec.to_iso(1_767_268_800_007) == "2026-01-01T12:00:00.007Z"


@given(st.lists(st.floats(-1e30, 1e30, allow_subnormal=False), max_size=8))
def test_a_vector_is_kept_at_length_one_or_not_at_all(vector: list[float]) -> None:
    length = sum(part * part for part in codec.unit(vector))
    assert length == pytest.approx(1, abs=1e-5) if any(vector) else length == 0


def test_a_vector_without_end_points_nowhere() -> None:
    assert len(codec.unit([float("inf"), 1.0])) == 0
    assert len(codec.unit([float("nan"), 1.0])) == 0


def test_a_receipt_in_the_examples_has_items_of_both_fates() -> None:
    assert codec.decode_items(codec.encode_items(RECEIPT.items)) == RECEIPT.items
    assert replace(RECEIPT.items[0], rendered=False) != RECEIPT.items[0]
