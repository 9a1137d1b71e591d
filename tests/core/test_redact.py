"""Redaction: secrets go, everything else stays, twice is once.

The secrets are made up while the tests run, from a seed and a beginning, so that none stands in this file.
"""

from __future__ import annotations

import base64
import hashlib
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.redact import redact

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def made_up(length: int, alphabet: str = ALNUM, seed: str = "holdfast") -> str:
    """Characters that look random and are always the same; letters and digits begin with one of each sort."""
    stream = hashlib.shake_256(seed.encode()).digest(length)
    start = "7Rq" if alphabet == ALNUM else ""
    return (start + "".join(alphabet[byte % len(alphabet)] for byte in stream))[:length]


UPPER = string.ascii_uppercase + string.digits
B64 = made_up(64, ALNUM + "+/")
PLAIN = made_up(24)
HUNTER = "hunter" + "2!x"

PROVIDER_KEYS = [
    ("anthropic-key", "sk-ant-" + "api03-" + made_up(93) + "AA"),
    ("openai-key", "sk-" + made_up(48)),
    ("openai-key", "sk-" + "proj-" + made_up(80)),
    ("openrouter-key", "sk-" + "or-v1-" + made_up(64, HEX)),
    ("github-token", "gh" + "p_" + made_up(36)),
    ("github-token", "gh" + "o_" + made_up(36)),
    ("github-token", "gh" + "s_" + made_up(36)),
    ("github-token", "github" + "_pat_" + made_up(22) + "_" + made_up(59)),
    ("gitlab-token", "gl" + "pat-" + made_up(20)),
    ("aws-access-key", "AK" + "IA" + made_up(16, UPPER)),
    ("aws-access-key", "AS" + "IA" + made_up(16, UPPER)),
    ("google-key", "AI" + "za" + made_up(35)),
    ("google-secret", "GOC" + "SPX-" + made_up(28)),
    ("google-token", "ya" + "29." + made_up(60)),
    ("azure-secret", "a1b" + "8Q~" + made_up(34)),
    ("slack-token", "xox" + "b-123456789012-123456789012-" + made_up(24)),
    ("slack-token", "xa" + "pp-1-A0123-" + made_up(40, HEX)),
    ("stripe-key", "sk" + "_live_" + made_up(24)),
    ("stripe-key", "rk" + "_live_" + made_up(24)),
    ("npm-token", "np" + "m_" + made_up(36)),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + made_up(60)),
    ("huggingface-token", "h" + "f_" + made_up(34, string.ascii_letters)),
    ("twilio-key", "S" + "K" + made_up(32, HEX)),
    ("sendgrid-key", "S" + "G." + made_up(22) + "." + made_up(43)),
    ("discord-token", "MT" + made_up(22) + "." + made_up(6) + "." + made_up(30)),
    ("linear-key", "lin" + "_api_" + made_up(40)),
    ("postman-key", "PM" + "AK-" + made_up(24, HEX) + "-" + made_up(34, HEX)),
    ("databricks-token", "da" + "pi" + made_up(32, HEX)),
    ("digitalocean-token", "do" + "p_v1_" + made_up(64, HEX)),
    ("vault-token", "hv" + "s." + made_up(90)),
    ("private-key", "AGE-" + "SECRET-KEY-1" + made_up(58, UPPER)),
    ("jwt", "ey" + "J" + made_up(30) + "." + "ey" + "J" + made_up(60) + "." + made_up(43)),
]


@pytest.mark.parametrize(
    ("kind", "key"), PROVIDER_KEYS, ids=[f"{kind}-{key[:4]}" for kind, key in PROVIDER_KEYS]
)
@pytest.mark.parametrize(
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


SECRETS_BY_NAME_OR_PLACE = [
    # headers
    ("Authorization: Bearer " + PLAIN, "Authorization: Bearer [REDACTED:bearer-token]"),
    ('curl -H "Authorization: token ' + PLAIN + '" x', 'curl -H "Authorization: token [REDACTED:auth]" x'),
    ("Authorization: Basic " + PLAIN + "==", "Authorization: Basic [REDACTED:auth]"),
    ("X-Api-Key: " + PLAIN, "X-Api-Key: [REDACTED:key]"),
    # assignments
    ("DB_PASSWORD=" + "correcthorse", "DB_PASSWORD=[REDACTED:password]"),
    ("export FOO_TOKEN=" + PLAIN, "export FOO_TOKEN=[REDACTED:token]"),
    ('password = "' + HUNTER + '"', 'password = "[REDACTED:password]"'),
    ("password: str = '" + HUNTER + "'", "password: str = '[REDACTED:password]'"),
    ('{"password": "' + HUNTER + '", "n": 1}', '{"password": "[REDACTED:password]", "n": 1}'),
    ('{\\"password\\":\\"' + HUNTER + '\\"}', '{\\"password\\":\\"[REDACTED:password]\\"}'),
    ("  client_secret: " + PLAIN + "\n", "  client_secret: [REDACTED:secret]\n"),
    ("aws_secret_access_key = " + B64[:40], "aws_secret_access_key = [REDACTED:key]"),
    ("apiKey: '" + PLAIN + "',", "apiKey: '[REDACTED:key]',"),
    ("API key: " + PLAIN + ".", "API key: [REDACTED:key]."),
    ("- name: DB_PASSWORD\n  value: " + HUNTER, "- name: DB_PASSWORD\n  value: [REDACTED:password]"),
    ("<password>" + HUNTER + "</password>", "<password>[REDACTED:password]</password>"),
    ("?access_token=" + PLAIN + "&page=2", "?access_token=[REDACTED:token]&page=2"),
    ("machine h login me password " + HUNTER, "machine h login me password [REDACTED:password]"),
    ("the password is " + HUNTER + ".", "the password is [REDACTED:password]."),
    # connection strings and URLs
    ("Server=h;Uid=sa;Password=" + HUNTER + ";App=d", "Server=h;Uid=sa;Password=[REDACTED:password];App=d"),
    ("AccountName=a;AccountKey=" + B64 + "==;X=y", "AccountName=a;AccountKey=[REDACTED:key];X=y"),
    ("postgres://me:" + HUNTER + "@db:5432/x", "postgres://me:[REDACTED:url-password]@db:5432/x"),
    ("redis://:" + HUNTER + "@cache", "redis://:[REDACTED:url-password]@cache"),
    ("https://" + PLAIN + "@git.example.com/r.git", "https://[REDACTED:url-token]@git.example.com/r.git"),
    (
        "https://hooks.slack.com/services/T0123/B0123/" + PLAIN,
        "https://hooks.slack.com/services/[REDACTED:slack-webhook]",
    ),
    ("bot 123456789:" + "AA" + made_up(33), "bot 123456789:[REDACTED:telegram-token]"),
    # command lines
    ("tool --password " + HUNTER + " run", "tool --password [REDACTED:password] run"),
    ("tool --token=" + PLAIN + " run", "tool --token=[REDACTED:token] run"),
    ("mysql -u root -p" + HUNTER + " shop", "mysql -u root -p[REDACTED:password] shop"),
    ("curl -u me:" + HUNTER + " https://h", "curl -u me:[REDACTED:password] https://h"),
    ("curl https://h \\\n  --user me:" + HUNTER, "curl https://h \\\n  --user me:[REDACTED:password]"),
    ("sshpass -p " + HUNTER + " ssh h", "sshpass -p [REDACTED:password] ssh h"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SECRETS_BY_NAME_OR_PLACE)
def test_a_secret_is_known_by_its_name_or_place(text: str, expected: str) -> None:
    assert redact(text) == expected


PEM_LINES = [B64, B64[::-1], B64[7:50] + "=="]
BEGIN, END = ("-----" + edge + " RSA PRIVATE" + " KEY-----" for edge in ("BEGIN", "END"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n".join(["a", BEGIN, *PEM_LINES, END, "b"]), "a\n[REDACTED:private-key]\nb"),
        ('{"k": "' + "\\n".join([BEGIN, *PEM_LINES, END, ""]) + '"}', '{"k": "[REDACTED:private-key]\\n"}'),
        ("\n".join(["+" + line for line in [BEGIN, *PEM_LINES, END]]), "+[REDACTED:private-key]"),
        ("\n".join([BEGIN, *PEM_LINES]), "[REDACTED:private-key]"),
        (base64.b64encode("\n".join([BEGIN, *PEM_LINES, END]).encode()).decode(), "[REDACTED:private-key]"),
    ],
    ids=["block", "json", "diff", "cut-off", "base64"],
)
def test_a_private_key_goes_whole(text: str, expected: str) -> None:
    assert redact(text) == expected


CLEAN = [
    "src/holdfast/core/redact.py:12:4: error in password handling",
    "commit 8f3c2a9d4e5b6a7c8d9e0f1a2b3c4d5e6f7a8b9c",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-' + B64 + made_up(22) + '==",',
    "max_tokens: 4096, token_count = 12345678",
    '{"input_tokens": 1234567, "cache_read_input_tokens": 99999999}',
    "password_field = forms.CharField(widget=forms.PasswordInput)",
    'api_key = os.environ["API_KEY"]',
    "const token = process.env.TOKEN2;",
    'token: "${GITHUB_TOKEN}"',
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "PASSWORD=$DB_PASSWORD",
    "--token <your-token>",
    'password: "xxxxxxxx"',
    "API_KEY=your-api-key-here1",
    "token = get_token(user1)",
    "self.password = self.config.password1",
    "The token expires after 24h; ask for a new password.",
    "Passwords must have 12 characters and the secret is kept in a vault.",
    "--- PASS: TestLogin/user_1_signs_in (0.00s)",
    "def authenticate(self, password: str, token: Token2) -> None:",
    "http://localhost:3000/@vite/client",
    "git@github.com:owner/repo.git",
    "mysql -u root -p shop",
    "ssh -p 2222 host; mkdir -p build/out1",
    "primary_key: users_2024_id_index_key1",
    "keyboard: qwerty-2024-layout, monkey: 12345678901234567890abc",
    "-----BEGIN PUBLIC KEY-----\n" + B64 + "\n-----END PUBLIC KEY-----",
    'if text.startswith("-----BEGIN PRIVATE KEY-----"): ...',
    "task-force-one-and-a-very-long-identifier-2024",
    "tokens used: [REDACTED:token] and password=[REDACTED:password]",
]


@pytest.mark.parametrize("text", CLEAN)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_all_of_a_long_unquoted_value_goes() -> None:
    assert redact("SESSION_TOKEN=" + made_up(3000) + " end") == "SESSION_TOKEN=[REDACTED:token] end"


def test_several_secrets_of_one_text_go_each_under_its_own_kind() -> None:
    key = PROVIDER_KEYS[4][1]
    text = f"GITHUB_TOKEN={key}\nDB_PASSWORD={HUNTER}\nurl=https://u:{HUNTER}@h/{key}\n"
    assert redact(text) == (
        "GITHUB_TOKEN=[REDACTED:github-token]\nDB_PASSWORD=[REDACTED:password]\n"
        "url=https://u:[REDACTED:url-password]@h/[REDACTED:github-token]\n"
    )


FRAGMENTS = st.sampled_from(
    [key for _, key in PROVIDER_KEYS]
    + [text for text, _ in SECRETS_BY_NAME_OR_PLACE]
    + [*CLEAN, BEGIN, END, *PEM_LINES]
    + ["password", "token=", ": ", '"', "\\n", "://", "@", " -p", "key", "=", "&", ";"]
    + ["[REDACTED", "]", "\udc80"]
)  # fmt: skip


@given(st.lists(FRAGMENTS | st.text(max_size=12), max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.lists(FRAGMENTS | st.text(st.characters(codec=None), max_size=40), max_size=6).map("".join))
def test_no_text_breaks_it_and_what_is_left_stood_there_in_that_order(text: str) -> None:
    position = 0
    for kept in re.split(r"\[REDACTED:[a-z0-9-]+\]", redact(text)):
        place = text.find(kept, position)
        assert place >= 0
        position = place + len(kept)


@given(st.text(alphabet="bdfghijlmnoqvxyzBDFG019 .,;()/\n", max_size=2000))
def test_text_without_a_word_of_secrets_or_a_long_run_is_left_alone(text: str) -> None:
    spaced = " ".join(text[i : i + 15] for i in range(0, len(text), 15))
    assert redact(spaced) == spaced


@given(st.sampled_from([key for _, key in PROVIDER_KEYS]), st.text(max_size=40), st.text(max_size=40))
def test_no_neighbourhood_saves_a_key(key: str, before: str, after: str) -> None:
    assert key not in redact(f"{before} {key} {after}")


@pytest.mark.parametrize(
    "unit", ["password=", "pass:", "token ", BEGIN, "://a:", "eyJ", 'secret="', "curl -u a:b "]
)
def test_what_repeats_without_end_is_read_to_its_end(unit: str) -> None:
    once = redact(unit * 5000)
    assert redact(once) == once
