"""How a brief names a file: whole if that is short, otherwise by as much of its end as tells it apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text.short_paths import LONG, shortener

LEFT = "packages/core/src/evaluation/trace.ts"
RIGHT = "packages/eval/src/evaluation/trace.ts"


@pytest.mark.parametrize(
    ("path", "others", "shown"),
    [
        ("src/retry.py", (), "src/retry.py"),
        (LEFT, (), "…/evaluation/trace.ts"),
        (LEFT, (LEFT,), "…/evaluation/trace.ts"),
        (LEFT, (LEFT, RIGHT), "…/core/src/evaluation/trace.ts"),
        (LEFT, (LEFT, f"…/{LEFT}"), "…/evaluation/trace.ts"),
        (f"…/{LEFT}", (LEFT,), "…/evaluation/trace.ts"),
        (LEFT, (f"apps/{LEFT}",), LEFT),
        ("/srv/builds/nightly/artifacts/report.txt", (), "/srv/builds/nightly/artifacts/report.txt"),
        ("a-name-that-is-longer-than-most-paths.md", (), "a-name-that-is-longer-than-most-paths.md"),
        ("d/a/name-that-is-longer-than-most-paths.md", (), "d/a/name-that-is-longer-than-most-paths.md"),
        ("docs/a-name-that-is-longer-than-most.md", (), "docs/a-name-that-is-longer-than-most.md"),
    ],
)
def test_a_path_is_shown_by_what_tells_it_apart(path: str, others: tuple[str, ...], shown: str) -> None:
    assert shortener(others)(path) == shown


PATHS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=30).map("/".join), max_size=8)


@given(PATHS)
def test_no_two_paths_are_shown_alike(paths: list[str]) -> None:
    short = shortener(paths)
    shown = {short(path) for path in paths}
    assert len(shown) == len(set(paths))
    assert all(len(short(path)) <= max(len(path), LONG) for path in paths)
