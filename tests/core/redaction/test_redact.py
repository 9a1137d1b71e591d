"""Redaction: secrets go, everything else stays."""

from __future__ import annotations

import base64
import json

import pytest

from holdfast.core.redaction.redact import redact
from tests.core.made_up import (
    BEGIN,
    CLEAN,
    END,
    HUNTER,
    PEM_LINES,
    PLAIN,
    PROVIDER_KEYS,
    SECRETS_BY_NAME_OR_PLACE,
    made_up,
)
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
