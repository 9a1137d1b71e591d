"""What an agent says in its own words is kept as it was said, and comes back first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.session import Trigger
from holdfast.engine.tools.digest import LONGEST, SAME_WITHIN_MS, Digest, give_digest, written
from holdfast.errors import HoldfastError
from tests.engine.stage import HOUR, MINUTE, Stage

WHOLE = Digest(
    summary="The parser reads every sample.",
    decisions=("tabs count as one column",),
    state="12 of 14 tests pass",
    next=("mend test_nested", "then the writer"),
    blockers=("no sample of version 3",),
    open_questions=("who owns the schema?",),
)
SECRET = "ghp_" + "Zz9y" * 9


@pytest.fixture
def session(stage: Stage) -> str:
    stage.payload("a", "start", source="startup")
    stage.payload("a", "prompt", text="write the parser", transcript="")
    return "a"


def agents(stage: Stage) -> list[str]:
    """The words of the agent's checkpoints, newest first."""
    kept = stage.store.checkpoints_of_session("a", 50)
    return [checkpoint.words for checkpoint in kept if checkpoint.trigger is Trigger.AGENT]


def test_a_digest_reads_as_one_text_with_what_comes_next_early() -> None:
    assert written(WHOLE) == (
        "The parser reads every sample.\n"
        "State: 12 of 14 tests pass\n"
        "Next:\n- mend test_nested\n- then the writer\n"
        "Decisions:\n- tabs count as one column\n"
        "Blockers:\n- no sample of version 3\n"
        "Open questions:\n- who owns the schema?"
    )


def test_what_is_left_out_leaves_no_trace() -> None:
    assert written(Digest("done", decisions=(" ",), state="\n", next=())) == "done"


def test_it_is_a_checkpoint_with_the_agents_words(stage: Stage, session: str) -> None:
    checkpoint = give_digest(stage.engine(), session, WHOLE)
    assert (checkpoint.trigger, checkpoint.words) == (Trigger.AGENT, written(WHOLE))
    assert checkpoint.digest == written(WHOLE)
    assert agents(stage) == [written(WHOLE)]


def test_the_brief_after_a_compaction_has_the_words(stage: Stage, session: str) -> None:
    give_digest(stage.engine(), session, WHOLE)
    brief = stage.payload("a", "start", source="compact")
    assert "In the agent's own words" in brief
    assert "then the writer" in brief


def test_fresh_words_come_before_older_ones(stage: Stage, session: str) -> None:
    for words in ("the first", "the second", "the third"):
        give_digest(stage.engine(), session, Digest(f"{words} digest"))
        stage.now += HOUR
    brief = stage.payload("a", "start", source="compact")
    assert brief.index("the third digest") < brief.index("the second digest")
    assert "the first digest" not in brief


def test_a_secret_in_it_is_kept_nowhere(stage: Stage, session: str) -> None:
    checkpoint = give_digest(
        stage.engine(), session, Digest(f"the key is {SECRET}", next=(f"revoke {SECRET}",))
    )
    assert "revoke" in checkpoint.words
    assert SECRET not in "".join(text.text for text in stage.store.texts())


@pytest.mark.parametrize("digest", [WHOLE, Digest(f"the key is {SECRET}")])
def test_the_same_twice_is_one(stage: Stage, session: str, digest: Digest) -> None:
    first = give_digest(stage.engine(), session, digest)
    stage.now += SAME_WITHIN_MS
    assert give_digest(stage.engine(), session, digest) == first
    assert len(agents(stage)) == 1


def test_the_same_much_later_is_another(stage: Stage, session: str) -> None:
    give_digest(stage.engine(), session, WHOLE)
    stage.now += SAME_WITHIN_MS + 1
    give_digest(stage.engine(), session, WHOLE)
    assert len(agents(stage)) == 2


def test_what_was_said_before_the_last_one_is_said_anew(stage: Stage, session: str) -> None:
    for words in ("one", "two", "one"):
        give_digest(stage.engine(), session, Digest(words))
        stage.now += 1
    assert agents(stage) == ["one", "two", "one"]


@pytest.mark.parametrize(
    ("digest", "why"),
    [
        (Digest(""), "the summary is empty"),
        (Digest(" \n\t"), "the summary is empty"),
        (Digest("", next=("go on",)), "the summary is empty"),
        (Digest("x" * 1_000_000), "1,000,000 characters"),
        (Digest("x", state="y" * LONGEST), "characters, and at most"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_what_to_do(
    stage: Stage, session: str, digest: Digest, why: str
) -> None:
    with pytest.raises(HoldfastError, match=why) as refused:
        give_digest(stage.engine(), session, digest)
    assert refused.value.hint
    assert agents(stage) == []


def test_a_session_that_nobody_knows_is_refused(stage: Stage) -> None:
    with pytest.raises(HoldfastError, match="there is no session `b`"):
        give_digest(stage.engine(), "b", WHOLE)
    assert stage.store.session("b") is None


def test_a_session_in_which_nothing_else_was_seen_is_continued_by_its_digest(stage: Stage) -> None:
    stage.payload("a", "start", source="startup", transcript="")
    give_digest(stage.engine(), "a", WHOLE)
    stage.payload("a", "end", reason="other", transcript="")
    stage.now += 5 * MINUTE
    brief = stage.payload("b", "start", source="startup", transcript="")
    assert "mend test_nested" in brief
    assert "5 min old" in brief


@given(words=st.text(min_size=1).filter(str.strip))
def test_any_text_is_kept_as_it_was_said(words: str) -> None:
    assert written(Digest(words)) == words.strip()
