"""A reference to a secret of the environment goes under its name; what is kept free for a value stays."""

from __future__ import annotations

import pytest

from holdfast.core.redaction.redact import redact
from tests.tables import every_row


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo $SECRET_NAME", "echo [REDACTED:env-secret-name]"),
        ("PASSWORD=$DB_PASSWORD", "PASSWORD=[REDACTED:env-db-password]"),
        (
            '-H "Authorization: Bearer $GITHUB_TOKEN"',
            '-H "Authorization: Bearer [REDACTED:env-github-token]"',
        ),
        ('-u "$USER:$PASS"', '-u "$USER:[REDACTED:env-pass]"'),
        ("https://me:$API_KEY@h/", "https://me:[REDACTED:env-api-key]@h/"),
        ("run($AWS_SECRET_ACCESS_KEY, 1)", "run([REDACTED:env-aws-secret-access-key], 1)"),
        ("[ -z $TOKEN ]", "[ -z [REDACTED:env-token] ]"),
        ("$" + "VERY_" * 9 + "LONG_TOKEN", "[REDACTED:env-" + "very-" * 6 + "]"),
    ],
)
def test_a_variable_that_is_named_after_a_secret_goes_and_its_marker_keeps_the_name(
    text: str, expected: str
) -> None:
    assert redact(text) == expected
    assert redact(expected) == expected


def test_a_variable_is_no_secret_so_it_has_no_tag() -> None:
    assert redact("$DB_PASSWORD", b"a session") == "[REDACTED:env-db-password]"


@every_row(
    "text",
    [
        "$HOME $PATH $USER",
        "cd $PWD && cd $OLDPWD",
        "$SECRETS_FILE $TOKEN_TYPE $KEYWORDS $AUTHOR $MAX_TOKENS $KEY",
        "$password = get_password();",
        "$env:API_TOKEN",
        "$(TOKEN)",
        "${DB_PASSWORD}",
        "${{ secrets.GITHUB_TOKEN }}",
        "%API_TOKEN%",
        "GITHUB_TOKEN",
        "process.env.GITHUB_TOKEN",
        "US$PASSES",
    ],
)
def test_other_variables_and_other_ways_to_name_one_stay(text: str) -> None:
    assert redact(text) == text


def test_a_variable_that_is_set_stays_and_its_value_goes() -> None:
    assert redact("$DB_PASSWORD = 'hunter2!x'") == "$DB_PASSWORD = '[REDACTED:password]'"
