"""What each test runner's output is counted by."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.commands import outcomes


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("ok  \ta/b\t0.1s\nok  \ta/c\t(cached)\n?   \ta/d\t[no test files]\n", (2, 0, ())),
        ("ok  \ta/b\t0.1s\nFAIL\ta/c [build failed]\nFAIL\n", (1, 1, ("a/c",))),
        (
            "--- FAIL: TestSum (0.0s)\n--- FAIL: TestIo (0.0s)\nFAIL\nFAIL\ta/c\t0.1s\nok  \ta/b\t0.1s\n",
            (1, 1, ("TestSum", "TestIo")),
        ),
    ],
)
def test_packages_are_not_counted_as_tests(text: str, counted: tuple[int, int, tuple[str, ...]]) -> None:
    assert outcomes.tests(text) == outcomes.TestSummary(*counted, unit="package")


def test_failing_tests_alone_are_counted_as_such() -> None:
    assert outcomes.tests("--- FAIL: TestSum (0.0s)\n") == outcomes.TestSummary(0, 1, ("TestSum",))
