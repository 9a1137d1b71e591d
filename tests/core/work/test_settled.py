"""Nothing in a work state is both done and open."""

from __future__ import annotations

import pytest

from holdfast.core.evidence.kinds import Section
from holdfast.core.work.settled import KEY_CHARS, settled, statement_key
from holdfast.core.work.state import Statement, WorkState


def sections(*statements: Statement) -> list[Section]:
    return [one.section for one in settled(WorkState("", statements)).statements]


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ((Section.DONE, "Tag it"), (Section.NEXT, "Next: tag it."), [Section.NEXT]),
        ((Section.NEXT, "Next: tag it."), (Section.DONE, "Tag it"), [Section.DONE]),
        ((Section.NEXT, "Tag it"), (Section.NOW, "Tag it"), [Section.NOW]),
        (
            (Section.DONE, "Passed: `make`"),
            (Section.FAILURES, "Failed (exit 2): `make`: no"),
            [Section.FAILURES],
        ),
        ((Section.FAILURES, "`make` failed: no"), (Section.DONE, "`make` passed (3 passed)"), [Section.DONE]),
        (
            (Section.DONE, "`make` - all tests pass"),
            (Section.FAILURES, "Failed (exit 2): `make`: no"),
            [Section.FAILURES],
        ),
        ((Section.RULES, "Tag it"), (Section.DONE, "Tag it"), [Section.RULES, Section.DONE]),
        ((Section.DONE, "Tag it"), (Section.NEXT, "Tag that"), [Section.DONE, Section.NEXT]),
        ((Section.DONE, "Tag it"), (Section.DONE, "Tag it"), [Section.DONE, Section.DONE]),
    ],
)
def test_the_latest_statement_about_a_thing_holds(
    earlier: tuple[Section, str], later: tuple[Section, str], expected: list[Section]
) -> None:
    assert sections(Statement(*earlier, 1), Statement(*later, 2)) == expected
    assert sorted(sections(Statement(*later, 2), Statement(*earlier, 1))) == sorted(expected)


def test_of_two_at_once_the_one_holds_that_says_done() -> None:
    assert sections(Statement(Section.NEXT, "Tag it", 1), Statement(Section.DONE, "Tag it", 1)) == [
        Section.DONE
    ]


def test_texts_of_which_documents_show_the_same_are_the_same() -> None:
    long = "word " * KEY_CHARS
    assert statement_key(f"{long} one") == statement_key(f"Next: {long} other")
