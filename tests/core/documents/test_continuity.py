"""Continuity: a document keeps a person's lines, and takes in what a session has to say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.documents.continuity import (
    ITEMS_MOST,
    TITLES,
    ContinuityDocument,
    ContinuityPart,
    LayerName,
    LayerSummary,
    MergedContinuity,
    Unusable,
    WrittenItems,
    blank,
    document_with_summary,
    entries,
    front_matter_field,
    items_of_user,
    key,
    merge_summary,
    parse,
    render,
    summary_of,
    with_front_matter,
)
from tests.tables import every_row


def document(text: str) -> ContinuityDocument:
    result = parse(text)
    assert isinstance(result, ContinuityDocument)
    return result


HAND_WRITTEN = """\
---
layer: project
mood: hopeful
---

# What I am at

A line above all sections.

## Goal

Ship the retry
with its tests.

## Next
- [ ] ask Ada
  about the port
* read the log

## My own notes
Nobody else's business.
"""


def test_a_document_says_what_its_sections_hold() -> None:
    assert summary_of(document(HAND_WRITTEN)) == LayerSummary(
        "Ship the retry with its tests.",
        {ContinuityPart.NEXT: ("[ ] ask Ada about the port", "read the log")},
    )


@pytest.mark.parametrize("text", ["", "\n", "# Title", HAND_WRITTEN, HAND_WRITTEN.replace("\n", "\r\n")])
def test_reading_and_writing_changes_no_byte(text: str) -> None:
    assert render(document(text)) == text


LINES = st.lists(
    st.one_of(
        st.sampled_from(["", "---", "- one", "  more", "## Goal", "## Tried and failed", "## Mine", "word"]),
        st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r\n"), max_size=20),
    ),
    max_size=14,
)


@given(lines=LINES, newline=st.sampled_from(["\n", "\r\n"]), ended=st.booleans())
def test_any_document_is_written_as_it_was_read(lines: list[str], newline: str, *, ended: bool) -> None:
    text = newline.join(lines) + (newline if ended else "")
    result = parse(text)
    assert isinstance(result, Unusable) or render(result) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\nlayer: project\n", "its front matter begins with `---` in line 1 and does not end"),
        ("## Goal\na\n## Goal\nb\n", "`## Goal` is the second section of its kind"),
        ("## Next\n## Incomplete / next\n", "`## Incomplete / next` is the second section of its kind"),
        ("a\r\nb\n", "some of its lines end in CR LF and some in LF"),
        ("a\0b", "it is not text"),
    ],
)
def test_what_cannot_be_continued_says_why(text: str, reason: str) -> None:
    assert parse(text) == Unusable(reason)


@every_row(
    "title", [*TITLES.values(), *ContinuityPart, "Incomplete/next", "Next", "goal", "CONFIRMED WORKING"]
)
def test_a_section_is_known_by_any_of_its_names(title: str) -> None:
    assert document(f"## {title}\n").sections[0].part is not None


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        ("```sh", "```"),
        ("~~~", "~~~"),
        ("<!-- as a template", "-->"),
        ("````\n```", "```\n````"),
        ("~~~~\n~~~", "~~~~"),
        ("```\n~~~", "```"),
    ],
)
def test_what_stands_in_code_or_a_comment_is_no_section(begins: str, ends: str) -> None:
    mine, goal = (
        f"## Mine\n{begins}\n## Goal\n{ends}\n\n",
        f"## Goal\n- ship it\n\n{begins}\n- a\n\n- b\n{ends}\n",
    )
    read = document(mine + goal)
    assert [section.heading for section in read.sections] == ["## Mine", "## Goal"]
    assert len(list(entries(read.section(ContinuityPart.GOAL)))) == 2
    assert render(read) == mine + goal


@pytest.mark.parametrize("begins", ["```", "````\n```", "~~~ sh", "<!-- a note"])
def test_a_mark_that_nobody_closed_hides_no_section(begins: str) -> None:
    read = document(f"## Goal\n{begins}\n\n## Next\n- ship it\n")
    assert [section.part for section in read.sections] == [ContinuityPart.GOAL, ContinuityPart.NEXT]


def test_a_comment_below_an_item_of_holdfast_stays_when_the_item_is_replaced() -> None:
    before, after = (LayerSummary("", {ContinuityPart.NEXT: (text,)}) for text in ("ship it", "ship both"))
    ours = document_with_summary(LayerName.SHARED, before)
    text = render(ours.document).replace("- ship it\n", "- ship it\n<!-- ask Ada -->\n")
    merged = merge_summary(document(text), after, ours.written)
    assert "next\n<!-- ask Ada -->\n- ship both\n" in render(merged.document)


def test_front_matter_keeps_what_others_wrote() -> None:
    stamped_once = with_front_matter(document(HAND_WRITTEN), updated="now", layer="project-local")
    assert [front_matter_field(stamped_once, name) for name in ("layer", "mood", "updated", "none")] == [
        "project-local",
        "hopeful",
        "now",
        "",
    ]
    assert front_matter_field(with_front_matter(document("word\n"), updated="now"), "updated") == "now"


# ---------------------------------------------------------------- merging


def shown(found: MergedContinuity) -> LayerSummary:
    return summary_of(document(render(found.document)))


WORK = LayerSummary(
    "Mend the retry",
    {
        ContinuityPart.CONFIRMED: ("`make test` passed (4 passed)",),
        ContinuityPart.FAILED: ("`make lint` failed: E501",),
        ContinuityPart.UNTRIED: ("Could try tenacity.",),
        ContinuityPart.NEXT: ("Run the linter again",),
    },
)


def test_a_new_document_says_what_the_session_says() -> None:
    assert shown(document_with_summary(LayerName.SHARED, WORK)) == WORK


@pytest.mark.parametrize(
    ("later", "part", "items"),
    [
        (
            LayerSummary("", {ContinuityPart.CONFIRMED: ("`make lint` passed",)}),
            ContinuityPart.CONFIRMED,
            ("`make test` passed (4 passed)", "`make lint` passed"),
        ),
        (LayerSummary("", {ContinuityPart.CONFIRMED: ("`make lint` passed",)}), ContinuityPart.FAILED, ()),
        (
            LayerSummary("", {ContinuityPart.FAILED: ("`make test` failed: 1 error",)}),
            ContinuityPart.CONFIRMED,
            (),
        ),
        (
            LayerSummary("", {ContinuityPart.CONFIRMED: ("`make test` passed (5 passed)",)}),
            ContinuityPart.CONFIRMED,
            None,
        ),
        (LayerSummary("Write docs"), ContinuityPart.NEXT, ()),
        (LayerSummary(), ContinuityPart.NEXT, ("Run the linter again",)),
        (LayerSummary("Write docs"), ContinuityPart.UNTRIED, ("Could try tenacity.",)),
    ],
)
def test_what_is_settled_does_not_linger(
    later: LayerSummary, part: ContinuityPart, items: tuple[str, ...] | None
) -> None:
    first = document_with_summary(LayerName.SHARED, WORK)
    assert shown(merge_summary(first.document, later, first.written)).of(part) == (
        later.of(part) if items is None else items
    )


def test_a_goal_stays_until_there_is_another() -> None:
    first = document_with_summary(LayerName.SHARED, WORK)
    assert shown(merge_summary(first.document, LayerSummary(), first.written)).goal == "Mend the retry"
    assert (
        shown(merge_summary(first.document, LayerSummary("Write docs"), first.written)).goal == "Write docs"
    )


def test_a_goal_that_a_person_wrote_stays() -> None:
    assert (
        shown(merge_summary(document(HAND_WRITTEN), WORK, WrittenItems())).goal
        == "Ship the retry with its tests."
    )


def test_what_a_person_took_out_is_not_put_back() -> None:
    first = document_with_summary(LayerName.SHARED, WORK)
    edited = document(render(first.document).replace("- Could try tenacity.\n", ""))
    second = merge_summary(edited, WORK, first.written)
    third = merge_summary(second.document, WORK, second.written)
    assert shown(third).of(ContinuityPart.UNTRIED) == ()


def test_a_section_of_ours_does_not_grow_for_ever() -> None:
    result = MergedContinuity(blank(LayerName.SHARED), WrittenItems())
    for number in range(3 * ITEMS_MOST):
        one = LayerSummary("", {ContinuityPart.FAILED: (f"`try {number}` failed",)})
        result = merge_summary(result.document, one, result.written)
    assert shown(result).of(ContinuityPart.FAILED)[-1] == f"`try {3 * ITEMS_MOST - 1}` failed"
    assert len(shown(result).of(ContinuityPart.FAILED)) == ITEMS_MOST


ITEMS = st.lists(st.text(st.characters(categories=["L", "N", "P", "Z"]), max_size=12), max_size=3)
SUMMARIES = st.builds(
    lambda goal, rows: LayerSummary(goal.strip(), {part: tuple(items) for part, items in rows.items()}),
    st.text(st.characters(categories=["L", "N", "P"]), max_size=12),
    st.dictionaries(st.sampled_from(list(ContinuityPart)[1:]), ITEMS, max_size=4),
)


@given(lines=LINES, first=SUMMARIES, second=SUMMARIES)
def test_a_merge_loses_no_line_of_a_person_and_is_the_same_when_done_again(
    lines: list[str], first: LayerSummary, second: LayerSummary
) -> None:
    result = parse("\n".join(lines))
    if isinstance(result, Unusable):
        return
    once = merge_summary(result, first, WrittenItems())
    twice = merge_summary(once.document, second, once.written)
    written = render(twice.document).split("\n")
    assert [line for line in lines if line.strip() and line not in written] == []
    again = merge_summary(document(render(twice.document)), second, twice.written)
    assert (render(again.document), again.written) == (render(twice.document), twice.written)


def test_the_same_item_in_other_words_is_one() -> None:
    assert key("Run  the tests.") == key("run the tests")


# ---------------------------------------------------------------- edited by hand

OWN_LINES = st.sampled_from(
    [
        "- ask Ada",
        "* [ ] look at the port",
        "1. first",
        "A thought.",
        "> quoted",
        "```",
        "### Below",
        "  more",
    ]
)
EDITS = st.lists(st.tuples(st.integers(0, 60), st.one_of(OWN_LINES, st.none())), max_size=6)
"""Where a line is put in, or, without one, where the line that stands there is taken out."""


def by_hand(text: str, edits: list[tuple[int, str | None]]) -> tuple[str, list[str]]:
    """The text after someone edited its sections, and the lines that they put in and left in."""
    lines = text.split("\n")
    start = lines.index("## Goal") + 1
    mine: list[str] = []
    for place, line in edits:
        at = min(start + place, len(lines) - 1)
        if line is not None:
            lines.insert(at, line)
            mine.append(line)
        elif lines[at] not in mine and not lines[at].startswith("## "):
            del lines[at]
    return "\n".join(lines), mine


@given(first=SUMMARIES, second=SUMMARIES, edits=EDITS)
def test_a_file_of_ours_that_was_edited_keeps_every_line_of_the_person(
    first: LayerSummary, second: LayerSummary, edits: list[tuple[int, str | None]]
) -> None:
    ours = document_with_summary(LayerName.LOCAL, first)
    edited, mine = by_hand(render(ours.document), edits)
    result = document(edited)
    assert render(result) == edited
    after = merge_summary(result, second, ours.written)
    written = render(after.document).split("\n")
    assert [line for line in mine if line not in written] == []
    again = merge_summary(document(render(after.document)), second, after.written)
    assert (render(again.document), again.written) == (render(after.document), after.written)


def test_an_item_is_not_open_where_a_person_wrote_that_it_is_done() -> None:
    mine = document("## Confirmed working\n- The docs are written\n")
    merged = merge_summary(
        mine, LayerSummary("", {ContinuityPart.NEXT: ("The docs are written.", "Tag it")}), WrittenItems()
    )
    assert summary_of(merged.document).of(ContinuityPart.NEXT) == ("Tag it",)
    assert items_of_user(merged.document, merged.written) == ("The docs are written",)


def test_an_item_that_was_done_and_is_open_again_is_not_told_as_done() -> None:
    done = LayerSummary("", {ContinuityPart.CONFIRMED: ("Write the docs", "Tag it")})
    first = merge_summary(blank(LayerName.LOCAL), done, WrittenItems())
    again = merge_summary(
        first.document, LayerSummary("", {ContinuityPart.NEXT: ("Write the docs",)}), first.written
    )
    summary = summary_of(again.document)
    assert (summary.of(ContinuityPart.CONFIRMED), summary.of(ContinuityPart.NEXT)) == (
        ("Tag it",),
        ("Write the docs",),
    )
