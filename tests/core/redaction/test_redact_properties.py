"""What holds for every text: twice is once, nothing but secrets changes, no character is split."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.redaction.redact import Lists, redact, redact_parts, secrets_in
from holdfast.core.redaction.spans import MARKER
from tests.core.made_up import BEGIN, PLAIN, PROVIDER_KEYS
from tests.core.redact_texts import FRAGMENTS, TEXTS
from tests.depth import DEEP

SALTS = st.sampled_from([b"", b"a session"])
LISTS = st.sampled_from([Lists(), Lists(deny=("pass", "REDACTED", "://a")), Lists(allow=(PLAIN, "hunter"))])
ANY_TEXT = st.lists(FRAGMENTS | st.text(st.characters(codec=None), max_size=40), max_size=6).map("".join)


@given(TEXTS, SALTS, LISTS)
def test_redacting_twice_is_redacting_once(text: str, salt: bytes, lists: Lists) -> None:
    once = redact(text, salt, lists)
    assert redact(once, salt, lists) == once


@given(st.lists(TEXTS, max_size=4), SALTS)
def test_redacting_parts_twice_is_redacting_them_once(parts: list[str], salt: bytes) -> None:
    once = redact_parts(parts, salt)
    assert len(once) == len(parts)
    assert redact_parts(once, salt) == once
    assert all(redact(part, salt) == part for part in once)


@given(ANY_TEXT, SALTS)
def test_what_is_left_stood_there_in_that_order_and_only_markers_were_added(text: str, salt: bytes) -> None:
    redacted = redact(text, salt)
    added = len(MARKER.findall(redacted)) - len(MARKER.findall(text))
    assert added >= 0
    assert len(redacted) <= len(text) + 60 * added
    position = 0
    for kept in MARKER.split(redacted):
        place = text.find(kept, position)
        assert place >= 0
        position = place + len(kept)


@given(ANY_TEXT)
def test_spans_are_in_order_and_apart_and_no_character_is_split(text: str) -> None:
    position = 0
    for span in secrets_in(text):
        assert position <= span.start < span.end <= len(text)
        position = span.end
        for place in (span.start, span.end):
            assert not (0 < place < len(text) and _continues(text[place - 1], text[place]))


def _continues(before: str, character: str) -> bool:
    pair = "\ud800" <= before <= "\udbff" and "\udc00" <= character <= "\udfff"
    return pair or unicodedata.combining(character) > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=hunter2!e\u0301 x", "password=[REDACTED:password] x"),
        ("password='hunter2!\ud83d\ude00'", "password='[REDACTED:password]'"),
        ("\U0001f469\u200d" + PROVIDER_KEYS[0][1], "\U0001f469\u200d[REDACTED:anthropic-key]"),
        (PROVIDER_KEYS[0][1] + "\u0301\u0302.", "[REDACTED:anthropic-key]."),
    ],
)
def test_accents_and_pairs_go_with_their_character(text: str, expected: str) -> None:
    assert redact(text) == expected


@given(st.text(alphabet="bdfghijlmnoqvxyzBDFG019 .,;()/\n", max_size=2000))
def test_text_without_a_word_of_secrets_or_a_long_run_is_left_alone(text: str) -> None:
    spaced = " ".join(text[i : i + 15] for i in range(0, len(text), 15))
    assert redact(spaced) == spaced


@given(st.sampled_from([key for _, key in PROVIDER_KEYS]), st.text(max_size=40), st.text(max_size=40))
def test_no_neighbourhood_saves_a_key(key: str, before: str, after: str) -> None:
    assert key not in redact(f"{before} {key} {after}")


@pytest.mark.parametrize("before", ["\x1f@0", "\x1c@a", "\u2028@", " @", "@"])
def test_nothing_but_white_space_before_a_host_is_no_password(before: str) -> None:
    _, key = PROVIDER_KEYS[0]
    assert key not in redact(f"{before}{key} {key}")


UNITS = [
    *("a", "password=", "pass:", "token ", BEGIN, BEGIN + "\n", "://a:", "://a@", "eyJ", "sk-a1", 'secret="'),
    *('password="a\\"', "curl -u a:b ", " -p a", "key", "-", ".", "AKIA", "LS0tLS1CRUdJTi", "a1", "JQQJ99"),
    *('password("a", ', "secret {\n a=b\n", "secret=[1,2,", "<private", "\\", '\\"', "password&quot;:"),
    *("x=1 password=", "user = a\npassword = b\n", "?sig=", "a:b@tcp(", "비밀번호:", "e\u0301", "??", "A"),
    *(
        "[REDACTED:a]",
        "[REDACTED",
        "password=[REDACTED:a]",
        PLAIN,
        f"password={PLAIN} ",
        "Private-Lines: 1\n",
    ),
    *("login a password ", "password value: ", "/token/", "cookie: a=", "secret set ", "password for a is "),
    *("mnemonic abandon ", "phrase: ", "kind: Secret\ndata:\n  a: b\n", "echo abcd | sudo ", "sudo -S <<< a"),
    *(
        "jwt.sign(a, ",
        'hmac("a", ',
        'connect("a", "b", ',
        "密码",
        "密码：",
        "$TOKEN ",
        "${TOKEN:-",
        "mysql -p",
    ),
    f'"d": "{PLAIN}", ',
]
TIMES = 3000 if DEEP else 1000


@pytest.mark.parametrize("unit", UNITS)
def test_what_repeats_without_end_is_redacted_once_and_twice_as_much_is_twice_the_work(unit: str) -> None:
    redacted = redact(unit * TIMES)
    assert redact(redacted) == redacted
    # What a pattern does in one match is bounded by its form: see test_redact_patterns.
    assert work(unit * TIMES) <= 2.5 * work(unit * (TIMES // 2)) + 1000


def work(text: str) -> int:
    """How often anything is called while a text is redacted: the same on every machine."""
    calls = Counter[str]()
    sys.setprofile(lambda _frame, event, _argument: calls.update((event,)))
    try:
        redact(text)
    finally:
        sys.setprofile(None)
    return calls["call"] + calls["c_call"]


def test_markers_are_recognised_by_one_pattern() -> None:
    assert re.fullmatch(MARKER, redact("password=" + PLAIN, b"s").removeprefix("password="))
