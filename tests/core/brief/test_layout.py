"""How the items of a brief are laid out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.brief_input import COMMANDS, FILES, GOAL, IN_USE, Item
from holdfast.core.brief.layout import NAMES_BESIDE, Page, lines, together

NAMES = [f"name_{n}" for n in range(NAMES_BESIDE)]


def item(text: str, section: str = FILES, lead: str = "", path: str = "", beside: str = "") -> Item:
    return Item(section, text, 0, "s1", lead=lead, path=path, beside=beside, rendered=True)


def file(path: str, lead: str = "Edited") -> Item:
    return item(path, lead=lead, path=path)


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["src/a.py", "src/b.py"], ["src/{a.py, b.py}"]),
        (["src/app/a.py", "src/app/b.py", "src/c.py"], ["src/app/{a.py, b.py}", "src/c.py"]),
        (["src/core/a.py", "src/cli/b.py", "x.py"], ["src/{core/a.py, cli/b.py}", "x.py"]),
        (["a/b.py", "c/d.py"], ["a/b.py", "c/d.py"]),
        (["apps/cli/", "apps/cli/src/"], ["apps/cli/", "apps/cli/src/"]),
        (["`bin/run a`", "`bin/run b`"], ["`bin/run a`", "`bin/run b`"]),
        (["http://a.org/x", "http://a.org/y"], ["http://a.org/x", "http://a.org/y"]),
        ([], []),
    ],
)
def test_paths_share_their_beginning_where_that_saves_most(texts: list[str], told: list[str]) -> None:
    assert list(together(texts)) == told


def test_sections_come_in_their_order_and_things_behind_their_labels() -> None:
    rows = (
        item("`make`", COMMANDS, lead="Passed"),
        item("“mend it”", GOAL),
        file("src/a.py"),
        file("src/b.py"),
    )
    assert "\n".join(lines(rows)) == (
        "\n### Goal\n- “mend it”\n"
        "\n### Files in play\n- Edited: src/{a.py, b.py}\n"
        "\n### Commands\n- Passed: `make`"
    )


def test_a_file_with_many_of_the_names_has_a_line_with_them() -> None:
    names = [item(name, lead=IN_USE, beside="src/a.py") for name in NAMES]
    text = "\n".join(lines((file("src/a.py"), file("src/b.py"), *names)))
    assert f"- Edited: src/a.py ({', '.join(NAMES)})" in text
    assert "- Edited: src/b.py" in text
    assert IN_USE not in text


def test_names_of_a_file_that_is_not_told_stand_in_the_list() -> None:
    names = [item(name, lead=IN_USE, beside="src/a.py") for name in NAMES]
    assert list(lines(names)) == ["\n### Files in play", f"- {IN_USE}: {', '.join(NAMES)}"]


def test_a_line_is_as_long_as_what_stands_in_it() -> None:
    page = Page()
    for name in NAMES:
        page.write(item(name, lead=IN_USE, beside="src/a.py"))
    page.write(item("alone", lead=IN_USE))
    assert page.in_line_with(item("more", lead=IN_USE, beside="src/a.py")) == len(NAMES)
    assert page.in_line_with(item("more", lead=IN_USE, beside="src/b.py")) == 1
    page.write(item("few", lead=IN_USE, beside="src/b.py"))
    assert page.in_line_with(item("more", lead=IN_USE)) == 2


PARTS = st.text("ab", min_size=1, max_size=3)
PATHS = st.lists(PARTS, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".py")


@given(st.lists(PATHS, unique=True, min_size=1, max_size=12))
def test_no_file_is_lost_in_a_list(paths: list[str]) -> None:
    told = ", ".join(together(paths))
    result = [name.rsplit("{", 1)[-1].rsplit("/", 1)[-1] for name in told.replace("}", "").split(", ")]
    assert sorted(result) == sorted(path.rsplit("/", 1)[-1] for path in paths)
    assert len(told) <= len(", ".join(paths))


@given(st.lists(PATHS, unique=True, min_size=1, max_size=12))
def test_files_never_take_more_than_was_reckoned(paths: list[str]) -> None:
    page, cost = Page(), 0
    rows = [file(path) for path in paths]
    for row in rows:
        cost += page.cost(row)
        page.write(row)
    assert sum(len(line) + 1 for line in lines(rows)) <= cost + len(paths) * 2
