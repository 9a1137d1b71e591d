"""Values that are drawn by rule and seed, as people and machines make secrets: none stands in a file.

What is redacted is tested with them in `test_redact_providers`, `_settings`, `_commands`, `_code`, `_prose`.
"""

from __future__ import annotations

import random
import re
import string

import pytest

from holdfast.core.redaction.redact import redact

DIGITS, SMALL, LETTERS = string.digits, string.ascii_lowercase, string.ascii_letters
ALPHABETS = {
    "A": LETTERS + DIGITS,
    "L": LETTERS,
    "a": SMALL + DIGITS,
    "U": string.ascii_uppercase + DIGITS,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": DIGITS,
    "w": LETTERS + DIGITS + "_-",
    "b": LETTERS + DIGITS + "+/",
    "t": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "s": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "x": LETTERS + DIGITS + "._~-",
}
WORDS = (
    "winter summer falcon dragon monkey purple orange coffee garden rocket silver tiger castle pirate".split()
)
UUID = "<h8>-<h4>-4<h3>-a<h3>-<h12>"
# How a value is made that is called so.
KINDS = {
    "word": ("{word}", "{word}{word}"),
    "human": ("{Word}<d4>{sign}", "{word}<d4>", "{word}_{word}<d2>", "{Word}-{Word}-<d4>", "P@ss{word}<d2>"),
    "signs": ("<A5>{sign}<A8><d1><L1>", "<A3>{sign}<A4>{sign}<A3><d1>"),
    "plain": ("<A20>", "<A24>", "<A32>", "<A40>"),
    "hex": ("<h32>", "<h40>", "<h64>"),
    "small": ("<a20>", "<a25>", "<a32>"),
    "urlsafe": ("<w32>", "<w43>", "<w64>"),
    "base64": ("<b32>", "<b43>=", "<b86>=="),
    "base32": ("<t16>", "<t26>", "<t32>"),
    "uuid": (UUID,),
}


def drawn(form: str, seed: str) -> str:
    """A value of a kind, or of a form: `<A36>` is 36 characters of an alphabet, and `|` is left out.

    The same seed draws the same.
    """
    draw = random.Random(f"{form} {seed}")
    made = draw.choice(KINDS[form]) if form in KINDS else form
    made = re.sub(r"\{(\w+)\}", lambda word: _word(word[1], draw), made)
    made = re.sub(
        r"<(\w)(\d+)>", lambda some: "".join(draw.choices(ALPHABETS[some[1]], k=int(some[2]))), made
    )
    return made.replace("|", "")


def _word(which: str, draw: random.Random) -> str:
    if which == "sign":
        return draw.choice("!@#%^*")
    word = draw.choice(WORDS)
    return word.title() if which == "Word" else word


def left(text: str, values: list[str]) -> list[str]:
    """Those of the values that are still there after redaction."""
    redacted = redact(text)
    return [value for value in values if value in redacted]


def cases(table: list[tuple[str, str]], draws: int = 3) -> list[pytest.ParameterSet]:
    """A row for every text of a table: the text, and the values that must each go from it."""
    return [
        pytest.param(
            text,
            [drawn(kind, f"{text}{number}") for kind in kinds.split() for number in range(draws)],
            id=text.strip(),
        )
        for text, kinds in table
    ]
