"""Shortening and reading prose by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Origin, Prompt, Replied, Todo, TodoChanged, TodosChanged, map_text
from holdfast.core.text.strings import (
    LONG_PATH,
    content_words,
    elapsed,
    in_sentences,
    path_shortener,
    query_terms,
    shortened,
)
from holdfast.core.text.untrusted import disarmed, fence, has_injected_text, without_injected_text


@pytest.mark.parametrize(
    ("text", "limit", "told"),
    [
        ("One. Two.", 20, "One. Two."),
        ("It is done. The rest of it follows tomorrow.", 30, "It is done. …"),
        ("修好了。其余明天继续做下去吧", 10, "修好了。 …"),
        ("Hm. A sentence that is far too long for the room.", 30, "Hm. A sentence that is far…"),
        (
            "It does two things: 1. It reads. 2. It writes all of it.",
            40,
            "It does two things: 1. It reads. …",
        ),
        ("It does two things: 1. It reads all that there is.", 30, "It does two things: 1. It…"),
        ("See a.py:12, v1.2.3 and b.py for what else there is", 24, "See a.py:12, v1.2.3…"),
    ],
)
def test_a_long_text_ends_with_a_sentence_where_one_ends_in_time(text: str, limit: int, told: str) -> None:
    assert in_sentences(text, limit) == told


@given(st.text(alphabet="ab. !\n…", max_size=80), st.integers(2, 60))
def test_what_is_reported_in_sentences_stays_within_its_limit(text: str, limit: int) -> None:
    assert len(in_sentences(text, limit)) <= limit


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
    assert has_injected_text(fenced)
    assert without_injected_text(f"a{fenced}b") == "ab"
    assert not has_injected_text(disarmed(text))


def test_every_free_text_of_an_event_can_be_changed_and_nothing_else() -> None:
    event = Prompt(session="key", record="text", at=1, origin=Origin.HUMAN, text="hello", turn="t")
    assert map_text(event, str.upper) == Prompt(
        session="key", record="text", at=1, origin=Origin.HUMAN, text="HELLO", turn="t"
    )
    todos = TodosChanged(
        session="k", record="r", at=1, origin=Origin.ASSISTANT, todos=(Todo("a", "pending"),)
    )
    assert map_text(todos, str.upper).todos == (Todo("A", "pending"),)
    one = TodoChanged(session="k", record="r", at=1, origin=Origin.ASSISTANT, todo=Todo("a", "pending", "x"))
    assert map_text(one, str.upper).todo == Todo("A", "pending", "x")
    reply = Replied(session="k", record="r", at=1, origin=Origin.HUMAN, call="c", text="a", question="b")
    changed = map_text(reply, str.upper)
    assert (changed.text, changed.question, changed.call) == ("A", "B", "c")


LEFT = "packages/core/src/evaluation/trace.ts"
RIGHT = "packages/eval/src/evaluation/trace.ts"


@pytest.mark.parametrize(
    ("path", "others", "shown"),
    [
        ("src/retry.py", (), "src/retry.py"),
        (LEFT, (), "…/evaluation/trace.ts"),
        (LEFT, (LEFT,), "…/evaluation/trace.ts"),
        (LEFT, (LEFT, RIGHT), "…/core/src/evaluation/trace.ts"),
        (LEFT, (LEFT, f"…/{LEFT}"), "…/evaluation/trace.ts"),
        (f"…/{LEFT}", (LEFT,), "…/evaluation/trace.ts"),
        (LEFT, (f"apps/{LEFT}",), LEFT),
        ("/srv/builds/nightly/artifacts/report.txt", (), "/srv/builds/nightly/artifacts/report.txt"),
        ("a-name-that-is-longer-than-most-paths.md", (), "a-name-that-is-longer-than-most-paths.md"),
        ("d/a/name-that-is-longer-than-most-paths.md", (), "d/a/name-that-is-longer-than-most-paths.md"),
        ("docs/a-name-that-is-longer-than-most.md", (), "docs/a-name-that-is-longer-than-most.md"),
    ],
)
def test_a_path_is_shown_by_what_tells_it_apart(path: str, others: tuple[str, ...], shown: str) -> None:
    assert path_shortener(others)(path) == shown


PATHS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=30).map("/".join), max_size=8)


@given(PATHS)
def test_no_two_paths_are_shown_alike(paths: list[str]) -> None:
    short = path_shortener(paths)
    shown = {short(path) for path in paths}
    assert len(shown) == len(set(paths))
    assert all(len(short(path)) <= max(len(path), LONG_PATH) for path in paths)
