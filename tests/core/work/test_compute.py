"""The work state that is computed from a session's evidence: what stands in which section."""

from __future__ import annotations

from holdfast.core.events.event import Action, Event, Origin, Todo, TodosChanged
from holdfast.core.events.world import GitState
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.trail import Utterance
from holdfast.core.work.compute import standing, work_state
from holdfast.core.work.state import WorkState
from tests.core.scenes import (
    KEY,
    NOON,
    PROJECT,
    after,
    called,
    prompt,
    ran,
    replied,
    returned,
    said,
    session,
    touched,
    worked,
)

STALE = " (not run since the last edit)"


def state(*events: Event) -> WorkState:
    return work_state(after(session(), *events).trail)


def texts(of: WorkState, section: Section) -> list[str]:
    return [statement.text for statement in of.section(section)]


def todos(*rows: tuple[str, str]) -> TodosChanged:
    return TodosChanged(
        session=KEY, record="t", at=NOON, origin=Origin.ASSISTANT, todos=tuple(Todo(*row) for row in rows)
    )


def test_statements_stand_in_the_order_of_sections_and_of_time() -> None:
    statements = standing(worked().trail, GitState("main", "1a2b3c4", (), ()), PROJECT)
    places = [(list(Section).index(one.section), one.at) for one in statements]
    assert places == sorted(places)


def test_the_to_dos_of_the_agent_stand_where_they_are() -> None:
    of = state(
        todos(("Add the flag", "completed"), ("Mend the till", "in_progress"), ("Write docs", "pending"))
    )
    assert texts(of, Section.DONE) == ["Add the flag"]
    assert texts(of, Section.NOW) == ["Mend the till"]
    assert texts(of, Section.NEXT) == ["Write docs"]


def test_what_the_agent_announced_and_has_ticked_off_since_is_not_going_on() -> None:
    announced = said("Now I'll add the rate field to the till record.", "a1")
    now = texts(state(announced, *touched("src/till.py")), Section.NOW)
    assert len(now) == 1
    ticked = (announced, *touched("src/till.py"), todos(("Add rate field to till record", "completed")))
    assert texts(state(*ticked), Section.NOW) == []
    other = (announced, *touched("src/till.py"), todos(("Document the rate field", "completed")))
    assert texts(state(*other), Section.NOW) == now
    later = (todos(("Add rate field to till record", "completed")), *touched("src/till.py"), announced)
    assert texts(state(*later), Section.NOW) == now


def test_an_outcome_says_whether_files_were_edited_since() -> None:
    of = texts(state(*ran("pytest -q", text="12 passed")), Section.DONE)
    assert len(of) == 1
    assert of[0].startswith("`pytest -q` passed")
    assert not of[0].endswith(STALE)
    edited = texts(state(*ran("pytest -q", text="12 passed"), *touched("src/till.py")), Section.DONE)
    assert edited == [of[0] + STALE]
    again = (
        *ran("pytest -q", text="12 passed"),
        *touched("a.py"),
        *ran("pytest -q", text="12 passed", at=NOON + 1),
    )
    assert texts(state(*again), Section.DONE) == of


def test_what_the_agent_says_of_a_check_is_told_with_its_command_alone() -> None:
    reported = said("Unit tests pass. All tests pass, and the rounding is now half up.", "a1")
    passed = ran("pytest -q", text="12 passed")
    command, remark = texts(state(*passed, reported), Section.DONE)
    assert command.startswith("`pytest -q` passed")
    assert remark == "All tests pass, and the rounding is now half up."
    assert "Unit tests pass." in texts(state(reported), Section.DONE)


def test_a_command_that_failed_is_told_with_its_reason_until_it_passes() -> None:
    failing = ran("make sums", ok=False, text="error: 41 is not 42")
    assert texts(state(*failing), Section.FAILURES) == ["`make sums` failed: error: 41 is not 42"]
    assert not texts(state(*failing, *ran("make sums", at=NOON + 1)), Section.FAILURES)


def test_what_the_user_answered_is_a_decision_and_what_was_refused_a_rule() -> None:
    of = state(replied("SQLite", "Which store?"), replied("never push to main", record="r2"))
    assert [(one.text, one.by_user) for one in of.section(Section.DECISIONS)] == [
        ("The user answered “SQLite” to “Which store?”", True)
    ]
    assert texts(of, Section.RULES) == ["never push to main"]


def test_the_goal_is_told_even_if_all_of_it_is_a_rule_or_none_of_it_a_sentence() -> None:
    rule = "Never let the till round a sale twice"
    assert texts(state(prompt(rule, "p1")), Section.GOAL) == [rule]
    noise = "Traceback (most recent call last):"
    assert texts(state(prompt(noise, "p1")), Section.GOAL) == [noise]
    assert texts(state(prompt("continue", "p1")), Section.GOAL) == []


def test_paths_are_relative_to_the_project() -> None:
    edited = after(session(), *touched("src/till.py"))
    assert "src/till.py" in texts(work_state(edited.trail, project=PROJECT), Section.WHERE)
    assert "/home/you/app/src/till.py" in texts(work_state(edited.trail), Section.WHERE)


def test_branch_and_directory_are_where_the_work_is() -> None:
    where = texts(
        work_state(session().trail, GitState("night", "1a2b3c4d5e6f", (), ()), PROJECT), Section.WHERE
    )
    assert where[0] == "Directory: /home/you/app"
    assert any("night" in line for line in where[1:])


def test_nothing_happened_so_nothing_is_told() -> None:
    assert work_state(session().trail) == WorkState()


def test_the_newest_digest_speaks_for_what_was_before_it() -> None:
    trail = after(session(), prompt("Mend the till", "p1"), said("Next: count the rows.", "a1")).trail
    newest = Utterance("Next: write the docs", NOON + 1, "d2")
    older = Utterance("Next: ask Ada", NOON, "d1")
    assert texts(work_state(trail, written=(newest, older)), Section.NEXT) == ["write the docs"]


def test_a_command_that_enters_another_directory_keeps_its_whole_paths() -> None:
    root = PROJECT.root
    runs = after(
        session(),
        called("a", Action.RUN, f"cd sub && pytest {root}/tests/test_a.py"),
        returned("a", ok=False, exit_status=1, text="E   assert 1 == 2"),
        called("b", Action.RUN, f"pytest {root}/tests/test_b.py"),
        returned("b", ok=False, exit_status=1, text="E   assert 1 == 2"),
    )
    texts = "\n".join(one.text for one in work_state(runs.trail, project=PROJECT).statements)
    assert f"`cd sub && pytest {root}/tests/test_a.py`" in texts
    assert "`pytest tests/test_b.py`" in texts
