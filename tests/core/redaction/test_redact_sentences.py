"""Secrets that people write down: phrases, tables, PINs and codes, dialogues, and secrets in disguise."""

from __future__ import annotations

import base64

import pytest

from holdfast.core.redaction.redact import redact, redact_stream
from tests.core.drawn import drawn
from tests.core.made_up import made_up

PHRASES = ["4l0re Ry86u 4lXwH", "tr0ub 4dor and3", "x9 Kestrel m4ple"]
PLAIN_PHRASES = ["correct horse battery staple", "tango walrus nine lantern"]
NAMED_PHRASES = [
    'passphrase: "§"',
    "passphrase = '§'",
    '"sshPassphrase": "§",',
    "KEY_PASSPHRASE='§'",
    "passphrase: §\n",
    "wallet_passphrase => '§'",
    'The passphrase is "§"',
    "The passphrase is §.",
    'password: "§"',
    "the password is §\n",
]


@pytest.mark.parametrize("place", NAMED_PHRASES)
@pytest.mark.parametrize("phrase", [*PHRASES, *PLAIN_PHRASES])
def test_a_passphrase_of_several_words_goes(place: str, phrase: str) -> None:
    redacted = redact(place.replace("§", phrase))
    assert not any(word in redacted for word in phrase.split())
    assert redact(redacted) == redacted


ROWS = [("ann", "hunter2x"), ("bob", "swordfish"), ("eve", "Winter2024!"), ("joe", "letmein")]
TABLES = [
    ("user,password", "{},{}"),
    ("password,user", "{1},{0}"),
    ("name;password;role", "{};{};dev"),
    ("host\tuser\tpassword", "db\t{}\t{}"),
    ('"email","password"', '"{}@x.io","{}"'),
    ("| user | password | host |\n|---|---|---|", "| {} | {} | db |"),
    ("| Service | Username | Password |\n| :-- | :-- | :-- |", "| db | {} | `{}` |"),
    ("login | passwd\n------+-------", "{} | {}"),
]


@pytest.mark.parametrize(("heading", "row"), TABLES)
def test_every_row_of_a_column_of_passwords_goes(heading: str, row: str) -> None:
    text = "\n".join([heading, *(row.format(*each) for each in ROWS)]) + "\n"
    redacted = redact(text)
    assert [password for _, password in ROWS if password in redacted] == []
    assert all(user in redacted for user, _ in ROWS)
    assert redact(redacted) == redacted


CODES = [
    ("PIN: §", ["4821"]),
    ("pin = §", ["123456"]),
    ('"pin": "§"', ["4821"]),
    ("Your PIN is §.", ["4821"]),
    ("use PIN § at the door", ["4821"]),
    ("userPin: '§'", ["9921"]),
    ("card_pin=§", ["9921"]),
    ("user | pin\n---|---\nann | §", ["4821"]),
    ("recovery code: §", ["abcd1-efgh2", "XK3F-92LM-PQ7Z"]),
    ('"recoveryCode": "§"', ["XK3F-92LM-PQ7Z"]),
    ("Recovery codes:\n  1. §\n  2. 77ab-0c1d\n", ["8f3k-29dk"]),
    ('recovery_codes = ["a1b2c-d3e4f", "§"]', ["g5h6i-j7k8l"]),
    ("backup codes: 1234 5678, §", ["8765 4321"]),
    ("Your verification code is §", ["482910"]),
    ("OTP: §", ["482910"]),
    ("one-time code: §", ["482910"]),
]
DIALOGUES = [
    ('spawn ssh root@h\nexpect "assword:"\nsend "§\\r"\ninteract', ["hunter2", "swordfish"]),
    ('expect {\n "yes/no" { send "yes\\r" }\n "*assword:*" { send "§\\r" }\n}', ["swordfish"]),
    ("child.expect('[Pp]assword:')\nchild.sendline('§')", ["swordfish"]),
    ('expect "Enter passphrase for key:"\nsend -- "§\\r"', ["open sesame 42"]),
    ("log in as admin with §", ["hunter2", "Tr0ub4dor&3"]),
    ("Log in as admin with §.", ["swordfish"]),
    ("logged in as `root` using §", ["Tr0ub4dor&3"]),
    ("sign in as bob@x.io / §", ["S3cret!pw"]),
    ('log in as admin with "§"', ["letmein"]),
    ("the password is §.", ["swordfish"]),
]
DISGUISED = [
    ('{"\\u0070assword": "§"}', ["hunter2x"]),
    ('{"p\\u0061ssword":"§"}', ["hunter2x"]),
    ('{"\\u0061pi\\u005fkey": "§"}', [drawn("<A16>", "escaped")]),
    ('{"\\x70assword": "§"}', ["hunter2x"]),
    ('password = "hun" + "§"', ["ter2xyz9"]),
]


@pytest.mark.parametrize(("place", "values"), [*CODES, *DIALOGUES, *DISGUISED])
def test_what_somebody_wrote_down_goes(place: str, values: list[str]) -> None:
    for value in values:
        redacted = redact(place.replace("§", value))
        assert value not in redacted
        assert redact(redacted) == redacted


@pytest.mark.parametrize("plain", ["API_KEY=§", "DB_PASSWORD=§\nDB_USER=me\n", "admin:§", '{"token": "§"}'])
def test_base64_of_a_text_with_a_secret_goes(plain: str) -> None:
    encoded = base64.b64encode(plain.replace("§", drawn("<A20>", plain)).encode()).decode()
    for text in (encoded, f"data: {encoded}", f'x = "{encoded}"'):
        assert encoded.rstrip("=") not in redact(text)


def test_base64_of_a_text_without_one_stays() -> None:
    encoded = base64.b64encode(b"the quick brown fox jumps over the lazy dog 123").decode()
    assert redact(f"data: {encoded}") == f"data: {encoded}"


KEY = "gh" + "p_" + made_up(36)
SPLIT = [
    '"{}" + "{}"',
    '"{}" +\n    "{}"',
    "'{}' .\n  '{}'",
    '"{}" \\\n    "{}"',
    'x="{}\\\n{}"',
    "('{}'\n '{}')",
]


@pytest.mark.parametrize("split", SPLIT)
@pytest.mark.parametrize("place", [4, 12, 25])
def test_a_key_that_was_split_goes_also_as_it_comes(split: str, place: int) -> None:
    text = f"before\nt = {split.format(KEY[:place], KEY[place:])}\nafter\n"
    redacted = redact(text)
    assert KEY[place:] not in redacted
    assert KEY[4:place] == "" or KEY[4:place] not in redacted
    assert redact(redacted) == redacted
    arriving = [piece for line in text.splitlines(keepends=True) for piece in (line, None)]
    assert "".join(redact_stream(arriving)) == redacted


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("key", [KEY, drawn("zorb_<A40>", "wrapped"), drawn("<w64>", "wrapped")])
def test_a_key_goes_that_a_terminal_broke_at_the_end_of_a_full_line(key: str, width: int) -> None:
    for place in (8, 16, len(key) - 8):
        before = "$ export X=".rjust(width - place, "-")
        text = f"first\n{before}{key[:place]}\n{key[place:]} && make\nafter\n"
        redacted = redact(text)
        assert (
            redacted
            == f"first\n{before}{redacted[len(before) + 6 : redacted.index(']') + 1]} && make\nafter\n"
        )
        assert redact(redacted) == redacted
        arriving = [piece for line in text.splitlines(keepends=True) for piece in (line, None)]
        assert "".join(redact_stream(arriving)) == redacted


def test_words_at_the_end_of_a_full_line_are_not_joined_and_not_held_for_ever() -> None:
    line = "The token of the session is checked by validateSessionToken2 in sessionStore1234"
    assert len(line) == 80
    text = f"{line}\nafterwards getUserById2024 is called with the id of the user\n"
    assert redact(text) == text
    assert "".join(redact_stream([text, None])) == text
    lines = list(redact_stream([f"{line}\n" * 2000, None, "end\n"]))
    assert len(lines[0]) > 60_000
    assert "".join(lines) == f"{line}\n" * 2000 + "end\n"


LEFT_ALONE = [
    "The password is required. The password is too short. The password is case sensitive.",
    "Your password was changed. The passphrase is stored encrypted. The password is never logged.",
    'password: "Enter your password"',
    'password: "must be at least 8 characters"',
    "LED_PIN = 13\n#define BUTTON_PIN 2\npin: 13, mapping: 1234, typing: 2024",
    "The recovery code is shown once; backup codes are hashed. 10 backup codes remain.",
    "Log in as admin with your SSO account. Log in as root with the key. Sign in as bob with GitHub.",
    'expect(screen.getByText("password")).toBeVisible()\nsend(message)',
    "| Method | Password | Token |\n|---|---|---|\n| Phishing resistant | no | no |\n",
    "| apiKey | string | API key |\n| password | string | At least 12 characters |\n| Ctrl+K | Opens |  |",
    "name,token,count\nfoo,bar,1\n",
    'print("user" + "name")',
]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_talk_of_passwords_pins_and_codes_stays(text: str) -> None:
    assert redact(text) == text
