"""A text in the sections of a handover is read, however its headings are written."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.kinds import Section
from holdfast.core.text.strings import one_line
from holdfast.core.work.written import CODE_LINES, section_of_heading, sections_in

GOAL, RULES, DONE, NOW, NEXT = Section.GOAL, Section.RULES, Section.DONE, Section.NOW, Section.NEXT
DECISIONS, FAILURES, QUESTIONS, WHERE = (
    Section.DECISIONS,
    Section.FAILURES,
    Section.QUESTIONS,
    Section.WHERE,
)
ASKED_FOR = ("Goal", "Rules", "Done", "Now", "Next", "Decisions", "Failures", "Questions", "Where")


@pytest.mark.parametrize("name", ASKED_FOR)
@pytest.mark.parametrize(
    "form",
    [
        "# {}\n{}",
        "###### {}\n\n{}",
        "## {}:\n- {}",
        "## 3. {}\n1. {}",
        "## ✅ {}\n{}",
        "{}\n===\n{}",
        "{}\n---\n\n{}",
        "## {} (what the next one needs)\n{}",
        "## {}: {}",
        "**{}**\n{}",
        "**{}:** {}",
        "**{}**: {}",
        "**{}** - {}",
        "__{}__\n\n{}",
        "1. **{}**\n   {}",
        "- **{}**: {}",
        "- {}: {}",
        "{}: {}",
        "{}:\n{}",
        "{}:\n\n- {}",
        "7. {}:\n   - {}",
        "7. {}:\n\n{}",
        "7. {}:\n- {}",
        "    {}: {}",
        "> {}: {}",
    ],
)
def test_each_section_is_found_by_its_name_in_every_form(form: str, name: str) -> None:
    text = form.format(name, "Keep the `a.py` of PAY-7 as it is.")
    assert sections_in(text) == ((Section[name.upper()], "Keep the `a.py` of PAY-7 as it is."),)
    assert sections_in(form.format(name.upper(), "x y"))[0][0] is Section[name.upper()]


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("Primary Request and Intent:", GOAL),
        ("Key Technical Concepts", DECISIONS),
        ("3. Files and Code Sections:", WHERE),
        ("Errors and fixes", FAILURES),
        ("Problem Solving:", FAILURES),
        ("Pending Tasks:", NEXT),
        ("Current Work", NOW),
        ("9. Optional Next Step:", NEXT),
        ("What's next", NEXT),
        ("Next steps", NEXT),
        ("Decisions made", DECISIONS),
        ("Open questions", QUESTIONS),
        ("User's rules", RULES),
        ("目标", GOAL),
        ("约束：", RULES),
        ("已完成", DONE),
        ("当前状态", NOW),
        ("下一步", NEXT),
        ("关键决策", DECISIONS),
        ("失败", FAILURES),
        ("问题", QUESTIONS),
        ("相关文件", WHERE),
        ("Donegal", None),
        ("The next release", None),
        ("Nowhere", None),
        ("Decisions are hard", None),
        ("Goal" + " " * 100, None),
        ("", None),
        ("---", None),
    ],
)
def test_which_heading_stands_for_which_section(heading: str, section: Section | None) -> None:
    assert section_of_heading(heading) is section


def test_a_digest_as_the_tool_stores_it() -> None:
    text = (
        "The parser reads every sample.\nGoal: read version 3\nNext:\n- mend test_nested\n- then the writer\n"
        "Decisions:\n- tabs count as one column, because editors differ\nQuestions:\n- who owns the schema?"
    )
    assert sections_in(text) == (
        (None, "The parser reads every sample."),
        (GOAL, "read version 3"),
        (NEXT, "mend test_nested"),
        (NEXT, "then the writer"),
        (DECISIONS, "tabs count as one column, because editors differ"),
        (QUESTIONS, "who owns the schema?"),
    )


def test_a_summary_with_numbered_headings() -> None:
    text = """\
Summary of what happened:
1. Primary Request and Intent:
   The user wants the totals to be exact.
   They asked for Decimal.

2. Key Technical Concepts:
   - Decimal
   - Rounding half up

3. Something else:
   - Left out

4. Errors and fixes:

   - The import failed:
     - Fixed by a relative path

9. Optional Next Step:
   Wire it in.
"""
    assert sections_in(text) == (
        (None, "Summary of what happened:"),
        (GOAL, "The user wants the totals to be exact. They asked for Decimal."),
        (DECISIONS, "Decimal"),
        (DECISIONS, "Rounding half up"),
        (None, "Something else:"),
        (None, "Left out"),
        (FAILURES, "The import failed:"),
        (FAILURES, "Fixed by a relative path"),
        (NEXT, "Wire it in."),
    )


def test_a_text_without_any_heading() -> None:
    text = "Half is done.\nIt reads 12:30 as a time.\n\n- see https://example.org: it is long\n- Note: odd"
    assert sections_in(text) == (
        (None, "Half is done. It reads 12:30 as a time."),
        (None, "see https://example.org: it is long"),
        (None, "Note: odd"),
    )
    assert sections_in(" \n\n") == sections_in("") == ()


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("## Done\n### Parser\na\n## Notes\nb", [DONE, None]),
        ("# Digest\n## Next\na\n### Then\nb\n# Other\nc", [NEXT, NEXT, None]),
        ("**Goal**\na\n\n**Background**\nb\n\n**Next**\nc", [GOAL, None, NEXT]),
        ("Done:\n- a\n- Files: b\n- c", [DONE, WHERE, DONE]),
        ("Done:\n- a\n  - Files: b\n  - c\n- d", [DONE, WHERE, DONE, DONE]),
        ("- Goal: a\n- Next: b\n- c\n\nd", [GOAL, NEXT, None, None]),
        ("## Done\na\n\nWhy: b\n\nc", [DONE, DECISIONS, DONE]),
        ("Goal: a\n\nb\n\nNext: c", [GOAL, GOAL, NEXT]),
        ("Goal: a\n## Notes\nb", [GOAL, None]),
        ("Done:\n**the parser**\n- a", [DONE, DONE]),
        ("**Done** with the parser", [None]),
        ("Done:it", [None]),
        ("目标：a\n下一步：b", [GOAL, NEXT]),
        ("## 目标\na\n## 其他\nb", [GOAL, None]),
    ],
)
def test_how_far_a_heading_or_label_applies(text: str, sections: list[Section | None]) -> None:
    assert [section for section, _ in sections_in(text)] == sections


def test_what_is_in_a_fence_is_no_heading() -> None:
    text = "## Where\n```sh\n# Goal: none\n```\n```python\n# Next\nx = 1\n```\n"
    assert sections_in(text) == ((WHERE, "`# Goal: none`"),)


def test_short_code_is_the_command_or_the_error_line_as_it_stands() -> None:
    failure = "- The check fails:\n  ```\n  E   assert 41  ==  42\n  ```\n"
    text = f"## Failures\n{failure}\n## Where\n```\n$ make  a\n```"
    assert sections_in(text) == (
        (FAILURES, "The check fails:"),
        (FAILURES, "`E   assert 41  ==  42`"),
        (WHERE, "`make  a`"),
    )


def test_long_code_is_left_out() -> None:
    code = "\n".join(f"line {number}" for number in range(CODE_LINES + 1))
    assert sections_in(f"## Where\n```\n{code}\n```\nsrc/a.py") == ((WHERE, "src/a.py"),)


def test_the_rows_of_a_table_without_its_head() -> None:
    text = "## Done\n| part | state |\n|---|---|\n| parser | reads all |\n| writer | |"
    assert sections_in(text) == ((DONE, "parser; reads all"), (DONE, "writer"))


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert all(found == found.strip() != "" for _, found in sections_in(text))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(ASKED_FOR),
            st.lists(st.from_regex(r"[a-z]{1,9}( [a-z]{1,9}){0,4}", fullmatch=True), min_size=1, max_size=4),
        ),
        max_size=9,
    ),
    st.sampled_from(["## {}\n", "**{}**\n\n", "{}:\n", "1. {}:\n", "**{}:**\n"]),
)
def test_what_was_written_in_sections_is_read_in_them(
    digest: list[tuple[str, list[str]]], heading: str
) -> None:
    text = "\n".join(
        heading.format(name) + "".join(f"- {sentence}\n" for sentence in sentences)
        for name, sentences in digest
    )
    expected = [(Section[name.upper()], one_line(one)) for name, sentences in digest for one in sentences]
    assert list(sections_in(text)) == expected


def calls_in(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls."""
    count = 0

    def count_call(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        "Goal: a\n",
        "# Goal\n###### x\na\n\n",
        "**a**\n\n",
        "- Next:\n",
        "  - Files: b\n",
        "1. Goal:\n\n",
        "| a | b |\n",
        "```\n",
        "> a\n",
        " ",
        "*",
        "**a",
        "a ",
        "(",
        "goal ",
        "key technical ",
        "目标",
    ],
)
def test_a_hundred_kilobytes_are_read_in_linear_time(piece: str) -> None:
    small, large = (piece * (size // len(piece)) for size in (25_000, 100_000))
    assert calls_in(lambda: sections_in(large)) < 5 * calls_in(lambda: sections_in(small)) + 500
