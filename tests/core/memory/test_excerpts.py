"""The sentence that matches is chosen, named by what it is, and its words are marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.memory.excerpts import EXCERPT_CHARS, LineKind, best_excerpts, spans
from tests.tables import every_row

PASSAGE = """User: Mend the cart. Never touch vendor/.
It rounds twice.
Agent: The cart rounds each line. I will keep cents.
Edited src/cart.py, src/rows.py
Searched: cart
Ran: pytest tests/test_cart.py
→ failed: 3 != 4"""
CHECKPOINT = """## Session Checkpoint
Project: ~/shop

### Goal
- Mend the cart

### Decisions
- **Cents**, not floats"""


@every_row(
    "text, query, sentence, kind",
    [
        (PASSAGE, "vendor", "Never touch vendor/.", LineKind.PROMPT),
        (PASSAGE, "twice", "It rounds twice.", LineKind.PROMPT),
        (PASSAGE, "keep cents", "I will keep cents.", LineKind.STATEMENT),
        (PASSAGE, "rows", "Edited src/cart.py, src/rows.py", LineKind.FILE),
        (PASSAGE, "pytest", "pytest tests/test_cart.py", LineKind.COMMAND),
        (PASSAGE, "failed", "failed: 3 != 4", LineKind.OUTCOME),
        (PASSAGE, "searched", "Searched: cart", LineKind.OTHER),
        (CHECKPOINT, "cents", "Cents, not floats", LineKind.DECISION),
        (CHECKPOINT, "mended", "Mend the cart", LineKind.PROMPT),
    ],
)
def test_the_sentence_with_the_words_is_chosen(text: str, query: str, sentence: str, kind: LineKind) -> None:
    (best,) = best_excerpts(text, query.split(), 1)
    assert (best.text, best.kind) == (sentence, kind)


def test_the_best_come_in_the_order_of_the_text_and_without_a_match_the_first() -> None:
    texts = [one.text for one in best_excerpts(PASSAGE, ["cart", "rounds"], 2)]
    assert texts == ["Mend the cart.", "The cart rounds each line."]
    assert [(one.text, one.matches) for one in best_excerpts(PASSAGE, ["xyzzy"], 3)] == [
        ("Mend the cart.", 0)
    ]
    assert best_excerpts("\n1.\n", ["x"], 3) == []


def test_a_long_sentence_is_cut_around_its_match() -> None:
    (best,) = best_excerpts("word " * 200 + "needle " + "word " * 200, ["needle"], 1)
    assert "needle" in best.text
    assert len(best.text) <= EXCERPT_CHARS


@every_row(
    "text, query, marked",
    [
        ("the Carts add up in cart.py", "cart", ["Carts", "cart"]),
        ("renaming, renamed, renames", "rename", ["renaming", "renamed", "renames"]),
        ("a portal has no port", "port", ["port"]),
        ("text of a test", "test", ["test"]),
        ("nothing", "", []),
    ],
)
def test_words_that_differ_only_in_their_ending_are_marked(text: str, query: str, marked: list[str]) -> None:
    assert [part.text for part in spans(text, query.split()) if part.is_match] == marked


@given(st.text(), st.lists(st.text(max_size=8), max_size=4))
def test_marking_changes_no_text(text: str, words: list[str]) -> None:
    assert "".join(part.text for part in spans(text, words)) == text
