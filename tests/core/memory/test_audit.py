"""Memories that are worth a look are found, each with the reason, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from holdfast.core.events.durations import DAY_MS
from holdfast.core.memory.audit import UNUSED_DAYS, MemoryProblem, files_named, review_reasons
from holdfast.core.memory.memory import Memory, MemoryKind, MemoryScope
from holdfast.core.text.untrusted import fence

NOON = 1_767_268_800_000


def memory(id: str, text: str, **more: Any) -> Memory:  # noqa: ANN401 - a field of the memory
    return replace(Memory(id, text, MemoryKind.FACT, MemoryScope.PROJECT, "shop", "", NOON), **more)


def found(
    *memories: Memory, gone: frozenset[str] = frozenset(), now: int = NOON
) -> list[tuple[str, MemoryProblem]]:
    return [(doubt.id, doubt.problem) for doubt in review_reasons(memories, gone, now)]


def test_plain_memories_are_in_no_doubt() -> None:
    texts = ("The port is 8080", "Never push to main", "The parser is in src/parser.py", "…")
    assert found(*(memory(str(number), text) for number, text in enumerate(texts))) == []


def test_the_same_in_two_scopes_is_a_duplicate() -> None:
    user = memory("b", "the port is 8080.", scope=MemoryScope.USER, project_id="")
    assert found(memory("a", "The port is 8080"), user) == [("b", MemoryProblem.DUPLICATE)]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Deploy the shop backend with make ship", "deploy shop backend: make ship!", True),
        ("Deploy the shop backend with make ship", "Deploy the shop frontend with make ship", False),
        ("Deploy the shop backend with make ship", "Lunch is at noon", False),
    ],
)
def test_nearly_the_same_words_are_a_near_duplicate(one: str, other: str, *, alike: bool) -> None:
    expected = [("a", MemoryProblem.NEAR_DUPLICATE)] if alike else []
    assert found(memory("a", one), memory("b", other)) == expected


def test_what_we_gave_back_is_an_echo() -> None:
    whole = memory("a", "The staging database listens on port 5433 since the move")
    cut = memory("b", "The staging database listens on…")
    ours = memory("c", fence("Prefer tabs"))
    assert found(whole, cut, ours) == [("b", MemoryProblem.ECHO), ("c", MemoryProblem.ECHO)]
    assert found(whole, memory("b", "The…")) == []


def test_a_memory_that_names_files_which_are_gone_is_stale() -> None:
    told = memory("a", "The parser is in src/parser.py, its tests in tests/test_parser.py")
    assert found(told, gone=frozenset({"src/parser.py"})) == [("a", MemoryProblem.STALE)]
    (doubt,) = review_reasons([told], frozenset({"src/parser.py"}), NOON)
    assert doubt.detail == "names src/parser.py, which is gone"
    assert found(told, gone=frozenset({"src/other.py"})) == []


def test_only_files_below_the_project_can_be_reported_as_deleted() -> None:
    text = "See src/a.py, /etc/passwd.txt, ~/notes.md, ../up/b.py, parser.py and docs/"
    assert files_named(text) == ("src/a.py",)


@pytest.mark.parametrize(
    ("days", "changes", "is_unused"),
    [
        (UNUSED_DAYS, {}, True),
        (UNUSED_DAYS - 1, {}, False),
        (UNUSED_DAYS, {"found": 1}, False),
        (UNUSED_DAYS, {"pinned": True}, False),
    ],
)
def test_what_nobody_finds_for_long_is_unused(days: int, changes: dict[str, Any], *, is_unused: bool) -> None:
    told = memory("a", "Prefer tabs", **changes)
    assert found(told, now=NOON + days * DAY_MS) == ([("a", MemoryProblem.UNUSED)] if is_unused else [])


def test_thousands_of_memories_alike_in_one_word_are_looked_through() -> None:
    many = [memory(str(number), f"shop fact number{number} of kind{number % 7}") for number in range(3_000)]
    assert found(*many) == []
