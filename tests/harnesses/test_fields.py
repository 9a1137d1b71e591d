"""Foreign JSON is read without trusting it: what cannot be read is skipped, what is missing is empty."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Skipped
from holdfast.harnesses.fields import (
    NOTHING,
    capped,
    count,
    items,
    mapping,
    milliseconds,
    read_object,
    text,
    value_of,
)

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b'{"a": 1', "not JSON"),
        (b"\x00\x01\xfe\xff", "not JSON"),
        (b"\x89PNG\r\n\x1a\n", "not JSON"),
        (b'{"a": 1}{"b": 2}', "not JSON"),
        (DEEP, "nested too deeply"),
        (b"[1, 2]", "not as expected"),
        (b'"text"', "not as expected"),
        (b"null", "not as expected"),
    ],
)
def test_what_is_no_json_object_is_skipped_with_its_reason(payload: bytes, reason: str) -> None:
    skipped = read_object(payload, "here")
    assert isinstance(skipped, Skipped)
    assert skipped.reason.startswith(reason)
    assert skipped.where == "here"


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (rb'{"a":"cut \ud83d"}', "cut \ufffd"),
        (rb'{"a":"cut \ude00 here"}', "cut \ufffd here"),
        (rb'{"a":"whole \ud83d\ude00 half \ud83d"}', "whole 😀 half \ufffd"),
        (rb'{"a":"a path C:\\ud83d half \ud83d"}', "a path C:\\ud83d half \ufffd"),
        (b'{"a":"byte \xff"}', "byte \ufffd"),
        (b'\x00\x00\x00{"a":"after a crash"}', "after a crash"),
        (b'{"a":"plain"}\r', "plain"),
    ],
)
def test_a_text_cut_in_the_middle_of_a_character_is_mended(payload: bytes, value: str) -> None:
    assert read_object(payload) == {"a": value}


@given(st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_read_or_skipped(payload: bytes) -> None:
    assert isinstance(read_object(payload), dict | Skipped)


@given(st.dictionaries(st.text(max_size=9), st.text(max_size=30), max_size=4))
def test_every_text_comes_through_unchanged(fields: dict[str, str]) -> None:
    assert read_object(json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")) == {
        key.encode("utf-8", "replace").decode(): value.encode("utf-8", "replace").decode()
        for key, value in fields.items()
    }


def test_a_field_is_the_first_text_that_is_there() -> None:
    fields = {"a": "", "b": None, "c": 5, "d": ["x"], "e": "found", "f": "later"}
    assert text(fields, "missing", "a", "b", "c", "d", "e", "f") == "found"
    assert text(fields, "a", "b", "c", "d") == ""


def test_what_is_of_another_kind_is_empty() -> None:
    assert mapping({"a": 1}) == {"a": 1}
    assert mapping([1]) == {}
    assert items([1]) == [1]
    assert items({"a": 1}) == []


@given(st.text(max_size=400), st.integers(100, 300))
def test_a_capped_text_keeps_both_ends_within_its_limit(whole: str, limit: int) -> None:
    short = capped(whole, limit)
    assert len(short) <= limit
    if len(whole) <= limit:
        assert short == whole
    else:
        assert (short[:20], short[-20:]) == (whole[:20], whole[-20:])
        assert "characters left out" in short


def test_no_word_is_cut_in_two() -> None:
    short = capped("modelId = setModel(provider)\n" * 1_000, 8_000)
    assert set(short.split()) - {"[…", "…]", "characters", "left", "out"} <= {
        *"modelId = setModel(provider)".split(),
        *(word for word in short.split() if word.isdigit()),
    }


@pytest.mark.parametrize(("length", "is_kept"), [(99, False), (100, False), (101, True), (300, True)])
def test_half_of_a_word_goes_unless_it_is_too_long_for_one(length: int, *, is_kept: bool) -> None:
    before, after = "a " * 2_000, " z" * 2_000
    head, tail = before[: 3_970 - length] + "b" * length, "y" * length + after[-3_970 + length :]
    short = capped(f"{head}{'-' * 9_000}{tail}", 8_000)
    assert ("b" * length in short, "y" * length in short) == (is_kept, is_kept)


def test_the_note_says_how_much_is_gone() -> None:
    short = capped("x" * 30_000, 8_000)
    assert f"[… {30_000 - short.count('x')} characters left out …]" in short


@pytest.mark.parametrize(
    ("timestamp", "at"),
    [
        ("2026-03-01T10:00:00.000Z", 1772359200000),
        ("2026-03-01T10:00:00.123Z", 1772359200123),
        ("2026-03-01T10:00:00.٠٠٠Z", 0),
        ("2026-03-01T12:00:00+02:00", 1772359200000),
        ("2026-03-01T10:00:00", 1772359200000),
        ("1969-12-31T23:59:59.500Z", 0),
        ("1970-01-01T00:00:00.250Z", 250),
        ("1960-01-01T00:00:00Z", 0),
        ("yesterday", 0),
        ("", 0),
    ],
)
def test_a_time_is_milliseconds_since_1970(timestamp: str, at: int) -> None:
    assert milliseconds(timestamp) == at


@pytest.mark.parametrize(
    ("tokens", "counted"),
    [(None, 0), (0, 0), (-5, 0), (-0.5, 0), (0.5, 0), (7, 7), (7.9, 7), (10**30, 1 << 40), (1e300, 1 << 40)],
)
def test_a_number_of_tokens_is_whole_and_within_reason(tokens: float | None, counted: int) -> None:
    assert (count(tokens), type(count(tokens))) == (counted, int)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (NOTHING, None),
        (b"null", None),
        (b'{"a": [1, null]}', {"a": [1, None]}),
        (b'"half \\ud83d of a pair"', "half \ufffd of a pair"),
        (b'{"a": ', None),
        (b"", None),
        (DEEP, None),
    ],
)
def test_whatever_stands_there_is_a_value_or_none(raw: msgspec.Raw | bytes, value: object) -> None:
    assert value_of(raw) == value
