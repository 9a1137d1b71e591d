"""Name a handoff's file, and find one by a full or partial name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

LONGEST_SLUG: Final = 48
LONGEST_BRANCH: Final = 48
SUFFIX: Final = ".md"
_OTHER: Final = re.compile(r"[\W_]+")


def file_name(day: str, branch: str, head: str, purpose: str, existing: Iterable[str]) -> str:
    """`2026-01-31-feature-sums-finish-the-report.md`, with a number added if that name exists."""
    place = slug(branch, LONGEST_BRANCH) or (f"detached-{head[:8]}" if head else "no-branch")
    stem = f"{day}-{place}-{slug(purpose, LONGEST_SLUG) or 'handoff'}"
    names = set(existing)
    number = 1
    while (name := f"{stem}{f'-{number}' if number > 1 else ''}{SUFFIX}") in names:
        number += 1
    return name


def slug(text: str, longest: int = LONGEST_SLUG) -> str:
    """A text as a file name: letters and digits of any script, cut at a whole word."""
    words = _OTHER.sub("-", text.casefold()).strip("-")
    # File systems count bytes.
    while len(words.encode()) > longest:
        shorter = words.rpartition("-")[0]
        words = shorter or words[: len(words) // 2]
    return words


def matching(names: Iterable[str], query: str) -> list[str]:
    """The names that match a query: exactly, else by ending with its slug, else by containing it."""
    all_names = list(names)
    stem = query.removesuffix(SUFFIX)
    exact = [name for name in all_names if name in (query, stem + SUFFIX)]
    if exact:
        return exact
    query_slug = slug(stem, len(stem.encode()) + 1)
    ending = [
        name for name in all_names if query_slug and name.removesuffix(SUFFIX).endswith(f"-{query_slug}")
    ]
    return ending or [name for name in all_names if query_slug and query_slug in name]
