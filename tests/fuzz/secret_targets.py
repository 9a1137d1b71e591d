"""Secrets of known shapes, planted in texts as agents see them: none survives, however the text arrives.

The shape of the secret, the sentence around it, the noise before and behind, and where the text is cut:
all are choices of the recipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from string import ascii_letters, ascii_uppercase, digits
from typing import Final

from holdfast.core.redaction.redact import redact, redact_parts, redact_stream
from holdfast.engine.redaction.redactor import redact_as_seen
from tests.fuzz.recipe import Recipe
from tests.fuzz.target import Target

SALT: Final = b"salt"
ALNUM: Final = ascii_letters + digits
SHAPES: Final = (
    ("ghp_", ALNUM, 36),
    ("github_pat_", ALNUM + "_", 82),
    ("AKIA", ascii_uppercase + "234567", 16),
    ("sk-ant-api03-", ALNUM + "-_", 93),
    ("sk-proj-", ALNUM, 48),
    ("xoxb-123456789012-1234567890123-", ALNUM, 24),
    ("glpat-", ALNUM, 20),
    ("AIza", ALNUM + "-_", 35),
    ("npm_", ALNUM, 36),
    ("sk_live_", ALNUM, 24),
    ("hf_", ascii_letters, 34),
)
"""A beginning, what follows it, and how much: each is known by its shape alone."""
FRAMES: Final = (
    "{}",
    "export TOKEN={}",
    "TOKEN='{}'",
    '{{"api_key": "{}"}}',
    'key: "{}" # mine',
    "curl -H 'Authorization: Bearer {}' https://api.example.org",
    "https://me:{}@example.org/x.git",
    "https://example.org/?token={}&a=1",
    "+    client = Client(api_key={!r})",
    "| token | {} |",
    "`{}`",
    "The key is {}, do not tell anyone.",
    "--token {} --verbose",
    "<apiKey>{}</apiKey>",
    '\\"token\\": \\"{}\\"',
    "\x1b[32m{}\x1b[0m",
)
MARKER_MOST: Final = 64
"""No marker is longer than this."""


def targets() -> Iterator[Target]:
    yield Target("redactor-planted", _recipes(), _planted)


def _recipes() -> tuple[bytes, ...]:
    """Every shape in every frame."""
    body = bytes(range(7, 127))
    return tuple(bytes((shape, frame)) + body for shape in range(len(SHAPES)) for frame in range(len(FRAMES)))


def _planted(content: bytes) -> None:
    recipe = Recipe(content)
    secret = _secret(recipe)
    framed = recipe.one_of(FRAMES).format(secret)
    # Apart from its frame: a letter that touches a key makes another word of it.
    text = f"{recipe.text(200)}\n{framed}\n{recipe.text(200)}"
    pieces = _cut(recipe, text)
    for way, told in (
        ("whole", redact(text, SALT)),
        ("as seen", redact_as_seen(text, SALT)),
        ("in parts", "".join(redact_parts(pieces, SALT))),
        ("streamed", "".join(redact_stream(pieces))),
    ):
        assert secret not in told, f"{way}: the secret is still there"
        assert len(told) <= len(text) + MARKER_MOST * (1 + told.count("[REDACTED")), f"{way}: it grew"
    once = redact_as_seen(text, SALT)
    assert redact_as_seen(once, SALT) == once


def _secret(recipe: Recipe) -> str:
    """A secret that looks drawn by chance: one of a few letters only is taken for an example."""
    start, hook_events, count = recipe.one_of(SHAPES)
    seed = 1 + recipe.number(1 << 16)
    drawn: list[str] = []
    for _ in range(count):
        seed = (seed * 1_103_515_245 + 12_345) % (1 << 31)
        drawn.append(hook_events[(seed >> 16) % len(hook_events)])
    return start + "".join(drawn)


def _cut(recipe: Recipe, text: str) -> Sequence[str]:
    places = sorted({0, len(text), *(recipe.number(len(text) + 1) for _ in range(recipe.number(5)))})
    return [text[start:end] for start, end in pairwise(places)]
