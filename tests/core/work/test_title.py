"""What a session is called: by its user, by its harness, or by what it is about."""

from __future__ import annotations

import pytest

from holdfast.core.events.event import Action, Origin, Titled
from holdfast.core.events.world import Project
from holdfast.core.evidence.trail import FileTouch, Trail, Utterance
from holdfast.core.session.session import Policy, Session, advance, begin, title_of
from holdfast.core.work.state import TITLE_CHARS
from holdfast.core.work.title import shortened_title, title_of_trail


def trail(*prompts: str, goal: str = "") -> Trail:
    said = tuple(Utterance(text, at, f"r{at}") for at, text in enumerate(prompts, 1))
    return Trail(
        first_prompt=said[0] if said else None,
        goal=Utterance(goal, 99, "goal") if goal else (said[-1] if said else None),
        prompts=said,
    )


REQUESTS = {
    "Can you please add tests for the cache version check?": "Add tests for the cache version check",
    "ok, let's invert the telemetry flag logic": "Invert the telemetry flag logic",
    "Implement the following plan:\n\n# Plan: Change folder indexing\n\n## Goal\nx": "Change folder indexing",
    "/orchestrator update the release notes of 2.1": "Update the release notes of 2.1",
    "/deploy staging": "Deploy staging",
    "got this feedback:\n\nThe parser loses the last record.": "The parser loses the last record",
    "1. **Totals** are rounded twice\n2. Taxes are not": "Totals are rounded twice",
    "<context>\nfile: a.py\n</context>\nRename the writer module": "Rename the writer module",
    "[Image #1] Align the header with the table": "Align the header with the table",
    "```\nTraceback: boom\n```\nWhy does the importer crash on empty files?": (
        "Why does the importer crash on empty files?"
    ),
    "reuse src/holdfast/templates/components/session_navigation.html there": (
        "Reuse session_navigation.html there"
    ),
    "README を最新の状態に更新してください": "README を最新の状態に更新してください",
    "Please do these two things in the shop:\n1. Round order totals in pricing.py.\n2. Refuse refunds.": (
        "Round order totals in pricing.py"
    ),
    "I want to migrate this app from\n  @acme/queries to prisma.\n  It is a large one": (
        "Migrate this app from @acme/queries to prisma"
    ),
    "ehh, can you close the stale database cursors": "Close the stale database cursors",
    "B) add a hook for the end of a session": "Add a hook for the end of a session",
    "You are an experienced developer, skilled in Go.\n\nRename the writer module.": (
        "Rename the writer module"
    ),
    "You are the reviewer of the payments service": "You are the reviewer of the payments service",
    "Refactor the parser:\n- split the reader\n- name it": "Refactor the parser",
}


@pytest.mark.parametrize(("request_text", "title"), REQUESTS.items())
def test_a_title_is_what_a_request_asks_for(request_text: str, title: str) -> None:
    assert title_of_trail(trail(request_text)) == title


def test_the_newest_request_that_says_what_the_work_is_about_wins() -> None:
    first, second = "Split the parser into reader and writer", "Cache the tokens of each parsed file"
    assert title_of_trail(trail(first)) == first
    assert title_of_trail(trail(first, second)) == second
    for errand in (
        "oh whoops, accidentally switched the staging branches",
        "continue",
        "commit and push",
        "/init",
        "what is remaining?",
        "do 1,2 and 5",
        "yes please",
    ):
        assert title_of_trail(trail(first, second, errand)) == second, errand


def test_a_remark_or_question_does_not_replace_the_work_that_was_asked_for() -> None:
    work = "Replace the worktree status with a git shim"
    for remark in (
        "um, sorry, I should have mentioned this earlier, we did another replacement for the resolver",
        "Does the handbook contain fitting advice about corrupted index entries?",
    ):
        assert title_of_trail(trail(work, remark)) == work
    assert title_of_trail(trail("Does the importer keep empty transcripts?")).startswith("Does the importer")
    finding = "Short files lose partial-overlap detection in the comparer"
    assert title_of_trail(trail(work, finding)) == finding


PLAN = (
    "Implement the following plan:\n\n# Plan: Store the version of the exporter\n\n## Approach\n\nA module."
)


def test_a_plan_keeps_its_name_until_something_else_is_asked_for() -> None:
    plan = "Store the version of the exporter"
    assert title_of_trail(trail(PLAN)) == plan
    refined = "We need to add a unit test that the exporter writes its number into each file"
    assert title_of_trail(trail(PLAN, "are all tests passing?", refined)) == plan
    other = "Cache the tokens of each parsed query"
    assert title_of_trail(trail(PLAN, refined, other)) == other
    newer = "# Migrate invoices to cents\n\n## Context\n\nThe exporter rounds them."
    assert title_of_trail(trail(PLAN, newer)) == "Migrate invoices to cents"


def test_a_request_to_deliver_the_work_does_not_name_it() -> None:
    work = "Cache the tokens of each parsed file"
    for errand in (
        "Create a pull request for this work and then announce it to the maintainers",
        "clean up and delete the stale worktrees of yesterday",
        "Commit your changes with the updated guidance for agents",
        "Log an issue to move the importer across teams",
        "use the 1M sonnet model for the long transcripts",
    ):
        assert title_of_trail(trail(work, errand)) == work, errand


def test_what_corrects_the_work_or_refers_back_does_not_name_it() -> None:
    work = "Please do these two things in the shop:\n1. Round order totals in pricing.py.\n2. Refuse refunds."
    for later in (
        "No: the total must be rounded only once, half up. Never round line items.",
        "wait, use the decimal module for every total",
        "Add them please, and guidance for whoever writes tests in CLAUDE.md",
        "use that method: compute_total instead of the cached column",
    ):
        assert title_of_trail(trail(work, later, goal=work)) == "Round order totals in pricing.py", later
    assert title_of_trail(trail("No: round the total only once")) == "Round the total only once"
    cached = "Use the cached column for totals of a month"
    assert title_of_trail(trail(work, cached)) == cached


def test_a_session_without_a_telling_request_is_called_by_what_was_done() -> None:
    touched = FileTouch("/p/src/totals.py", Action.EDIT, 1, 5)
    assert title_of_trail(Trail(files=(touched,))) == "Changes to totals.py"
    assert title_of_trail(trail("/init")) == ""
    said = Utterance("I'll describe the architecture in CLAUDE.md.", 2, "s")
    assert title_of_trail(Trail(statements=(said,))) == "I'll describe the architecture in CLAUDE.md"


def test_a_title_ends_with_a_whole_word_and_not_in_the_middle_of_a_phrase() -> None:
    long = "Move the checkpoint writer from the daemon to the engine because of the lock that it holds"
    assert shortened_title(long) == "Move the checkpoint writer from the daemon to the engine…"
    assert shortened_title("one_very_long_identifier_" * 5).endswith("_one_very…")
    assert shortened_title("Add " + "x" * 90) == f"Add {'x' * (TITLE_CHARS - 5)}…"
    for text in (long, "字" * 100, "x" * 100, "a " * 60):
        assert len(shortened_title(text)) <= TITLE_CHARS


def named(session: Session, text: str, *, by_user: bool = False) -> Session:
    event = Titled(session=session.key, record=text, at=9, origin=Origin.HARNESS, text=text, by_user=by_user)
    return advance(session, event, Policy())[0]


def test_what_the_user_calls_a_session_wins_over_the_harness_and_that_over_the_goal() -> None:
    session = begin("s", "h", Project("/p", "/p", "p", "w", "/p"), 1)
    assert title_of(session) == ""
    session = named(session, "Branch review")
    assert title_of(session) == "Branch review"
    session = named(session, "The big one", by_user=True)
    session = named(session, "Branch review again")
    assert title_of(session) == "The big one"
    assert title_of(named(named(session, "", by_user=True), "Renewed")) == "Renewed"
