"""Names leave enough plain words to read, and what they leave room for is said."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.brief.brief_input import FILES, IN_USE, OVER_BUDGET, STATE, Item
from holdfast.core.brief.form import PLAIN_SHARE, TRIMMED, Sheet, readable
from holdfast.core.brief.layout import written
from holdfast.core.text.strings import contains_whole
from tests.core.scenes import NOON

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
    return Sheet(HEADLINE, written(items))


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
