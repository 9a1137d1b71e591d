"""Pieces of words: the same as those of the tokenizer that the table was distilled with."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.wordpiece import LONGEST_WORD, WordPiece
from tests.tables import every_row

RECORDED: list[tuple[str, list[int]]] = json.loads(
    (Path(__file__).parent / "wordpiece_samples.json").read_text(encoding="utf-8")
)
"""What `scripts/distill_embeddings.py` recorded from the original tokenizer."""
SHIPPED = WordPiece(
    (files("holdfast.models") / "minilm" / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
)
SMALL = WordPiece(["[PAD]", "un", "##kind", "##k", "kind", "a"])


@every_row(("text", "pieces"), RECORDED)
def test_every_recorded_text_has_the_pieces_of_the_original(text: str, pieces: list[int]) -> None:
    assert [place for word in SHIPPED.words(text) for place in SHIPPED.pieces(word)] == pieces


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Never use `pip`!", ["never", "use", "`", "pip", "`", "!"]),
        ("src/app/retry.py", ["src", "/", "app", "/", "retry", ".", "py"]),
        ("parse_hook", ["parse", "_", "hook"]),
        ("Café  ÅNGSTRÖM", ["cafe", "angstrom"]),
        ("日本語x", ["日", "本", "語", "x"]),
        ("zero\u200bwidth\x00nul\tand\nlines", ["zerowidthnul", "and", "lines"]),
        ("", []),
    ],
)
def test_words_are_lower_case_without_accents_and_signs_stand_alone(text: str, words: list[str]) -> None:
    assert SHIPPED.words(text) == words


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("kind", (4,)),
        ("unkind", (1, 2)),
        ("unk", (1, 3)),
        ("unknown", ()),
        ("z", ()),
        ("", ()),
    ],
)
def test_the_longest_piece_comes_first_and_an_unknown_part_makes_the_word_unknown(
    word: str, pieces: tuple[int, ...]
) -> None:
    assert SMALL.pieces(word) == pieces


def test_what_is_too_long_is_no_word() -> None:
    long = WordPiece(["a", "##a"])
    assert len(long.pieces("a" * LONGEST_WORD)) == LONGEST_WORD
    assert long.pieces("a" * (LONGEST_WORD + 1)) == ()


@given(st.text())
def test_any_text_has_words_without_spaces(text: str) -> None:
    assert all(word and not any(char.isspace() for char in word) for word in SHIPPED.words(text))


@given(st.text() | st.text(st.characters(max_codepoint=0x7F)))
def test_what_is_spoken_is_the_words_without_signs(text: str) -> None:
    words = [word for word in SHIPPED.words(text) if word[0].isalnum()]
    assert SHIPPED.spoken(text) == words
