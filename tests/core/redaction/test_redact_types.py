"""Types, parameters, class names and imports are no values, in no language: code about keys is left alone."""

from __future__ import annotations

import pytest

from holdfast.core.redaction.redact import redact, secrets_in
from holdfast.core.redaction.values import is_code_name
from tests.core.code_about_keys import LINES, TEXTS, corpus
from tests.core.drawn import drawn

MOST_PER_MILLION = 20


@pytest.mark.parametrize("language", TEXTS)
def test_code_about_keys_is_left_alone(language: str) -> None:
    assert redact(TEXTS[language]) == TEXTS[language]
    changed = [line for of, line in LINES if of == language and redact(line) != line]
    assert changed == []


def test_false_redactions_stay_rare_whatever_the_keys_belong_to() -> None:
    text = corpus(200_000)
    assert len(secrets_in(text)) <= MOST_PER_MILLION * len(text) / 1e6


NAMES = "secret password passphrase token apiKey privateKey authToken folderKey credential".split()
TYPES = "Uint8Array Base64UrlString Web3AuthService Ed25519PrivateKey Sha256Digest X509Certificate".split()
DECLARATIONS = [
    "{name}: {type};",
    "{name}?: {type} | null;",
    "private readonly {name}: {type};",
    "constructor(private {name}: {type}, other: number) {{}}",
    "def f({name}: {type}, other: int = 0) -> None: ...",
    "fn f({name}: &{type}) -> Result<(), Error>",
    "val {name}: {type}? = null",
    "let {name}: {type}?",
    "func f({name} {type}) error",
    "private final {type} {name};",
    "public {type} {name} {{ get; set; }}",
    "return value as {type}; // {name}",
    "type T {{ {name}: {type}! other: [{type}!]! }}",
    "message M {{ {type} {name} = 1; }}",
]


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_a_declaration_is_left_alone_whatever_is_declared(declaration: str) -> None:
    lines = [declaration.format(name=name, type=of) for name in NAMES for of in TYPES]
    assert [line for line in lines if redact(line) != line] == []


def test_a_drawn_value_is_hardly_ever_taken_for_a_name() -> None:
    values = [drawn(form, str(seed)) for form in ("<A20>", "<A32>", "<h32>") for seed in range(300)]
    assert sum(map(is_code_name, values)) <= len(values) / 100
