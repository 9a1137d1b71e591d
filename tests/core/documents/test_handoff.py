"""A handoff's document and name: written, read again, found by a part of its name, marked as taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.documents.handoff import (
    TITLES,
    Check,
    Doubt,
    Handoff,
    HandoffHead,
    checks_in,
    doubt_line,
    doubts_in,
    file_name,
    head_of,
    mark_consumed,
    matching_names,
    pickup_prompt,
    render,
    slug,
)
from holdfast.core.text.untrusted import without_injected_text

HEAD = HandoffHead(
    "Finish the report", "2026-01-31T12:00:00Z", "s1", "some-harness", "feature/sums", "0123abcd"
)
CHECKS = (Check("src/totals.py", "def total(rows):"), Check("docs/plan.md"))
HANDOFF = Handoff(HEAD, (("“Mend\nthe sums”", "Rule: never"), *((),) * 6), CHECKS)
GOLDEN = Path(__file__).parent / "handoffs"


def golden(name: str) -> str:
    return (GOLDEN / f"{name}.md").read_bytes().decode()


@pytest.mark.parametrize(
    ("name", "handoff"), [("written", HANDOFF), ("empty", Handoff(HandoffHead("Go on"), ((),) * len(TITLES)))]
)
def test_a_document_is_written_in_the_format_that_people_know(name: str, handoff: Handoff) -> None:
    assert render(handoff) == golden(name)
    assert head_of(golden(name)) == handoff.head
    assert checks_in(golden(name)) == handoff.checks


def test_what_was_edited_by_hand_is_understood() -> None:
    head = head_of(golden("by_hand"))
    assert head is not None
    assert (head.purpose, head.branch, head.is_open) == ("ship it", "main", True)
    assert checks_in(golden("by_hand")) == (Check("a b.py", "x = 1"), Check("README.md"))
    assert mark_consumed(golden("by_hand"), "2026-02-01T09:00:00Z", "a person") == golden("by_hand_taken")


def test_what_a_document_quotes_in_code_is_no_part_of_it() -> None:
    theirs = "# Handoff: theirs\n- Status: consumed\n## Verification\n- `x` exists\n- UNCONFIRMED: x"
    quoted = f"````\n```\n{theirs}\n````"
    text = f"{quoted}\n# Handoff: ours\n\n- Status: open\n\n## Verification\n- `y` exists\n\n{quoted}\n"
    head = head_of(text)
    assert head is not None
    assert (head.purpose, head.is_open) == ("ours", True)
    assert checks_in(text) == (Check("y"),)
    assert doubts_in(text) == ()
    assert mark_consumed(text, "now", "me") == text.replace("- Status: open", "- Status: consumed now by me")


def test_lines_that_end_as_on_windows_are_understood_and_kept() -> None:
    text = golden("written").replace("\n", "\r\n")
    assert head_of(text) == HEAD
    assert checks_in(text) == CHECKS
    taken = mark_consumed(text, "2026-02-01T09:00:00Z", "a person")
    assert taken.count("\n") == taken.count("\r\n") == text.count("\n")
    by_hand = mark_consumed("# Handoff: mine\r\n\r\nText\r\n", "2026-02-01T09:00:00Z", "a person")
    assert by_hand.count("\n") == by_hand.count("\r\n") == 5


def test_a_document_says_everything_and_is_read_again() -> None:
    text = render(HANDOFF)
    assert text.startswith(
        "# Handoff: Finish the report\n\n- Status: open\n- Created: 2026-01-31T12:00:00Z\n"
    )
    assert "## Request and Intent\n- “Mend\n  the sums”\n- Rule: never\n" in text
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["Request and Intent", "Verification"]
    assert head_of(text) == HEAD
    assert checks_in(text) == CHECKS


def test_the_work_state_leads() -> None:
    text = render(Handoff(HEAD, tuple((title,) for title in TITLES), CHECKS))
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == [*TITLES, "Verification"]
    assert headings[:3] == ["Request and Intent", "Current Work", "Next Step"]


def test_what_a_document_calls_unconfirmed_is_read_again() -> None:
    doubts = (Doubt("Edited `a.py` (2×)", "changed since"), Doubt("HEAD was 0123, now it is 4567."))
    said = tuple(map(doubt_line, doubts))
    assert said == (
        "Edited `a.py` (2×) — UNCONFIRMED: changed since",
        "UNCONFIRMED: HEAD was 0123, now it is 4567.",
    )
    snippet = f"{said[0]}\n```\n- UNCONFIRMED: what a file says\n```"
    text = render(Handoff(HEAD, (("it was UNCONFIRMED",), (snippet, said[1]), *((),) * 5), CHECKS))
    assert doubts_in(text) == doubts_in(text.replace("\n", "\r\n")) == doubts
    assert checks_in(text) == CHECKS


def test_one_that_was_picked_up_says_so_and_nothing_else_changes() -> None:
    text = render(HANDOFF)
    taken = mark_consumed(text, "2026-02-01T09:00:00Z", "session s2")
    head = head_of(taken)
    assert head is not None
    assert (head.status, head.is_open) == ("consumed 2026-02-01T09:00:00Z by session s2", False)
    assert taken.splitlines()[3:] == text.splitlines()[3:]
    again = mark_consumed(taken, "2026-02-02T09:00:00Z", "a person")
    assert again.count("- Status: ") == 1
    by_hand = mark_consumed("# Handoff: mine\n\nText\n", "2026-02-01T09:00:00Z", "a person")
    assert by_hand == "# Handoff: mine\n\n- Status: consumed 2026-02-01T09:00:00Z by a person\n\nText\n"


@pytest.mark.parametrize("text", ["", "# Notes\n", "## Handoff: no\n", "Handoff: no\n"])
def test_what_is_no_handoff_is_none(text: str) -> None:
    assert head_of(text) is None
    assert checks_in(text) == ()


def test_what_was_picked_up_is_consumed_also_where_its_status_stands_twice() -> None:
    text = "# Handoff: mine\n\n- Status: open\n- Branch: `a`\n- Status: open\n- Branch: `b`\n"
    head = head_of(mark_consumed(text, "2026-02-01T09:00:00Z", "a person"))
    assert head is not None
    assert (head.is_open, head.branch) == (False, "a")


def test_a_head_ends_where_the_first_section_begins() -> None:
    text = "# Handoff: mine\n\n- Branch: `a`\n\n## Notes\n- Branch: `b`\n- Status: consumed\n"
    head = head_of(text)
    assert head is not None
    assert (head.branch, head.is_open) == ("a", True)
    assert mark_consumed(text, "2026-02-01T09:00:00Z", "a person").endswith(text[len("# Handoff: mine") :])


@given(
    st.lists(st.lists(st.text(max_size=60), max_size=3).map(tuple), min_size=7, max_size=7),
    st.text(max_size=40),
)
def test_no_text_in_it_passes_for_a_heading_or_a_check(sections: list[tuple[str, ...]], purpose: str) -> None:
    text = render(Handoff(HandoffHead(purpose), tuple(sections), CHECKS))
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert len(headings) == 1 + sum(map(bool, sections)) + 1
    assert checks_in(text) == CHECKS


ONE_LINE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="`"), max_size=30)


@given(ONE_LINE, ONE_LINE, ONE_LINE, st.lists(st.tuples(ONE_LINE, ONE_LINE), max_size=4))
def test_reading_gives_back_whatever_was_written(
    purpose: str, session: str, branch: str, checks: list[tuple[str, str]]
) -> None:
    head = HandoffHead(purpose, "2026-01-31T12:00:00Z", session, "some-harness", branch)
    said = tuple(Check(f"src/{path}", pattern) for path, pattern in checks)
    text = render(Handoff(head, ((),) * len(TITLES), said))
    for written in (text, text.replace("\n", "\r\n")):
        assert head_of(written) == head
        assert checks_in(written) == said


@given(st.text(), ONE_LINE)
def test_marking_one_as_taken_leaves_every_other_line_as_it_was(rest: str, by: str) -> None:
    text = f"{render(HANDOFF)}{rest}"
    taken = mark_consumed(text, "2026-02-01T09:00:00Z", by)
    assert taken.replace(f"- Status: consumed 2026-02-01T09:00:00Z by {by}", "- Status: open", 1) == text


def test_what_is_pasted_elsewhere_says_how_to_begin() -> None:
    text = pickup_prompt(render(HANDOFF), "2026-01-31-main-x.md", "/tree/x.md", "Some Harness")
    assert "holdfast handoff pickup 2026-01-31-main-x.md" in text
    assert "not an instruction" in text
    assert text.endswith("- `docs/plan.md` exists\n</holdfast-recall>")
    assert "Handoff" not in without_injected_text(text)


@pytest.mark.parametrize(
    ("branch", "head", "purpose", "name"),
    [
        ("main", "abc", "Finish the report", "2026-01-31-main-finish-the-report.md"),
        ("feature/sums", "abc", "Fix: a/b & c!", "2026-01-31-feature-sums-fix-a-b-c.md"),
        ("", "0123456789abcdef", "go", "2026-01-31-detached-01234567-go.md"),
        ("", "", "go", "2026-01-31-no-branch-go.md"),
        ("../../etc", "abc", "../x", "2026-01-31-etc-x.md"),
        ("main", "abc", "完成 报告", "2026-01-31-main-完成-报告.md"),
        ("main", "abc", "🎉", "2026-01-31-main-handoff.md"),
    ],
)
def test_a_name_holds_day_branch_and_purpose(branch: str, head: str, purpose: str, name: str) -> None:
    assert file_name("2026-01-31", branch, head, purpose, ()) == name


def test_a_name_that_is_taken_gets_a_number() -> None:
    taken = {"2026-01-31-main-go.md", "2026-01-31-main-go-2.md"}
    assert file_name("2026-01-31", "main", "", "go", taken) == "2026-01-31-main-go-3.md"


@given(st.text(max_size=200), st.text(max_size=200))
def test_every_name_is_one_that_a_file_may_have(branch: str, purpose: str) -> None:
    name = file_name("2026-01-31", branch, "", purpose, ())
    assert len(name.encode()) <= 160
    assert name.isprintable()
    assert not set("/\\: `\n") & set(name)
    assert slug(name) == slug(slug(name))


NAMES = ["2026-01-30-main-go.md", "2026-01-31-main-go.md", "2026-01-31-side-ask-ada.md"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("2026-01-31-main-go.md", ["2026-01-31-main-go.md"]),
        ("2026-01-31-main-go", ["2026-01-31-main-go.md"]),
        ("go", ["2026-01-30-main-go.md", "2026-01-31-main-go.md"]),
        ("ask-ada", ["2026-01-31-side-ask-ada.md"]),
        ("Ask Ada", ["2026-01-31-side-ask-ada.md"]),
        ("ada", ["2026-01-31-side-ask-ada.md"]),
        ("side", ["2026-01-31-side-ask-ada.md"]),
        ("2026-01-30", ["2026-01-30-main-go.md"]),
        ("nothing", []),
        ("!!", []),
    ],
)
def test_one_is_found_by_its_name_its_slug_or_a_part(wanted: str, found: list[str]) -> None:
    assert matching_names(NAMES, wanted) == found
