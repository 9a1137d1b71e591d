"""The page of statistics shows the figures of `holdfast stats`, and says what is not known."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.daemon.dashboard.frame import PageContext
from holdfast.daemon.dashboard.stats import stats_page
from tests.daemon.api.served import Caller
from tests.daemon.dashboard.test_pages import read

VIEW = PageContext(1_767_268_860_000)
NOON = "2026-01-01T12:00:00.000Z"
ROW: dict[str, Any] = {
    "days": 7,
    "sessions": {"count": 12, "imported": 9, "by_harness": {"claude-code": 12}, "stored": 40},
    "compactions": {"seen": 5, "survived": 4, "imported": 2},
    "crashes": {"seen": 0, "survived": 0},
    "briefs": {"count": 3, "by_reason": {"compact": 2, "startup": 1}, "characters": 5_000},
    "use": {"share": 0.4, "briefs_known": 2, "briefs_unknown": 1},
    "memories": {"count": 6, "added": 1, "recalled": 1},
    "cost": {
        "hook_events": 200,
        "hook_ms_p50": 12,
        "hook_ms_p95": None,
        "hook_ms_total": 3_400,
        "brief_tokens": 1_250,
        "model_questions": 2,
        "model_tokens": 3_000,
        "model_cents": 1.5,
    },
    "by_day": [
        {"date": "2025-12-31", "sessions": 8, "briefs": 0},
        {"date": "2026-01-01", "sessions": 4, "briefs": 3},
    ],
}
BRIEFS = [{"id": "b1", "title": "Mend <the> cart", "names": 10, "used": 4, "created_at": NOON}]


@pytest.mark.parametrize(
    "text",
    [
        "<strong>12</strong>",
        "9 of them imported",
        "<strong>4 of 5</strong>",
        "followed by a brief; 2 in imported sessions",
        "none happened",
        "2 after a compaction · 1 at a start",
        "<strong>40%</strong>",
        "recalled 1 time",
        "Day by day (UTC)",
        "Sessions by day, at most 8 on 31 Dec",
        ">Mend &lt;the&gt; cart</a>",
        "4 of 10",
        "After 1 brief too little happened to tell.",
        "half of 200 hook events answered within 12 ms, 95% within more than 1 s; 3.4 s in all",
        "2 questions, 3,000 tokens, 1.50 cents",
        'href="/stats?days=30"',
    ],
)
def test_the_page_says(text: str) -> None:
    assert text in stats_page(VIEW, ROW, BRIEFS)


def test_what_is_not_known_is_no_zero() -> None:
    row = {
        **ROW,
        "use": {"share": None, "briefs_known": 0, "briefs_unknown": 3},
        "cost": {**ROW["cost"], "hook_events": None, "model_questions": 0},
    }
    made = stats_page(VIEW, row, [])
    for text in (
        "Not known yet.",
        "too little happened after them",
        "no hook event was timed",
        "none was asked",
    ):
        assert text in made
    assert "0%" not in made


def test_the_daemon_counts_the_days_that_are_asked_for(caller: Caller, bare: Caller) -> None:
    for query, days in (("", 30), ("?days=7", 7), ("?days=0", 30), ("?days=many", 30)):
        page = read(caller, f"/stats{query}")
        assert f'href="/stats?days={days}" aria-current="true"' in page
    assert "Compactions survived" in read(caller, "/stats?days=9999")
    empty = read(bare, "/stats")
    assert "Nothing to count in these days." in empty
    assert "holdfast import" in empty
