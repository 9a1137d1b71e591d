"""How an event changes a session, and what it calls for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.events.event import (
    BriefSeen,
    Compacted,
    CompactionImminent,
    CompactionSign,
    DigestGiven,
    Event,
    ModelChanged,
    Origin,
    Remembered,
    SessionEnded,
    SessionStarted,
    Source,
    TurnEnded,
)
from holdfast.core.session.session import (
    Due,
    Effect,
    Phase,
    Policy,
    Session,
    TakeCheckpoint,
    Trigger,
    advance,
    consume,
    end_session,
    expect_prompt,
    needs_brief,
    revise,
    should_checkpoint,
    tick,
)
from holdfast.core.text.untrusted import TITLE, fence
from tests.core.scenes import KEY, MINUTE, NOON, POLICY, after, prompt, session, worked


def imminent(instructions: str = "", context: str = "") -> CompactionImminent:
    return CompactionImminent(
        session=KEY,
        record="imminent",
        at=NOON,
        origin=Origin.HARNESS,
        trigger="manual",
        instructions=instructions,
        session_context=context,
    )


def compacted(sign: CompactionSign, at: int = NOON) -> Compacted:
    return Compacted(session=KEY, record=f"{sign}-{at}", at=at, origin=Origin.HARNESS, sign=sign)


def ended(reason: str, at: int = NOON) -> SessionEnded:
    return SessionEnded(session=KEY, record="end", at=at, origin=Origin.HARNESS, reason=reason)


def started(source: Source, at: int = NOON) -> SessionStarted:
    return SessionStarted(session=KEY, record=f"start-{at}", at=at, origin=Origin.HARNESS, source=source)


def digest(origin: Origin) -> DigestGiven:
    return DigestGiven(session=KEY, record="digest", at=NOON, origin=origin, text="half done")


@pytest.mark.parametrize(
    ("event", "effects"),
    [
        (imminent(), (TakeCheckpoint(Trigger.PRE_COMPACTION),)),
        (imminent("keep the ids"), (TakeCheckpoint(Trigger.PRE_COMPACTION, "keep the ids"),)),
        (
            imminent("keep the ids", "we were at step 3"),
            (TakeCheckpoint(Trigger.PRE_COMPACTION, "we were at step 3"),),
        ),
        (ended("prompt_input_exit"), (TakeCheckpoint(Trigger.SESSION_END),)),
        (ended("clear"), (TakeCheckpoint(Trigger.CLEAR),)),
        (digest(Origin.ASSISTANT), (TakeCheckpoint(Trigger.AGENT, "half done"),)),
        (digest(Origin.HUMAN), (TakeCheckpoint(Trigger.EXPLICIT, "half done"),)),
        (compacted(CompactionSign.BOUNDARY), (TakeCheckpoint(Trigger.PRE_COMPACTION),)),
        (started(Source.STARTUP), ()),
        (prompt("and now the docs", "p9"), ()),
    ],
)
def test_each_event_calls_for_its_effects(event: Event, effects: tuple[Effect, ...]) -> None:
    assert advance(worked(), event, POLICY)[1] == effects


@pytest.mark.parametrize(
    "event", [imminent(), ended("other"), ended("clear"), compacted(CompactionSign.BOUNDARY)]
)
def test_a_session_in_which_nothing_happened_needs_no_checkpoint(event: Event) -> None:
    assert advance(session(), event, POLICY)[1] == ()


def test_a_turn_is_open_from_its_prompt_until_the_agent_stops_or_the_session_ends() -> None:
    asked = after(session(), prompt("go", "p1"))
    stopped = TurnEnded(session=KEY, record="stop", at=NOON, origin=Origin.HARNESS)
    assert asked.turn_open
    assert expect_prompt(session(), prompt("go", "hook:1"), POLICY).turn_open
    assert not after(asked, stopped).turn_open
    assert not after(asked, ended("other")).turn_open


def test_a_prompt_that_the_transcript_shows_late_opens_no_turn_again() -> None:
    stopped = TurnEnded(session=KEY, record="stop", at=NOON, origin=Origin.HARNESS)
    told = after(expect_prompt(session(), prompt("go", "hook:1", turn="t"), POLICY), stopped)
    assert not after(told, prompt("go", "p1", turn="t")).turn_open


def test_an_announced_compaction_is_not_saved_twice() -> None:
    announced = after(worked(), imminent())
    assert advance(announced, compacted(CompactionSign.START), POLICY)[1] == ()


def test_the_tenth_prompt_makes_a_checkpoint_due() -> None:
    nine = after(session(), *(prompt(f"step {n}", f"p{n}") for n in range(9)))
    assert nine.due is None
    assert after(nine, prompt("step 9", "p9")).due == Due(Trigger.PERIODIC, NOON)


def test_a_due_checkpoint_stays_due_since_it_first_was() -> None:
    ten = after(session(), *(prompt(f"step {n}", f"p{n}") for n in range(10)))
    assert after(ten, prompt("one more", "p10", NOON + MINUTE)).due == Due(Trigger.PERIODIC, NOON)


def test_fifteen_minutes_with_something_new_make_a_checkpoint_due_in_an_idle_session() -> None:
    one = after(session(), prompt("look into the retries", "p1", NOON + 1))
    assert tick(one, POLICY, NOON + 14 * MINUTE).due is None
    assert tick(one, POLICY, NOON + 15 * MINUTE).due == Due(Trigger.PERIODIC, NOON + 15 * MINUTE)


def test_time_alone_makes_nothing_due() -> None:
    assert tick(session(), POLICY, NOON + 60 * MINUTE).due is None


def test_time_makes_nothing_due_in_a_session_that_is_over() -> None:
    over = end_session(worked(), Phase.ENDED, NOON + MINUTE, "other")
    assert tick(over, POLICY, NOON + 60 * MINUTE).due is None


def test_a_checkpoint_consumes_what_was_pending() -> None:
    ten = after(session(), *(prompt(f"step {n}", f"p{n}") for n in range(10)))
    taken = consume(ten, NOON + 1)
    assert (taken.due, taken.pending_queries, taken.pending_remembers) == (None, (), ())
    assert not should_checkpoint(taken, POLICY, NOON + 60 * MINUTE)


def test_pending_queries_and_remembers_are_capped() -> None:
    many = after(session(), *(prompt(f"word{n}", f"p{n}") for n in range(25)))
    assert many.pending_queries == tuple(f"word{n}" for n in range(5, 25))
    remembered = after(
        session(),
        *(
            Remembered(session=KEY, record=f"r{n}", at=NOON, origin=Origin.HUMAN, text=f"note {n}")
            for n in range(12)
        ),
    )
    assert remembered.pending_remembers == tuple(f"note {n}" for n in range(2, 12))


def test_a_subagents_prompt_is_no_prompt() -> None:
    assert after(session(), prompt("do the sub task", "s1", agent="a1")).prompts_known == 0


class TestPromptsReportedTwice:
    """Reported by hook event and by transcript, in any order: each counts once."""

    payload = prompt("use a monotonic clock", "hook:1", turn="t1")
    shown = prompt("use a monotonic clock", "uuid-1", turn="t1")

    def test_a_waiting_prompt_counts_at_once(self) -> None:
        assert expect_prompt(session(), self.payload, POLICY).prompts_known == 1

    def test_the_transcript_shows_what_waited(self) -> None:
        both = after(expect_prompt(session(), self.payload, POLICY), self.shown)
        assert (both.prompts_known, both.waiting) == (1, ())
        assert [said.record for said in both.trail.prompts] == ["uuid-1"]

    def test_a_hook_event_that_comes_after_the_transcript_adds_nothing(self) -> None:
        assert expect_prompt(after(session(), self.shown), self.payload, POLICY).prompts_known == 1

    def test_a_hook_event_that_was_settled_is_recognised_when_the_transcript_shows_it_after_all(self) -> None:
        settled = after(expect_prompt(session(), self.payload, POLICY), self.payload)
        assert (settled.prompts_known, settled.waiting) == (1, ())
        assert after(settled, self.shown).prompts_known == 1

    def test_two_equal_prompts_are_two(self) -> None:
        again = prompt("use a monotonic clock", "hook:2", turn="t2")
        shown_again = prompt("use a monotonic clock", "uuid-2", turn="t2")
        both = expect_prompt(expect_prompt(session(), self.payload, POLICY), again, POLICY)
        assert both.prompts_known == 2
        assert after(both, self.shown, shown_again).prompts_known == 2

    def test_a_prompt_queued_in_a_running_turn_is_shown_without_its_turn(self) -> None:
        queued = replace(self.shown, turn="")
        assert after(expect_prompt(session(), self.payload, POLICY), queued).prompts_known == 1

    def test_ten_waiting_prompts_make_a_checkpoint_due(self) -> None:
        ten = session()
        for n in range(10):
            ten = expect_prompt(ten, prompt(f"step {n}", f"hook:{n}", turn=f"t{n}"), POLICY)
        assert ten.due == Due(Trigger.PERIODIC, NOON)


class TestOneCompactionHasManySigns:
    def test_all_of_them_make_one_window(self) -> None:
        once = after(
            worked(),
            compacted(CompactionSign.START),
            compacted(CompactionSign.HOOK, NOON + 5),
            compacted(CompactionSign.BOUNDARY, NOON - 90),
            compacted(CompactionSign.SUMMARY, NOON - 91),
        )
        assert once.window == 1

    def test_two_in_quick_succession_are_two(self) -> None:
        signs = (CompactionSign.START, CompactionSign.HOOK, CompactionSign.BOUNDARY, CompactionSign.SUMMARY)
        first = [compacted(sign, NOON) for sign in signs]
        second = [compacted(sign, NOON + 3_000) for sign in signs]
        assert after(worked(), *first, *second).window == 2

    def test_one_that_no_hook_reported_is_found_in_the_transcript(self) -> None:
        assert (
            after(worked(), compacted(CompactionSign.BOUNDARY), compacted(CompactionSign.SUMMARY)).window == 1
        )

    def test_a_brief_is_owed_until_the_transcript_shows_it(self) -> None:
        once = after(worked(), compacted(CompactionSign.BOUNDARY))
        assert needs_brief(once)
        seen = BriefSeen(session=KEY, record="b", at=NOON, origin=Origin.HOLDFAST, text=fence(f"{TITLE}\n…"))
        assert not needs_brief(after(once, seen))
        assert needs_brief(after(once, seen, compacted(CompactionSign.BOUNDARY, NOON + MINUTE)))

    @pytest.mark.parametrize("text", [fence("Remembered before"), fence(f"- quoted: {TITLE}"), TITLE])
    def test_other_text_of_ours_is_no_brief(self, text: str) -> None:
        seen = BriefSeen(session=KEY, record="b", at=NOON, origin=Origin.HOLDFAST, text=text)
        assert needs_brief(after(worked(), compacted(CompactionSign.BOUNDARY), seen))


def test_no_brief_is_owed_before_the_first_compaction() -> None:
    assert not needs_brief(worked())


@pytest.mark.parametrize(
    ("event", "phase"),
    [
        (started(Source.RESUME, NOON + 2 * MINUTE), Phase.LIVE),
        (prompt("go on", "late", NOON + 2 * MINUTE), Phase.LIVE),
        (prompt("shown late", "old", NOON), Phase.ENDED),
    ],
)
def test_a_session_lives_again_only_by_what_happens_after_its_end(event: Event, phase: Phase) -> None:
    over = end_session(worked(), Phase.ENDED, NOON + MINUTE, "other")
    assert after(over, event).phase is phase


def test_a_revision_changes_what_was_said_and_counts_nothing() -> None:
    before = after(session(), prompt("first wording", "p1"))
    revised = revise(before, replace(prompt("second wording", "p1"), revision=1))
    assert revised.prompts_known == 1
    assert [said.text for said in revised.trail.prompts] == ["second wording"]


def test_what_we_injected_ourselves_is_never_evidence() -> None:
    ours = replace(prompt("look at what was recalled", "ours"), origin=Origin.HOLDFAST)
    assert after(session(), ours).trail.is_empty()


def test_the_model_in_use_is_known() -> None:
    change = ModelChanged(session=KEY, record="m", at=NOON, origin=Origin.HARNESS, model="large-2")
    assert after(session(), change).model == "large-2"


def test_the_intervals_are_the_policys() -> None:
    eager = Policy(prompt_interval=2)
    now: Session = session()
    for n in range(2):
        now, _ = advance(now, prompt(f"step {n}", f"p{n}"), eager)
    assert now.due is not None


def test_a_session_that_is_emptied_and_goes_on_under_its_own_key_has_a_new_window() -> None:
    session = advance(worked(), ended("clear", NOON + MINUTE), Policy())[0]
    again = replace(started(Source.CLEAR, NOON + 2 * MINUTE), previous=session.key)
    after = advance(session, again, Policy())[0]
    assert (after.phase, after.window, after.trail) == (Phase.LIVE, session.window + 1, session.trail)
    other = replace(again, previous="another")
    assert advance(session, other, Policy())[0].window == session.window
