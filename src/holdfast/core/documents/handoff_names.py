"""How a handoff's file is named, and how one is found again by a name that need not be whole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

LONGEST_SLUG: Final = 48
LONGEST_BRANCH: Final = 48
SUFFIX: Final = ".md"
_OTHER: Final = re.compile(r"[\W_]+")


def file_name(day: str, branch: str, head: str, purpose: str, taken: Iterable[str]) -> str:
    """`2026-01-31-feature-sums-finish-the-report.md`; with a number behind it where that is taken."""
    place = slug(branch, LONGEST_BRANCH) or (f"detached-{head[:8]}" if head else "no-branch")
    stem = f"{day}-{place}-{slug(purpose, LONGEST_SLUG) or 'handoff'}"
    names = set(taken)
    number = 1
    while (name := f"{stem}{f'-{number}' if number > 1 else ''}{SUFFIX}") in names:
        number += 1
    return name


def slug(text: str, longest: int = LONGEST_SLUG) -> str:
    """The words of a text as one name: letters and digits of any script, cut at a whole word."""
    words = _OTHER.sub("-", text.casefold()).strip("-")
    # File systems count bytes.
    while len(words.encode()) > longest:
        shorter = words.rpartition("-")[0]
        words = shorter or words[: len(words) // 2]
    return words


def matching(names: Iterable[str], wanted: str) -> list[str]:
    """The names that are meant: the exact one, else those with that slug, else those that hold it."""
    every = list(names)
    stem = wanted.removesuffix(SUFFIX)
    exact = [name for name in every if name in (wanted, stem + SUFFIX)]
    if exact:
        return exact
    meant = slug(stem, len(stem.encode()) + 1)
    ending = [name for name in every if meant and name.removesuffix(SUFFIX).endswith(f"-{meant}")]
    return ending or [name for name in every if meant and meant in name]
