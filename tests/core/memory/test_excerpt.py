"""The sentence that matches is shown, with the words marked wherever they stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.memory.excerpt import excerpt, matching_sentence, matching_spans

TEXT = "The daemon starts late. Retries of the hook are capped at five!\nNobody waits for hooks."


def marked(text: str, *words: str) -> list[str]:
    return [text[start:end] for start, end in matching_spans(text, words)]


def test_the_sentence_with_most_words_is_chosen_and_the_first_if_none_has_any() -> None:
    assert matching_sentence(TEXT, ["hook", "retry"]) == "Retries of the hook are capped at five!"
    assert matching_sentence(TEXT, ["hooks"]) == "Nobody waits for hooks."
    assert matching_sentence(TEXT, ["port"]) == "The daemon starts late."
    assert matching_sentence("", ["port"]) == ""


def test_words_are_marked_in_their_forms_and_no_others() -> None:
    assert marked(TEXT, "retry", "hook") == ["Retries", "hook", "hooks"]
    assert marked("Stage the staging port, then postpone", "port", "stage") == ["Stage", "staging", "port"]
    assert marked("a cat is in the category", "cat") == ["cat"]


def test_a_long_sentence_is_cut_around_its_first_match() -> None:
    sentence = f"{'before ' * 30}the port is 8080 {'after ' * 30}".strip()
    shown = excerpt(sentence, ["port"], 60)
    assert len(shown) <= 60
    assert (shown[0], shown[-1]) == ("…", "…")
    assert "port is 8080" in shown
    assert excerpt("short", ["port"], 60) == "short"


@given(st.text(), st.lists(st.text(max_size=8), max_size=4), st.integers(2, 80))
def test_an_excerpt_fits_and_spans_lie_in_the_text(text: str, words: list[str], limit: int) -> None:
    sentence = matching_sentence(text, words)
    shown = excerpt(sentence, words, limit)
    assert len(shown) <= limit
    assert all(0 <= start < end <= len(shown) for start, end in matching_spans(shown, words))


def test_a_word_as_it_is_counts_more_than_one_that_only_begins_alike() -> None:
    text = "All tests pass. Then it adds `hash_password`. Done."
    words = ("postgres", "password", "rotation")
    assert matching_sentence(text, words) == "Then it adds `hash_password`."


def test_a_part_of_a_name_is_marked() -> None:
    text = "It adds hash_password and passwords."
    marked = [text[start:stop] for start, stop in matching_spans(text, ["password"])]
    assert marked == ["password", "passwords"]
    assert [text[a:b] for a, b in matching_spans(text, ["hash_password"])] == ["hash_password"]
