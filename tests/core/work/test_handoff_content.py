"""What a handoff says of a session: its story, its files with what was written there, what is left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.documents.handoff import TITLES, Check, Handoff, HandoffHead
from holdfast.core.events.event import Action, Event, Origin, SubagentStarted, Todo, TodosChanged, ToolCalled
from holdfast.core.evidence.trail import Utterance
from holdfast.core.work.handoff_content import (
    HandoffWords,
    fill_handoff,
    last_edits_of,
    recognisable_line,
    turns_of,
)
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
        said("## Done\nTotals are rounded half up now; all 12 tests pass.", "a2", one),
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
    """The handoff after these events, with an agent's own words, and what is told changed."""
    seen = story() if events is None else events
    told = BriefInput(Reason.STARTUP, after(session(), *seen), NOON + 3 * MINUTE)
    return fill_handoff(replace(told, **changes), seen, HandoffHead("go on"), own)  # type: ignore[arg-type]


def section(handoff: Handoff, title: str) -> str:
    return "\n".join(handoff.sections[TITLES.index(title)])


class TestTheStory:
    def test_turn_by_turn(self) -> None:
        first, second = turns_of(story())
        assert first.prompt.startswith("Mend the sums")
        assert first.failures == ("`pytest -q`: TotalsMismatch: 41 != 42",)
        assert first.cause == "The problem is that floats are rounded too early."
        assert first.conclusion.text.endswith("all 12 tests pass.")
        assert (second.failures, second.cause) == ((), "")

    def test_a_prompt_that_is_shown_twice_counts_once(self) -> None:
        assert len(turns_of([prompt("go", "p1"), prompt("go", "p2"), prompt("on", "p3")])) == 2

    def test_a_subagents_words_are_not_the_agents(self) -> None:
        words = replace(said("elsewhere", "a1"), agent="sub-1")
        assert turns_of([prompt("go", "p1"), words])[0].statements == ()

    def test_what_was_written_last(self) -> None:
        written = {path: edit.text for path, edit in last_edits_of(story()).items()}
        assert written == {
            "/home/you/app/src/totals.py": "def total(rows):\n    return quantize(rows)",
            "src/tax.py": "def tax(rows):\n    return sum(rows)",
            "docs/tax.md": "# Tax",
        }

    @pytest.mark.parametrize(
        ("order", "failures"),
        [
            (("c1", "c2"), ()),
            (("c2", "c1"), ("`/a.py`: String to replace not found in file.",)),
        ],
        ids=["made after all", "never made"],
    )
    def test_a_change_that_was_used_wrongly_is_shown_if_it_was_never_made(
        self, order: tuple[str, str], failures: tuple[str, ...]
    ) -> None:
        wrong = "<tool_use_error>String to replace not found in file.\nString: x = 1"
        ends: dict[str, Event] = {"c1": returned("c1", ok=False, text=wrong), "c2": returned("c2")}
        changes: list[Event] = [
            event for call in order for event in (edited(call, Action.EDIT, "/a.py", "x = 2"), ends[call])
        ]
        assert turns_of([prompt("go", "p1"), *changes])[0].failures == failures

    def test_what_failed_was_not_written(self) -> None:
        events: list[Event] = [edited("c1", Action.WRITE, "/a.py", "x = 1"), returned("c1", ok=False)]
        assert last_edits_of(events) == {}


def test_every_section_of_a_handoff() -> None:
    handoff = handed()
    assert "“Mend the sums. Never touch legacy.py.”" in section(handoff, "Request and Intent")
    files = section(handoff, "Files and Snippets")
    assert "Edited `src/totals.py`\n```\ndef total(rows):\n    return quantize(rows)\n```" in files
    assert "`src/tax.py`\n```\ndef tax(rows):" in files
    solved = section(handoff, "Problems Solved")
    assert "Cause: The problem is that floats are rounded too early." in solved
    assert "Totals are rounded half up now; all 12 tests pass." in solved
    assert "Failed on the way: `pytest -q`: TotalsMismatch: 41 != 42" in solved
    assert "#" not in solved
    assert "Shall I also round the tax?" in section(handoff, "Pending")
    current = section(handoff, "Current Work")
    assert "Asked last: “And the tax?”" in current
    assert "Passed: `git push origin main`" in current
    assert "cat src/tax.py" not in current
    assert "document the rates" in section(handoff, "Next Step")


def test_what_subagents_were_given_is_shown_with_its_turn() -> None:
    tasks = ("Set up the project", "Build  the\npages")
    given: list[Event] = [
        SubagentStarted(
            session=KEY, record=f"s-{task}", at=NOON, origin=Origin.ASSISTANT, subagent=task, task=task
        )
        for task in tasks
    ]
    told = "Given to subagents: Set up the project; Build the pages"
    first: list[Event] = [prompt("Make an app.", "p1"), *given, said("It is made.", "a1")]
    assert told in section(handed(events=first), "Current Work")
    assert told in section(handed(events=[*first, prompt("Thanks!", "p2")]), "Problems Solved")


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
    words = (Utterance("Half done.\nNext:\n- the rates\n", NOON),)
    assert section(handed(words=words), "Next Step").startswith("the rates")


def test_what_was_left_open_in_an_earlier_turn_is_not_pending() -> None:
    events: list[Event] = [
        prompt("Mend the sums.", "p1"),
        said("Shall I use Decimal for this? What do you prefer?", "a1", NOON),
        prompt("now the report", "p2", NOON + MINUTE),
        said("The report is written.", "a2", NOON + MINUTE),
    ]
    handoff = handed(events=events)
    assert section(handoff, "Pending") == ""
    assert section(handoff, "Next Step").endswith("The agent's last words were: The report is written.")


def test_todos_that_are_not_done_are_pending() -> None:
    todos = (Todo("totals", "completed"), Todo("tax", "in_progress"), Todo("report", "pending"))
    changed = TodosChanged(session=KEY, record="t", at=NOON, origin=Origin.ASSISTANT, todos=todos)
    handoff = handed(events=[*story(), changed])
    assert "To do (in progress): tax\nTo do (pending): report" in section(handoff, "Pending")


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


def test_a_long_session_is_shown_in_bounded_space() -> None:
    events: list[Event] = []
    for turn in range(60):
        events += [prompt(f"task number {turn} " + "x" * 900, f"p{turn}", NOON + turn)]
        events += [said(f"Task {turn} is finished. " + "word " * 2_000, f"a{turn}", NOON + turn)]
    handoff = handed(events=events)
    assert len(section(handoff, "Problems Solved")) < 16_000
    assert "Task 58 is finished" in section(handoff, "Problems Solved")
    assert "Task 59 is finished" in section(handoff, "Current Work")
