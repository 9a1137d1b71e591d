"""Layout: the order of sections, lists of files with shared prefixes, no long lines of names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.brief_input import GOAL_KIND, OTHERS, SECTIONS, SINCE, Item, title_of_section
from holdfast.core.brief.layout import LINE_NAMES, cost_of, grouped_paths, lines, readable, written_length
from holdfast.core.evidence.kinds import Section
from tests.tables import every_row


def item(text: str, section: str, lead: str = "", kind: str = "") -> Item:
    return Item(section, text, 0, lead=lead, kind=kind, rendered=True)


def test_sections_come_in_the_order_of_a_handover_and_only_if_something_is_in_them() -> None:
    assert [section for section in SECTIONS if section not in ("Ledger", SINCE, OTHERS)] == [
        title_of_section(section) for section in Section
    ]
    items = [item(f"in {section}", section) for section in reversed(SECTIONS) if section != "Done"]
    headings = [line.removeprefix("\n### ") for line in lines(items) if line.startswith("\n### ")]
    assert headings == [section for section in SECTIONS if section != "Done"]


def test_the_current_request_leads_its_section() -> None:
    items = [item("Earlier: count the rows", "Goal"), item("Mend the till", "Goal", kind=GOAL_KIND)]
    assert list(lines(items)) == ["\n### Goal", "- Mend the till", "- Earlier: count the rows"]


def test_what_was_not_chosen_is_not_written() -> None:
    assert list(lines([Item("Done", "The till is mended.", 0)])) == []


NAMES = st.lists(
    st.from_regex(r"(?:[a-c]{1,3}/){0,3}[a-z]{1,6}\.py", fullmatch=True), max_size=30, unique=True
)


@given(NAMES)
def test_no_line_lists_more_than_six_names_and_every_name_can_be_read_off(paths: list[str]) -> None:
    written = [line for line in lines([item(path, "Now", "Edited") for path in paths]) if line[0] == "-"]
    names: list[str] = []
    for line in written:
        groups = re.findall(r"([^,{} ]*)\{([^}]*)\}|([^,{} ]+)", line.removeprefix("- Edited: "))
        of_line = [
            f"{prefix}{name}" for prefix, inside, whole in groups for name in (inside or whole).split(", ")
        ]
        assert len(of_line) <= LINE_NAMES
        names += of_line
    assert sorted(names) == sorted(paths)


@every_row(
    ("paths", "written"),
    [
        (["src/a.py", "src/b/c.py"], ["src/{a.py, b/c.py}"]),
        (["a/b.py", "c/d.py"], ["a/b.py", "c/d.py"]),
        (["src/x/a.py", "src/x/b.py", "doc.md"], ["src/x/{a.py, b.py}", "doc.md"]),
        (["`make test`", "`make lint`"], ["`make test`", "`make lint`"]),
    ],
)
def test_files_of_one_directory_share_its_name_where_that_is_shorter(
    paths: list[str], written: list[str]
) -> None:
    assert list(grouped_paths(paths)) == written


@given(NAMES)
def test_the_cost_of_items_is_never_less_than_what_they_take(paths: list[str]) -> None:
    items = [item(path, "Now", "Edited") for path in paths]
    costs = [cost_of(one, is_first=place == 0, listed=place) for place, one in enumerate(items)]
    assert written_length(items) <= sum(costs) + 1


SIX = "`a`, `b`, `c`, `d`, `e`, `f`"


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Round the totals, the taxes, the tips, the fees, the fines, the duties and the rest.",) * 2,
        (f"These changed: {SIX}.",) * 2,
        (f"These changed: {SIX}, `g`, and `h`; now test.", f"These changed: {SIX} and 2 more; now test."),
        (
            "In src/a.py, src/b.py, c_d, eF, g.py, h::i and j/k.ts it is fixed",
            "In src/a.py, src/b.py, c_d, eF, g.py, h::i and 1 more it is fixed",
        ),
        ("No (said on refusing `git add docs &&…`)", "No (said on refusing “git add docs &&…”)"),
        ("`make test` passed … at last: `make lint`",) * 2,
    ],
)
def test_a_sentence_is_shown_readably(sentence: str, shown: str) -> None:
    assert readable(sentence) == shown
    assert readable(shown) == shown
