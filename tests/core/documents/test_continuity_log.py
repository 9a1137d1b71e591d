"""The audit of continuity: every entry can be read back, and repeats are told once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from holdfast.core.documents.continuity_log import (
    AuditEntry,
    AuditScope,
    AuditTrigger,
    WriteMode,
    earlier_entries,
    entry_of,
    latest_entry,
)
from holdfast.core.documents.continuity_summary import Confidence, EvidenceCounts

ENTRY = AuditEntry(
    id="e1",
    at=1_800_000_000_000,
    scope=AuditScope.BOTH,
    trigger=AuditTrigger.SAVE,
    write_mode=WriteMode.MERGE,
    configured="heuristic",
    preferred="heuristic",
    actual="heuristic",
    fallback="",
    confidence=Confidence.MEDIUM,
    warnings=("package manager: `pnpm` was asked for, but `npm` was run",),
    counts=EvidenceCounts(1, 2, 3, 4, 5),
    transcript="/t/one.jsonl",
    harness="some-harness",
    session="s1",
    written=("/p/active.md",),
)


def test_an_entry_is_read_back_as_it_was_written() -> None:
    assert entry_of(json.loads(json.dumps(ENTRY.as_json()))) == ENTRY


@pytest.mark.parametrize(
    "told", [{}, {"id": 1}, {**ENTRY.as_json(), "scope": "all"}, {**ENTRY.as_json(), "evidenceCounts": 3}]
)
def test_a_line_that_holds_no_entry_is_none(told: dict[str, Any]) -> None:
    assert entry_of(told) is None


def test_the_preview_leaves_the_latest_out_and_tells_repeats_once() -> None:
    refreshed = replace(ENTRY, trigger=AuditTrigger.REFRESH, write_mode=WriteMode.REPLACE)
    result = earlier_entries([ENTRY, ENTRY, refreshed, ENTRY, ENTRY, ENTRY, replace(ENTRY, id="latest")], 10)
    assert [(one.entry.trigger, one.times) for one in result] == [
        (AuditTrigger.SAVE, 3),
        (AuditTrigger.REFRESH, 1),
        (AuditTrigger.SAVE, 2),
    ]
    assert earlier_entries([ENTRY], 10) == []


def test_the_latest_is_that_of_exactly_these_layers() -> None:
    assert latest_entry([ENTRY, replace(ENTRY, id="e2", scope=AuditScope.LOCAL)], AuditScope.BOTH) == ENTRY
    assert latest_entry([ENTRY], AuditScope.SHARED) is None
