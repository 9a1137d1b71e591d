"""How much an agent is given is decided in `core/brief/budget.py`: nothing else reads what limits it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Finding, Source, assert_holds, findings_in, package

READERS = {
    "recovery_budget_chars": frozenset({"engine/engine.py"}),
    "total_chars": frozenset({"engine/engine.py", "core/brief/budget.py"}),
    "startup_lines": frozenset({"engine/engine.py"}),
    "answer_limit": frozenset({"engine/briefing/resume.py"}),
}
"""What limits a brief, and who may read it in order to pass it to `budget_for`."""


def budgets_in_one_place(source: Source) -> Iterator[Finding]:
    """No other module computes a size from a setting or a harness's limit."""
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and source.path not in READERS.get(node.attr, (source.path,)):
            yield Finding(
                source.path,
                node.lineno,
                f"`{node.attr}` is read in {', '.join(sorted(READERS[node.attr]))} only; "
                "take the size from `core.brief.budget.budget_for`",
            )


def test_budgets_are_decided_in_one_place() -> None:
    assert_holds(budgets_in_one_place, package())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("engine/briefing/wrapper.py", "budget = config.continuity.recovery_budget_chars"),
        ("daemon/api/sessions.py", "room = engine.config(place).brief.total_chars"),
        ("engine/briefing/start_context.py", "lines = config.continuity.startup_lines"),
        ("engine/hook_events.py", "space = harness.answer_limit"),
    ],
)
def test_another_reader_is_found(path: str, text: str) -> None:
    assert "budget_for" in findings_in(budgets_in_one_place, path, text)
    assert not findings_in(budgets_in_one_place, "engine/engine.py", "x = config.brief.total_chars")
