"""Answers: what a short prompt says to the question before it."""

from __future__ import annotations

import pytest

from holdfast.core.events.event import Event
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import NoteSource
from tests.core.scenes import after, prompt, said, session
from tests.tables import every_row

OFFER = """
Two things could be logged:

1. The names of the rows
2. Their counts

What shall we do?

1. **Remove the field** - nobody reads it
2. **Print the reason** - helps whoever cleans up
3. Write it to the log

Would you like me to remove the field or to make it useful?
"""


def answers(*events: Event) -> list[str]:
    """The user's answers in the notes of a session."""
    return [note.text for note in after(session(), *events).trail.notes if note.source is NoteSource.REPLY]


@every_row(
    "text",
    "yes|yes please|3|option 2|b|no|no, leave it|yes, in the old one it was grey|go ahead|do it all|"
    "continue until all are done|can leave it|好的，继续|可以|不用，保持原样".split("|"),
)
def test_a_short_prompt_may_answer(text: str) -> None:
    assert reader.is_answer(text)


@pytest.mark.parametrize(
    "text",
    "|where is it used?|is it done?|wow, it works|thanks|move the settings to src/|"
    "no idea why, can you look?|yesterday it worked|Now mend the footer, it overlaps the list".split("|"),
)
def test_another_does_not(text: str) -> None:
    assert not reader.is_answer(text)


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("3", "Write it to the log"),
        ("ok, let's do option 2", "Print the reason - helps whoever cleans up"),
        ("1 please", "Remove the field - nobody reads it"),
        ("选2", "Print the reason - helps whoever cleans up"),
        ("4", ""),
        ("yes", ""),
        ("3 of them fail", ""),
    ],
)
def test_a_number_chooses_among_what_was_offered_last(text: str, chosen: str) -> None:
    assert reader.chosen_option(text, OFFER) == chosen


@pytest.mark.parametrize(
    ("asked", "text", "noted"),
    [
        (
            OFFER,
            "3",
            (
                "The user answered “3” (Write it to the log) to "
                "“Would you like me to remove the field or to make it useful?”"
            ),
        ),
        (
            OFFER,
            "the last one",
            (
                "The user answered “the last one” (Write it to the log) to "
                "“Would you like me to remove the field or to make it useful?”"
            ),
        ),
        (
            "The reader is done. Want me to pick up the second exporter (with retries)?",
            "yes",
            "The user answered “yes” to “Want me to pick up the second exporter (with retries)?”",
        ),
    ],
)
def test_what_the_user_answers_is_reported_with_what_was_asked(asked: str, text: str, noted: str) -> None:
    assert answers(prompt("Mend the exporter", "p1"), said(asked, "a1"), prompt(text, "p2")) == [noted]


@pytest.mark.parametrize(
    "texts",
    [
        ("The bug is in the reader. Want me to fix this?", "yes"),
        ("Want me to pick up the second exporter?", "Why did the first one fail at night?"),
        ("The second exporter is done.", "yes"),
    ],
)
def test_an_answer_to_nothing_one_could_name_is_not_reported(texts: tuple[str, str]) -> None:
    asked, text = texts
    assert not answers(prompt("Mend it", "p1"), said(asked, "a1"), prompt(text, "p2"))


def test_a_question_that_a_later_statement_left_behind_is_not_answered() -> None:
    asked = said("Want me to pick up the second exporter?", "a1")
    assert not answers(prompt("Mend it", "p1"), asked, said("It was the clock.", "a2"), prompt("yes", "p2"))
