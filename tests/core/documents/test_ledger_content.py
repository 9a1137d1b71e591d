"""What a session's ledger says of it: its work state, its files, and its agent's own words."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.documents.ledger import Ledger, LedgerEntry, LedgerPart
from holdfast.core.documents.ledger_content import (
    LEDGER_ROOM,
    SessionContent,
    fill_ledger,
    ledger_in_words,
)
from holdfast.core.events.event import Action, Origin, Todo, TodosChanged
from holdfast.core.events.world import GitState
from holdfast.core.evidence.kinds import Section
from holdfast.core.session.session import Session
from holdfast.core.work.compute import work_state
from holdfast.core.work.state import Statement, WorkState
from tests.core.scenes import KEY, MINUTE, NOON, after, called, prompt, returned, said, session, worked

GIT = GitState("feature/sums", "0123456789abcdef", (), ("Begin",))


def content(of: Session, digest: str = "") -> SessionContent:
    return SessionContent(of, work_state(of.trail, of.git), ledger_in_words(digest))


def stating(*statements: Statement, digest: str = "") -> SessionContent:
    """The content of a session in which nothing happened but these statements."""
    return SessionContent(session(), WorkState("", statements), ledger_in_words(digest))


def statement(section: Section, text: str, at: int = NOON, worth: float = 0.5) -> Statement:
    return Statement(section, text, at, worth=worth)


def texts(ledger: Ledger, part: LedgerPart) -> list[str]:
    return [entry.text for entry in ledger.of(part)]


def todos(*todos: tuple[str, str]) -> TodosChanged:
    return TodosChanged(
        session=KEY, record="t", at=NOON, origin=Origin.ASSISTANT, todos=tuple(Todo(*todo) for todo in todos)
    )


def test_the_evidence_of_a_session() -> None:
    ledger = fill_ledger(content(replace(worked(), git=GIT)))
    assert texts(ledger, LedgerPart.GOAL) == [
        "Fix the flaky retry test in tests/test_retry.py, never touch the vendored client"
    ]
    assert any("never touch the vendored client" in entry.text for entry in ledger.constraints)
    assert ledger.files == (LedgerEntry("`src/retry.py`"),)
    assert ledger.ids[:3] == (
        LedgerEntry("branch `feature/sums`"),
        LedgerEntry("commit `0123456789`"),
        LedgerEntry(f"session `{KEY}`"),
    )
    assert ledger.commands == (LedgerEntry("`pytest tests/test_retry.py` fails"),)


def test_todos_are_done_now_or_next() -> None:
    changed = todos(("parse", "completed"), ("total", "in_progress"), ("report", "pending"))
    ledger = fill_ledger(content(after(worked(), changed)))
    assert LedgerEntry("parse") in ledger.done
    assert ledger.now[0] == LedgerEntry("total")
    assert LedgerEntry("report") in ledger.next


def test_what_is_worth_most_is_shown_with_the_oldest_first() -> None:
    sections = {
        Section.RULES: LedgerPart.CONSTRAINTS,
        Section.DECISIONS: LedgerPart.DECISIONS,
        Section.DONE: LedgerPart.DONE,
        Section.NEXT: LedgerPart.NEXT,
        Section.QUESTIONS: LedgerPart.QUESTIONS,
    }
    for section, part in sections.items():
        most = LEDGER_ROOM.entries[part]
        worth_less = [statement(section, f"passing {n}", NOON + n, 0.1) for n in range(30)]
        worth_more = [statement(section, f"lasting {n}", NOON + n, 0.9) for n in range(most)]
        ledger = fill_ledger(stating(*worth_more, *worth_less))
        assert texts(ledger, part) == [f"lasting {n}" for n in range(most)]


def test_the_current_goal_stands_before_the_first() -> None:
    ledger = fill_ledger(
        stating(statement(Section.GOAL, "Mend the sums"), statement(Section.GOAL, "Now the tax", NOON + 1))
    )
    assert texts(ledger, LedgerPart.GOAL) == ["Now the tax", "At first: Mend the sums"]


def test_what_is_done_is_neither_now_nor_next_whoever_says_so() -> None:
    done = [statement(Section.DONE, f"Close epic item {n}", worth=0.1 * (n < 3)) for n in range(40)]
    ledger = fill_ledger(
        stating(
            *done,
            statement(Section.NOW, "close epic item 7."),
            statement(Section.NEXT, "Close epic item 30"),
            statement(Section.NEXT, "Write the release notes"),
            digest="State: Close epic item 1\nNext:\n- Close epic item 39\n- Tag the release",
        )
    )
    assert texts(ledger, LedgerPart.NOW) == []
    assert texts(ledger, LedgerPart.NEXT) == ["Tag the release", "Write the release notes"]


def test_what_the_agent_says_is_done_is_not_open() -> None:
    digest = "Done:\n- Close the epic\nNext:\n- Tag the release"
    ledger = fill_ledger(stating(statement(Section.NEXT, "Close the epic"), digest=digest))
    assert texts(ledger, LedgerPart.NEXT) == ["Tag the release"]
    assert texts(ledger, LedgerPart.DONE) == ["Close the epic"]


def test_what_goes_on_now_is_not_named_again_as_next() -> None:
    ledger = fill_ledger(
        stating(statement(Section.NOW, "Tag the release"), statement(Section.NEXT, "Tag the release"))
    )
    assert (texts(ledger, LedgerPart.NOW), ledger.next) == (["Tag the release"], ())


def test_failures_stand_with_what_goes_on() -> None:
    ledger = fill_ledger(
        stating(
            statement(Section.NOW, "Mending the sums"),
            statement(Section.FAILURES, "floats are rounded early"),
        )
    )
    assert texts(ledger, LedgerPart.NOW) == ["Mending the sums", "Failed: floats are rounded early"]


def test_decisions_are_unconfirmed_until_they_are_approved() -> None:
    decided = after(
        worked(), said("I decided to use time.monotonic for the backoff.", "a9", NOON + 2 * MINUTE)
    )
    entry = fill_ledger(content(decided)).decisions[-1]
    assert (entry.unconfirmed, entry.why) == (True, "not approved")
    agreed = after(decided, prompt("yes, do that", "p9", NOON + 3 * MINUTE))
    assert LedgerEntry(entry.text) in fill_ledger(content(agreed)).decisions


def test_a_file_that_is_not_as_it_was_left_is_unconfirmed() -> None:
    changed = replace(content(worked()), marks={"/home/you/app/src/retry.py": "changed since"})
    assert fill_ledger(changed).files == (
        LedgerEntry("`src/retry.py`", unconfirmed=True, why="changed since"),
    )


def test_where_the_work_is_stands_in_the_working_set() -> None:
    ledger = fill_ledger(
        stating(
            Statement(Section.WHERE, "Branch: main at 0123456789", NOON, "git"),
            statement(Section.WHERE, "It needs Redis 7, on port 6380: `redis-cli -p 6380 get a,b`"),
        )
    )
    assert texts(ledger, LedgerPart.IDS) == [
        f"session `{KEY}`",
        "It needs Redis 7; on port 6380: `redis-cli -p 6380 get a,b`",
    ]


def test_the_agents_digest_comes_first() -> None:
    words = (
        "Backoff mended.\nState: writing the test\nNext:\n- run it\nDecisions:\n- monotonic clock\n"
        "Blockers:\n- CI is down\nOpen questions:\n- how many tries?"
    )
    ledger = fill_ledger(content(worked(), words))
    assert ledger.now[:2] == (LedgerEntry("Backoff mended."), LedgerEntry("writing the test"))
    assert ledger.next[0] == LedgerEntry("run it")
    assert LedgerEntry("monotonic clock") in ledger.decisions
    assert LedgerEntry("CI is down", unconfirmed=True, why="status outside") in ledger.questions
    assert LedgerEntry("how many tries?") in ledger.questions


def test_a_digest_in_the_sections_of_a_handover_is_read_by_them() -> None:
    words = (
        "## Goal\nRound the totals.\n\n## Rules\n- tabs only\n\n## Done\n- the parser\n\n"
        "## Now\nthe report\n\n## Next\n- the tax\n\n## Where\n- port 6380, database `sums`\n"
    )
    ledger = ledger_in_words(words)
    assert {part: texts(ledger, part) for part in LedgerPart if ledger.of(part)} == {
        LedgerPart.GOAL: ["Round the totals."],
        LedgerPart.CONSTRAINTS: ["tabs only"],
        LedgerPart.DONE: ["the parser"],
        LedgerPart.NOW: ["the report"],
        LedgerPart.NEXT: ["the tax"],
        LedgerPart.IDS: ["port 6380; database `sums`"],
    }


def test_what_the_agent_writes_as_a_ledger_is_read_as_one() -> None:
    ledger = ledger_in_words("# Session Ledger\n\n## Goal\nsums\n\n## Constraints\n- short names\n")
    assert (ledger.goal, ledger.constraints) == ((LedgerEntry("sums"),), (LedgerEntry("short names"),))
    result = fill_ledger(content(worked(), "# Session Ledger\n\n## Constraints\n- short names\n"))
    assert result.constraints[-1] == LedgerEntry("short names", unconfirmed=True, why="inferred")


def test_the_branch_in_an_agents_ledger_is_not_the_one_that_is_checked_out() -> None:
    words = "# Session Ledger\n\n## Working Set\n- IDs: branch `old`, ticket `SUM-12`\n"
    ledger = fill_ledger(content(replace(worked(), git=GIT), words))
    assert "branch `old`" not in texts(ledger, LedgerPart.IDS)
    assert "ticket `SUM-12`" in texts(ledger, LedgerPart.IDS)


def test_a_prompt_that_only_says_to_go_on_is_no_goal() -> None:
    assert fill_ledger(content(after(session(), prompt("continue", "p1")))).goal == ()


def test_a_session_in_which_nothing_happened_says_who_it_was() -> None:
    ledger = fill_ledger(content(session()))
    assert [part for part in LedgerPart if ledger.of(part)] == [LedgerPart.IDS]


def test_no_part_grows_beyond_its_bound() -> None:
    events = [
        prompt(f"Never use module number{n} in the parser again.", f"p{n}", NOON + n) for n in range(60)
    ]
    edits = [
        event
        for n in range(60)
        for event in (called(f"c{n}", Action.EDIT, f"/home/you/app/f{n}.py"), returned(f"c{n}"))
    ]
    ledger = fill_ledger(content(after(session(), *events, *edits)))
    assert len(ledger.constraints) == LEDGER_ROOM.entries[LedgerPart.CONSTRAINTS]
    assert len(ledger.files) == LEDGER_ROOM.entries[LedgerPart.FILES]
    assert ledger.files[0] == LedgerEntry("`f59.py`")
