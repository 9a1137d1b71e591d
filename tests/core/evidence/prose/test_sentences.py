"""Sentences: whole, in order, and only of prose; any text at all can be read."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.prose import reader
from tests.tables import every_row

READERS: tuple[Callable[[str], tuple[str, ...]], ...] = (
    reader.sentences,
    reader.constraints,
    reader.decisions,
    reader.next_steps,
    reader.untried,
    reader.questions,
    reader.confirmed,
    reader.failures,
    reader.measurements,
)

ONE_SENTENCE = """
Open a.py and then b.test.ts in the same window.
Version 1.2.3 is older than 1.10.0 by a year.
See https://example.org/a.b?c=d for the rest.
Some hosts, e.g. the old ones, answer slowly.
Use a short name (i.e. one word) for it.
It compares old vs. new rows.
Files, folders, links etc. are copied.
The prompt "Overwrite?" is asked once per file.
Wait for it... then press the key.
Run `make. then` twice in a row.
The value 3.5 is too high.
你好，请看 a.py 第一行，然后运行 v1.2.3
Add __init__ and *.py to the list
"""

SPLIT: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("One. Two! Three? Four", ("One.", "Two!", "Three?", "Four")),
    ("ok. do it. don't ask", ("ok.", "do it.", "don't ask")),
    ("第一句。第二句！第三句？完", ("第一句。", "第二句！", "第三句？", "完")),
    ("他说：“不要。”然后走了。", ("他说：“不要。”", "然后走了。")),
    ("- one\n* two\n+ three\n• four", ("one", "two", "three", "four")),
    ("1. first\n2) second\n(3) third\n4、第四", ("first", "second", "third", "第四")),
    ("- [ ] open\n- [x] done", ("open", "done")),
    ("Shall it have pages?\n→ No, one page only.", ("Shall it have pages?", "No, one page only.")),
    ("**Bold** and *slanted* and ***both***.", ("Bold and slanted and both.",)),
    ("# Title\nText.\n## Part\nMore.", ("Text.", "More.")),
    ("**A title**\nText below.", ("Text below.",)),
    ("Before.\n```py\nx = 1. Then\n```\nAfter.", ("Before.", "After.")),
    ("Before.\n~~~\nnot closed. At all.", ("Before.",)),
    ("Before.\n\n    indented code. Here.\n\nAfter.", ("Before.", "After.")),
    ("- item\n\n    more of it.\n", ("item", "more of it.")),
    ("Look:\n| a | b |\n|---|---|\n| 1 | 2 |\nDone.", ("Look:", "Done.")),
    ("> quoted. Twice.\nMine.", ("Mine.",)),
    ("12:01:02 starting\n[INFO] up\nERROR: down\nTraceback (most recent call last):\nHm.", ("Hm.",)),
    ('ValueError: bad\n  File "a.py", line 3\nsrc/a.py:12: error\n$ make test\nWell.', ("Well.",)),
    ("const a = 1;\nif (a) {\n}\nimport os\ndef f(x):\nReal words.", ("Real words.",)),
    (
        "A line that an editor broke because it was getting too long\nfor the window goes on here.",
        ("A line that an editor broke because it was getting too long for the window goes on here.",),
    ),
    ("short line\nanother line", ("short line", "another line")),
    ("", ()),
    ("--- *** 123 ...", ()),
)


@every_row("text", ONE_SENTENCE.strip().splitlines())
def test_a_full_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert reader.sentences(text) == (text,)


@every_row(("text", "expected"), SPLIT)
def test_a_text_is_cut_into_its_sentences_and_items(text: str, expected: tuple[str, ...]) -> None:
    assert reader.sentences(text) == expected


def test_items_are_what_their_heading_says() -> None:
    text = (
        "## Decisions\n- one table\n- no cache\n\n"
        "## Next steps\n1. port the reader\n2. [x] tag the release\n\n"
        "**Open questions:**\n- the owner of the bucket\n\n## Tried and failed\n- a bigger pool\n\n"
        "## What works\n- the importer\n\n## Notes\n- nothing more"
    )
    said = reader.spoken(text)
    assert said.decisions == ("one table", "no cache")
    assert said.next_steps == ("port the reader",)
    assert said.questions == ("the owner of the bucket",)
    assert said.failures == ("a bigger pool",)
    assert said.confirmed == ("the importer",)


def test_a_lead_in_speaks_for_its_list_and_not_for_what_follows() -> None:
    text = "Remaining:\n- the Windows path\n  - and its test\n\nThe rest is finished.\n- a\n- b"
    assert reader.next_steps(text) == ("the Windows path", "and its test")


def test_of_an_item_to_do_the_first_sentence_is_the_step() -> None:
    text = (
        "Next steps:\n- Port the reader. This is the largest remaining piece.\n"
        "- Reload the shell: `exec $SHELL`. Otherwise, start it again.\n"
        "- [ ] Tag it. That takes a minute.\n\n"
        "## Outstanding\n- No reviews yet.\n- None\n- Not yet tested on Windows\n- 无\n- Nothing else"
    )
    assert reader.next_steps(text) == (
        "Port the reader.",
        "Reload the shell: `exec $SHELL`.",
        "Tag it.",
        "Not yet tested on Windows",
    )


def test_a_paragraph_of_what_is_to_do_is_read_whole() -> None:
    assert reader.next_steps("## Remaining\nPort the reader. Then the docs.") == (
        "Port the reader.",
        "Then the docs.",
    )


def test_an_open_box_is_a_next_step_and_a_ticked_one_is_not() -> None:
    assert reader.next_steps("- [ ] port the reader\n- [x] TODO: write the test") == ("port the reader",)


def test_a_question_at_the_end_is_open_and_one_with_an_answer_is_not() -> None:
    assert reader.questions("Is the trailing slash intended? It breaks the router.") == ()
    assert reader.questions("It breaks the router. Is the trailing slash intended?") == (
        "Is the trailing slash intended?",
    )


def test_what_was_pasted_in_one_line_is_not_looked_at() -> None:
    assert reader.constraints("you must " + "a" * reader.LONGEST) == ()


PIECES = st.sampled_from(
    (
        "Never do it|All 12 tests pass|TODO: x|why|必须|下一步：|a.py|1.2.3|e.g.|`c. d`|**b**|*i*|.|!|?|。|"
        "？|:|,| |\n|\n\n|\n- |\n1. |\n# |\n> |\n```\n|\n    |- [ ] |“|”|(|)|'|don't|because|instead of|12 ms"
    ).split("|")
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map(" ".join))


def squeezed(text: str) -> str:
    """The text without white space and signs of emphasis, which are all that a sentence may lose inside."""
    return re.sub(r"[\s*_]+", "", text)


@given(TEXTS)
def test_any_text_can_be_read_and_what_is_heard_stands_in_it(text: str) -> None:
    for read in READERS:
        result = read(text)
        assert len(set(result)) == len(result)
        for sentence in result:
            assert sentence == sentence.strip() != ""
            assert squeezed(sentence) in squeezed(text)
            assert sentence in reader.sentences(text)


@given(TEXTS)
def test_sentences_read_again_are_the_same_sentences(text: str) -> None:
    once = reader.sentences(text)
    assert reader.sentences("\n\n".join(once)) == once


@given(st.text(max_size=100))
def test_any_prompt_can_be_judged(text: str) -> None:
    assert reader.is_generic(text) in (True, False)
    assert reader.is_narration(text) in (True, False)
