"""What stands in a secret's place, and who decides besides the rules: tags, lists, passages, parts."""

from __future__ import annotations

import re

import pytest

from holdfast.core.redaction.redact import VERSION, Lists, redact, redact_parts
from tests.core.made_up import HUNTER, PLAIN, PROVIDER_KEYS, made_up
from tests.tables import every_row

SALT = b"a session"
KEY = "gh" + "p_" + made_up(36)
OTHER_KEY = "gh" + "p_" + made_up(36, seed="another")
TAGGED = r"\[REDACTED:github-token:[a-z2-7]{2}\]"


def test_the_version_was_raised_with_the_rules() -> None:
    assert VERSION == 6


def test_with_a_salt_the_same_secret_has_the_same_tag_and_another_another() -> None:
    first, again, other = redact(f"{KEY} {KEY} {OTHER_KEY}", SALT).split()
    assert first == again
    assert first != other
    assert re.fullmatch(TAGGED, first)
    assert redact(f"export X={KEY}", SALT).endswith(first)


def test_another_salt_gives_another_tag() -> None:
    tags = {redact(KEY, bytes([number])) for number in range(20)}
    assert len(tags) > 10


def test_a_tag_is_too_short_to_test_a_guess_with() -> None:
    guesses = [redact(f"password={PLAIN}{number}", SALT) for number in range(3000)]
    assert len(set(guesses)) <= 1024


def test_a_salt_of_any_length_will_do() -> None:
    assert re.fullmatch(TAGGED, redact(KEY, b"s" * 200))


@every_row("text", ["[REDACTED:github-token]", "[REDACTED:github-token:k7]", "[REDACTED]"])
@every_row("around", ["{}", "password={}", "password: {} token", "password={}{}", "key {}."])
def test_a_marker_is_left_alone_with_a_salt_and_without(text: str, around: str) -> None:
    marked = around.format(text, text)
    assert redact(marked) == marked
    assert redact(marked, SALT) == marked


def test_what_a_marker_says_names_no_secret() -> None:
    assert redact(f"[REDACTED:password] = {PLAIN}") == f"[REDACTED:password] = {PLAIN}"


def test_what_is_allowed_stays_and_only_that() -> None:
    lists = Lists(allow=(KEY,))
    assert redact(f"{KEY} {OTHER_KEY}", lists=lists) == f"{KEY} [REDACTED:github-token]"
    assert redact(f"password={KEY}", lists=lists) == f"password={KEY}"


def test_a_secret_that_only_holds_what_is_allowed_goes() -> None:
    assert redact(f"password={HUNTER}", lists=Lists(allow=("hunter",))) == "password=[REDACTED:password]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see Project Nautilus.", "see [REDACTED:denied]."),
        ("ProjectNautilus", "ProjectNautilus"),
        ("a%2Fb Project%20Nautilus", "a%2Fb [REDACTED:denied]"),
        ('{"t": "a \\"b\\" c"}', '{"t": "[REDACTED:denied]"}'),
        ("abc", "abc"),
    ],
)
def test_what_is_denied_goes_wherever_it_stands_and_however_it_is_spelt(text: str, expected: str) -> None:
    assert redact(text, lists=Lists(deny=("Project Nautilus", 'a "b" c', "abc"))) == expected


def test_what_is_denied_and_allowed_goes() -> None:
    assert redact("Nautilus", lists=Lists(allow=("Nautilus",), deny=("Nautilus",))) == "[REDACTED:denied]"


def test_a_denied_word_in_a_marker_leaves_it_whole() -> None:
    lists = Lists(deny=("github-token", "REDACTED"))
    assert redact(KEY, lists=lists) == "[REDACTED:github-token]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>b\nc</private> d", "a [REDACTED:private] d"),
        ("a <PRIVATE>b</Private> d <private>e</private>", "a [REDACTED:private] d [REDACTED:private]"),
        ("a <private>b\nc", "a [REDACTED:private]"),
        ('a <private reason="x">b</private >c', "a [REDACTED:private]c"),
        ("a <private>b<private>c</private>d", "a [REDACTED:private]d"),
        ('{"t": "\\u003cprivate\\u003eb\\u003c/private\\u003e c"}', '{"t": "[REDACTED:private] c"}'),
        ("write `<private>` and `</private>` around it", "write `<private>` and `</private>` around it"),
        ("a </private> b", "a </private> b"),
        ("List<privateKey>", "List<privateKey>"),
        (f"password={HUNTER}<private>x</private>", "password=[REDACTED:password][REDACTED:private]"),
    ],
)
def test_a_private_passage_goes_whole(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert redact(text, SALT).count("[REDACTED:private]") == expected.count("[REDACTED:private]")


def test_a_private_passage_of_any_length_goes() -> None:
    long = "line after line\n" * 20_000
    assert (
        redact(f"a\n<private>{long}</private>b {KEY}\n") == "a\n[REDACTED:private]b [REDACTED:github-token]\n"
    )


@pytest.mark.parametrize(("kind", "key"), PROVIDER_KEYS[:8])
def test_a_key_that_was_broken_over_two_parts_goes_from_both(kind: str, key: str) -> None:
    for cut in (4, len(key) // 2, len(key) - 3):
        parts = (f"use {key[:cut]}", f"{key[cut:]} now")
        assert redact_parts(parts) == (f"use [REDACTED:{kind}]", f"[REDACTED:{kind}] now")


def test_parts_are_redacted_alone_too() -> None:
    # Joined, the key's beginning would read as the end of a word.
    assert redact_parts(("the one_", KEY, "; password=", PLAIN))[1:] == (
        "[REDACTED:github-token]",
        "; password=",
        "[REDACTED:password]",
    )


def test_both_halves_of_a_broken_key_have_its_tag() -> None:
    whole = redact(KEY, SALT)
    assert redact_parts((KEY[:20], KEY[20:]), SALT) == (whole, whole)


def test_parts_without_secrets_are_the_same_parts() -> None:
    assert redact_parts(("one", "", "two")) == ("one", "", "two")
    assert redact_parts(()) == ()
