"""A ledger is updated from a session: merged with what is there, and marked where it is unconfirmed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.core.documents.ledger import (
    Ledger,
    LedgerEntry,
    LedgerPart,
    confirm_statement,
    key_of,
    new_ledger_text,
    parse,
    read,
    render,
)
from holdfast.core.documents.ledger_update import (
    CHANGED,
    GONE,
    STANDING,
    LedgerInput,
    file_doubts,
    is_settled,
    mark_unconfirmed,
    merge_ledger,
    uncertainty,
)
from holdfast.core.events.event import Origin, Replied
from holdfast.core.events.world import FileState
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.trail import Trail
from holdfast.core.work.compute import work_state
from holdfast.core.work.state import Statement, WorkState
from tests.core.scenes import MINUTE, NOON, after, prompt, said, session
from tests.tables import every_row

GOLDEN = Path(__file__).parent / "ledgers"
TWELVE_O_CLOCK, ONE_O_CLOCK = "2026-01-31T12:00:00Z", "2026-01-31T13:00:00Z"
OURS = Ledger(
    goal=(LedgerEntry("Round totals half up"),),
    constraints=(LedgerEntry("Never touch legacy.py"),),
    decisions=(LedgerEntry("Decimal instead of float", unconfirmed=True, why="not approved"),),
    done=(LedgerEntry("The parser reads negative amounts"),),
    now=(LedgerEntry("Asked last: “mend total()”"),),
    questions=(LedgerEntry("Is the rates API up?", unconfirmed=True, why="status outside"),),
    files=(LedgerEntry("`src/totals.py`"),),
    ids=(LedgerEntry("branch `main`"),),
)
FOUND = Ledger(
    goal=(LedgerEntry("Round totals half up"),),
    constraints=(LedgerEntry("Never touch legacy.py"), LedgerEntry("Tests first")),
    decisions=(
        LedgerEntry("Decimal instead of float"),
        LedgerEntry("Quantize at the end", unconfirmed=True, why="not approved"),
    ),
    done=(LedgerEntry("total() rounds half up"),),
    now=(LedgerEntry("Asked last: “now the report”"),),
    next=(LedgerEntry("The report"),),
    files=(LedgerEntry("`src/totals.py`"), LedgerEntry("`src/report.py`")),
    ids=(LedgerEntry("branch `main`"),),
    commands=(LedgerEntry("`pytest -q`"),),
)


def golden(name: str) -> str:
    return (GOLDEN / f"{name}.md").read_text(encoding="utf-8")


def merge(text: str, known: LedgerInput) -> str:
    return render(merge_ledger(parse(text), known, ONE_O_CLOCK).document)


def with_now(*texts: str) -> Ledger:
    return Ledger(now=tuple(map(LedgerEntry, texts)))


def ledger_of(part: LedgerPart, *entries: str | LedgerEntry) -> Ledger:
    return Ledger().having(
        part, (LedgerEntry(entry) if isinstance(entry, str) else entry for entry in entries)
    )


def test_a_whole_ledger_after_a_day() -> None:
    known = LedgerInput(
        evidence=FOUND,
        own=OURS,
        file_doubts={"src/totals.py": "changed since", "src/report.py": ""},
        is_settled=lambda text: text.startswith("Ada wants tabs"),
    )
    assert merge(golden("merged_before"), known) == golden("merged_after")


def test_where_there_is_no_file_a_whole_ledger_is_written() -> None:
    for text in ("", " \n"):
        assert merge(text, LedgerInput(evidence=FOUND)) == new_ledger_text(FOUND, ONE_O_CLOCK)


class TestWhatIsThere:
    def test_of_another_hand_stays(self) -> None:
        after = merge(
            new_ledger_text(with_now("mending tax()"), TWELVE_O_CLOCK),
            LedgerInput(evidence=with_now("Said last: done")),
        )
        assert read(parse(after)).now == (LedgerEntry("mending tax()"), LedgerEntry("Said last: done"))

    def test_of_ours_gives_way_to_what_is_known_now(self) -> None:
        known = LedgerInput(evidence=with_now("new"), own=with_now("old"))
        assert read(parse(merge(new_ledger_text(with_now("old"), TWELVE_O_CLOCK), known))).now == (
            LedgerEntry("new"),
        )

    def test_of_ours_stays_where_nothing_is_known_now(self) -> None:
        known = LedgerInput(own=with_now("old"))
        assert read(parse(merge(new_ledger_text(with_now("old"), TWELVE_O_CLOCK), known))).now == (
            LedgerEntry("old"),
        )

    def test_explicit_words_take_the_place_of_everything_that_was_now(self) -> None:
        known = LedgerInput(evidence=with_now("seen"), explicit=with_now("the report"))
        assert read(parse(merge(new_ledger_text(with_now("by hand"), TWELVE_O_CLOCK), known))).now == (
            LedgerEntry("the report"),
        )

    def test_a_goal_that_someone_wrote_is_the_goal(self) -> None:
        text = new_ledger_text(ledger_of(LedgerPart.GOAL, "by hand"), TWELVE_O_CLOCK)
        assert read(parse(merge(text, LedgerInput(evidence=FOUND)))).goal == (LedgerEntry("by hand"),)

    def test_what_was_taken_out_by_hand_does_not_come_back(self) -> None:
        first = merge_ledger(parse(""), LedgerInput(evidence=FOUND), TWELVE_O_CLOCK)
        text = render(first.document).replace("- Tests first\n", "")
        second = merge_ledger(parse(text), LedgerInput(evidence=FOUND, own=first.own), ONE_O_CLOCK)
        third = merge_ledger(second.document, LedgerInput(evidence=FOUND, own=second.own), ONE_O_CLOCK)
        assert LedgerEntry("Tests first") not in read(third.document).constraints

    def test_what_we_took_out_may_come_back(self) -> None:
        first = merge_ledger(parse(""), LedgerInput(evidence=with_now("a")), TWELVE_O_CLOCK)
        second = merge_ledger(
            first.document, LedgerInput(evidence=with_now("b"), own=first.own), TWELVE_O_CLOCK
        )
        third = merge_ledger(
            second.document, LedgerInput(evidence=with_now("a"), own=second.own), TWELVE_O_CLOCK
        )
        assert read(third.document).now == (LedgerEntry("a"),)

    def test_a_placeholder_makes_room(self) -> None:
        text = "# Session Ledger\n\n## Key Decisions\n-\n- \n\n### Now\n\n"
        after = merge(text, LedgerInput(evidence=ledger_of(LedgerPart.DECISIONS, "a")))
        assert "## Key Decisions\n- a\n\n### Now" in after


class TestDoneOrOpen:
    """Nothing stands both under Done and under Now or Next."""

    STEP = "Write the report"

    @pytest.mark.parametrize("part", [LedgerPart.NOW, LedgerPart.NEXT])
    def test_a_step_of_ours_goes_when_it_is_done_though_no_other_step_follows(self, part: LedgerPart) -> None:
        first = merge_ledger(parse(""), LedgerInput(evidence=ledger_of(part, self.STEP)), TWELVE_O_CLOCK)
        known = LedgerInput(evidence=ledger_of(LedgerPart.DONE, self.STEP), own=first.own)
        ledger = read(merge_ledger(first.document, known, ONE_O_CLOCK).document)
        assert (ledger.of(part), ledger.done) == ((), (LedgerEntry(self.STEP),))

    def test_what_we_called_done_goes_when_it_is_open_again(self) -> None:
        done = LedgerInput(evidence=ledger_of(LedgerPart.DONE, self.STEP))
        first = merge_ledger(parse(""), done, TWELVE_O_CLOCK)
        known = LedgerInput(evidence=ledger_of(LedgerPart.NEXT, self.STEP), own=first.own)
        ledger = read(merge_ledger(first.document, known, ONE_O_CLOCK).document)
        assert (ledger.next, ledger.done) == ((LedgerEntry(self.STEP),), ())

    @pytest.mark.parametrize(
        ("by_hand", "evidence"),
        [
            (LedgerPart.NEXT, LedgerPart.DONE),
            (LedgerPart.NOW, LedgerPart.DONE),
            (LedgerPart.DONE, LedgerPart.NEXT),
        ],
    )
    def test_what_a_person_wrote_wins(self, by_hand: LedgerPart, evidence: LedgerPart) -> None:
        text = new_ledger_text(ledger_of(by_hand, self.STEP), TWELVE_O_CLOCK)
        ledger = read(parse(merge(text, LedgerInput(evidence=ledger_of(evidence, self.STEP)))))
        assert (ledger.of(by_hand), ledger.of(evidence)) == ((LedgerEntry(self.STEP),), ())

    def test_explicit_words_win_over_the_file(self) -> None:
        text = new_ledger_text(ledger_of(LedgerPart.NEXT, self.STEP, "Send it"), TWELVE_O_CLOCK)
        ledger = read(parse(merge(text, LedgerInput(explicit=ledger_of(LedgerPart.DONE, self.STEP)))))
        assert (ledger.next, ledger.done) == ((LedgerEntry("Send it"),), (LedgerEntry(self.STEP),))


class TestTheMark:
    MARKED = LedgerEntry("tabs", unconfirmed=True, why="inferred")

    @pytest.mark.parametrize(
        ("before", "found", "stands", "after"),
        [
            (MARKED, MARKED, MARKED, MARKED),
            (MARKED, LedgerEntry("tabs"), MARKED, LedgerEntry("tabs")),
            (MARKED, MARKED, LedgerEntry("tabs"), LedgerEntry("tabs")),
            (LedgerEntry("tabs"), MARKED, LedgerEntry("tabs"), MARKED),
            (None, MARKED, LedgerEntry("tabs"), LedgerEntry("tabs")),
            (None, LedgerEntry("tabs"), MARKED, LedgerEntry("tabs")),
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
    def test(
        self, before: LedgerEntry | None, found: LedgerEntry | None, stands: LedgerEntry, after: LedgerEntry
    ) -> None:
        known = LedgerInput(
            evidence=ledger_of(LedgerPart.DECISIONS, *([found] if found else [])),
            own=ledger_of(LedgerPart.DECISIONS, *([before] if before else [])),
        )
        text = new_ledger_text(ledger_of(LedgerPart.DECISIONS, stands), TWELVE_O_CLOCK)
        assert read(parse(merge(text, known))).decisions == (after,)

    def test_goes_when_a_person_says_so_again(self) -> None:
        text = new_ledger_text(ledger_of(LedgerPart.DECISIONS, self.MARKED), TWELVE_O_CLOCK)
        assert read(
            parse(merge(text, LedgerInput(explicit=ledger_of(LedgerPart.DECISIONS, "tabs"))))
        ).decisions == (LedgerEntry("tabs"),)

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
        after = render(confirm_statement(parse(text), "Use tabs"))
        assert "- other `UNCONFIRMED`" in after
        assert after.count("UNCONFIRMED") == 1
        assert "use tabs" in after
        assert "\n  more of it\n" in after
        (_, said) = read(parse(after)).decisions
        assert not said.unconfirmed

    def test_on_one_file_of_a_list_goes_alone(self) -> None:
        text = golden("written")
        after = render(confirm_statement(parse(text), "src/totals.py"))
        assert "- Files: `src/totals.py`, `src/tax.py`" in after
        assert render(confirm_statement(parse(text), "")) == text

    def test_on_a_file_follows_its_state(self) -> None:
        text = new_ledger_text(
            Ledger(files=(LedgerEntry("a.py"), LedgerEntry("`b.py`", unconfirmed=True), LedgerEntry("c.py"))),
            TWELVE_O_CLOCK,
        )
        known = LedgerInput(file_doubts={"a.py": "gone since", "b.py": ""})
        assert "- Files: a.py `UNCONFIRMED` (gone since), `b.py`, c.py" in merge(text, known)


class TestTheFile:
    def test_keeps_its_line_endings(self) -> None:
        text = (GOLDEN / "crlf.md").read_bytes().decode()
        after = merge(text, LedgerInput(evidence=FOUND))
        assert after.count("\n") == after.count("\r\n") > 20
        assert read(parse(after)).decisions == FOUND.decisions

    def test_gets_the_sections_that_it_lacks_in_their_order(self) -> None:
        after = merge(
            "# Session Ledger\n\n## State\n\n### Now\nhere\n\n## Notes\nmine", LedgerInput(evidence=FOUND)
        )
        order = ["State", "Done", "Now", "Next", "Open", "Working"]
        headings = [line.lstrip("# ").split()[0] for line in after.splitlines() if line.startswith("#")]
        assert [name for name in headings if name in order] == ["State", "Done", "Now", "Next", "Working"]
        assert read(parse(after)).decisions == FOUND.decisions
        assert "mine\n" in after

    def test_that_ends_in_the_middle_of_a_line_is_no_problem(self) -> None:
        for text in ("# Session Ledger\n## Goal", "# Session Ledger", "# Session Ledger\n### Now\n- a"):
            after = merge(text, LedgerInput(evidence=ledger_of(LedgerPart.NOW, "b")))
            assert LedgerEntry("b") in read(parse(after)).now
            assert all(line in after.splitlines() for line in text.splitlines())

    def test_with_items_below_their_label_keeps_that_form(self) -> None:
        text = "# Session Ledger\n\n## Working Set\n- Files:\n  - a.py\n- and this\n"
        after = merge(text, LedgerInput(evidence=ledger_of(LedgerPart.FILES, "`b.py`")))
        assert "- Files:\n  - a.py\n  - `b.py`\n- and this\n" in after

    def test_does_not_grow_without_end(self) -> None:
        document, ours = parse(""), Ledger()
        for day in range(60):
            result = ledger_of(LedgerPart.DONE, f"step {day}").having(
                LedgerPart.CONSTRAINTS, [LedgerEntry(f"rule {day}")]
            )
            after = merge_ledger(document, LedgerInput(evidence=result, own=ours), ONE_O_CLOCK)
            document, ours = after.document, after.own
        said = read(document)
        assert len(said.done) == STANDING[LedgerPart.DONE]
        assert said.done[-1] == LedgerEntry("step 59")
        assert said.constraints[0] == LedgerEntry("rule 0")
        assert said.constraints[-1] == LedgerEntry("rule 59")


SENTENCES = st.sampled_from(["a b", "Fix `x()`", "c d", "- e", "你好 f", "g", "h i"])
ENTRIES = st.tuples(st.sampled_from(list(LedgerPart)), SENTENCES, st.booleans())


def gathered(entries: list[tuple[LedgerPart, str, bool]]) -> Ledger:
    ledger = Ledger()
    for part, text, unconfirmed in entries:
        others = (entry for entry in ledger.of(part) if entry.text != text)
        ledger = ledger.having(part, (*others, LedgerEntry(text, unconfirmed)))
    return ledger


OPEN = (LedgerPart.NOW, LedgerPart.NEXT)


def keys_of(ledger: Ledger, *parts: LedgerPart) -> set[str]:
    return {key_of(entry.text) for part in parts for entry in ledger.of(part)}


LEDGERS = st.lists(ENTRIES, max_size=8).map(gathered)
LINES = st.lists(
    st.sampled_from(
        "## Goal|## Now|### Done|## Mine|## Working Set|- a b|- by hand|text|  more||- Files: x, `y`"
        "|- c d `UNCONFIRMED`|```|---|<!-- note|-->|* g".split("|")
    ),
    max_size=25,
).map(lambda lines: "\n".join(["# Session Ledger", *lines]))


@example(
    "# Session Ledger\n### Done\n- a b",
    Ledger(now=(LedgerEntry("a b"),)),
    Ledger(next=(LedgerEntry("a b"),)),
)
@given(LINES, LEDGERS, LEDGERS)
def test_merging_again_changes_nothing(text: str, found: Ledger, given: Ledger) -> None:
    once = merge_ledger(parse(text), LedgerInput(evidence=found, explicit=given), ONE_O_CLOCK)
    again = merge_ledger(
        parse(render(once.document)), LedgerInput(evidence=found, explicit=given, own=once.own), ONE_O_CLOCK
    )
    assert render(again.document) == render(once.document)


@example("# Session Ledger\n## Working Set\n- Files: x, `y`\ntext", Ledger(files=(LedgerEntry("a b"),)))
@given(LINES, LEDGERS)
def test_no_line_of_anybody_is_lost(text: str, found: Ledger) -> None:
    after = merge(text, LedgerInput(evidence=found)).splitlines()
    for line in text.splitlines():
        if line.startswith("- Files:") or "UNCONFIRMED" in line:
            continue
        assert line in after


@given(LINES, LEDGERS)
def test_what_was_found_is_said(text: str, found: Ledger) -> None:
    before, after = read(parse(text)), read(parse(merge(text, LedgerInput(evidence=found))))
    # What is done is not open, and what somebody wrote wins.
    done, open_ = keys_of(after, LedgerPart.DONE), keys_of(after, *OPEN)
    for part in LedgerPart:
        # A stray fence behind an entry says nothing else.
        contradicted = done if part in OPEN else open_ if part is LedgerPart.DONE else set[str]()
        wanted = keys_of(found, part) - contradicted
        assert wanted <= keys_of(after, part) or (part is LedgerPart.GOAL and before.goal)


@given(LEDGERS, LEDGERS, LEDGERS)
def test_of_what_holdfast_wrote_nothing_is_both_done_and_open(
    first: Ledger, then: Ledger, last: Ledger
) -> None:
    document, own = parse(""), Ledger()
    for evidence in (first, then, last):
        merged = merge_ledger(document, LedgerInput(evidence=evidence, own=own), ONE_O_CLOCK)
        document, own = merged.document, merged.own
        ledger = read(document)
        assert not keys_of(ledger, LedgerPart.DONE) & keys_of(ledger, *OPEN)


@pytest.mark.parametrize("part", [LedgerPart.CONSTRAINTS, LedgerPart.DECISIONS, LedgerPart.QUESTIONS])
@pytest.mark.parametrize("stands", ["", "Decimal, not float"])
def test_a_mark_in_the_words_that_were_given_is_kept(part: LedgerPart, stands: str) -> None:
    marked = ledger_of(part, LedgerEntry("Decimal, not float", unconfirmed=True))
    before = new_ledger_text(ledger_of(part, *([stands] if stands else [])), TWELVE_O_CLOCK)
    known = LedgerInput(
        evidence=ledger_of(part, "Decimal, not float"), explicit=marked, is_settled=lambda _: True
    )
    assert read(parse(merge(before, known))).of(part) == marked.of(part)


def test_a_mark_that_a_rule_set_is_not_set_again_once_it_was_taken_away() -> None:
    by_rule = ledger_of(LedgerPart.DECISIONS, LedgerEntry("Decimal", unconfirmed=True, why="not approved"))
    before = new_ledger_text(ledger_of(LedgerPart.DECISIONS, "Decimal"), TWELVE_O_CLOCK)
    after = read(parse(merge(before, LedgerInput(explicit=by_rule, own=by_rule))))
    assert after.decisions == (LedgerEntry("Decimal"),)


DECISION = "I decided to use Decimal for all totals."


def trail(*words: str) -> Trail:
    """A conversation that begins with the user, a minute for each turn."""
    events = [
        prompt(text, f"p{turn}", NOON + turn * MINUTE)
        if turn % 2 == 0
        else said(text, f"a{turn}", NOON + turn * MINUTE)
        for turn, text in enumerate(words)
    ]
    return after(session(), *events).trail


def settles(text: str, story: Trail) -> bool:
    return is_settled(text, story, work_state(story))


def marked(ledger: Ledger, story: Trail) -> Ledger:
    return mark_unconfirmed(ledger, story, work_state(story))


@every_row(
    ("answer", "settled"),
    [
        ("yes", True),
        ("Yes, do that.", True),
        ("ok", True),
        ("sounds good, thanks", True),
        ("go ahead", True),
        ("LGTM. Now the report, but fast", True),
        ("好的", True),
        ("可以。", True),
        ("yes but use fractions", False),
        ("ok, wait", False),
        ("no", False),
        ("对于总额用小数", False),
        ("now the report", False),
        ("continue", False),
        ("use Decimal for all totals", True),
    ],
)
def test_a_decision_is_approved_by_the_next_that_the_user_says(answer: str, settled: bool) -> None:  # noqa: FBT001
    story = trail("Mend the sums.", DECISION, answer)
    assert settles(DECISION, story) is settled
    (entry,) = marked(Ledger(decisions=(LedgerEntry(DECISION),)), story).decisions
    assert entry == (
        LedgerEntry(DECISION) if settled else LedgerEntry(DECISION, unconfirmed=True, why="not approved")
    )


@pytest.mark.parametrize(
    ("statement", "settled"),
    [
        (Statement(Section.DECISIONS, DECISION, NOON, by_user=True), True),
        (Statement(Section.RULES, DECISION, NOON), True),
        (Statement(Section.DECISIONS, DECISION, NOON), False),
        (Statement(Section.DONE, DECISION, NOON), False),
    ],
    ids=["the user agreed to it", "it is a rule", "the agent's own", "it is only reported"],
)
def test_a_statement_of_the_work_state_settles_what_the_user_said(
    statement: Statement,
    settled: bool,  # noqa: FBT001
) -> None:
    assert is_settled(DECISION, Trail(), WorkState("", (statement,))) is settled


def test_what_nobody_answered_is_not_approved() -> None:
    assert not settles(DECISION, trail("Mend the sums.", DECISION))


def test_an_answer_to_something_else_approves_nothing() -> None:
    story = trail("Mend the sums.", DECISION, "And the tests?", "Shall I write them in pytest?", "yes")
    assert not settles(DECISION, story)


def test_a_confirmed_question_confirms_what_it_asked_about() -> None:
    story = trail(
        "hello there",
        "I see the assumption that Ada wants tabs marked UNCONFIRMED: can you confirm it?",
        "Yes.",
    )
    assert settles("Ada wants tabs", story)
    assert not settles("Ada wants spaces everywhere", story)


@pytest.mark.parametrize(
    ("rule", "entry"),
    [
        ("tabs for indentation", LedgerEntry("tabs for indentation")),
        ("Use tabs for indentation", LedgerEntry("Use tabs for indentation")),
        ("short names", LedgerEntry("short names", unconfirmed=True, why="inferred")),
    ],
)
def test_a_preference_is_unconfirmed_unless_the_user_stated_it(rule: str, entry: LedgerEntry) -> None:
    story = trail("Mend the sums; I want tabs for indentation in every file.")
    assert marked(Ledger(constraints=(LedgerEntry(rule),)), story).constraints == (entry,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The rates API is down", "status outside"),
        ("The deploy to staging is pending", "status outside"),
        ("https://rates.example returns 503", "status outside"),
        ("The fix should work now", "assumed"),
        ("Python 3.11 is probably enough", "assumed"),
        ("这可能是缓存", "assumed"),
        ("I haven't tested it", "assumed"),
        ("total() rounds half up", ""),
        ("The API client is in client.py", ""),
        ("All 12 tests pass", ""),
    ],
)
def test_what_is_uncertain_by_its_words(text: str, why: str) -> None:
    assert uncertainty(text) == why
    expected = LedgerEntry(text, unconfirmed=bool(why), why=why)
    assert marked(Ledger(done=(LedgerEntry(text),), questions=(LedgerEntry(text),)), Trail()) == Ledger(
        done=(expected,), questions=(expected,)
    )


def test_a_mark_with_a_reason_of_its_own_stays() -> None:
    own = LedgerEntry("use tabs", unconfirmed=True, why="Ada will say")
    assert marked(Ledger(constraints=(own,)), Trail()).constraints == (own,)


SAVED, LEFT = NOON, NOON + 10 * MINUTE


@pytest.mark.parametrize(
    ("entry", "touched_at", "modified_at", "doubt"),
    [
        (LedgerEntry("a.py"), NOON, NOON, ""),
        (LedgerEntry("a.py"), NOON, LEFT + MINUTE, CHANGED),
        (None, NOON, LEFT + MINUTE, CHANGED),
        (None, NOON, LEFT, ""),
        (LedgerEntry("a.py"), 0, SAVED + MINUTE, CHANGED),
        (LedgerEntry("a.py"), 0, SAVED, ""),
        (LedgerEntry("a.py", unconfirmed=True), NOON, NOON + MINUTE, CHANGED),
        (LedgerEntry("a.py", unconfirmed=True), NOON + MINUTE, NOON + MINUTE, ""),
        (LedgerEntry("a.py", unconfirmed=True), 0, NOON, CHANGED),
        (LedgerEntry("`a.py`"), NOON, 0, GONE),
    ],
    ids=[
        "as the session left it",
        "written after the session's last work",
        "not in the ledger yet, written after the session's last work",
        "not in the ledger yet, and as it was left",
        "never touched, written after the ledger",
        "never touched, older than the ledger",
        "in doubt, and not looked at since",
        "in doubt, and looked at since",
        "in doubt, and never touched",
        "gone",
    ],
)
def test_a_file_is_in_doubt(entry: LedgerEntry | None, touched_at: int, modified_at: int, doubt: str) -> None:
    state = FileState("a.py", exists=bool(modified_at), modified_at=modified_at)
    touched = {"a.py": touched_at} if touched_at else {}
    assert file_doubts([entry] if entry else [], touched, [state], LEFT, SAVED) == {"a.py": doubt}


def test_of_a_file_whose_state_nobody_can_tell_nothing_is_said() -> None:
    assert file_doubts([LedgerEntry("a.py")], {}, [], LEFT, SAVED) == {}


@pytest.mark.parametrize(
    "decision",
    ["The user answered “PostgreSQL” to “Which database do we use?”", "Use PostgreSQL as database"],
)
def test_what_the_user_answered_is_approved(decision: str) -> None:
    answer = Replied(
        session="s1",
        record="r1",
        at=NOON,
        origin=Origin.HUMAN,
        call="c1",
        text="PostgreSQL",
        question="Which database do we use?",
    )
    given = Ledger(decisions=(LedgerEntry(decision), LedgerEntry("Drop the cache table")))
    ledger = marked(given, after(session(), answer).trail)
    assert [entry.unconfirmed for entry in ledger.decisions] == [False, True]
