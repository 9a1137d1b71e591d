"""What a brief says in sentences, and which of them time has overtaken."""

from __future__ import annotations

import pytest

from holdfast.core.events import Action
from holdfast.core.told import DECISIONS, GOAL, STATE
from tests.core.scenes import prompt, said
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


def test_what_was_decided_about_a_file_that_is_no_more_is_not_told() -> None:
    decided = said("I decided to keep main-new.ts beside main.ts because it is smaller.", "a1")
    made = (prompt("Split it", "p1"), *touched("main-new.ts", Action.WRITE), decided)
    assert any("main-new.ts" in line for line in lines(told(*made), DECISIONS))
    assert not lines(told(*made, *ran("rm main-new.ts")), DECISIONS)


def test_of_how_the_tests_went_only_the_latest_is_told() -> None:
    of = told(
        said("All 41 tests pass.", "a1"),
        said("The import takes 12.5 ms.", "a2"),
        said("All 43 tests pass, 0 failures.", "a3"),
    )
    state = "\n".join(lines(of, STATE))
    assert "41 tests" not in state
    assert "43 tests" in state
    assert "12.5 ms" in state
