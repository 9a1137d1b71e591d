"""The durable picture of a session at one moment."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from holdfast.core.events.event import Origin, Remembered
from holdfast.core.events.world import GitState
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.session.checkpoint import digest, gist, record_id, take
from holdfast.core.session.pressure import Pressure
from holdfast.core.session.session import Trigger, work_of
from holdfast.core.work.state import Statement, WorkState
from tests.core.scenes import KEY, MINUTE, NOON, after, worked

DIGEST = """\
## Session Checkpoint
Project: /home/you/app
Prompts: 2 | Duration: 5 min

### Memory Activity Since Last Checkpoint
Queries: Fix flaky retry test tests/test_retry.py never touch vendored client; monotonic clock instead
Remembered: the vendored client is frozen

### Goal
- Mend the retry

### Rules
- Never touch the vendored client

### Done
- The test is written
- Measured: A run takes 12 ms

### Now
- Editing the backoff in src/retry.py

### Next
- Tag the release
- Not tried yet: A monotonic clock

### Decisions
- Double the delay, because the server asks for it

### Failures
- Failed: `make test`: RetryExhausted

### Questions
- Should the limit be configurable?

### Where
- Needs: Redis must run"""
STATE = WorkState(
    "Mend the retry",
    (
        Statement(Section.GOAL, "Mend the retry", NOON),
        Statement(Section.RULES, "Never touch the vendored client", NOON),
        Statement(Section.DONE, "The test is written", NOON),
        Statement(Section.DONE, "A run takes 12 ms", NOON, kind=NoteKind.MEASURED),
        Statement(Section.NOW, "Editing the backoff\nin src/retry.py", NOON),
        Statement(Section.NEXT, "Tag the release", NOON),
        Statement(Section.NEXT, "A monotonic clock", NOON, kind=NoteKind.UNTRIED),
        Statement(Section.DECISIONS, "Double the delay, because the server asks for it", NOON),
        Statement(Section.FAILURES, "Failed: `make test`: RetryExhausted", NOON),
        Statement(Section.QUESTIONS, "Should the limit be configurable?", NOON),
        Statement(Section.WHERE, "Redis must run", NOON, kind=NoteKind.NEED),
    ),
)


def test_a_digest_has_the_head_the_memory_activity_and_the_sections_of_the_work_state() -> None:
    note = Remembered(
        session=KEY, record="r", at=NOON, origin=Origin.HUMAN, text="the vendored client is frozen"
    )
    assert digest(after(worked(), note), STATE, Trigger.PERIODIC, "", NOON + 5 * MINUTE) == DIGEST


def test_a_checkpoint_renders_the_work_state_of_its_session() -> None:
    before = worked()
    taken = take(before, Trigger.PERIODIC, "", "id-1", NOON)[1]
    assert taken.digest == digest(before, work_of(before), Trigger.PERIODIC, "", NOON)
    assert "### Rules\n- Fix the flaky retry test" in taken.digest


def test_of_many_statements_a_digest_gives_those_worth_most() -> None:
    many = [Statement(Section.DONE, f"Step {number}", NOON, worth=number % 7 / 7) for number in range(99)]
    text = digest(worked(), WorkState("", tuple(many)), Trigger.PERIODIC, "", NOON)
    rows = text.partition("### Done\n")[2].partition("\n\n")[0].split("\n")
    assert rows == [f"- Step {number}" for number in range(20, 99, 7)]


def test_an_agents_own_words_are_the_digest_verbatim() -> None:
    words = "Decided: monotonic clock.\n\nBlocked on CI."
    assert take(worked(), Trigger.AGENT, words, "id-1", NOON)[1].digest == words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DIGEST, "Editing the backoff in src/retry.py"),
        ("## Session Checkpoint\nProject: /app\n\n### Goal\n- Mend it\n\n### Done\n- This", "Mend it"),
        ("The parser is done.\n\nNext: the writer.", "The parser is done.\n\nNext: the writer."),
        ("## Session Checkpoint\nProject: /app\n\n### Files\n- Read a.py", "### Files\n- Read a.py"),
        ("## Session Checkpoint\nProject: /app", "## Session Checkpoint\nProject: /app"),
    ],
)
def test_in_a_list_a_digest_is_known_by_what_was_going_on(text: str, said: str) -> None:
    assert gist(text) == said


def test_before_a_compaction_the_harnesss_words_stand_beside_what_was_seen() -> None:
    text = take(worked(), Trigger.PRE_COMPACTION, "focus on ids", "id-1", NOON)[1].digest
    assert text.startswith("## Session Checkpoint")
    assert text.endswith("### Session Context\nfocus on ids")


def test_taking_a_checkpoint_consumes_what_was_pending_and_keeps_it_in_the_row() -> None:
    before = worked()
    session, checkpoint = take(before, Trigger.PERIODIC, "", "id-1", NOON + MINUTE)
    assert checkpoint.memory_queries == before.pending_queries
    assert session.pending_queries == ()
    assert session.prompts_at_checkpoint == 2


def test_a_digest_says_where_git_stands() -> None:
    dirty = ("src/retry.py", "a\n### Goal.md")
    git = GitState("fix/retry", "1234567890abcdef", dirty, ("Use a monotonic clock",))
    text = take(replace(worked(), git=git), Trigger.SESSION_END, "", "id-1", NOON)[1].digest
    assert "\n### Where\n" in text
    assert (
        "- Branch: fix/retry at 1234567890 “Use a monotonic clock” (from the repository)\n"
        "- Uncommitted: src/retry.py, a ### Goal.md"
    ) in text


def test_a_checkpoint_says_in_fields_how_far_the_session_was() -> None:
    before = replace(worked(), pressure=Pressure(used=51_000, answers=3))
    outline = take(before, Trigger.THRESHOLD, "", "id-1", NOON)[1].outline
    assert (outline.tokens, outline.messages) == (51_000, 5)
    assert "Fix the flaky retry test" in outline.summary


def test_the_id_of_a_record_begins_with_its_time_and_is_nobody_elses() -> None:
    ids = [record_id(NOON, unique) for unique in ("one", "other")]
    assert all(re.fullmatch(rf"{NOON}_[0-9a-f]{{8}}", id) for id in ids)
    assert ids[0] != ids[1]
