"""Blocks of Markdown: what each has, and where the reader departs from CommonMark on purpose.

`test_markdown_against_commonmark` has the rest.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text.markdown import (
    MOST_NESTED,
    Block,
    BlockKind,
    blocks,
    entry_groups,
    lenient_blocks,
    lines_of,
    without_fenced_code,
    without_item_mark,
)

MESSAGE = """\
Intro.
# Report
## Done ##
1. Split the reader
   in two
   - [x] and its tests

   They pass.
   ```sh
   make test
     -k reader
   ```
10) Told the user

| file | lines |
|------|-------|
| a.py | 12    |
***
## Next
* Merge it
<!-- not yet:
- push -->
> As you said.
> Soon.

    indented
Title
=====
# Other
Bye.
"""


def test_each_block_has_its_kind_text_lines_and_headings() -> None:
    done, following = ("Report", "Done"), ("Report", "Next")
    assert blocks(MESSAGE) == [
        Block(BlockKind.PARAGRAPH, "Intro.", 0, 0, ()),
        Block(BlockKind.HEADING, "Report", 1, 1, (), mark="#"),
        Block(BlockKind.HEADING, "Done", 2, 2, ("Report",), mark="##"),
        Block(BlockKind.ITEM, "Split the reader\n   in two", 3, 4, done, depth=1, mark="1."),
        Block(BlockKind.ITEM, "[x] and its tests", 5, 5, done, depth=2, indent=3, mark="-"),
        Block(BlockKind.BLANK, "", 6, 6, done, depth=2),
        Block(BlockKind.PARAGRAPH, "They pass.", 7, 7, done, depth=1, indent=3),
        Block(
            BlockKind.CODE,
            "make test\n  -k reader",
            8,
            11,
            done,
            depth=1,
            indent=3,
            mark="```",
            language="sh",
        ),
        Block(BlockKind.ITEM, "Told the user", 12, 12, done, depth=1, mark="10)"),
        Block(BlockKind.BLANK, "", 13, 13, done, depth=1),
        Block(BlockKind.TABLE_ROW, "| file | lines |", 14, 15, done),
        Block(BlockKind.TABLE_ROW, "| a.py | 12    |", 16, 16, done),
        Block(BlockKind.RULE, "", 17, 17, done),
        Block(BlockKind.HEADING, "Next", 18, 18, ("Report",), mark="##"),
        Block(BlockKind.ITEM, "Merge it", 19, 19, following, depth=1, mark="*"),
        Block(BlockKind.COMMENT, "<!-- not yet:\n- push -->", 20, 21, following),
        Block(BlockKind.QUOTE, "As you said.\nSoon.", 22, 23, following),
        Block(BlockKind.BLANK, "", 24, 24, following),
        Block(BlockKind.CODE, "indented", 25, 25, following, indent=4),
        Block(BlockKind.HEADING, "Title", 26, 27, (), mark="="),
        Block(BlockKind.HEADING, "Other", 28, 28, (), mark="#"),
        Block(BlockKind.PARAGRAPH, "Bye.", 29, 29, ("Other",)),
    ]


def test_a_block_says_its_level_number_and_whether_it_divides_a_file() -> None:
    found = blocks("### a\n\nb\n-\n\n7. c\n\n- d\n  # e\n")
    headings = [(block.level, block.divides) for block in found if block.kind is BlockKind.HEADING]
    assert headings == [(3, True), (2, False), (1, False)]
    assert [block.number for block in found if block.kind is BlockKind.ITEM] == [7, None]


@pytest.mark.parametrize(
    "begins", ["```", "~~~~ sh", "````\n```", "<!-- a", "  ```", "- ```", "```\na\n```\n```", "~~~\n```"]
)
def test_what_never_ends_hides_nothing_that_a_person_edits(begins: str) -> None:
    text = f"{begins}\n# Next\n"
    assert [block.text for block in lenient_blocks(text.split("\n")) if block.divides] == ["Next"]


@pytest.mark.parametrize("begins", ["```", "~~~~ sh", "````\n```", "<!-- a", "  ```"])
def test_what_never_ends_goes_on_to_the_end_of_other_texts(begins: str) -> None:
    assert not any(block.divides for block in blocks(f"{begins}\n# Next\n"))


@pytest.mark.parametrize(
    "text",
    [
        "````\n```\n# a\n```\n````\n",
        "```\n# a\n        ```\n",
        "<!--\n# a\n-->\n",
        "- ```\n  # a\n  ```\n",
        "~~~\n# a\n~~~~~\n",
    ],
)
def test_what_ends_hides_what_is_in_it_everywhere(text: str) -> None:
    assert not any(block.divides for block in lenient_blocks(text.splitlines(keepends=True)))


def test_tags_other_than_comments_are_text() -> None:
    assert [block.kind for block in blocks("<summary>\n- a\n\n<div>\n# b\n")] == [
        BlockKind.PARAGRAPH,
        BlockKind.ITEM,
        BlockKind.BLANK,
        BlockKind.PARAGRAPH,
        BlockKind.HEADING,
    ]


def test_a_line_without_a_bar_ends_a_table_and_one_without_a_mark_ends_a_quote() -> None:
    assert [block.kind for block in blocks("a | b\n--|--\nDone.\n> c\nd")] == [
        BlockKind.TABLE_ROW,
        BlockKind.PARAGRAPH,
        BlockKind.QUOTE,
        BlockKind.PARAGRAPH,
    ]


def test_items_are_read_to_a_limited_depth() -> None:
    found = blocks("- " * 5_000 + "a\n" + "b\n" * 5_000)
    assert [block.depth for block in found] == list(range(1, MOST_NESTED + 1))
    assert found[-1].text.startswith("- - ")


def test_entries_are_items_with_what_is_below_them_and_paragraphs() -> None:
    lines = [
        "- a",
        "  - b",
        "more",
        "<!-- c",
        "- d -->",
        "1. e",
        "   ```",
        "   - f",
        "",
        "   ```",
        "",
        "g",
        "***",
    ]
    assert [(lines[places[0]], len(places), kind) for places, kind in entry_groups(lines)] == [
        ("- a", 3, BlockKind.ITEM),
        ("<!-- c", 2, BlockKind.COMMENT),
        ("1. e", 5, BlockKind.ITEM),
        ("", 1, BlockKind.BLANK),
        ("g", 1, BlockKind.PARAGRAPH),
        ("***", 1, BlockKind.RULE),
    ]


@pytest.mark.parametrize(
    ("line", "text"),
    [(" - a ", "a"), ("12) b\n  c", "b\n  c"), ("-", ""), ("-d", "-d"), ("- - e", "- e"), ("*f*", "*f*")],
)
def test_the_mark_of_an_item_is_taken_off_once(line: str, text: str) -> None:
    assert without_item_mark(line) == text


def test_fenced_code_is_left_out_and_indented_code_is_not() -> None:
    assert without_fenced_code("a\n````\n```\nb\n````\nc\n\n    d\n~~~\ne") == "a\n\nc\n\n    d\n"


ANY_LINE = st.sampled_from(
    "a|- b|  - c|1. d|# e|```|````|~~~|<!--|-->|> f|g | h|--|---|===|\t|    i||- |- ```".split("|")
)
ANY_TEXT = st.text() | st.lists(ANY_LINE, max_size=15).map("\n".join)


@given(ANY_TEXT)
def test_every_line_is_in_a_block_and_in_one_group(text: str) -> None:
    lines = lines_of(text)
    for found in (blocks(text), lenient_blocks(lines)):
        seen = [place for block in found for place in range(block.first, block.last + 1)]
        assert sorted(set(seen)) == list(range(len(lines)))
        assert [block.first for block in found] == sorted(block.first for block in found)
    assert [place for places, _ in entry_groups(lines) for place in places] == list(range(len(lines)))


@given(ANY_TEXT)
def test_only_items_share_a_line_with_what_they_begin_with(text: str) -> None:
    ends = -1
    for block in blocks(text):
        assert block.first > ends or block.depth
        ends = block.first - 1 if block.kind is BlockKind.ITEM and not block.text else block.last


NESTED = """Here is the file:

```markdown
# Plan
```bash
make
```
Then stop.
```

It is written. Next: run `make`.
"""


@pytest.mark.parametrize(
    ("text", "code", "prose"),
    [
        (NESTED, [(2, 8)], ["Here is the file:", "It is written. Next: run `make`."]),
        (
            f"{NESTED}\n{NESTED}",
            [(2, 8), (14, 20)],
            ["Here is the file:", "It is written. Next: run `make`."] * 2,
        ),
        (NESTED + "```py\na\n```\nb", [(2, 8), (11, 13)], [*NESTED.splitlines()[::10], "b"]),
        ("````md\n```py\na\n```\n````\nb", [(0, 4)], ["b"]),
        ("~~~md\n~~~py\na\n~~~\n~~~\nb", [(0, 4)], ["b"]),
        ("- a\n\n  ```md\n  ```py\n  ```\n  ```\n  b", [(2, 5)], ["b"]),
    ],
)
def test_a_fence_with_a_language_nests_in_another_one(
    text: str, code: list[tuple[int, int]], prose: list[str]
) -> None:
    read = blocks(text)
    assert [(block.first, block.last) for block in read if block.is_fenced] == code
    assert [block.text for block in read if block.kind is BlockKind.PARAGRAPH] == prose


def test_a_fence_that_shows_how_to_begin_one_is_read_as_written() -> None:
    read = blocks("```\n```py\n```\nSo it begins.")
    assert read[-1].text == "So it begins."
