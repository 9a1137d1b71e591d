"""Selection: what a brief says, within its room, of everything that it could say."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.brief_input import OVER_BUDGET, Item, title_of_section
from holdfast.core.brief.layout import cost_of
from holdfast.core.brief.select import (
    FEW_WORDS,
    LENGTH_POWER,
    LINE_CHARS,
    NEWS_SHARE,
    OF_LITTLE_USE,
    OTHER_SHARE,
    REPEATED,
    SAME_WORDS,
    SHARES,
    select,
)
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.text.strings import content_words
from holdfast.core.work.state import StatementSource

GOAL, DONE, NEXT = map(title_of_section, (Section.GOAL, Section.DONE, Section.NEXT))
SIZES = "small large old new first last green blue wide narrow".split()


def item(text: str, section: str = DONE, score: float = 0.5, lead: str = "") -> Item:
    return Item(section, text, 0, score=score, lead=lead, key=text)


def chosen(items: list[Item], room: int) -> list[str]:
    return [one.text for one in select(items, room) if one.rendered]


def test_what_is_worth_more_for_its_length_comes_first() -> None:
    short, long = item("The lexer reads numbers.", score=0.5), item("The parser " + "re" * 60, score=0.6)
    assert chosen([long, short], 60) == [short.text]
    assert chosen([long, replace(short, score=0.05)], 160) == [long.text]


def test_items_stay_in_their_order_and_each_is_accounted_for() -> None:
    items = [item(f"The {size} table is mended.", score=0.1 * place) for place, size in enumerate(SIZES)]
    selected = select(items, 150)
    assert [one.text for one in selected] == [one.text for one in items]
    assert all(one.rendered != bool(one.omitted) for one in selected)
    assert {one.omitted for one in selected if not one.rendered} == {OVER_BUDGET}


def test_a_section_that_has_its_share_gives_way_to_another() -> None:
    done = [item(f"The {size} {size} table of the shop is mended.") for size in SIZES]
    step = item("Count the rows of the register at night.", NEXT, score=0.3)
    texts = chosen([*done, step], 300)
    assert step.text in texts
    assert len(texts) < len(done), "there was no room for all"
    alone = chosen([*done, replace(step, section=DONE)], 300)
    assert step.text not in alone, "without a share of its own it is worth too little"


def test_what_somebody_said_in_passing_is_not_told_even_if_there_is_room() -> None:
    remark = replace(item("Much cleaner!", score=0.1), kind=NoteKind.FINDING)
    fact = item("The branch is main.", score=0.1)
    selected = select([remark, fact, replace(remark, text="It rounds twice.", score=0.3)], 1_000)
    assert [one.omitted for one in selected] == [OF_LITTLE_USE, "", ""]


def test_nothing_is_told_twice() -> None:
    first = item("The till reads the clock of the shop for every sale.", score=0.9)
    again = item("For every sale, the till reads the clock of the shop!", score=0.8)
    selected = select([again, first], 1_000)
    assert [(one.text, one.omitted) for one in selected] == [(again.text, REPEATED), (first.text, "")]


def test_two_steps_that_differ_in_a_number_are_both_told() -> None:
    steps = [item(f"Bring step {number} of the reader over to the new lexer", NEXT) for number in (1, 2)]
    assert chosen(steps, 1_000) == [step.text for step in steps]


def test_files_in_a_list_are_no_repetition() -> None:
    files = [item(f"src/reader/parts/{name}.py", lead="Changed") for name in ("a", "b", "c")]
    assert len(chosen(files, 1_000)) == len(files)


def quadratic(items: list[Item], room: int) -> list[str]:
    """The same by the definition: each time, the best of all that are left."""
    left, picked, whole = list(enumerate(items)), list[tuple[int, Item]](), max(room, 1)

    def value(entry: tuple[int, Item]) -> tuple[float, int]:
        place, one = entry
        words = content_words(one.key)
        known = frozenset[str]().union(*(content_words(other.key) for _, other in picked))
        length = sum(len(other.text) for _, other in picked if other.section == one.section)
        share = length / (SHARES.get(one.section, OTHER_SHARE) * whole)
        repeated = len(words & known) / len(words) if words else 0.0
        worth = one.score * (1 - NEWS_SHARE * repeated) / (1 + share * share)
        return worth / max(len(one.text) + (0 if one.lead else LINE_CHARS), 1) ** LENGTH_POWER, -place

    def says_the_same(one: Item, other: Item) -> bool:
        words, known = content_words(one.key), content_words(other.key)
        is_same = one.section == other.section and words == known and bool(words)
        is_same |= len(words) >= FEW_WORDS and len(words & known) >= SAME_WORDS * len(words)
        return is_same and not any(char.isdigit() for word in words - known for char in word)

    while left:
        best = max(left, key=value)
        left.remove(best)
        one = best[1]
        listed = sum(1 for _, other in picked if (other.section, other.lead) == (one.section, one.lead))
        is_first = all(other.section != one.section for _, other in picked)
        cost = cost_of(one, is_first=is_first, listed=listed)
        sentences = [other for _, other in picked if not other.lead]
        if (one.lead or not any(says_the_same(one, other) for other in sentences)) and cost <= room:
            picked.append(best)
            room -= cost
    return [one.text for _, one in sorted(picked, key=lambda entry: entry[0])]


WORDS = st.sampled_from([*SIZES, "1", "22", "table", "row", "lexer", "src/a.py", "the", "of"])
ITEMS = st.builds(
    item,
    st.lists(WORDS, min_size=1, max_size=9).map(" ".join),
    st.sampled_from([GOAL, DONE, NEXT, "Other"]),
    st.sampled_from([0.1, 0.2, 0.35, 0.5, 0.9, 4.0]),
    st.sampled_from(["", "", "Changed"]),
)


@given(st.lists(ITEMS, max_size=14), st.integers(0, 500))
def test_it_chooses_the_same_as_taking_the_best_of_all_each_time(items: list[Item], room: int) -> None:
    assert chosen(items, room) == quadratic(items, room)


ASKED = "Refuse refunds beyond what was paid"
REQUEST = Item(GOAL, f"Do two things: Round order totals to whole cents; {ASKED}", 1, score=4.0)


def test_an_item_of_the_request_is_told_again_with_its_state_and_once() -> None:
    listed = replace(item(ASKED, NEXT), kind=str(StatementSource.ITEM))
    assert select([REQUEST, listed], 1_000)[1].rendered
    _, *twice = select([REQUEST, listed, listed], 1_000)
    assert sorted(one.omitted for one in twice) == ["", REPEATED]


def test_another_sentence_that_repeats_the_request_is_left_out() -> None:
    _, told = select([REQUEST, replace(item(ASKED, NEXT), kind=str(StatementSource.MESSAGE))], 1_000)
    assert told.omitted == REPEATED
