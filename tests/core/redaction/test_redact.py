"""Redaction: secrets go, everything else stays."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.redaction.redact import CONTEXT, LONGEST_LINE, SEGMENT, Lists, redact, redact_stream
from tests.core.made_up import (
    BEGIN,
    CLEAN,
    END,
    HEX,
    HUNTER,
    PEM_LINES,
    PLAIN,
    PROVIDER_KEYS,
    SECRETS_BY_NAME_OR_PLACE,
    made_up,
)
from tests.core.redact_texts import TEXTS
from tests.tables import every_row


@every_row(("kind", "key"), PROVIDER_KEYS)
@every_row(
    ("before", "after"),
    [
        ("", ""),
        ("use ", " please"),
        ("(`", "`)"),
        ("x\n", "\ny"),
        ('{\\n\\"a\\": \\"', '\\"}'),
        ("line\\n", "\\n"),
        ("https://host.example/?q=%3D", "&b=1"),
        ("\x1b[33m", "\x1b[0m"),
        ("größe: ", " ✓"),
    ],
)
def test_a_providers_key_is_known_by_its_shape_wherever_it_stands(
    kind: str, key: str, before: str, after: str
) -> None:
    assert redact(before + key + after) == f"{before}[REDACTED:{kind}]{after}"


@every_row(("text", "secret", "kind"), SECRETS_BY_NAME_OR_PLACE)
def test_a_secret_is_known_by_its_name_or_place(text: str, secret: str, kind: str) -> None:
    assert redact(text.replace("§", secret)) == text.replace("§", f"[REDACTED:{kind}]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n".join(["a", BEGIN, *PEM_LINES, END, "b"]), "a\n[REDACTED:private-key]\nb"),
        ('{"k": "' + "\\n".join([BEGIN, *PEM_LINES, END, ""]) + '"}', '{"k": "[REDACTED:private-key]\\n"}'),
        ("\n".join(["+" + line for line in [BEGIN, *PEM_LINES, END]]), "+[REDACTED:private-key]"),
        ("\n".join([BEGIN, *PEM_LINES]), "[REDACTED:private-key]"),
        (base64.b64encode("\n".join([BEGIN, *PEM_LINES, END]).encode()).decode(), "[REDACTED:private-key]"),
        ("<d>\n  MIIEvQ" + "IBADAN" + "\n  ".join(PEM_LINES), "<d>\n  [REDACTED:private-key]"),
        (
            "Private-" + "Lines: 2\n" + PEM_LINES[0] + "\n" + PEM_LINES[2] + "\nPrivate-MAC: 0",
            "Private-Lines: 2\n[REDACTED:private-key]Private-MAC: 0",
        ),
        (
            json.dumps({"kty": "RSA", "n": "AQAB", "d": made_up(43)}),
            '{"kty": "RSA", "n": "AQAB", "d": "[REDACTED:private-key]"}',
        ),
    ],
    ids=["block", "json", "diff", "cut-off", "base64", "without-edges", "putty", "json-web-key"],
)
def test_a_private_key_goes_whole(text: str, expected: str) -> None:
    assert redact(text) == expected


@every_row("text", CLEAN)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_all_of_a_long_unquoted_value_goes() -> None:
    assert redact("SESSION_TOKEN=" + made_up(3000) + " end") == "SESSION_TOKEN=[REDACTED:token] end"


def test_several_secrets_of_one_text_go_each_under_its_own_kind() -> None:
    key = "gh" + "p_" + made_up(36)
    text = f"GITHUB_TOKEN={key}\nDB_PASSWORD={HUNTER}\nurl=https://u:{HUNTER}@h/{key}\n"
    assert redact(text) == (
        "GITHUB_TOKEN=[REDACTED:github-token]\nDB_PASSWORD=[REDACTED:password]\n"
        "url=https://u:[REDACTED:url-password]@h/[REDACTED:github-token]\n"
    )


def test_the_secret_half_of_a_pair_goes_with_the_open_one() -> None:
    key_id, secret = "AK" + "IA" + made_up(16, "ABCDEFGH234567"), made_up(40)
    assert redact(f"{key_id} {secret}") == "[REDACTED:aws-access-key] [REDACTED:aws-secret]"


def test_a_value_that_was_found_goes_in_its_line_and_wherever_it_follows() -> None:
    text = f"{PLAIN} before\nsecret is {PLAIN}? password={PLAIN} done\nthen {PLAIN} again"
    assert redact(text) == (
        f"{PLAIN} before\nsecret is [REDACTED:secret]? password=[REDACTED:password] done\n"
        "then [REDACTED:secret] again"
    )


def test_a_word_that_was_a_password_stays_a_word_elsewhere() -> None:
    assert redact("DB_PASSWORD=swordfish\nfish and swordfish") == (
        "DB_PASSWORD=[REDACTED:password]\nfish and swordfish"
    )


PEM = "\n".join([BEGIN, *PEM_LINES, END, ""])
KEY = "gh" + "p_" + made_up(36)


@given(TEXTS, st.data())
def test_any_borders_and_pauses_give_what_the_whole_gives(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    arriving: list[str | None] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        arriving += (text[start:end], *([None] if data.draw(st.booleans()) else []))
    assert "".join(redact_stream(arriving)) == redact(text)


@given(TEXTS)
def test_a_pause_after_every_line_gives_what_the_whole_gives(text: str) -> None:
    arriving = [piece for line in text.splitlines(keepends=True) for piece in (line, None)]
    assert "".join(redact_stream(arriving)) == redact(text)


@given(st.integers(SEGMENT - 400, SEGMENT + 100), st.integers(1, 5000))
def test_a_secret_at_the_border_of_two_segments_goes(before: int, size: int) -> None:
    secrets = f"{PEM}\n- name: DB_PASSWORD\n  value: {HUNTER}\ncurl x \\\n  --user me:{HUNTER}\n{KEY}\n"
    text = "x\n" * (before // 2) + secrets + "y\n" * SEGMENT
    pieces = [text[start : start + size * 40] for start in range(0, len(text), size * 40)]
    given = "".join(redact_stream(pieces))
    assert given == redact(text)
    assert HUNTER not in given
    assert KEY not in given
    assert PEM_LINES[0] not in given


def test_lines_go_on_when_nothing_more_comes() -> None:
    arriving = iter(["one\ntw", None, "o\n", None, "three"])
    assert list(redact_stream(arriving)) == ["one\n", "two\n", "three"]


def test_a_private_key_waits_for_its_end() -> None:
    given = list(redact_stream(["a\n", PEM[:100], None, PEM[100:], "b\n", None]))
    assert given == ["a\n", "[REDACTED:private-key]\nb\n", ""]


def test_an_end_that_never_comes_holds_nothing_back_for_ever() -> None:
    stream = redact_stream([BEGIN + "\n", *["not a key at all\n"] * 3_000, None, "more"])
    assert next(stream).startswith(BEGIN)


def test_a_private_passage_is_not_held_in_memory_and_not_given() -> None:
    def arriving() -> list[str | None]:
        return ["a <private>b\n", None, *["secret words\n"] * 3, None, "c</private> d\n", f"{KEY}\n"]

    assert "".join(redact_stream(arriving())) == "a [REDACTED:private] d\n[REDACTED:github-token]\n"


def test_a_line_without_an_end_goes_on() -> None:
    word = f"{made_up(50, HEX)} {PLAIN} "
    text = word * (LONGEST_LINE // len(word) + 2) + KEY
    pieces = [text[start : start + SEGMENT] for start in range(0, len(text), SEGMENT)]
    stream = redact_stream(pieces)
    assert len(next(stream)) >= LONGEST_LINE - CONTEXT
    assert KEY not in "".join(stream)


def test_lists_count_in_a_stream_too() -> None:
    lists = Lists(allow=(KEY,), deny=("Nautilus",))
    assert "".join(redact_stream([KEY, " Naut", "ilus\n"], lists)) == f"{KEY} [REDACTED:denied]\n"
