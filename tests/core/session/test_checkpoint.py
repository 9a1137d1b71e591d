"""The durable picture of a session at one moment."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from holdfast.core.events.event import Origin, Remembered
from holdfast.core.events.world import GitState
from holdfast.core.session.checkpoint import gist, record_id, take
from holdfast.core.session.pressure import Pressure
from holdfast.core.session.session import Trigger
from tests.core.scenes import KEY, MINUTE, NOON, after, worked

DIGEST = """\
## Session Checkpoint
Project: /home/you/app
Prompts: 2 | Duration: 5 min

### Memory Activity Since Last Checkpoint
Queries: Fix flaky retry test tests/test_retry.py never touch vendored client; monotonic clock instead
Remembered: the vendored client is frozen

### Last Prompts
- Fix the flaky retry test in tests/test_retry.py, never touch the vendored client
- use a monotonic clock instead

### Constraints
- Fix the flaky retry test in tests/test_retry.py, never touch the vendored client
- use a monotonic clock instead

### Files
- Edited /home/you/app/src/retry.py

### Commands
- Failed (exit 1): `pytest tests/test_retry.py`: RetryExhausted: gave up after 3 tries

### Last Statements
- The backoff starts at zero, so the third try comes too early."""


def test_a_digest_says_what_was_asked_remembered_touched_and_run() -> None:
    note = Remembered(
        session=KEY, record="r", at=NOON, origin=Origin.HUMAN, text="the vendored client is frozen"
    )
    _, checkpoint = take(after(worked(), note), Trigger.PERIODIC, "", "id-1", NOON + 5 * MINUTE)
    assert checkpoint.digest == DIGEST


def test_an_agents_own_words_are_the_digest_verbatim() -> None:
    words = "Decided: monotonic clock.\n\nBlocked on CI."
    assert take(worked(), Trigger.AGENT, words, "id-1", NOON)[1].digest == words


@pytest.mark.parametrize(
    ("digest", "said"),
    [
        (DIGEST, "use a monotonic clock instead"),
        ("The parser is done.\n\nNext: the writer.", "The parser is done.\n\nNext: the writer."),
        ("## Session Checkpoint\nProject: /app\n\n### Files\n- Read a.py", "### Files\n- Read a.py"),
        ("## Session Checkpoint\nProject: /app", "## Session Checkpoint\nProject: /app"),
    ],
)
def test_in_a_list_a_digest_is_known_by_what_was_asked_last(digest: str, said: str) -> None:
    assert gist(digest) == said


def test_before_a_compaction_the_harnesss_words_stand_beside_what_was_seen() -> None:
    digest = take(worked(), Trigger.PRE_COMPACTION, "focus on ids", "id-1", NOON)[1].digest
    assert digest.startswith("## Session Checkpoint")
    assert digest.endswith("### Session Context\nfocus on ids")


def test_taking_a_checkpoint_consumes_what_was_pending_and_keeps_it_in_the_row() -> None:
    before = worked()
    session, checkpoint = take(before, Trigger.PERIODIC, "", "id-1", NOON + MINUTE)
    assert checkpoint.memory_queries == before.pending_queries
    assert session.pending_queries == ()
    assert session.prompts_at_checkpoint == 2


def test_a_digest_says_where_git_stands() -> None:
    dirty = ("src/retry.py", "a\n### Goal.md")
    git = GitState("fix/retry", "1234567890abcdef", dirty, ("Use a monotonic clock",))
    digest = take(replace(worked(), git=git), Trigger.SESSION_END, "", "id-1", NOON)[1].digest
    assert (
        "### Git\n"
        "- Branch: fix/retry at 1234567890 “Use a monotonic clock” (from the repository)\n"
        "- Uncommitted: src/retry.py, a ### Goal.md"
    ) in digest


def test_a_checkpoint_says_in_fields_how_far_the_session_was() -> None:
    before = replace(worked(), pressure=Pressure(used=51_000, answers=3))
    outline = take(before, Trigger.THRESHOLD, "", "id-1", NOON)[1].outline
    assert (outline.tokens, outline.messages) == (51_000, 5)
    assert "Fix the flaky retry test" in outline.summary


def test_the_id_of_a_record_begins_with_its_time_and_is_nobody_elses() -> None:
    ids = [record_id(NOON, unique) for unique in ("one", "other")]
    assert all(re.fullmatch(rf"{NOON}_[0-9a-f]{{8}}", id) for id in ids)
    assert ids[0] != ids[1]
