"""Offers: which options of a message a reply chooses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.prose.offers import chosen, declined
from tests.tables import every_row

NUMBERED = """
Three things could be done about the squeak:

1. **Oil the hinge** - takes a minute
2. **Replace the door** - takes a day
3. Leave it as it is

Which would you prefer?
"""
OIL, REPLACE, LEAVE = "Oil the hinge - takes a minute", "Replace the door - takes a day", "Leave it as it is"


@every_row(
    ("reply", "options"),
    [
        ("2", [REPLACE]),
        ("2.", [REPLACE]),
        ("option 1 please", [OIL]),
        ("ok, let's go with 3", [LEAVE]),
        ("yes do option 1", [OIL]),
        ("Let's fix 1 too", [OIL]),
        ("yeah let's do the fix for 1 first", [OIL]),
        ("1 and 3", [OIL, LEAVE]),
        ("1+2", [OIL, REPLACE]),
        ("do 1, 2 and 3", [OIL, REPLACE, LEAVE]),
        ("2, but paint it first?", [REPLACE]),
        ("2 seems like what I would do", [REPLACE]),
        ("sorry, I missed this. 1 is correct", [OIL]),
        ("1. just take the thin oil for the hinge", [OIL]),
        ("yes, all 3", [OIL, REPLACE, LEAVE]),
        ("all of them", [OIL, REPLACE, LEAVE]),
        ("the second one", [REPLACE]),
        ("I'd prefer the last option", [LEAVE]),
        ("选2", [REPLACE]),
        ("oil the hinge", [OIL]),
        ("let's replace the door", [REPLACE]),
        ("the door", [REPLACE]),
    ],
)
def test_a_reply_chooses_from_a_numbered_list(reply: str, options: list[str]) -> None:
    assert list(chosen(reply, NUMBERED)) == options


def test_what_stood_beside_the_choice_is_declined() -> None:
    assert declined("2", NUMBERED) == (OIL, LEAVE)
    assert declined("1 and 3", NUMBERED) == (REPLACE,)
    assert declined("why?", NUMBERED) == ()


@every_row(
    "reply",
    [
        "",
        "yes",
        "no",
        "4",
        "3 of them fail",
        "2 doors squeak",
        "not 2",
        "don't do 2",
        "2 is not an option",
        "2 sounds risky",
        "both",
        "all 4",
        "why 2?",
        "what is the difference between 1 and 2?",
        "can you explain the second option?",
        "1. yes 2. the left one",
        "1. this happened twice now, by the way",
        "first, commit what we have",
        "not the hinge",
        "takes too long",
    ],
)
def test_another_reply_chooses_nothing(reply: str) -> None:
    assert chosen(reply, NUMBERED) == ()


LETTERED = """How shall it be?
- **A) Skip it** (show the old one)
- **B) Ask the user**
- **C) Add a flag**

I'd lean toward C."""
LINES = "Pick one:\n\nA) a green door\nB) a red door"
NOUNS = "**Option 1: `doors/` folder** best\n- near\n- dry\n\n**Option 2: the shed** (as now)\n- wet\n- cold"
HEADINGS = "### Option A: Wood\n\nIt is warm.\n\n### Option B: Steel\n\nIt is cold.\n\nWhich one?"
TABLE = "| # | what | cost |\n|---|---|---|\n| 1 | oil | low |\n| 2 | paint | high |\n\nWhich one?"
INLINE = "Shall I (a) oil the hinge, or (b) replace the door?"
TICKETS = "Remaining: #2 (oil the hinge), #3 (paint the door). Any of these next?"
BULLETS = "Want me to:\n- oil the hinge\n- paint the door"
TWICE = "1. The names\n2. The counts\n\nWhat now?\n\n1. Drop it\n2. Print it"
BOLD = "**Two ways:**\n\n**1. Here** - in this session\n\n**2. There** - in another one\n\nWhich way?"


@every_row(
    ("message", "reply", "options"),
    [
        (LETTERED, "C)", ["Add a flag"]),
        (LETTERED, "b", ["Ask the user"]),
        (LETTERED, "I think A) is fine, let's add it", ["Skip it (show the old one)"]),
        (LETTERED, "A", ["Skip it (show the old one)"]),
        (LETTERED, "go with A", ["Skip it (show the old one)"]),
        (LETTERED, "a flag would be nice", []),
        (LETTERED, "C) update the branch first, then go on", ["Add a flag"]),
        (LINES, "option b", ["a red door"]),
        (LINES, "both", ["a green door", "a red door"]),
        (NOUNS, "yes do option 1", ["`doors/` folder best"]),
        (NOUNS, "the second one", ["the shed (as now)"]),
        (HEADINGS, "B please", ["Steel"]),
        (HEADINGS, "steel", ["Steel"]),
        (TABLE, "2", ["paint - high"]),
        (INLINE, "b", ["replace the door"]),
        (INLINE, "both please", ["oil the hinge", "replace the door"]),
        (TICKETS, "yeah let's tackle 2 and 3", ["oil the hinge", "paint the door"]),
        (TICKETS, "go with #3", ["paint the door"]),
        (BULLETS, "the first one", ["oil the hinge"]),
        (BULLETS, "do both", ["oil the hinge", "paint the door"]),
        (BULLETS, "1", []),
        (TWICE, "2", ["Print it"]),
        (BOLD, "1", ["Here - in this session"]),
        ("No list here.", "1", []),
        ("1. One thing only", "1", []),
    ],
)
def test_options_are_read_in_the_forms_that_agents_use(message: str, reply: str, options: list[str]) -> None:
    assert list(chosen(reply, message)) == options


PIECES = st.lists(
    st.sampled_from(
        ["1. ", "A) ", "(a) ", "- ", "**", "Option 2: ", "| ", "|--|", "### ", "\n", "door ", "#3 (x y) ",
         "both", "all ", "the second one", ", ", " and ", "?", "2"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(PIECES, PIECES)
def test_any_reply_to_any_message_can_be_read(reply: str, message: str) -> None:
    assert all(chosen(reply, message))


@pytest.mark.parametrize(
    "piece",
    ["1. door\n", "(a) door ", "let's ", "1, ", "A) a\n", "| 1 | a |\n", "**Option 1: x**\n", "#1 (abc) "],
)
def test_long_texts_are_read_in_linear_time(piece: str) -> None:
    long_text = piece * (100_000 // len(piece))
    assert isinstance(chosen("2", long_text), tuple)
    assert isinstance(chosen(long_text, NUMBERED), tuple)
