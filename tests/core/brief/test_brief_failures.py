"""What a brief says of what failed: first what is undone, of look-ups little, of what is over nothing."""

from __future__ import annotations

import pytest

from holdfast.core.brief.brief_input import COMMANDS
from holdfast.core.brief.compose import compose
from tests.core.brief.test_named_things import WHOLE, lines, ran, told, touched


def test_a_look_up_in_vain_is_told_behind_what_failed_and_only_the_newest_two() -> None:
    of = told(
        *ran("make check", ok=False, text="ld: no such symbol"),
        *(
            event
            for name in "abc"
            for event in ran(f"cat {name}.md", ok=False, text=f"cat: {name}.md: not there")
        ),
    )
    assert lines(of, COMMANDS) == [
        "Failed (exit 1): `make check`: ld: no such symbol",
        "Failed (exit 1): `cat c.md`: cat: c.md: not there",
        "Failed (exit 1): `cat b.md`: cat: b.md: not there",
    ]
    kinds = [item.kind for item in compose(of, WHOLE).items if item.section == COMMANDS]
    assert kinds == ["last_failure", "look_up", "look_up"]


@pytest.mark.parametrize("end", ["rm src/old.py", "git mv src/old.py src/new.py"])
def test_what_failed_with_a_file_that_is_gone_is_over(end: str) -> None:
    failed = ran("pytest src/old.py", ok=False, text="E   ValueError: no")
    before = ran("make check", ok=False, text="src/old.py:3: undefined")
    of = told(*touched("src/old.py"), *before, *failed, *ran(end))
    assert lines(of, COMMANDS) == ["Failed (exit 1): `make check`: src/old.py:3: undefined"]
