"""How what a session knows joins what people wrote: nothing of theirs is lost, nothing of ours lingers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.core.documents.ledger import Entry, Ledger, Part, key_of, parse, read, render, written
from holdfast.core.documents.ledger_edit import confirmed
from holdfast.core.documents.ledger_merge import STANDING, LedgerInput, merged

GOLDEN = Path(__file__).parent / "ledgers"
NOON, ONE = "2026-01-31T12:00:00Z", "2026-01-31T13:00:00Z"
OURS = Ledger(
    goal=(Entry("Round totals half up"),),
    constraints=(Entry("Never touch legacy.py"),),
    decisions=(Entry("Decimal instead of float", unconfirmed=True, why="not approved"),),
    done=(Entry("The parser reads negative amounts"),),
    now=(Entry("Asked last: “mend total()”"),),
    questions=(Entry("Is the rates API up?", unconfirmed=True, why="status outside"),),
    files=(Entry("`src/totals.py`"),),
    ids=(Entry("branch `main`"),),
)
FOUND = Ledger(
    goal=(Entry("Round totals half up"),),
    constraints=(Entry("Never touch legacy.py"), Entry("Tests first")),
    decisions=(
        Entry("Decimal instead of float"),
        Entry("Quantize at the end", unconfirmed=True, why="not approved"),
    ),
    done=(Entry("total() rounds half up"),),
    now=(Entry("Asked last: “now the report”"),),
    next=(Entry("The report"),),
    files=(Entry("`src/totals.py`"), Entry("`src/report.py`")),
    ids=(Entry("branch `main`"),),
    commands=(Entry("`pytest -q`"),),
)


def golden(name: str) -> str:
    return (GOLDEN / f"{name}.md").read_text(encoding="utf-8")


def merge(text: str, known: LedgerInput) -> str:
    return render(merged(parse(text), known, ONE).document)


def with_now(*texts: str) -> Ledger:
    return Ledger(now=tuple(map(Entry, texts)))


def ledger_of(part: Part, *entries: str | Entry) -> Ledger:
    return Ledger().having(part, (Entry(entry) if isinstance(entry, str) else entry for entry in entries))


def test_a_whole_ledger_after_a_day() -> None:
    known = LedgerInput(
        found=FOUND,
        ours=OURS,
        file_doubts={"src/totals.py": "changed since", "src/report.py": ""},
        is_settled=lambda text: text.startswith("Ada wants tabs"),
    )
    assert merge(golden("merged_before"), known) == golden("merged_after")


def test_where_there_is_no_file_a_whole_ledger_is_written() -> None:
    for text in ("", " \n"):
        assert merge(text, LedgerInput(found=FOUND)) == written(FOUND, ONE)


class TestWhatIsThere:
    def test_of_another_hand_stays(self) -> None:
        after = merge(
            written(with_now("mending tax()"), NOON), LedgerInput(found=with_now("Said last: done"))
        )
        assert read(parse(after)).now == (Entry("mending tax()"), Entry("Said last: done"))

    def test_of_ours_gives_way_to_what_is_known_now(self) -> None:
        known = LedgerInput(found=with_now("new"), ours=with_now("old"))
        assert read(parse(merge(written(with_now("old"), NOON), known))).now == (Entry("new"),)

    def test_of_ours_stays_where_nothing_is_known_now(self) -> None:
        known = LedgerInput(ours=with_now("old"))
        assert read(parse(merge(written(with_now("old"), NOON), known))).now == (Entry("old"),)

    def test_explicit_words_take_the_place_of_everything_that_was_now(self) -> None:
        known = LedgerInput(found=with_now("seen"), given=with_now("the report"))
        assert read(parse(merge(written(with_now("by hand"), NOON), known))).now == (Entry("the report"),)

    def test_a_goal_that_someone_wrote_is_the_goal(self) -> None:
        text = written(ledger_of(Part.GOAL, "by hand"), NOON)
        assert read(parse(merge(text, LedgerInput(found=FOUND)))).goal == (Entry("by hand"),)

    def test_what_was_taken_out_by_hand_does_not_come_back(self) -> None:
        first = merged(parse(""), LedgerInput(found=FOUND), NOON)
        text = render(first.document).replace("- Tests first\n", "")
        second = merged(parse(text), LedgerInput(found=FOUND, ours=first.ours), ONE)
        third = merged(second.document, LedgerInput(found=FOUND, ours=second.ours), ONE)
        assert Entry("Tests first") not in read(third.document).constraints

    def test_what_we_took_out_may_come_back(self) -> None:
        first = merged(parse(""), LedgerInput(found=with_now("a")), NOON)
        second = merged(first.document, LedgerInput(found=with_now("b"), ours=first.ours), NOON)
        third = merged(second.document, LedgerInput(found=with_now("a"), ours=second.ours), NOON)
        assert read(third.document).now == (Entry("a"),)

    def test_a_placeholder_makes_room(self) -> None:
        text = "# Session Ledger\n\n## Key Decisions\n-\n- \n\n### Now\n\n"
        after = merge(text, LedgerInput(found=ledger_of(Part.DECISIONS, "a")))
        assert "## Key Decisions\n- a\n\n### Now" in after


class TestTheMark:
    MARKED = Entry("tabs", unconfirmed=True, why="inferred")

    @pytest.mark.parametrize(
        ("before", "found", "stands", "after"),
        [
            (MARKED, MARKED, MARKED, MARKED),
            (MARKED, Entry("tabs"), MARKED, Entry("tabs")),
            (MARKED, MARKED, Entry("tabs"), Entry("tabs")),
            (Entry("tabs"), MARKED, Entry("tabs"), MARKED),
            (None, MARKED, Entry("tabs"), Entry("tabs")),
            (None, Entry("tabs"), MARKED, Entry("tabs")),
            (None, None, MARKED, MARKED),
        ],
        ids=[
            "stays while the doubt does",
            "goes when it is confirmed",
            "that was taken away by hand is not set again",
            "is set when a doubt arises",
            "is not set on what someone wrote",
            "of someone else goes when it is confirmed",
            "of someone else stays",
        ],
    )
    def test(self, before: Entry | None, found: Entry | None, stands: Entry, after: Entry) -> None:
        known = LedgerInput(
            found=ledger_of(Part.DECISIONS, *([found] if found else [])),
            ours=ledger_of(Part.DECISIONS, *([before] if before else [])),
        )
        text = written(ledger_of(Part.DECISIONS, stands), NOON)
        assert read(parse(merge(text, known))).decisions == (after,)

    def test_goes_when_a_person_says_so_again(self) -> None:
        text = written(ledger_of(Part.DECISIONS, self.MARKED), NOON)
        assert read(parse(merge(text, LedgerInput(given=ledger_of(Part.DECISIONS, "tabs"))))).decisions == (
            Entry("tabs"),
        )

    @pytest.mark.parametrize(
        "line",
        [
            "- use tabs `UNCONFIRMED`",
            "- UNCONFIRMED: use tabs",
            "* use tabs - [UNCONFIRMED] (maybe)",
            "use tabs UNCONFIRMED",
        ],
    )
    def test_goes_by_a_word_and_nothing_else_of_the_line_does(self, line: str) -> None:
        text = f"# Session Ledger\n\n## Key Decisions\n- other `UNCONFIRMED`\n\n{line}\n  more of it\n"
        after = render(confirmed(parse(text), "Use tabs"))
        assert "- other `UNCONFIRMED`" in after
        assert after.count("UNCONFIRMED") == 1
        assert "use tabs" in after
        assert "\n  more of it\n" in after
        (_, said) = read(parse(after)).decisions
        assert not said.unconfirmed

    def test_on_one_file_of_a_list_goes_alone(self) -> None:
        text = golden("written")
        after = render(confirmed(parse(text), "src/totals.py"))
        assert "- Files: `src/totals.py`, `src/tax.py`" in after
        assert render(confirmed(parse(text), "")) == text

    def test_on_a_file_follows_its_state(self) -> None:
        text = written(Ledger(files=(Entry("a.py"), Entry("`b.py`", unconfirmed=True), Entry("c.py"))), NOON)
        known = LedgerInput(file_doubts={"a.py": "gone since", "b.py": ""})
        assert "- Files: a.py `UNCONFIRMED` (gone since), `b.py`, c.py" in merge(text, known)


class TestTheFile:
    def test_keeps_its_line_endings(self) -> None:
        text = (GOLDEN / "crlf.md").read_bytes().decode()
        after = merge(text, LedgerInput(found=FOUND))
        assert after.count("\n") == after.count("\r\n") > 20
        assert read(parse(after)).decisions == FOUND.decisions

    def test_gets_the_sections_that_it_lacks_in_their_order(self) -> None:
        after = merge(
            "# Session Ledger\n\n## State\n\n### Now\nhere\n\n## Notes\nmine", LedgerInput(found=FOUND)
        )
        order = ["State", "Done", "Now", "Next", "Open", "Working"]
        headings = [line.lstrip("# ").split()[0] for line in after.splitlines() if line.startswith("#")]
        assert [name for name in headings if name in order] == ["State", "Done", "Now", "Next", "Working"]
        assert read(parse(after)).decisions == FOUND.decisions
        assert "mine\n" in after

    def test_that_ends_in_the_middle_of_a_line_is_no_problem(self) -> None:
        for text in ("# Session Ledger\n## Goal", "# Session Ledger", "# Session Ledger\n### Now\n- a"):
            after = merge(text, LedgerInput(found=ledger_of(Part.NOW, "b")))
            assert Entry("b") in read(parse(after)).now
            assert all(line in after.splitlines() for line in text.splitlines())

    def test_with_items_below_their_label_keeps_that_form(self) -> None:
        text = "# Session Ledger\n\n## Working Set\n- Files:\n  - a.py\n- and this\n"
        after = merge(text, LedgerInput(found=ledger_of(Part.FILES, "`b.py`")))
        assert "- Files:\n  - a.py\n  - `b.py`\n- and this\n" in after

    def test_does_not_grow_without_end(self) -> None:
        document, ours = parse(""), Ledger()
        for day in range(60):
            result = ledger_of(Part.DONE, f"step {day}").having(Part.CONSTRAINTS, [Entry(f"rule {day}")])
            after = merged(document, LedgerInput(found=result, ours=ours), ONE)
            document, ours = after.document, after.ours
        said = read(document)
        assert len(said.done) == STANDING[Part.DONE]
        assert said.done[-1] == Entry("step 59")
        assert said.constraints[0] == Entry("rule 0")
        assert said.constraints[-1] == Entry("rule 59")


SENTENCES = st.sampled_from(["a b", "Fix `x()`", "c d", "- e", "你好 f", "g", "h i"])
ENTRIES = st.tuples(st.sampled_from(list(Part)), SENTENCES, st.booleans())


def gathered(entries: list[tuple[Part, str, bool]]) -> Ledger:
    ledger = Ledger()
    for part, text, unconfirmed in entries:
        others = (entry for entry in ledger.of(part) if entry.text != text)
        ledger = ledger.having(part, (*others, Entry(text, unconfirmed)))
    return ledger


LEDGERS = st.lists(ENTRIES, max_size=8).map(gathered)
LINES = st.lists(
    st.sampled_from(
        "## Goal|## Now|### Done|## Mine|## Working Set|- a b|- by hand|text|  more||- Files: x, `y`"
        "|- c d `UNCONFIRMED`|```|---|<!-- note|-->|* g".split("|")
    ),
    max_size=25,
).map(lambda lines: "\n".join(["# Session Ledger", *lines]))


@given(LINES, LEDGERS, LEDGERS)
def test_merging_again_changes_nothing(text: str, found: Ledger, given: Ledger) -> None:
    once = merged(parse(text), LedgerInput(found=found, given=given), ONE)
    again = merged(parse(render(once.document)), LedgerInput(found=found, given=given, ours=once.ours), ONE)
    assert render(again.document) == render(once.document)


@example("# Session Ledger\n## Working Set\n- Files: x, `y`\ntext", Ledger(files=(Entry("a b"),)))
@given(LINES, LEDGERS)
def test_no_line_of_anybody_is_lost(text: str, found: Ledger) -> None:
    after = merge(text, LedgerInput(found=found)).splitlines()
    for line in text.splitlines():
        if line.startswith("- Files:") or "UNCONFIRMED" in line:
            continue
        assert line in after


@given(LINES, LEDGERS)
def test_what_was_found_is_said(text: str, found: Ledger) -> None:
    before, after = read(parse(text)), read(parse(merge(text, LedgerInput(found=found))))
    for part in Part:
        # A stray fence behind an entry says nothing else.
        said = {key_of(entry.text) for entry in after.of(part)}
        wanted = {key_of(entry.text) for entry in found.of(part)}
        assert wanted <= said or (part is Part.GOAL and before.goal)


@pytest.mark.parametrize("part", [Part.CONSTRAINTS, Part.DECISIONS, Part.QUESTIONS])
@pytest.mark.parametrize("stands", ["", "Decimal, not float"])
def test_a_mark_in_the_words_that_were_given_is_kept(part: Part, stands: str) -> None:
    marked = ledger_of(part, Entry("Decimal, not float", unconfirmed=True))
    before = written(ledger_of(part, *([stands] if stands else [])), NOON)
    known = LedgerInput(found=ledger_of(part, "Decimal, not float"), given=marked, is_settled=lambda _: True)
    assert read(parse(merge(before, known))).of(part) == marked.of(part)


def test_a_mark_that_a_rule_set_is_not_set_again_once_it_was_taken_away() -> None:
    by_rule = ledger_of(Part.DECISIONS, Entry("Decimal", unconfirmed=True, why="not approved"))
    before = written(ledger_of(Part.DECISIONS, "Decimal"), NOON)
    after = read(parse(merge(before, LedgerInput(given=by_rule, ours=by_rule))))
    assert after.decisions == (Entry("Decimal"),)
