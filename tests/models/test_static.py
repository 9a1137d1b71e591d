"""The static embedder: pieces of words, their vectors, and what they say of texts."""

from __future__ import annotations

import hashlib
import json
import math
import re
import subprocess
import sys
import zipfile
from array import array
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import models
from holdfast.models.static import LONGEST_TEXT, LONGEST_WORD, StaticEmbedder, WordPiece
from tests.tables import every_row

EMBEDDER = models.embedder()
FOLDER = files("holdfast.models") / "minilm"
ROOT = Path(__file__).resolve().parents[2]
PAIRS = [
    ("How do I repair the car?", "fix the vehicle", "bake a cake"),
    ("the tests fail on Windows", "unit test failure on win32", "the invoice was paid"),
    ("never commit secrets", "do not check in passwords", "the colour of the button"),
    ("database migration", "schema upgrade of the store", "morning coffee"),
    ("retry with backoff", "try again after waiting", "rename the file"),
    ("Which editor does she like?", "her favourite IDE is vim", "the server crashed at night"),
    ("the cat sat on the mat", "a kitten was sitting on a rug", "quarterly revenue grew"),
]


def cosine(one: str, other: str) -> float:
    first, second = EMBEDDER.embed([one, other])
    return sum(a * b for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("said", "alike", "other"), PAIRS)
def test_a_sentence_is_nearer_to_one_that_means_the_same(said: str, alike: str, other: str) -> None:
    assert cosine(said, alike) > cosine(said, other) + 0.1


@pytest.mark.parametrize(("said", "alike", "other"), PAIRS)
def test_like_words_are_near_words(said: str, alike: str, other: str) -> None:
    near, far = EMBEDDER.nearness(said.split(), [alike, other])
    assert near > far


def test_the_same_words_are_as_near_as_can_be_and_none_are_not_near_at_all() -> None:
    near = EMBEDDER.nearness(["parse_hook", "timeout"], ["the timeout of parse_hook()", "", "?!", "xqzvwk☃"])
    assert near == pytest.approx([1, 0, 0, 0], abs=1e-6)


def test_it_knows_a_word_that_it_need_not_spell() -> None:
    assert EMBEDDER.knows(["zorbleflux", "rollback"])
    assert EMBEDDER.knows(["parse_hook"])
    assert not EMBEDDER.knows(["zorbleflux", "xkcdqwrt", "☃", ""])
    assert not EMBEDDER.knows([])


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    rare, common = EMBEDDER.nearness(["the", "invoice"], ["invoice", "the"])
    assert rare > common


@pytest.mark.parametrize(
    ("words", "texts"),
    [([], ["a text"]), (["word"], []), (["☃☃"], ["☃☃"]), (["?", "/"], ["?"])],
)
def test_words_that_say_nothing_are_near_nothing(words: list[str], texts: list[str]) -> None:
    assert EMBEDDER.nearness(words, texts) == [0.0] * len(texts)


@given(st.lists(st.text(max_size=40), max_size=4), st.lists(st.text(max_size=80), max_size=6))
def test_nearness_lies_between_nought_and_one_for_every_text(words: list[str], texts: list[str]) -> None:
    near = EMBEDDER.nearness(words, texts)
    assert len(near) == len(texts)
    assert all(0 <= one <= 1 + 1e-6 for one in near)


@given(st.lists(st.text(max_size=200), max_size=5))
def test_every_text_has_a_vector_of_length_one_or_none(texts: list[str]) -> None:
    vectors = EMBEDDER.embed(texts)
    assert len(vectors) == len(texts)
    for vector in vectors:
        assert vector == () or (
            len(vector) == EMBEDDER.dimensions and math.hypot(*vector) == pytest.approx(1, abs=1e-5)
        )


@pytest.mark.parametrize("text", ["", "  \n", "☃☃", "\x00"])
def test_what_says_nothing_points_nowhere(text: str) -> None:
    assert EMBEDDER.embed([text]) == [()]


def test_what_stands_beyond_the_limit_is_left_out() -> None:
    long = "word " * (LONGEST_TEXT // 5)
    assert EMBEDDER.embed([long]) == EMBEDDER.embed([f"{long}invoice"])


def test_a_text_points_where_its_pieces_point() -> None:
    vectors = memoryview(array("b", [0, 0, 100, 0, 0, 50]).tobytes())
    small = StaticEmbedder(["[PAD]", "left", "up"], vectors, array("f", [0, 0, 0.01, 1, 0.02, 0.5]))
    assert small.dimensions == 2
    assert small.embed(["left", "up up", "left up"]) == [
        pytest.approx((1, 0)),
        pytest.approx((0, 1)),
        pytest.approx((2 / math.sqrt(5), 1 / math.sqrt(5))),
    ]


def test_the_notice_names_the_licence_and_the_bytes_that_ship() -> None:
    notice = (FOLDER / "NOTICE").read_text(encoding="utf-8")
    assert "Apache License, Version 2.0" in notice
    assert "all-MiniLM-L6-v2" in notice
    named = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", notice, re.MULTILINE))
    shipped = {hashlib.sha256(one.read_bytes()).hexdigest(): one.name for one in FOLDER.iterdir()}
    assert len(named) == 3
    assert named.items() <= shipped.items()


def test_all_that_ships_is_small() -> None:
    assert sum(len(one.read_bytes()) for one in FOLDER.iterdir()) < 8_000_000


def test_the_package_loads_nothing_heavy_before_it_is_used() -> None:
    asked = "import sys, holdfast.models; print('simsimd' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


def test_the_table_is_found_in_the_package_as_it_is_built(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    unpacked = tmp_path / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    asked = (
        "import holdfast, holdfast.models as m; print(holdfast.__file__, len(m.embedder().embed(['a'])[0]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env={"PYTHONPATH": str(unpacked)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    where, dimensions = done.stdout.split()
    assert where.startswith(str(unpacked))
    assert int(dimensions) == EMBEDDER.dimensions


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
