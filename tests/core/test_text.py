"""Shortening and reading prose by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events import Origin, Prompt, Todo, TodosChanged, map_text
from holdfast.core.fence import disarmed, fence, is_ours, without_ours
from holdfast.core.text import content_words, elapsed, query_terms, shortened


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("please fix the bug in src/app/retry.py", "fix bug src/app/retry.py"),
        ("Why does parse_hook() fail on #42?", "parse_hook fail #42"),
        ("continue", "continue"),
        ("fix Fix FIX it", "fix"),
        ("", ""),
    ],
)
def test_query_terms_are_content_words_with_identifiers_whole(text: str, terms: str) -> None:
    assert query_terms(text) == terms
    assert content_words(text) == set(terms.lower().split())


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_a_text_has_the_same_content_words_beside_a_foreign_one(text: str) -> None:
    assert content_words(f"{text} größer") == content_words(text) | {"größer"}


@given(st.text(max_size=300), st.integers(0, 80))
def test_shortened_text_stays_within_its_limit(text: str, limit: int) -> None:
    assert len(shortened(text, limit)) <= max(limit, 0)


def test_text_is_cut_between_words_and_says_so() -> None:
    assert shortened("never touch the vendored client", 20) == "never touch the…"


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (900, "0 s"),
        (59_000, "59 s"),
        (60_000, "1 min"),
        (3_600_000, "1 h"),
        (11_100_000, "3 h 5 min"),
        (3 * 86_400_000, "3 days"),
    ],
)
def test_a_length_of_time_is_read_at_a_glance(milliseconds: int, words: str) -> None:
    assert elapsed(milliseconds) == words


@given(st.text(max_size=200))
def test_whatever_is_fenced_is_recognised_and_can_be_taken_out_whole(text: str) -> None:
    fenced = fence(text)
    assert is_ours(fenced)
    assert without_ours(f"a{fenced}b") == "ab"
    assert not is_ours(disarmed(text))


def test_every_free_text_of_an_event_can_be_changed_and_nothing_else() -> None:
    event = Prompt(session="key", record="text", at=1, origin=Origin.HUMAN, text="hello", turn="t")
    assert map_text(event, str.upper) == Prompt(
        session="key", record="text", at=1, origin=Origin.HUMAN, text="HELLO", turn="t"
    )
    todos = TodosChanged(
        session="k", record="r", at=1, origin=Origin.ASSISTANT, todos=(Todo("a", "pending"),)
    )
    assert map_text(todos, str.upper).todos == (Todo("A", "pending"),)
