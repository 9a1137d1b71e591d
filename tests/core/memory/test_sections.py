"""A Markdown file is divided where its headings stand, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.memory.sections import LONGEST, Section, sections

FILE = """\
Before any heading.

# Rules
Never touch the schema.

## Tests ##
Run `make test`.
```sh
# not a heading
```
### Slow ones
Only at night.
## Style
Tabs.
# Notes
"""


def test_each_section_stands_under_its_headings() -> None:
    assert sections(FILE) == [
        Section((), "Before any heading."),
        Section(("Rules",), "Never touch the schema."),
        Section(("Rules", "Tests"), "Run `make test`.\n```sh\n# not a heading\n```"),
        Section(("Rules", "Tests", "Slow ones"), "Only at night."),
        Section(("Rules", "Style"), "Tabs."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "#no heading",
        "####### seven",
        "    # code",
        "~~~\n# inside\n```\n# still\n~~~",
        "````\n```\n# inside\n````",
    ],
)
def test_what_only_looks_like_a_heading_is_text(text: str) -> None:
    assert sections(text) == [Section((), text.strip())]


def test_a_fence_that_nobody_closes_reaches_to_the_end() -> None:
    assert sections("# One\n```\n# Two") == [Section(("One",), "```\n# Two")]


@pytest.mark.parametrize("text", ["", "   \n\n", "# Only a heading", "#\n##\n"])
def test_where_nothing_is_said_there_is_no_section(text: str) -> None:
    assert sections(text) == [] or all(section.text for section in sections(text))


def test_a_long_section_goes_on_under_the_same_heading() -> None:
    paragraphs = [f"Paragraph {number}. " + "It goes on. " * 20 for number in range(30)]
    result = sections("# Long\n" + "\n\n".join(paragraphs))
    assert len(result) > 2
    assert {section.headings for section in result} == {("Long",)}
    assert "\n\n".join(section.text for section in result).split() == " ".join(paragraphs).split()


@given(st.text())
def test_no_section_is_empty_or_too_long(text: str) -> None:
    result = sections(text)
    assert all(0 < len(section.text) <= LONGEST for section in result)


@given(st.lists(st.sampled_from(["# A", "## B", "text", "", "```", "~~~", "#x"]), max_size=20))
def test_every_line_that_is_no_heading_is_kept(lines: list[str]) -> None:
    kept = [line for section in sections("\n".join(lines)) for line in section.text.splitlines()]
    assert [line for line in kept if line == "text"] == [line for line in lines if line == "text"]
