"""The ledger's file: nothing in it is lost by reading and writing, and what it says is understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.documents.ledger import (
    Ledger,
    LedgerDocument,
    LedgerEntry,
    LedgerPart,
    blocks,
    conflict,
    entry_of,
    is_ledger,
    key_of,
    last_updated,
    new_ledger_text,
    parse,
    read,
    render,
)

GOLDEN = Path(__file__).parent / "ledgers"
AT = "2026-01-31T12:00:00Z"
WRITTEN = Ledger(
    goal=(LedgerEntry("Round totals half up"),),
    constraints=(
        LedgerEntry("Never touch legacy.py"),
        LedgerEntry("Python 3.11 is enough", unconfirmed=True),
    ),
    decisions=(LedgerEntry("Decimal instead of float", unconfirmed=True, why="not approved yet"),),
    done=(LedgerEntry("The parser reads negative amounts"),),
    now=(LedgerEntry("Mending `total()`"),),
    next=(LedgerEntry("Tax rounding"), LedgerEntry("The report")),
    questions=(LedgerEntry("Is the rates API up?", unconfirmed=True),),
    files=(
        LedgerEntry("`src/totals.py`", unconfirmed=True, why="changed since"),
        LedgerEntry("`src/tax.py`"),
    ),
    ids=(LedgerEntry("branch `main`"), LedgerEntry("#12")),
    commands=(LedgerEntry("`pytest tests/test_totals.py -q`"),),
)
BY_HAND = Ledger(
    goal=(LedgerEntry("Round totals half up, everywhere."),),
    constraints=(
        LedgerEntry("Never touch `legacy.py`"),
        LedgerEntry("Python 3.11 is enough (nobody asked the other team)", unconfirmed=True),
    ),
    decisions=(
        LedgerEntry("Decimal instead of float -", unconfirmed=True),
        LedgerEntry("no rounding in SQL"),
    ),
    done=(LedgerEntry("[x] the parser"), LedgerEntry("``` ## Now this is code ```")),
    now=(LedgerEntry("mending total()"),),
    questions=(LedgerEntry("Is the rates API up?", unconfirmed=True),),
    files=(LedgerEntry("src/totals.py"), LedgerEntry("`src/odd, name.py`", unconfirmed=True)),
    commands=(LedgerEntry("pytest -q"), LedgerEntry("`make a, b`")),
)


def golden(name: str) -> str:
    return (GOLDEN / f"{name}.md").read_bytes().decode()


@pytest.mark.parametrize(("name", "ledger"), [("written", WRITTEN), ("empty", Ledger())])
def test_a_ledger_is_written_in_the_format_that_people_know(name: str, ledger: Ledger) -> None:
    assert new_ledger_text(ledger, AT) == golden(name)
    assert read(parse(golden(name))) == ledger
    assert last_updated(parse(golden(name))) == AT


def test_what_was_edited_by_hand_is_understood() -> None:
    assert read(parse(golden("by_hand"))) == BY_HAND
    assert last_updated(parse(golden("by_hand"))) == "yesterday evening"


def test_lines_that_end_as_on_windows_are_understood() -> None:
    said = read(parse(golden("crlf")))
    assert (said.goal, said.now) == (
        (LedgerEntry("Round totals half up"),),
        (LedgerEntry("Mending total()"),),
    )


@pytest.mark.parametrize("name", ["written", "empty", "by_hand", "crlf", "conflict"])
def test_every_file_is_rendered_as_it_was(name: str) -> None:
    assert render(parse(golden(name))) == golden(name)
    assert is_ledger(golden(name))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (golden("conflict"), 7),
        (golden("written"), 0),
        ("# Session Ledger\n<<<<<<< HEAD\n", 0),
        ("# Session Ledger\n=======\n>>>>>>> x\n", 0),
    ],
)
def test_a_merge_conflict_is_found(text: str, line: int) -> None:
    assert conflict(text) == line


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("", True),
        (" \n", True),
        ("# session ledger\n", True),
        ("intro\n\n# Session Ledger of main\n", True),
        ("# README\n\n# Session Ledger\n", False),
        ("## Session Ledger\n", False),
        ("# Session Ledgers\n", False),
        ("some notes", False),
        ("```\n# Session Ledger\n```\n", False),
        ("````\n```\n# Session Ledger\n````\n", False),
    ],
)
def test_a_file_that_is_no_ledger_is_distinguished_from_one(text: str, is_one: bool) -> None:  # noqa: FBT001
    assert is_ledger(text) is is_one


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("use tabs", LedgerEntry("use tabs")),
        ("use tabs `UNCONFIRMED`", LedgerEntry("use tabs", unconfirmed=True)),
        ("use tabs `UNCONFIRMED` (inferred)", LedgerEntry("use tabs", unconfirmed=True, why="inferred")),
        ("UNCONFIRMED: use tabs", LedgerEntry("use tabs", unconfirmed=True)),
        ("**UNCONFIRMED** use tabs", LedgerEntry("use tabs", unconfirmed=True)),
        ("[UNCONFIRMED] use tabs", LedgerEntry("use tabs", unconfirmed=True)),
        ("UNCONFIRMED", LedgerEntry("", unconfirmed=True)),
        ("it is unconfirmed", LedgerEntry("it is unconfirmed")),
    ],
)
def test_the_mark_is_read_however_it_is_spelled(text: str, entry: LedgerEntry) -> None:
    assert entry_of(text) == entry


@pytest.mark.parametrize(
    "other", ["use tabs", "Use  tabs.", "`use` tabs", "use tabs - `UNCONFIRMED`", "UNCONFIRMED: use tabs"]
)
def test_entries_are_the_same_whatever_their_marks(other: str) -> None:
    assert key_of(other) == "use tabs"


ANY_LINE = st.sampled_from(
    "# Session Ledger|## Goal|## Now|## Working Set|- a|  b|  - e|- Files: `x`, y||```|<!--|-->|---|<<<<<<< a"
    "|=======|>>>>>>> b|_Last updated: x_|- c `UNCONFIRMED`|1. d|#|-".split("|")
)


@given(st.one_of(st.text(), st.lists(ANY_LINE).map("\n".join), st.lists(ANY_LINE).map("\r\n".join)))
def test_rendering_gives_back_whatever_was_parsed(text: str) -> None:
    assert render(parse(text)) == text
    for section in parse(text).sections:
        lines = [line for block in blocks(section.lines) for line in block.lines]
        assert lines == list(section.lines)
    assert isinstance(read(parse(text)), Ledger)
    assert isinstance(parse(text), LedgerDocument)


WORDS = st.lists(
    st.sampled_from("a Fix `x()` it's №7 über 你好 #12 - * 3. ## > (b) c,d e:".split()), min_size=1
)
# A row of dashes alone says nothing, and is a rule to every reader of Markdown.
SENTENCES = WORDS.map(" ".join).filter(lambda text: text.count("`") % 2 == 0 and text.strip("- "))
WHYS = st.sampled_from(["", "changed since", "not approved yet"])


def entries_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[LedgerEntry, ...]]:
    marked = st.builds(LedgerEntry, texts, st.just(value=True), WHYS)
    return st.lists(st.one_of(st.builds(LedgerEntry, texts), marked), max_size=3).map(tuple)


ITEMS = st.one_of(
    st.sampled_from(["#12", "branch main", "x/y.py"]),
    st.text(alphabet="ab ,./()-", min_size=1, max_size=12).map(
        lambda name: f"`{' '.join(name.split()) or 'a'}`"
    ),
)
LEDGERS = st.builds(
    Ledger,
    **{
        part.value: entries_of(
            ITEMS if part in (LedgerPart.FILES, LedgerPart.IDS, LedgerPart.COMMANDS) else SENTENCES
        )
        for part in LedgerPart
    },
)


@given(LEDGERS)
def test_reading_gives_back_whatever_was_written(ledger: Ledger) -> None:
    assert read(parse(new_ledger_text(ledger, AT))) == ledger
