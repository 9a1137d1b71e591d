"""The reader of Markdown beside `markdown-it-py`, which passes CommonMark's own tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from holdfast.core.text.markdown import Block, BlockKind, blocks

Row: TypeAlias = tuple[str, int, int, str]
"""What a block is, its first and last line, and what is special about it."""

THEIRS = MarkdownIt("commonmark").enable("table")


def rows(text: str) -> list[Row]:
    """What our reader finds, as far as both name it."""
    return sorted(row for block in blocks(text) for row in row_of(block))


def row_of(block: Block) -> Iterator[Row]:
    place = block.first, block.last
    match block.kind:
        case BlockKind.HEADING:
            yield "heading", *place, f"{block.level} {' '.join(block.text.split())}"
        case BlockKind.ITEM:
            yield "item", block.first, block.first, f"{block.depth} {block.number}"
        case BlockKind.CODE if block.is_fenced:
            yield "fence", *place, f"{block.mark} {block.language}\n{block.text}"
        case BlockKind.RULE:
            yield "rule", *place, ""
        case BlockKind.TABLE_ROW:
            yield "row", block.first, block.first, ""
        case BlockKind.COMMENT:
            yield "comment", *place, ""
        case _:
            pass


def their_rows(text: str) -> list[Row]:
    """What `markdown-it-py` finds."""
    found: list[Row] = []
    depth = quotes = 0
    tokens = THEIRS.parse(text)
    for number, token in enumerate(tokens):
        depth += (token.type == "list_item_open") - (token.type == "list_item_close")
        quotes += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.map is not None and not quotes:
            found += their_row(token, tokens[number + 1 :], depth)
    return sorted(found)


def their_row(token: Token, following: list[Token], depth: int) -> Iterator[Row]:
    first, end = token.map or (0, 0)
    match token.type:
        case "heading_open":
            yield "heading", first, end - 1, f"{token.tag[1:]} {' '.join(following[0].content.split())}"
        case "list_item_open":
            yield "item", first, first, f"{depth} {int(token.info) if token.info else None}"
        case "fence":
            language = next(iter(token.info.split()), "")
            yield "fence", first, end - 1, f"{token.markup} {language}\n{token.content.removesuffix(chr(10))}"
        case "hr":
            yield "rule", first, end - 1, ""
        case "tr_open":
            yield "row", first, first, ""
        case "html_block" if token.content.lstrip().startswith("<!--"):
            yield "comment", first, end - 1, ""
        case _:
            pass


HAND_WRITTEN = {
    "a heading in a longer fence": "````\n```\n## Goal\n```\n````\n## Goal\n",
    "a fence closes by one that is longer": "```\na\n`````\n# b\n",
    "a fence does not close by a shorter one": "````\na\n```\n# b\n````\n# c\n",
    "tildes and backticks do not close each other": "~~~\n```\n# a\n~~~\n# b\n",
    "an info string with a backtick is no fence": "``` a`b\n# c\n```\n",
    "a tilde's info string may have one": "~~~ a`b\n# c\n~~~\n",
    "a fence with an info string closes nothing": "```\na\n``` py\n# b\n```\n# c\n",
    "a fence with a language in one that would then have no end": "```\n```py\na\n```\n# b\n",
    "three columns in, and four": "   ```\n# a\n   ```\n\n    ```\n# b\n",
    "the end four columns in": "```\n    ```\n# a\n```\n",
    "a fence that never ends": "# a\n```\n# b\n- c\n",
    "levels": "# 1\n## 2\n### 3\n#### 4\n##### 5\n###### 6\n####### 7\n#8\n#\t9\n#\n## ##\n# a #\n# a#\n",
    "headings by indentation": " # a\n  # b\n   # c\n    # d\n\n    # e\n",
    "underlined": "a\n===\nb\nc\n---\n\n---\nd\n=\ne\n- \n",
    "an underline is in its paragraph's item": "- a\n  ===\n- b\n===\n- c\n---\n",
    "a comment over lines": "<!-- a\n# b\n--> c\n# d\n",
    "a comment in one line": "a\n<!-- b --> # c\n# d\n<!-->\n# e\n",
    "a comment that never ends": "# a\n<!-- b\n# c\n",
    "nested items": "- a\n  - b\n    - c\n  - d\n- e\n   - f\n",
    "items by one more column": "- a\n - b\n  - c\n   - d\n    - e\n",
    "numbers": "1. a\n2. b\n10) c\n\n2. d\n1234567890. e\n",
    "what interrupts a paragraph": "a\n2. b\nc\n1. d\n\ne\n-\nf\n- g\nh\n# i\nj\n***\nk\n```\nl\n```\n",
    "code in an item": "- a\n\n  ```py\n  b\n    c\n  ```\n  # d\n- e\n  ```\nf\n  ```\n",
    "an item with another block": "- # a\n- ```\n  b\n  ```\n- - c\n- 1. d\n- ***\n-     e\n- <!-- f -->\n",
    "an empty item": "-\n  a\n-\n\n  b\n-\n- c\n",
    "lazy lines": "- a\nb\n# c\n- d\n    - e\n      f\ng\n",
    "rules": "---\n***\n___\n - - -\n* * *  \n_ _ _\n--\n+++\n-*-\n",
    "a rule in an item": "- a\n***\n- b\n- * * *\n",
    "tabs": "-\ta\n\n\tb\n\t- c\n1.\td\n\t\te\n\t# f\n",
    "a table": "a | b\n--|--\n1 | 2\n\n| a |\n|---|\n# b\n",
    "no table": "a | b\n---\n\na | b\n--|--|--\n\na\n--|--\n",
    "a table in a paragraph and in an item": "a\nb | c\n--|--\nd | e\n- f\n  g | h\n  :-|-:\n  i | j\n",
    "a quote": "> # a\n> ```\n\n# b\n",
    "line ends": "# a\r\n\r\n```\r\n# b\r\n```\r\n# c\r# d\n",
    "nothing": "",
    "blank lines": "\n\n \n\t\n",
}


@pytest.mark.parametrize("text", HAND_WRITTEN.values(), ids=HAND_WRITTEN.keys())
def test_both_find_the_same_in_texts_written_for_it(text: str) -> None:
    assert rows(text) == their_rows(text)


LINES = st.sampled_from(
    (
        "",
        "",
        "word",
        "two words.",
        "# heading",
        "## heading ##",
        "#no",
        "===",
        "---",
        "--",
        "***",
        "```",
        "```py",
        "````",
        "~~~",
        "~~~~ a`b",
        "- item",
        "* item",
        "+ item",
        "-",
        "1. item",
        "2. item",
        "3) item",
        "- - item",
        "- # heading",
        "- ```",
        "1. - item",
        "-   item",
        "-     code",
        "\tword",
        "-\titem",
    )
)
INDENTED = st.builds(lambda columns, line: " " * columns + line, st.integers(0, 7), LINES)
LINE = LINES | INDENTED


_LIST_MARKS = re.compile(r" *(?:(?:[-*+]|[0-9]+[.)])(?: +|$))+")


def is_read_otherwise(lines: list[str]) -> bool:
    """Whether theirs departs from CommonMark: a line that is left of an open item's text but four columns in.

    CommonMark reads it as more of the item's paragraph; theirs lets it end the paragraph.
    """
    contents = [len(match.group()) for match in map(_LIST_MARKS.match, lines) if match]
    indents = (len(line) - len(line.lstrip()) for line in lines if line.strip())
    return any(4 <= indent < content for indent in indents for content in contents)


def has_nested_fence(text: str) -> bool:
    """Whether a fence with a language is inside another one, which ours lets nest on purpose."""
    fences = (token.content for token in THEIRS.parse(text) if token.type == "fence")
    return any(_INNER_FENCE.search(content) for content in fences)


_INNER_FENCE = re.compile(r"^\s*(?:```+|~~~+)\w", re.MULTILINE)


@given(st.lists(LINE, max_size=12))
@example(["- a", "", "      b", "  - c", "    ```", "  d"])
def test_both_find_the_same_in_any_text(lines: list[str]) -> None:
    assume(not is_read_otherwise([line.expandtabs(4) for line in lines]))
    text = "".join(f"{line}\n" for line in lines)
    assume(not has_nested_fence(text))
    assert rows(text) == their_rows(text)


@given(st.lists(LINE, max_size=12))
def test_no_fence_nests_if_then_one_has_no_end(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in (*lines, "", "```", "```py"))
    assume(not is_read_otherwise([line.expandtabs(4) for line in lines]))
    # The last fences have no end, however they are read.
    assert rows(text) == their_rows(text)


TABLES = st.sampled_from(("a | b", "--|--", ":-:|-", "| c |", "|---|", "a \\| b", "# heading", "---", ""))


@given(st.lists(st.builds(lambda columns, line: " " * columns + line, st.integers(0, 4), TABLES), max_size=8))
def test_both_find_the_same_tables(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    assert rows(text) == their_rows(text)


COMMENTED = st.sampled_from(
    ("<!-- a", "b -->", "<!-- c -->", "<!-->", "# d", "word", "", "```", "- e", "   <!--")
)


@given(st.lists(COMMENTED, max_size=10).map("\n".join))
def test_both_find_the_same_comments(text: str) -> None:
    # In an item, theirs ends a comment at a blank line, which CommonMark does not.
    assert "- e" in text or rows(text) == their_rows(text)
