"""The table of what is kept with which real harness says what the tests say, wherever it stands."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.matrix import HARNESSES, PROMISES, short_table, table

ROOT = Path(__file__).parents[1]


def _tests_in(file: Path) -> set[str]:
    """Every test of a file, as pytest names it."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return found


def test_each_promise_is_shown_by_a_test_that_exists() -> None:
    known = {
        f"{file.name}::{name}"
        for file in (ROOT / "tests" / "clients").glob("test_*.py")
        for name in _tests_in(file)
    }
    for promise in PROMISES:
        assert len(promise.shown) == len(HARNESSES)
        assert {test for test in promise.shown if "::" in test} <= known


@pytest.mark.parametrize(
    ("document", "shown"), [("docs/harnesses/README.md", table), ("README.md", short_table)]
)
def test_the_table_is_as_the_tests_are(document: str, shown: Callable[[], str]) -> None:
    # `python -m tests.clients.matrix` prints both.
    assert shown() in (ROOT / document).read_text(encoding="utf-8")
