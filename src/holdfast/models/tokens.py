"""Tokens: counted with o200k's ranks, which come with the package that counts; nothing is downloaded.

Other models make more or fewer of the same text: by which factor stands in `known.toml`. What the count is
for is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from splintr import Tokenizer

from holdfast.errors import ModelError
from holdfast.models.base import Count

ENCODING: Final = "o200k_base"
KNOWN_IDS: Final = (
    ("hello world", (24912, 2375)),
    ("def f(x):\n\treturn x", (1314, 285, 4061, 1883, 1393, 1215)),
    ("<|endoftext|>", (27, 91, 419, 1440, 919, 91, 29)),
)
"""Texts and their ids: by other ranks something else would be counted, and nobody would know."""
PIECE: Final = 1 << 16
"""A longer text is counted in pieces, so that others get their turn in between."""


def load() -> Count:
    """What counts the tokens of texts together. ModelError if it would count by other ranks than o200k's."""
    tokenizer = Tokenizer.from_pretrained(ENCODING)
    for text, ids in KNOWN_IDS:
        # What looks like a mark of the model's own is the user's text here.
        if tuple(tokenizer.encode_ordinary(text)) != ids:
            raise ModelError(f"`{text}` has other tokens than those of {ENCODING}", "reinstall `splintr-rs`")

    def count(texts: Iterable[str]) -> int:
        return sum(len(tokenizer.encode_ordinary(piece)) for text in texts for piece in _pieces(text))

    return count


def _pieces(text: str) -> Iterable[str]:
    whole = text.encode(errors="replace").decode()
    return (whole[at : at + PIECE] for at in range(0, len(whole), PIECE))
