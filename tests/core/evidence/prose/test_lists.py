"""Lists: items of a request or plan, and what a message says about them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.prose.lists import ItemState, ListItem, items_in, plan_steps, taken_up
from tests.tables import every_row

OPEN, STARTED, DONE = ItemState.OPEN, ItemState.STARTED, ItemState.DONE


@every_row(
    ("prompt", "items"),
    [
        ("Please do this:\n1. Paint the door\n2. Oil the hinge", ["1|Paint the door", "2|Oil the hinge"]),
        ("can you address these:\n\n  1) worn hinge\n  2) loose bolt", ["1|worn hinge", "2|loose bolt"]),
        ("let's\na) rename the shop\nb) drop the till", ["A|rename the shop", "B|drop the till"]),
        ("We need:\nItem 1: a bell\nItem 2 - a rope", ["Item 1|a bell", "Item 2|a rope"]),
        ("- add a bell\n- drop the rope", ["•1|add a bell", "•2|drop the rope"]),
        ("Left over:\n- [x] the bell\n- [ ] the rope\n- [ ] the door", ["•1|the rope", "•2|the door"]),
        (
            "1. **Rename** the door\n   and its frame\n   - twice\n2. Fix the hinge",
            ["1|Rename the door and its frame", "2|Fix the hinge"],
        ),
        (
            (
                "Implement the following plan:\n\n# New door\n\n## Context\n\n1. It is old\n2. It squeaks\n\n"
                "## Changes\n\n### Step 1: Saw the wood\n1. x\n2. y\n\n### Step 2: Hang it\n\n"
                "## Verification\n1. Open it\n2. Close it"
            ),
            ["Step 1|Saw the wood", "Step 2|Hang it"],
        ),
        (
            "Fix these:\n```\n1. not this\n2. nor this\n```\n1. Paint it\n2. Oil it",
            ["1|Paint it", "2|Oil it"],
        ),
    ],
)
def test_a_list_that_asks_for_work_is_read(prompt: str, items: list[str]) -> None:
    assert [f"{item.label}|{item.text}" for item in items_in(prompt)] == items


@every_row(
    "prompt",
    [
        "",
        "Paint the door",
        "Please:\n1. Paint the door",
        "1. no\n2. we show the doors that are open\n3. yes",
        "1. yes please fix it\n2. add another one",
        "Some scenarios:\n1. the user opens the door\n2. the user closes it",
        "so now a question, I do the following:\n1. open the door\n2. close it",
        "To reproduce:\n1. open the door\n2. close it",
        "It says\n\nOptions:\n1. Commit your changes\n2. Reset the branch",
        "- how old is the door?\n- will it hold?",
        "We know of two kinds:\n- doors are used by people\n- windows are for light",
        "look at this\n\n=== Step 1 ===\n1. Create the file\n2. Add the door",
        "diff --git a/x b/x\n- remove this\n- add that",
    ],
)
def test_another_list_is_none(prompt: str) -> None:
    assert items_in(prompt) == ()


@every_row(
    ("plan", "labels"),
    [
        (
            "# Plan\n\n## Phase 1: Wood\n1. a\n2. b\n\n## Phase 2 — Paint\n1. c",
            ["Phase 1|Wood", "Phase 2|Paint"],
        ),
        (
            "# T\n## Files to Modify\n### 1. `door.py`\ntext\n### 2. `hinge.py`\n## Verification\n### 1. Run",
            ["1|`door.py`", "2|`hinge.py`"],
        ),
        ("# T\n## Changes\n### The door\n- x\n### The hinge\n- y", ["•1|The door", "•2|The hinge"]),
        (
            "## Context\n1. old\n2. rusty\n## Approach\n1. **Saw** the wood\n2. Paint it\n## Risks\n1. Go",
            ["1|Saw the wood", "2|Paint it"],
        ),
        ("## Changes\n- Saw the wood\n- Paint it", ["•1|Saw the wood", "•2|Paint it"]),
        ("1. Saw the wood\n2. Paint it", ["1|Saw the wood", "2|Paint it"]),
        ("Just paint the door.", []),
        ("## Context\n1. old\n2. rusty", []),
    ],
)
def test_the_steps_of_a_plan(plan: str, labels: list[str]) -> None:
    assert [f"{item.label}|{item.text}" for item in plan_steps(plan)] == labels


NUMBERED = (
    ListItem("1", "Paint the front door green"),
    ListItem("2", "Fix the parser of hinges"),
    ListItem("3", "Oil the rusty hinge"),
    ListItem("4", "Hang a bell above it"),
)


@every_row(
    ("text", "states"),
    [
        ("Item 3 is done.", {"3": DONE}),
        ("Items 1 and 2 are now complete. Let me start with item 3.", {"1": DONE, "2": DONE, "3": STARTED}),
        ("Done with 1 and 2, moving on to 3", {"1": DONE, "2": DONE, "3": STARTED}),
        ("Items 1-3 are fixed", {"1": DONE, "2": DONE, "3": DONE}),
        ("1 and 2 are done", {"1": DONE, "2": DONE}),
        ("### 2. Fix the parser\n\nThe hinge is parsed twice.", {"2": STARTED}),
        ("**Item 2:** Now let me find the parser:", {"2": STARTED}),
        ("**Task 3: Oil the rusty hinge**", {"3": STARTED}),
        ("### Item 1: Front door ✓\ntext\n### Item 4: The bell ✅", {"1": DONE, "4": DONE}),
        ("✅ 4", {"4": DONE}),
        ("1. ✅ Painted the front door", {"1": DONE}),
        ("- [x] Paint the front door green\n- [ ] Hang a bell above it", {"1": DONE, "4": OPEN}),
        ("| # | what |\n|--|--|\n| 3 | Oil the hinge | ✅ |\n| 4 | the bell | no |", {"3": DONE}),
        ("1. Painted the front door green.\n2. Fixed the parser.", {"1": DONE, "2": DONE}),
        ("1. **Painted the front door** - twice", {"1": DONE}),
        ("I've painted the front door green.", {"1": DONE}),
        ("3. Oil the rusty hinge ✅", {"3": DONE}),
        ("✅ 3. Oiled the hinge", {"3": DONE}),
        ("3. Done: it moves again", {"3": DONE}),
        ("The third item is done.", {"3": DONE}),
        ("Item 4 is still open", {"4": OPEN}),
        ("Item 3 is not done", {"3": OPEN}),
        ("Item 3 is complete. Now let me address item 1 - the green paint", {"3": DONE, "1": STARTED}),
        ("Let me start with item 2. It is short. Item 2 is done.", {"2": DONE}),
    ],
)
def test_what_a_message_says_about_items(text: str, states: dict[str, ItemState]) -> None:
    assert taken_up(NUMBERED, text) == states


@every_row(
    "text",
    [
        "",
        "All tests pass.",
        "Item 7 is done",
        "Once item 3 is done, we can go on",
        "Is item 3 done?",
        "Should I start with item 3?",
        "### 1. Added a cache\ntext",
        "### 1. Paint the front door\nx\n### 2. Fix the parser\ny",
        "Task 2 is complete",
        "1 file changed, 3 done",
        "PR 3 is done",
        "Phase 2 is done",
        "1. **`door.py`**: the door",
        "```\nItem 3 is done\n```",
        "> Item 3 is done",
        "It took 3 and a half minutes",
        "1. Added a cache for hinges",
        "Failed to paint the front door green",
        "Painted the door",
        "1. Used green for the front door?",
        "3. Oil it",
    ],
)
def test_nothing_is_said_where_it_is_not_sure(text: str) -> None:
    assert taken_up(NUMBERED, text) == {}


@every_row(
    ("text", "states"),
    [
        ("Phase 1 is done. Starting Phase 2.", {"Phase 1": DONE, "Phase 2": STARTED}),
        ("## Phase 2: Paint (done)", {"Phase 2": DONE}),
        ("**Phase 2: Create the tests.**", {}),
        ("Item 2 is done", {}),
        ("Done with 1 and 2", {}),
    ],
)
def test_items_with_a_noun_are_named_with_it(text: str, states: dict[str, ItemState]) -> None:
    assert taken_up((ListItem("Phase 1", "Wood"), ListItem("Phase 2", "Paint the frame")), text) == states


def test_a_list_without_labels_is_known_by_its_words() -> None:
    items = (ListItem("•1", "Paint the front door"), ListItem("•2", "Oil the hinge"))
    assert taken_up(items, "- [x] Paint the front door") == {"•1": DONE}
    assert taken_up(items, "Item 1 is done") == {}


PIECES = st.lists(
    st.sampled_from(
        ["1.", "- ", "[x] ", "### ", "Step 2: ", "Item 3 ", "is done", "Done with ", "A) ", "\n", "✅ ",
         "| ", "|--|", "**", "paint ", "moving on to ", "4",
         "``` ", "?"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(PIECES)
def test_any_text_can_be_read(text: str) -> None:
    labels = {item.label for item in (*items_in(text), *plan_steps(text))}
    assert all(labels)
    assert set(taken_up(NUMBERED, text)) <= {item.label for item in NUMBERED}


@pytest.mark.parametrize(
    "piece",
    ["1. Paint it\n", "### Step 1: x\n", "Item 1, 2, ", "Done with 1 and ", "please also ", "✅ 1 ", "(1 "],
)
def test_long_texts_are_read_in_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert isinstance(items_in(text), tuple)
    assert isinstance(plan_steps(text), tuple)
    assert isinstance(taken_up(NUMBERED, text), dict)
