"""How the items of a brief are laid out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.brief_input import COMMANDS, FILES, GOAL, IN_USE, OVER_BUDGET, STATE, Item
from holdfast.core.brief.layout import (
    NAMES_BESIDE,
    PLAIN_SHARE,
    TRIMMED,
    PageState,
    Sheet,
    grouped_paths,
    lines,
    readable,
    written_length,
)
from holdfast.core.text.strings import contains_whole
from tests.core.scenes import NOON

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
    assert list(grouped_paths(texts)) == told


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


def test_names_of_a_file_that_is_not_shown_stand_in_the_list() -> None:
    names = [item(name, lead=IN_USE, beside="src/a.py") for name in NAMES]
    assert list(lines(names)) == ["\n### Files in play", f"- {IN_USE}: {', '.join(NAMES)}"]


def test_a_line_is_as_long_as_what_stands_in_it() -> None:
    page = PageState()
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
    told = ", ".join(grouped_paths(paths))
    result = [name.rsplit("{", 1)[-1].rsplit("/", 1)[-1] for name in told.replace("}", "").split(", ")]
    assert sorted(result) == sorted(path.rsplit("/", 1)[-1] for path in paths)
    assert len(told) <= len(", ".join(paths))


@given(st.lists(PATHS, unique=True, min_size=1, max_size=12))
def test_files_never_take_more_than_was_reckoned(paths: list[str]) -> None:
    page, cost = PageState(), 0
    rows = [file(path) for path in paths]
    for row in rows:
        cost += page.cost(row)
        page.write(row)
    assert sum(len(line) + 1 for line in lines(rows)) <= cost + len(paths) * 2


HEADLINE = "## Session Recovery Context\nThis is what was kept of it all, to be checked."


def names(count: int) -> tuple[Item, ...]:
    return tuple(
        Item(FILES, f"parse_part_{number}", NOON, kind="name", key=f"parse_part_{number}", lead=IN_USE)
        for number in range(count)
    )


def sentence(text: str, *, rendered: bool = False) -> Item:
    omitted = "" if rendered else OVER_BUDGET
    return Item(STATE, text, NOON, kind="statement", key=text, rendered=rendered, omitted=omitted)


def chosen(*items: Item) -> tuple[Item, ...]:
    return tuple(replace(item, rendered=True) if item.lead else item for item in items)


def on(items: tuple[Item, ...]) -> Sheet:
    return Sheet(HEADLINE, written_length(items))


def test_what_reads_well_stays_as_it_is() -> None:
    few = chosen(*names(5), sentence("So it goes on."))
    assert readable(few, on(few)) == few


def test_the_last_names_give_way_to_a_sentence_that_had_no_room() -> None:
    many = chosen(*names(30), sentence("The backoff starts at zero, so the third try comes too early."))
    after = readable(many, on(many))
    assert on(many).holds(after)
    assert on(many).reads_well(after)
    assert not on(many).reads_well(many)
    assert after[-1].rendered
    kept = [item.rendered for item in after[:-1]]
    assert kept == sorted(kept, reverse=True)
    assert {item.omitted for item in after if not item.rendered} == {TRIMMED}


def test_a_sentence_that_another_one_tells_is_not_said_again() -> None:
    told = sentence("All five tests pass, as they did before it.", rendered=True)
    many = chosen(*names(36), told, sentence("All five tests pass"))
    after = readable(many, on(many))
    assert any(item.omitted == TRIMMED for item in after)
    assert not after[-1].rendered


def test_where_there_is_hardly_anything_but_names_they_stay() -> None:
    bare = chosen(*names(120))
    assert readable(bare, on(bare)) == bare
    assert PLAIN_SHARE < 0.5


def test_a_name_is_said_only_where_it_stands_alone() -> None:
    assert contains_whole("see `run`, then stop", "run")
    assert not contains_whole("see run_all and pre-run", "run")
