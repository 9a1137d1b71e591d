"""What a session's ledger says of it."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.documents.ledger import LedgerEntry, LedgerPart
from holdfast.core.events.event import Action, Origin, Todo, TodosChanged
from holdfast.core.events.world import GitState
from holdfast.core.evidence.trail import Utterance
from holdfast.core.work.ledger_content import MOST_ENTRIES, fill_ledger, ledger_in_words
from tests.core.scenes import KEY, MINUTE, NOON, after, called, prompt, returned, said, session, worked

GIT = GitState("feature/sums", "0123456789abcdef", (), ("Begin",))


def brief_input(**changes: object) -> BriefInput:
    return replace(BriefInput(Reason.CLEAR, replace(worked(), git=GIT), NOON), **changes)  # type: ignore[arg-type]


def todos(*todos: tuple[str, str]) -> TodosChanged:
    return TodosChanged(
        session=KEY, record="t", at=NOON, origin=Origin.ASSISTANT, todos=tuple(Todo(*todo) for todo in todos)
    )


def test_the_evidence_of_a_session() -> None:
    ledger = fill_ledger(brief_input())
    assert ledger.goal == (
        LedgerEntry("Fix the flaky retry test in tests/test_retry.py, never touch the vendored client"),
    )
    assert any("never touch the vendored client" in entry.text for entry in ledger.constraints)
    assert [entry.text.partition(":")[0] for entry in ledger.now] == ["Asked last", "Said last", "Failing"]
    assert "RetryExhausted" in ledger.now[-1].text
    assert ledger.files == (LedgerEntry("`src/retry.py`"),)
    assert ledger.ids[:3] == (
        LedgerEntry("branch `feature/sums`"),
        LedgerEntry("commit `0123456789`"),
        LedgerEntry(f"session `{KEY}`"),
    )
    assert ledger.commands == (LedgerEntry("`pytest tests/test_retry.py` fails"),)


def test_todos_are_done_now_or_next() -> None:
    session = after(worked(), todos(("parse", "completed"), ("total", "in_progress"), ("report", "pending")))
    ledger = fill_ledger(brief_input(session=session))
    assert LedgerEntry("parse") in ledger.done
    assert ledger.now[0] == LedgerEntry("total")
    assert LedgerEntry("report") in ledger.next


def test_decisions_are_unconfirmed_until_they_are_approved() -> None:
    decided = after(
        worked(), said("I decided to use time.monotonic for the backoff.", "a9", NOON + 2 * MINUTE)
    )
    (entry,) = fill_ledger(brief_input(session=decided)).decisions
    assert (entry.unconfirmed, entry.why) == (True, "not approved")
    agreed = after(decided, prompt("yes, do that", "p9", NOON + 3 * MINUTE))
    assert fill_ledger(brief_input(session=agreed)).decisions == (LedgerEntry(entry.text),)


def test_a_file_that_is_not_as_it_was_left_is_unconfirmed() -> None:
    marks = {"/home/you/app/src/retry.py": "changed since"}
    assert fill_ledger(brief_input(marks=marks)).files == (
        LedgerEntry("`src/retry.py`", unconfirmed=True, why="changed since"),
    )


def test_the_agents_digest_comes_first() -> None:
    words = (
        "Backoff mended.\nState: writing the test\nNext:\n- run it\nDecisions:\n- monotonic clock\n"
        "Blockers:\n- CI is down\nOpen questions:\n- how many tries?"
    )
    ledger = fill_ledger(brief_input(words=(Utterance(words, NOON),)))
    assert ledger.now[:2] == (LedgerEntry("Backoff mended."), LedgerEntry("writing the test"))
    assert ledger.next[0] == LedgerEntry("run it")
    assert LedgerEntry("monotonic clock") in ledger.decisions
    assert LedgerEntry("CI is down", unconfirmed=True, why="status outside") in ledger.questions
    assert LedgerEntry("how many tries?") in ledger.questions


def test_what_the_agent_writes_as_a_ledger_is_read_as_one() -> None:
    ledger = ledger_in_words("# Session Ledger\n\n## Goal\nsums\n\n## Constraints\n- short names\n")
    assert (ledger.goal, ledger.constraints) == ((LedgerEntry("sums"),), (LedgerEntry("short names"),))
    result = fill_ledger(
        brief_input(words=(Utterance("# Session Ledger\n\n## Constraints\n- short names\n", NOON),))
    )
    assert result.constraints[-1] == LedgerEntry("short names", unconfirmed=True, why="inferred")


def test_a_prompt_that_only_says_to_go_on_is_no_goal() -> None:
    assert fill_ledger(brief_input(session=after(session(), prompt("continue", "p1")))).goal == ()


def test_a_session_in_which_nothing_happened_says_who_it_was() -> None:
    ledger = fill_ledger(BriefInput(Reason.CLEAR, session(), NOON))
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
    ledger = fill_ledger(brief_input(session=after(session(), *events, *edits)))
    assert len(ledger.constraints) == MOST_ENTRIES[LedgerPart.CONSTRAINTS]
    assert "number0 " in ledger.constraints[0].text
    assert len(ledger.files) == MOST_ENTRIES[LedgerPart.FILES]
    assert ledger.files[0] == LedgerEntry("`f59.py`")
