"""What a handoff says of a session: its work state, and its files with what was written there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.documents.handoff import TITLES, Check, Handoff, HandoffHead, render
from holdfast.core.documents.handoff_content import (
    STEPS_FIRST,
    HandoffWords,
    fill_handoff,
    last_edits_of,
    recognisable_line,
)
from holdfast.core.documents.ledger_content import SessionContent, ledger_in_words
from holdfast.core.events.event import Action, Event, Origin, Todo, TodosChanged, ToolCalled
from holdfast.core.evidence.kinds import Section
from holdfast.core.work.compute import work_state
from holdfast.core.work.state import Statement, WorkState
from tests.core.scenes import KEY, MINUTE, NOON, after, called, prompt, returned, said, session

PATCH = """*** Begin Patch
*** Update File: src/tax.py
@@
-    return 0
+def tax(rows):
+    return sum(rows)
*** Add File: docs/tax.md
+# Tax
*** End Patch"""


def edited(call: str, action: Action, path: str, text: str, at: int = NOON) -> ToolCalled:
    return replace(called(call, action, path, at), detail=text)


def story() -> list[Event]:
    one, two, three = NOON, NOON + MINUTE, NOON + 2 * MINUTE
    return [
        prompt("Mend the sums. Never touch legacy.py.", "p1", one),
        called("c1", Action.RUN, "pytest -q", one),
        returned("c1", ok=False, exit_status=1, text="E   TotalsMismatch: 41 != 42\n1 failed", at=one),
        said("The problem is that floats are rounded too early.", "a1", one),
        edited(
            "c2",
            Action.EDIT,
            "/home/you/app/src/totals.py",
            "def total(rows):\n    return quantize(rows)\n",
            one,
        ),
        returned("c2", at=one),
        said("## Done\nTotals are rounded half up now. All 12 tests pass.", "a2", one),
        prompt("And the tax?", "p2", two),
        edited("c3", Action.OTHER, "", PATCH, two),
        returned("c3", at=two),
        called("c4", Action.RUN, "git push origin main", two),
        returned("c4", exit_status=0, at=two),
        called("c5", Action.RUN, "cat src/tax.py", two),
        returned("c5", exit_status=0, at=two),
        said("The tax is summed. Next: document the rates. Shall I also round the tax?", "a3", three),
    ]


NO_WORDS = HandoffWords()


def handed(own: HandoffWords = NO_WORDS, events: list[Event] | None = None, **changes: object) -> Handoff:
    """The handoff after these events, with an agent's own words, and what it is made from changed."""
    seen = story() if events is None else events
    of = after(session(), *seen)
    content = SessionContent(of, work_state(of.trail, of.git))
    return fill_handoff(replace(content, **changes), seen, HandoffHead("go on"), own)  # type: ignore[arg-type]


def stating(*statements: Statement, own: HandoffWords = NO_WORDS, digest: str = "") -> Handoff:
    """The handoff of a session in which nothing happened but these statements."""
    content = SessionContent(session(), WorkState("", statements), ledger_in_words(digest))
    return fill_handoff(content, (), HandoffHead("go on"), own)


def section(handoff: Handoff, title: str) -> str:
    return "\n".join(handoff.sections[TITLES.index(title)])


def test_what_was_written_last() -> None:
    written = {path: edit.text for path, edit in last_edits_of(story()).items()}
    assert written == {
        "/home/you/app/src/totals.py": "def total(rows):\n    return quantize(rows)",
        "src/tax.py": "def tax(rows):\n    return sum(rows)",
        "docs/tax.md": "# Tax",
    }


def test_what_failed_was_not_written() -> None:
    events: list[Event] = [edited("c1", Action.WRITE, "/a.py", "x = 1"), returned("c1", ok=False)]
    assert last_edits_of(events) == {}


def test_every_section_of_a_handoff() -> None:
    handoff = handed()
    request = section(handoff, "Request and Intent")
    assert "And the tax?" in request
    assert "Rule: Never touch legacy.py." in request
    files = section(handoff, "Files and Snippets")
    assert "Edited `src/totals.py`\n```\ndef total(rows):\n    return quantize(rows)\n```" in files
    assert "`src/tax.py`\n```\ndef tax(rows):" in files
    assert "Totals are rounded half up now." in section(handoff, "Problems Solved")
    assert "Shall I also round the tax?" in section(handoff, "Pending")
    assert "Command: `pytest -q` fails" in section(handoff, "Key Concepts")
    assert "document the rates" in section(handoff, "Next Step")


@pytest.mark.parametrize(
    ("of", "title", "line"),
    [
        (Section.GOAL, "Request and Intent", "text"),
        (Section.RULES, "Request and Intent", "Rule: text"),
        (Section.DECISIONS, "Key Concepts", "Decided: text"),
        (Section.DONE, "Problems Solved", "text"),
        (Section.QUESTIONS, "Pending", "Open: text"),
        (Section.NOW, "Current Work", "text"),
        (Section.FAILURES, "Current Work", "Failed: text"),
        (Section.WHERE, "Current Work", "text"),
        (Section.NEXT, "Next Step", "text"),
    ],
)
def test_each_section_of_the_work_state_has_its_place(of: Section, title: str, line: str) -> None:
    handoff = stating(Statement(of, "text", NOON))
    assert [one for one in TITLES if section(handoff, one)] == [title]
    assert section(handoff, title) == line


def test_further_steps_are_pending() -> None:
    steps = [Statement(Section.NEXT, f"step {n}", NOON + n) for n in range(STEPS_FIRST + 2)]
    handoff = stating(*steps)
    assert section(handoff, "Next Step").splitlines() == [f"step {n}" for n in range(STEPS_FIRST)]
    assert section(handoff, "Pending").splitlines() == [f"step {STEPS_FIRST}", f"step {STEPS_FIRST + 1}"]


def test_what_is_done_is_not_open_and_the_other_way_round() -> None:
    statements = (
        Statement(Section.DONE, "Close the epic", NOON),
        Statement(Section.NEXT, "Close the epic", NOON),
        Statement(Section.NOW, "close the epic.", NOON),
        Statement(Section.DONE, "Send it", NOON),
        Statement(Section.NEXT, "Print it", NOON),
    )
    handoff = stating(*statements)
    assert section(handoff, "Problems Solved") == "Close the epic\nSend it"
    assert (section(handoff, "Current Work"), section(handoff, "Next Step")) == ("", "Print it")
    corrected = stating(*statements, own=HandoffWords(solved=("Print it",), pending=("Send it",)))
    assert section(corrected, "Problems Solved") == "Print it\nClose the epic"
    assert (section(corrected, "Pending"), section(corrected, "Next Step")) == ("Send it", "")


def test_next_steps_stand_in_the_order_in_which_they_were_said() -> None:
    steps = "Next steps:\n1. Add the tooling.\n2. Draft the adapter.\n3. Choose the first table."
    events: list[Event] = [prompt("Plan the migration.", "p1"), said(steps, "a1")]
    text = section(handed(events=events), "Next Step")
    assert text.index("Add the tooling") < text.index("Draft the adapter") < text.index("Choose the first")


def test_an_agents_own_words_stand_first() -> None:
    handoff = handed(HandoffWords(request=("sums",), next=("ask Ada",), pending=("rates",)))
    assert handoff.sections[TITLES.index("Request and Intent")][0] == "sums"
    assert handoff.sections[TITLES.index("Next Step")][0] == "ask Ada"
    assert handoff.sections[TITLES.index("Pending")][0] == "rates"


def test_a_digest_says_what_comes_next() -> None:
    digest = ledger_in_words("Half done.\nNext:\n- the rates\n")
    handoff = handed(digest=digest)
    assert section(handoff, "Next Step").startswith("the rates")
    assert section(handoff, "Current Work").startswith("Half done.")


def test_a_digest_says_where_the_work_is() -> None:
    handoff = stating(digest="Where:\n- port 6380, database `sums`\n")
    assert section(handoff, "Current Work") == "port 6380; database `sums`"


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("short names", "Rule: short names — UNCONFIRMED: inferred"),
        ("short names UNCONFIRMED", "UNCONFIRMED: Rule: short names"),
    ],
)
def test_a_rule_that_the_agent_inferred_is_in_doubt(rule: str, line: str) -> None:
    handoff = stating(digest=f"Rules:\n- {rule}\n")
    assert section(handoff, "Request and Intent") == line


def test_what_was_left_open_in_an_earlier_turn_is_not_pending() -> None:
    events: list[Event] = [
        prompt("Mend the sums.", "p1"),
        said("Shall I use Decimal for this? What do you prefer?", "a1", NOON),
        prompt("now the report", "p2", NOON + MINUTE),
        said("The report is written.", "a2", NOON + MINUTE),
    ]
    handoff = handed(events=events)
    assert section(handoff, "Pending") == ""


def test_todos_are_done_current_or_next() -> None:
    todos = (Todo("totals", "completed"), Todo("tax", "in_progress"), Todo("report", "pending"))
    changed = TodosChanged(session=KEY, record="t", at=NOON, origin=Origin.ASSISTANT, todos=todos)
    handoff = handed(events=[*story(), changed])
    assert "totals" in section(handoff, "Problems Solved").splitlines()
    assert "tax" in section(handoff, "Current Work").splitlines()
    assert "report" in section(handoff, "Next Step").splitlines()


def test_a_file_that_is_not_as_it_was_left_says_so() -> None:
    handoff = handed(marks={"/home/you/app/src/totals.py": "gone since"})
    assert "Edited `src/totals.py` — UNCONFIRMED: gone since" in section(handoff, "Files and Snippets")


def test_a_session_in_which_nothing_happened_is_handed_over_as_that() -> None:
    assert handed(events=[]).sections == ((),) * len(TITLES)


def test_the_files_are_checked_by_the_lines_that_they_are_known_by() -> None:
    assert set(handed().checks) == {
        Check("src/tax.py", "def tax(rows):"),
        Check("docs/tax.md"),
        Check("src/totals.py", "def total(rows):"),
    }


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("x = 1\nexport async function total(rows) {\n", "export async function total(rows) {"),
        ("a = 1\nsomething_longer = total(rows)\n", "something_longer = total(rows)"),
        ("x\ny\n", ""),
        ("use `ticks` here, please\n", ""),
        ("", ""),
    ],
)
def test_a_line_by_which_a_text_is_known_again(text: str, pattern: str) -> None:
    assert recognisable_line(text) == pattern


def test_what_differs_from_how_the_session_left_it_is_in_doubt() -> None:
    handoff = handed(notices=("the branch was `main`, now it is `next`.",))
    assert section(handoff, "Current Work").endswith("UNCONFIRMED: the branch was `main`, now it is `next`.")


def test_a_long_session_is_shown_in_bounded_space() -> None:
    statements = [
        Statement(of, f"{of} {n} " + "word " * 2_000, NOON + n) for of in Section for n in range(60)
    ]
    handoff = stating(*statements)
    text = render(handoff)
    assert len(text) < 16_000
    assert len(text.splitlines()) < 100
    assert "done 59" in section(handoff, "Problems Solved")
