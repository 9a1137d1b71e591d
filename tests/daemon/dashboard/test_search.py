"""The page of search says whether the words were found, and writes code as code."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.daemon.dashboard.frame import PageContext
from holdfast.daemon.dashboard.memory import memory_page
from holdfast.daemon.dashboard.search import NEAR_ONLY, marked, search_page

VIEW = PageContext(1_767_268_860_000, words="lantern")
CHOSEN: dict[str, Any] = {"project": "", "harness": "", "since": "", "kind": "", "session": ""}


def result(matches: int) -> dict[str, Any]:
    hit = {"id": "p1", "kind": "prompt", "text": "Light the lamp", "matches": matches, "at": None}
    return {
        "id": "p1",
        "kind": "file",
        "session": None,
        "source": "notes.md",
        "at": None,
        "hits": [hit],
        "more": 0,
    }


@pytest.mark.parametrize(("matches", "is_near"), [(1, False), (0, True)])
def test_what_is_only_near_in_meaning_is_called_so(matches: int, *, is_near: bool) -> None:
    found = search_page(VIEW, ["lantern"], [result(matches)], [], [], CHOSEN)
    memories = memory_page(VIEW, ["lantern"], {"items": [], "next": None, "others": [result(matches)]}, None)
    assert [NEAR_ONLY in page for page in (found, memories)] == [is_near, is_near]
    assert ("1 result<" in found) != is_near


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a `b c` d", "<span><span>a </span><code><mark>b</mark> c</code><span> d</span></span>"),
        ("a ` b", "<span><span>a ` <mark>b</mark></span></span>"),
        ("`<b>`", "<span><code>&lt;<mark>b</mark>&gt;</code></span>"),
    ],
)
def test_code_in_a_sentence_is_code_and_its_words_are_marked(text: str, made: str) -> None:
    assert marked(text, ["b"]) == made
