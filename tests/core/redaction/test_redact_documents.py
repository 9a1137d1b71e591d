"""Base64 in lines is left alone, keys beside and before it go, and dense text costs what its length says.

Cost is counted in calls of functions, not by a clock.
"""

from __future__ import annotations

import base64
import random
import string
import sys
from types import FrameType

import pytest

from holdfast.core.redaction.redact import SEGMENT, redact, redact_stream
from tests.core.made_up import BEGIN, END

BASE64 = base64.b64encode(random.Random(11).randbytes(150_000)).decode()
PLAIN = "".join(random.Random(12).choices(string.ascii_letters + string.digits, k=200_000))
WIDTHS = [60, 64, 76, 80, 90, 100, 120, 128, 132, 160]


def in_lines(characters: str, width: int, size: int, line_break: str = "\n") -> str:
    lines = (characters[start : start + width] for start in range(0, size, width))
    return line_break.join(lines)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("characters", [BASE64, PLAIN], ids=["base64", "plain"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\n    ", "\\n"])
def test_a_document_is_left_alone(characters: str, width: int, line_break: str) -> None:
    text = f"$ base64 logo.png{line_break}{in_lines(characters, width, 5_000, line_break)}\n$ make\n"
    assert redact(text) == text


@pytest.mark.parametrize("width", WIDTHS)
def test_a_document_over_the_border_of_two_segments_is_left_alone(width: int) -> None:
    text = "x\n" * ((SEGMENT - 500) // 2) + in_lines(BASE64, width, 3_000) + "\nend\n"
    assert redact(text) == text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5, 9])
def test_a_pause_after_every_line_of_a_document_changes_nothing(width: int, lines: int) -> None:
    text = f"begin\n{in_lines(PLAIN, width, width * lines - 20)}\nend\n"
    arriving = [piece for line in text.splitlines(keepends=True) for piece in (line, None)]
    assert "".join(redact_stream(arriving)) == redact(text)


def test_lines_with_a_hash_at_their_end_are_given_when_nothing_more_comes() -> None:
    line = f"Digest: sha256:{'0123456789abcdef' * 4}\n"
    assert list(redact_stream([line, None, "end"])) == [line, "end"]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_private_key_goes_whole(width: int) -> None:
    assert redact(f"{BEGIN}\n{in_lines(BASE64, width, 1_600)}\n{END}\n") == "[REDACTED:private-key]\n"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("before", ["#" * 700, "\x00\x01" * 350], ids=["text", "binary"])
def test_a_private_key_that_was_encoded_once_more_goes_where_it_begins(width: int, before: str) -> None:
    encoded = base64.b64encode(f"{before}\n{BEGIN}\n{BASE64[:600]}\n".encode()).decode()
    redacted = redact(in_lines(encoded, width, len(encoded)))
    assert redacted.endswith("[REDACTED:private-key]")
    assert len(redacted) < 1_100


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("name", "line_break"),
    [
        ("api_token = ", "\n"),
        ("api_token = ", "\r\n"),
        ("Use this password:\n", "\n"),
        ("secret_key: |\n  ", "\n  "),
        ('"api_token": "', "\\n"),
    ],
)
def test_a_document_that_a_name_announces_goes_whole(width: int, name: str, line_break: str) -> None:
    redacted = redact(f"{name}{in_lines(PLAIN, width, width * 9 - 20, line_break)}\nend\n")
    assert redacted.startswith(f"{name}[REDACTED:")
    assert redacted.endswith("]\nend\n")
    assert len(redacted) < 60


def test_keys_of_a_known_form_go_from_a_list_of_them() -> None:
    keys = [f"EAACEdEose0cBA{PLAIN[start : start + 80]}" for start in range(0, 800, 80)]
    redacted = redact("\n".join(keys))
    assert not any(key in redacted for key in keys)


def test_shorter_keys_go_from_a_list_of_them() -> None:
    keys = [PLAIN[start : start + 40] for start in range(0, 400, 40)]
    redacted = redact("\n".join(keys))
    assert not any(key in redacted for key in keys)


DENSE = {
    **{f"base64 in lines of {width}": in_lines(BASE64, width, 60_000) for width in WIDTHS},
    **{f"letters and digits in lines of {width}": in_lines(PLAIN, width, 60_000) for width in WIDTHS},
    "base64 in a string": in_lines(BASE64, 76, 60_000, "\\n"),
}
WORDS = {
    "words of 24": in_lines(PLAIN, 24, 60_000, " "),
    "words of base64": in_lines(BASE64, 40, 60_000, " "),
    "quoted lines": in_lines(BASE64, 78, 60_000, '"\n"'),
}


def calls(text: str) -> int:
    """How many functions are called to redact a text."""
    made = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal made
        made += event in {"call", "c_call"}

    redact(text)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        redact(text)
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize("text", DENSE.values(), ids=DENSE)
def test_a_document_takes_a_few_calls_a_line(text: str) -> None:
    assert calls(text) < len(text) / 2


@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_ten_times_as_many_random_words_take_ten_times_as_many_calls(text: str) -> None:
    assert calls(text) < 13 * calls(text[:6_000])
