"""Substance: what says something by itself, and what only looks like a failure, a result or a request."""

from __future__ import annotations

from holdfast.core.events.event import Compacted, CompactionSign, Origin
from holdfast.core.evidence import substance
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.trail import Note
from holdfast.core.session.session import work_of
from tests.core.scenes import KEY, NOON, after, prompt, said, session
from tests.tables import every_row

TELLING = """
You're right that `parse_hook` drops the last line, so it reads to the end now.
That's a good point for the migration: it must run before the index is built.
Here's the full picture of the retry: three attempts, then the spool.
I have enough room for 12 more columns.
| Retry of uploads | Suggestion | Deferred, because existing tests cover it |
"""
SAYS_NOTHING = """
You're absolutely right!
You’re right.
That's correct!
You raise a good point.
That's a great question!
Good catch!
Thanks for catching that!
Here's the full picture.
I understand the full picture.
Now I have a complete understanding of the code.
I have enough context to write the plan.
Files touched | a.go, b.go
df4989c (logging) | +76 -6 | total=76, 100% |
"""


@every_row("text", TELLING.strip().splitlines())
def test_a_sentence_that_says_something_is_kept(text: str) -> None:
    assert substance.tells(text)


@every_row("text", SAYS_NOTHING.strip().splitlines())
def test_a_courtesy_and_the_cells_of_a_table_say_nothing(text: str) -> None:
    assert not substance.tells(text)


FAILURES = """
The upload fails with error 503.
Issue: the lock is never released.
The build is broken on Windows.
`make test` crashed with an error in `parse.py`.
"""
NO_FAILURES = """
I commented on GitHub issue #950 and linked the docs.
The work is in docs/issue-950-composite-docs.
The `issue-metrics` endpoint aggregates by week.
It prevents duplicate error messages for the reader.
`SaveChanges(ctx) error` is the method of the interface.
Issue 950 asks for an example that runs.
It maps error codes of the database to our own.
"""


@every_row("text", FAILURES.strip().splitlines())
def test_a_sentence_about_a_failure_states_one(text: str) -> None:
    assert substance.states_failure(text)
    assert NoteKind.FAILED in kinds_of(text)


@every_row("text", NO_FAILURES.strip().splitlines())
def test_a_name_with_a_word_for_a_failure_states_none(text: str) -> None:
    assert not substance.states_failure(text)
    assert NoteKind.FAILED not in kinds_of(text)


def test_a_question_about_a_failure_is_a_question() -> None:
    text = "Would you like me to: Revert the fix of the rounding bug?; Keep it and note the failing test?"
    assert kinds_of(text) == {NoteKind.QUESTION}


UNDER_WAY = """
The suite is continuing through the integration tests.
The full verification run is underway.
Core and SDK have rebuilt; the packages of the dashboard are continuing.
CLI packaging is in its final dependency build pass.
The draft is open and CI is in progress.
The tests are still running.
"""


@every_row("text", UNDER_WAY.strip().splitlines())
def test_what_goes_on_is_neither_done_nor_decided(text: str) -> None:
    assert kinds_of(text) == {NoteKind.DOING}


def test_a_state_that_lasts_is_not_taken_for_something_that_goes_on() -> None:
    assert not substance.is_under_way("The server is running on port 4000.")
    assert not substance.is_under_way("The totals are continuous from page 3.")
    assert not substance.is_under_way("Pushed the fix of the reader; CI is in progress.")


def test_below_a_heading_about_errors_what_was_done_is_told_as_done() -> None:
    summary = (
        "## Errors and fixes\n\n- Fixed the reader of empty lines by skipping them.\n"
        "- The import of old ledgers fails at the first empty line.\n"
        "- The reader takes any stream of lines.\n"
        "- Would you like me to rewrite the import as well?\n"
    )
    kinds = {note.text: note.kind for note in notes_of(summary)}
    assert kinds == {
        "Fixed the reader of empty lines by skipping them.": NoteKind.CONFIRMED,
        "The import of old ledgers fails at the first empty line.": NoteKind.FAILED,
        "The reader takes any stream of lines.": NoteKind.FINDING,
        "Would you like me to rewrite the import as well?": NoteKind.QUESTION,
    }
    compacted = Compacted(
        session=KEY, record="c1", at=NOON, origin=Origin.HARNESS, sign=CompactionSign.SUMMARY, summary=summary
    )
    state = work_of(after(session(), prompt("Read old ledgers", "p1"), compacted))
    done = [one.text for one in state.section(Section.DONE)]
    assert done == ["Fixed the reader of empty lines by skipping them."]


FIELDS = """
branch: main
Machine: build-7
LABELS: artifacts, dashboard, models, research
Created: 2026-06-30 · Updated: 2026-06-30
worktree: ledger-2
Status: open
High Severity
2026-02-09 09:56:50 hook completed
Feb 9 09:56:50.955 |DEBUG| hook completed
level=info component=hooks duration_ms=166 done
[… 16429 characters left out …]
`a/b.go`
-e95e-4431","component":"rows","number":1,"is_new":true}
✓ led-7 · Rename the option [P2 · CLOSED]
"""
REQUESTS = """
branch: make one for each of the three fixes
Status: the import still stops at the first empty line
path: ./scripts/aggregate.js
High severity bugs come first.
Rename `a/b.go` to `c.go`
Set retries=3 for uploads
This one still fails: {"time":"09:56","level":"DEBUG","msg":"hook invoked"}
请重命名这个选项
"""


@every_row("text", FIELDS.strip().splitlines())
def test_what_a_program_printed_is_no_request(text: str) -> None:
    assert substance.is_pasted_field(text)
    request = "Rename the option, as the ticket says."
    asked = after(session(), prompt(f"{request}\n\n{text}\n", "p1"))
    assert [one.text for one in work_of(asked).section(Section.GOAL)] == [request]


@every_row("text", REQUESTS.strip().splitlines())
def test_what_a_person_wrote_is_one(text: str) -> None:
    assert not substance.is_pasted_field(text)


def test_a_request_that_is_nothing_but_a_field_is_still_the_goal() -> None:
    asked = after(session(), prompt("branch: main", "p1"))
    assert [one.text for one in work_of(asked).section(Section.GOAL)] == ["branch: main"]


@every_row(
    "text, shown",
    [
        ("Let me fix this:", []),
        ("Let me check:", []),
        ("I need to add this method to the store:", ["I need to add this method to the store."]),
        ("Let me update `parse.py`:", ["Let me update `parse.py`."]),
    ],
)
def test_a_lead_in_tells_what_goes_on_only_if_it_says_so(text: str, shown: list[str]) -> None:
    state = work_of(after(session(), prompt("Read old ledgers", "p1"), said(text, "a1")))
    assert [one.text for one in state.section(Section.NOW)] == shown


def kinds_of(text: str) -> set[NoteKind]:
    return {note.kind for note in notes_of(text)}


def notes_of(text: str) -> tuple[Note, ...]:
    return after(session(), said(text, "a1")).trail.notes
