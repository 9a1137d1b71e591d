"""Wordings: a forgotten memory is recognised by its words, and nothing else is."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.memory.wordings import FORGOTTEN, NO_WORDINGS, Wordings, fingerprints, is_mark_alone

KEY = b"k" * 16
TEXT = "The staging database lives at db-7.internal:5433 and Petra rotates its password every second Tuesday"


def without(text: str, *forgotten: str) -> str:
    return Wordings(KEY, [each for one in forgotten for each in fingerprints(one, KEY)]).removed(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (TEXT, "[forgotten]"),
        (f"So: {TEXT.upper()}.", "So: [forgotten]."),
        (TEXT.replace(" ", "\n  "), "[forgotten]"),
        (json.dumps({"é": TEXT.replace(" ", "\n")}), '{"\\u00e9": "[forgotten]"}'),
        (json.dumps(json.dumps([TEXT.replace(" ", "\t")])), '"[\\"[forgotten]\\"]"'),
        (f"“{TEXT[:50]}…” and more", "“[forgotten]…” and more"),
        (f"{TEXT[:60]} …", "[forgotten] …"),
        (f"{TEXT}. {TEXT}!", "[forgotten]. [forgotten]!"),
        ("The staging database lives at home", "The staging database lives at home"),
        (TEXT.replace("Tuesday", "Friday"), TEXT.replace("Tuesday", "Friday")),
        (TEXT[:70], TEXT[:70]),
        ("", ""),
    ],
)
def test_a_wording_is_taken_out_however_it_is_laid_out(text: str, left: str) -> None:
    assert without(text, TEXT) == left


@pytest.mark.parametrize(
    ("forgotten", "text", "left"),
    [
        ("部署端口是8443号", "请记住部署端口是8443号吧", "请记住[forgotten]吧"),
        ("key is [REDACTED:key:ab] now", "the key is [REDACTED:key:xy] now!", "the [forgotten]!"),
        ("hunter2hunter2hunter2", "with hunter2hunter2hunter2 in it", "with [forgotten] in it"),
        ("ok", "ok", "ok"),
        ("Use tabs", "Use tabs, always", "Use tabs, always"),
        ("zero\u200bwidth signs are hidden", "zerowidth signs are hidden", "[forgotten]"),
    ],
)
def test_words_are_what_a_reader_sees(forgotten: str, text: str, left: str) -> None:
    assert without(text, forgotten) == left


def test_a_passage_may_begin_or_end_within_a_wording() -> None:
    wordings = Wordings(KEY, fingerprints(TEXT, KEY))
    assert wordings.removed_from_passage(f"User: {TEXT[:88]}") == "User: [forgotten]"
    assert wordings.removed_from_passage(f"{TEXT[14:]} and then") == "[forgotten] and then"
    elsewhere = f"{TEXT[14:]} and then {TEXT[:60]} is what she said"
    assert wordings.removed_from_passage(f"She said {elsewhere}") == f"She said {elsewhere}"


@given(cuts=st.lists(st.integers(0, len(TEXT)), max_size=4))
def test_a_wording_that_was_cut_anywhere_is_known_by_its_parts_together(cuts: list[int]) -> None:
    wordings = Wordings(KEY, fingerprints(TEXT, KEY))
    places = [0, *sorted(cuts), len(TEXT)]
    parts = ["Petra says: ", *(TEXT[start:end] for start, end in pairwise(places)), ", and so on"]
    left = wordings.removed_across(parts)
    assert (left[0], left[-1]) == (parts[0], parts[-1])
    assert set("".join(left[1:-1]).split(FORGOTTEN)) <= {"", ".", "-", ":"}, "no word is left"


def test_nothing_of_a_wording_can_be_read_and_another_key_knows_nothing() -> None:
    (own,), (other,) = fingerprints(TEXT, KEY), fingerprints(TEXT, b"another")
    assert not set(own.blocks) & set(other.blocks)
    assert Wordings(b"another", [own]).removed(TEXT) == TEXT


@given(before=st.text(max_size=40), behind=st.text(max_size=40))
def test_what_stands_around_it_stays(before: str, behind: str) -> None:
    left = without(f"{before}\n{TEXT}\n{behind}", TEXT)
    assert TEXT not in left
    assert left.startswith(before)
    assert left.endswith(behind)


@given(text=st.text(max_size=200), wording=st.text(min_size=1, max_size=60))
def test_no_text_is_too_strange(text: str, wording: str) -> None:
    once = without(text, wording)
    assert without(once, wording) == once
    assert NO_WORDINGS.removed(text) == text
    assert FORGOTTEN in once or once == text


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        ("[forgotten]", True),
        ("«[forgotten]»", True),
        ("[forgotten]. [forgotten]!", True),
        ("", False),
        ("[forgotten] port", False),
        ("port", False),
    ],
)
def test_what_is_left_of_a_wording_may_be_punctuation_alone(text: str, *, is_alone: bool) -> None:
    assert is_mark_alone(text) is is_alone
