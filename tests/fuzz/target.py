"""A target: something of ours that takes bytes from others, and what it is fed with at first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """`feed` takes any bytes; what it raises, and what takes it for ever, is a bug of ours."""

    name: str
    seeds: tuple[bytes, ...]
    feed: Callable[[bytes], None]


def text_of(content: bytes) -> str:
    """The bytes as the text of a file: with what no encoding knows replaced, as our readers do."""
    return content.decode("utf-8", "replace")
