"""What a brief says in sentences about files that are no more."""

from __future__ import annotations

import pytest

from holdfast.core.events import Action
from holdfast.core.told import GOAL
from tests.core.scenes import prompt
from tests.core.test_brief_things import lines, ran, told, touched


@pytest.mark.parametrize(
    ("left", "goal"),
    [
        ("rm main-new.ts", "“Create main-new.ts” (by now gone: main-new.ts)"),
        ("git mv main-new.ts main.ts", "“Create main-new.ts” (by now gone: main-new.ts)"),
        ("rm old-main-new.ts", "“Create main-new.ts”"),
        ("rm Create", "“Create main-new.ts”"),
    ],
)
def test_a_sentence_about_a_file_that_is_no_more_says_so(left: str, goal: str) -> None:
    made = (prompt("Create main-new.ts", "p1"), *touched("main-new.ts", Action.WRITE))
    assert lines(told(*made, *ran(left)), GOAL) == [goal]


def test_a_file_of_that_name_elsewhere_keeps_a_sentence_as_it_was() -> None:
    two = (*touched("old/retry.py", Action.WRITE), *touched("new/retry.py", Action.WRITE))
    assert lines(told(prompt("Mend retry.py", "p1"), *two, *ran("rm old/retry.py")), GOAL) == [
        "“Mend retry.py”"
    ]
