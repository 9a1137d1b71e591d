"""Notes: what a newer statement leaves of an older one."""

from __future__ import annotations

import pytest

from holdfast.core.events.event import Action, Compacted, CompactionSign, Event, Origin, SubagentStopped
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.notes import Notes, rules_in_prompt
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import NoteSource
from tests.core.scenes import KEY, NOON, after, called, prompt, returned, said, session

FAILING = """
The parser test is failing because the fixture has no header.
The build still fails on Windows.
The migration fails with a duplicate key.
Only one test is still failing: `test_rotation`.
`git fetch` is currently failing because the remote has no name.
重启之后还是报错。
"""
ATTEMPTS = """
Raising the limit didn't work because the proxy caps it too.
Clearing the cache doesn't help.
I tried the async driver, but it still fails on Windows.
I reverted the index because it breaks the import.
The focused test failed because two of them ran at once.
试过重启，还是报错。
"""


def spoken(*texts: str) -> Notes:
    return after(session(), *(said(text, f"a{step}") for step, text in enumerate(texts))).trail.notes


def failed(*texts: str) -> list[str]:
    return [note.text for note in spoken(*texts) if note.kind is NoteKind.FAILED]


@pytest.mark.parametrize("sentence", FAILING.strip().splitlines())
def test_what_fails_at_this_moment_may_be_mended(sentence: str) -> None:
    assert reader.is_failing(sentence)


@pytest.mark.parametrize("sentence", ATTEMPTS.strip().splitlines())
def test_what_was_tried_and_failed_stays_so(sentence: str) -> None:
    assert not reader.is_failing(sentence)


@pytest.mark.parametrize(
    ("failing", "mended"),
    [
        ("The parser test is failing because the fixture has no header.", "All 12 tests pass."),
        ("The build is failing because a type is not exported.", "Good, the build passes."),
        ("Two tests are failing because of the mock.", "Only one test is still failing: `test_rotation`."),
        ("The import of old ledgers fails with a duplicate key.", "The import of old ledgers works now."),
        ("构建还是失败了，缺少头文件。", "构建成功。"),
    ],
)
def test_a_failure_of_the_moment_is_over_when_it_is_said_to_be_mended(failing: str, mended: str) -> None:
    assert failing in failed(failing)
    assert failing not in failed(failing, mended)


@pytest.mark.parametrize(
    ("failing", "other"),
    [
        ("The parser test is failing because the fixture has no header.", "Lint is clean."),
        ("The parser test is failing because the fixture has no header.", "The parser reads it twice."),
        ("I tried a second fixture, but the parser test failed again.", "All 12 tests pass."),
    ],
)
def test_a_failure_outlives_what_says_nothing_of_it_and_an_attempt_outlives_all(
    failing: str, other: str
) -> None:
    assert failed(failing, other) == [failing]


MANUAL = "The tool runs in an environment of its own, which is only cached for speed.\n\n" * 30
ORDER = "Never write below vendor/."


def test_what_is_worded_like_a_rule_in_a_pasted_page_is_none() -> None:
    prompt = (
        f"I only see the old page, mend that.\n\n{MANUAL}{ORDER}\n\n{MANUAL}It has only one column instead."
    )
    assert rules_in_prompt(prompt) == (
        ORDER,
        "I only see the old page, mend that.",
        "It has only one column instead.",
    )


def test_a_list_in_a_long_prompt_may_well_hold_rules() -> None:
    listed = "Files:\n- Writing: only below `out/`\n1. Reading: only below `data/`"
    prompt = f"Build the site.\n\n{MANUAL}{listed}\n\n{MANUAL}Thanks!"
    assert rules_in_prompt(prompt) == ("Writing: only below `out/`", "Reading: only below `data/`")


def test_of_a_prompt_that_was_typed_every_paragraph_counts() -> None:
    prompt = "Mend the page.\n\nIt has only one column.\n\nThanks!"
    assert rules_in_prompt(prompt) == ("It has only one column.",)


def test_a_page_that_a_prompt_announces_binds_nobody() -> None:
    prompt = (
        "Change the default, but never touch the old flag.\n\nMan page:\n\ntool view [flags]\n\n"
        "With --web, open the page in a browser instead.\n\nThe folder must be writable.\n\n"
        "Please don't print the help twice."
    )
    assert rules_in_prompt(prompt) == (
        "Change the default, but never touch the old flag.",
        "Please don't print the help twice.",
    )


def test_a_list_of_rules_below_a_heading_that_is_no_paste_still_binds() -> None:
    assert rules_in_prompt("Output:\n- must be JSON in one line\n- never has a null") == (
        "must be JSON in one line",
        "never has a null",
    )


def decided(*texts: str) -> list[str]:
    return [note.text for note in spoken(*texts) if note.kind is NoteKind.DECISION]


def test_a_decision_takes_the_place_of_an_older_one_about_the_same_things() -> None:
    first = "I'll change `render_page` to take the link of the index instead of building it."
    again = "I should just change `render_page` to take the index link instead of copying the loop."
    other = "I'll use two tables rather than one because the vendor limits rows."
    assert decided(first, other, again) == [other, again]
    assert decided("Let's go with SQLite.", "Let's go with two tables.") == [
        "Let's go with SQLite.",
        "Let's go with two tables.",
    ]


# ---------------------------------------------------------------- what each later event retires


def standing(*events: Event) -> list[str]:
    return [note.text for note in after(session(), *events).trail.notes]


ASKED = prompt("Mend the till of the first shop", "p1")


@pytest.mark.parametrize(
    "sentence",
    [
        "Let me look at the register first.",
        "It might be the clock of the shop.",
        "The build is running in another window.",
        "Here is what the register says:",
    ],
)
def test_the_next_message_ends_what_held_for_a_moment(sentence: str) -> None:
    moment, fact = said(sentence, "a1"), said("The register rounds every sale twice.", "a2")
    assert sentence in standing(ASKED, moment)
    assert standing(ASKED, moment, fact, said("The till is in `till.py`.", "a3"))[1:] == [
        fact.text,
        "The till is in `till.py`.",
    ]


def test_a_prompt_ends_steps_and_questions_but_not_findings() -> None:
    steps = said("The till rounds twice. Next: count the rows. Shall I also rename the flag?", "a1")
    left = standing(ASKED, steps, prompt("Now add the tax of the second shop to the report", "p2"))
    assert "The till rounds twice." in left
    assert not {"Next: count the rows.", "Shall I also rename the flag?"} & set(left)


@pytest.mark.parametrize("is_at_work", [True, False])
def test_a_prompt_that_interrupts_the_agent_adds_to_the_request(*, is_at_work: bool) -> None:
    before = [prompt(f"Count the rows of shop {number}", f"p{number}") for number in range(1, 5)]
    request, answer = prompt("Add the tax to the report", "p5"), said("I read the register.", "a1")
    events: list[Event] = [
        *before,
        request,
        answer,
        *([called("c1", Action.READ, "till.py")] if is_at_work else []),
    ]
    left = standing(*events, prompt("The clock of the register looks odd", "p6"))
    assert (request.text in left) == is_at_work


def test_to_go_on_leaves_the_steps() -> None:
    steps = said("The till rounds twice. Next: count the rows.", "a1")
    assert "Next: count the rows." in standing(ASKED, steps, prompt("continue", "p2"))


@pytest.mark.parametrize(
    ("reply", "is_left"),
    [("No, that is wrong, the clock is fine", False), ("Now look at the tax of the second shop", True)],
)
def test_an_objection_ends_what_the_last_message_claims(reply: str, *, is_left: bool) -> None:
    claim = said("The cause is the clock of the register.", "a1")
    assert (claim.text in standing(ASKED, claim, prompt(reply, "p2"))) == is_left


@pytest.mark.parametrize(
    ("remark", "tells"),
    [
        ("I see the issue.", False),
        ("Great! Now I found the real problem:", False),
        ("I see where the bug is now.", False),
        ("I found the issue: `round_sale` rounds twice.", True),
    ],
)
def test_a_remark_that_names_nothing_is_no_note(remark: str, *, tells: bool) -> None:
    assert (remark in standing(ASKED, said(f"{remark} Then the register has to be closed.", "a1"))) == tells


def test_a_first_request_in_the_form_of_a_question_is_the_aim_of_a_short_session() -> None:
    first = "Can you look for readers that open the wrong directory?"
    then = [
        prompt(text, f"p{number}") for number, text in enumerate(("Can you fix all 5", "Now run them"), 2)
    ]
    assert first in standing(prompt(first, "p1"), *then)
    later = [prompt(f"Rename the till of shop {number}", f"p{number}") for number in range(4, 7)]
    assert first not in standing(prompt(first, "p1"), *then, *later)


def test_a_ruling_ends_an_earlier_opinion_about_the_same_name() -> None:
    opinions = (
        said("`round_sale` is the cleanest place for the rounding.", "a1"),
        said("`read_clock` is the cleanest place for the lock.", "a2"),
        said("The register is mended.", "a3"),
    )
    left = standing(ASKED, *opinions, prompt("Never change `round_sale` for this, the vendor owns it", "p2"))
    assert opinions[0].text not in left
    assert opinions[1].text in left


@pytest.mark.parametrize(
    "reply", ["No, don't round each line item.", "Never round line items: errors add up."]
)
def test_what_the_user_rules_out_is_no_decision_any_more(reply: str) -> None:
    decided = said("I decided to round each line item to whole cents, because a receipt then adds up.", "a1")
    other = said("I decided to store each line item with its price, because refunds need it.", "a2")
    left = standing(ASKED, decided, other, said("It is on the till.", "a3"), prompt(reply, "p2"))
    assert decided.text not in left
    assert other.text in left


def test_a_decision_that_agrees_with_the_rule_stays() -> None:
    decided = said("I decided to round the total, not each line item, because lines drift.", "a1")
    rule = prompt("Never round line items: they drift.", "p2")
    assert decided.text in standing(ASKED, decided, said("It is on the till.", "a2"), rule)


def summary(text: str, record: str) -> Compacted:
    return Compacted(
        session=KEY, record=record, at=NOON, origin=Origin.HARNESS, summary=text, sign=CompactionSign.SUMMARY
    )


def test_a_summary_does_not_bring_back_what_the_user_ruled_out() -> None:
    told = "The assistant rounds each line item. The till of the first shop is half done."
    left = standing(ASKED, prompt("Never round line items: errors add up.", "p2"), summary(told, "s1"))
    assert "The assistant rounds each line item." not in left
    assert "The till of the first shop is half done." in left


def test_a_passing_check_ends_no_decision_that_gives_a_problem_as_its_reason() -> None:
    decided = said("Decision: the total is rounded once, because the errors of lines add up.", "a1")
    edited = called("c1", Action.EDIT, "/home/you/app/till.py"), returned("c1")
    left = standing(ASKED, decided, *edited, said("All tests pass now.", "a2"))
    assert decided.text in left


def test_a_summary_replaces_the_one_before_it() -> None:
    first = summary("## Current Work\nThe till of the first shop is half done.", "s1")
    second = summary("## Current Work\nThe tax of the second shop is half done.", "s2")
    left = standing(ASKED, first, second)
    assert "The tax of the second shop is half done." in left
    assert "The till of the first shop is half done." not in left
    assert ASKED.text in left


def test_of_a_summary_the_list_of_all_messages_is_passed_over() -> None:
    told = "## All user messages\n- Mend the lamp of the tower\n\n## Current Work\nThe till is half done."
    left = standing(ASKED, summary(told, "s1"))
    assert "The till is half done." in left
    assert "Mend the lamp of the tower" not in left


def test_a_short_status_is_replaced_by_the_next_one() -> None:
    first, second = said("All 12 tests pass.", "a1"), said("Lint is clean and committed.", "a2")
    assert first.text in standing(ASKED, first)
    assert first.text not in standing(ASKED, first, second)


FLOAT = "Decision: keep the totals in float, because it is fast."
DECIMAL = "Use Decimal instead of float for money."
ROUNDING = "Decision: round half up once per cart, because rounding per line drifts."


def test_a_decision_is_over_once_the_user_decides_against_it() -> None:
    before = (prompt("Fix the cart totals.", "p1"), said(FLOAT, "a1"), said(ROUNDING, "a2"))
    assert {FLOAT, ROUNDING} <= set(standing(*before))
    texts = standing(*before, prompt(DECIMAL, "p2"))
    assert FLOAT not in texts
    assert {ROUNDING, DECIMAL} <= set(texts)


def test_a_decision_is_over_once_the_agent_decides_against_it() -> None:
    switched = "Decision: store the totals as Decimal instead of float, because cents get lost."
    texts = standing(prompt("Fix the cart totals.", "p1"), said(FLOAT, "a1"), said(switched, "a2"))
    assert FLOAT not in texts
    assert switched in texts


def test_a_rule_is_over_once_the_user_decides_against_it() -> None:
    rule = "Always use float for money."
    texts = standing(prompt(f"Fix the cart totals. {rule}", "p1"), said("Done.", "a1"), prompt(DECIMAL, "p2"))
    assert rule not in texts
    assert DECIMAL in texts


def test_a_question_overturns_no_earlier_decision() -> None:
    asked = prompt("Should we use Decimal instead of float?", "p2")
    before = (prompt("Fix the cart totals.", "p1"), said(FLOAT, "a1"), said(ROUNDING, "a2"))
    assert FLOAT in standing(*before, asked)


OVERVIEW = """I have read the whole module.

## How totals work

- `cart.py` sums the line items.
- `tax.py` knows the rates.

| file | lines |
|---|---|
| `cart.py` | 120 |

## What was done well

- The names are clear.

This keeps the totals apart from the taxes."""
REPORT = """I moved the rounding into `total()`.

## Changes

- Removed the helper `round_each()` from `cart.py`.

## Root cause

Each line was rounded before the sum, so cents were lost.

## Remaining

- Add a test for refunds in `test_cart.py`.

Should I do that now?"""
CAUSE = "Each line was rounded before the sum, so cents were lost."
REMOVED = "Removed the helper `round_each()` from `cart.py`."
REFUNDS = "Add a test for refunds in `test_cart.py`."


def reported(text: str, record: str = "r1") -> SubagentStopped:
    return SubagentStopped(session=KEY, record=record, at=NOON, origin=Origin.TOOL, subagent="s1", text=text)


def of_subagents(*events: Event) -> list[tuple[NoteKind, str]]:
    notes = after(session(), *events).trail.notes
    return [(note.kind, note.text) for note in notes if note.source is NoteSource.SUBAGENT]


def test_what_a_subagent_reports_under_a_heading_is_noted() -> None:
    assert of_subagents(reported(REPORT)) == [
        (NoteKind.CONFIRMED, REMOVED),
        (NoteKind.FINDING, CAUSE),
        (NoteKind.NEXT, REFUNDS),
    ]


def test_an_overview_of_what_a_subagent_read_is_not_noted() -> None:
    assert of_subagents(reported(OVERVIEW)) == []


def test_a_report_counts_once_whoever_tells_it() -> None:
    assert of_subagents(reported(REPORT), reported(REPORT, "hook:r1")) == of_subagents(reported(REPORT))


def test_the_next_prompt_leaves_of_a_report_only_what_was_found_out() -> None:
    before = (prompt("Fix the cart totals.", "p1"), reported(REPORT))
    assert of_subagents(*before, prompt("Now the invoices.", "p2")) == [(NoteKind.FINDING, CAUSE)]
    assert of_subagents(*before, prompt("continue", "p2")) == of_subagents(*before)


def test_what_the_agent_says_later_overrules_a_report() -> None:
    later = said("All done: I added a test for refunds in `test_cart.py`, and it passes.", "a2")
    assert REFUNDS not in [text for _, text in of_subagents(reported(REPORT), later)]


def test_the_end_of_a_message_is_read_behind_code_in_code() -> None:
    text = "I wrote the file:\n\n```markdown\n# Plan\n```bash\nmake\n```\n```\n\nNext step: run the linter."
    assert "Next step: run the linter." in standing(said(text, "a1"))


def test_options_that_the_user_did_not_choose_are_no_decisions() -> None:
    offer = "How do we keep the tides?\n\n1. In tables of SQLite\n2. In flat files as JSON"
    asked = after(session(), prompt("Keep the tides of all harbours", "p1"), said(offer, "a1"))
    kept = [note.text for note in after(asked, prompt("sqlite please", "p2")).trail.notes]
    assert "In flat files as JSON" not in kept
    assert any("(In tables of SQLite)" in text for text in kept)
