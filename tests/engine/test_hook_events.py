"""Receiving a hook event: what is recorded, from which source, and only once; the status line."""

from __future__ import annotations

import json
import os

import pytest

from holdfast.core.session.session import Phase, Process, Trigger
from holdfast.engine.hook_events import line_of, receive_hook_event, show_status
from holdfast.engine.upkeep import maintain
from holdfast.harnesses.base import Envelope
from holdfast.settings import Capture, Config, Continuity, Records
from tests.engine.stage import MINUTE, Stage


def prompts(stage: Stage, session: str = "a") -> int:
    found = stage.store.session(session)
    return found.prompts_known if found else 0


class TestWhereThereIsNoTranscript:
    """Without a transcript the hook events are the source."""

    @pytest.mark.parametrize("transcript", ["", "relative/path", "/etc/passwd"])
    def test_ten_hook_events_make_a_checkpoint(self, stage: Stage, transcript: str) -> None:
        for n in range(10):
            stage.payload("a", "prompt", text=f"step {n}", turn=f"t{n}", transcript=transcript)
        stage.now += maintain.DEBOUNCE_MS
        assert maintain.take_due_checkpoints(stage.engine()) == 1
        checkpoint = stage.store.checkpoints_of_session("a", 10)[0]
        assert (checkpoint.trigger, checkpoint.prompt_count) == (Trigger.PERIODIC, 10)

    def test_also_where_it_is_named_and_never_appears(self, stage: Stage) -> None:
        for n in range(10):
            stage.payload("a", "prompt", text=f"step {n}", turn=f"t{n}")
        assert prompts(stage) == 10
        assert maintain.take_due_checkpoints(stage.engine(), 0) == 1

    def test_two_equal_prompts_are_two(self, stage: Stage) -> None:
        stage.payload("a", "prompt", text="continue", transcript="")
        stage.payload("a", "prompt", text="continue", transcript="")
        assert prompts(stage) == 2


class TestWhereThereIsOne:
    """The transcript is the source and the hook event only triggers a read."""

    def test_a_session_that_began_before_we_came_is_read_from_its_beginning(self, stage: Stage) -> None:
        stage.write("a", ("prompt", "old request"), ("edits", "/x/old.c"))
        stage.payload("a", "prompt", text="new request", turn="t2")
        found = stage.store.session("a")
        assert found is not None
        assert [said.text for said in found.trail.prompts] == ["old request", "new request"]

    def test_no_prompt_counts_twice(self, stage: Stage) -> None:
        for n in range(4):
            stage.payload("a", "prompt", text=f"step {n}", turn=f"t{n}")
            stage.write("a", ("prompt", f"step {n}"), turn=f"t{n}")
        stage.payload("a", "end", reason="other")
        assert prompts(stage) == 4
        kinds = [type(event).__name__ for event in stage.store.events("a", 100)]
        assert kinds.count("Prompt") == 4

    def test_a_prompt_that_the_transcript_never_showed_is_kept_when_the_session_ends(
        self, stage: Stage
    ) -> None:
        stage.write("a", ("prompt", "first"))
        stage.payload("a", "prompt", text="last words", turn="t9")
        stage.payload("a", "end", reason="other")
        assert prompts(stage) == 2
        assert "last words" in stage.store.checkpoints_of_session("a", 1)[0].digest

    def test_a_repeated_hook_event_counts_once(self, stage: Stage) -> None:
        stage.write("a", ("prompt", "first"), turn="t1")
        stage.payload("a", "prompt", text="first", turn="t1")
        stage.spooled("a", "prompt", text="first", turn="t1")
        assert prompts(stage) == 1

    def test_a_half_written_line_waits(self, stage: Stage) -> None:
        path = stage.write("a", ("prompt", "first"))
        with path.open("a") as file:
            file.write('{"id": "x", "kind": "prompt", "at"')
        stage.payload("a", "other")
        assert prompts(stage) == 1

    def test_reading_goes_on_where_it_stopped(self, stage: Stage) -> None:
        stage.write("a", ("prompt", "first"))
        stage.payload("a", "other")
        stage.write("a", ("prompt", "second"))
        stage.payload("a", "other")
        assert prompts(stage) == 2


class TestWhatIsNeverOpened:
    def outside(self, stage: Stage) -> str:
        secret = stage.home / "secret.jsonl"
        secret.write_text('{"id": "1", "kind": "prompt", "at": 1, "text": "not yours"}\n')
        return str(secret)

    def test_a_file_outside_the_harnesss_roots(self, stage: Stage) -> None:
        stage.payload("a", "other", transcript=self.outside(stage))
        assert prompts(stage) == 0

    def test_a_link_that_leads_outside(self, stage: Stage) -> None:
        link = stage.transcript("a")
        link.parent.mkdir()
        link.symlink_to(self.outside(stage))
        stage.payload("a", "other")
        assert prompts(stage) == 0

    def test_a_link_inside(self, stage: Stage) -> None:
        stage.write("b", ("prompt", "someone else's"))
        stage.transcript("a").symlink_to(stage.transcript("b"))
        stage.payload("a", "other")
        assert prompts(stage) == 0

    def test_a_pipe(self, stage: Stage) -> None:
        stage.transcript("a").parent.mkdir()
        os.mkfifo(stage.transcript("a"))
        stage.payload("a", "prompt", text="goes on", turn="t")
        assert prompts(stage) == 1

    def test_a_directory(self, stage: Stage) -> None:
        stage.transcript("a").mkdir(parents=True)
        stage.payload("a", "prompt", text="goes on", turn="t")
        assert prompts(stage) == 1


def test_secrets_reach_neither_store_nor_brief(stage: Stage) -> None:
    secret = "ghp_" + "A1b2" * 9
    stage.write(
        "a", ("prompt", f"use {secret} for the push"), ("runs", f"curl -H 'Authorization: Bearer {secret}'")
    )
    stage.payload("a", "prompt", text=f"and {secret} again", turn="t2")
    stage.payload("a", "compaction", text=f"keep {secret}")
    brief = stage.payload("a", "start", source="compact")
    assert "[REDACTED" in brief
    kept = repr(
        (
            stage.store.session("a"),
            stage.store.events("a", 99),
            stage.store.checkpoints(99),
            stage.store.receipts("", 99),
        )
    )
    assert secret not in brief
    assert secret not in kept


def test_an_unreadable_hook_event_is_counted_and_gets_no_answer(stage: Stage) -> None:
    assert receive_hook_event(stage.engine(), Envelope("1", "playhouse", 1), b"\x00{", lambda: True) == b""
    assert stage.store.skipped() == {"hook event: not JSON": 1}


@pytest.mark.parametrize(
    "config",
    [Config(continuity=Continuity(enabled=False)), Config(capture=Capture(exclude=("**/app", "*app*")))],
)
def test_what_the_user_excluded_is_not_captured(stage: Stage, config: Config) -> None:
    stage.config = config
    assert stage.payload("a", "prompt", text="private") == ""
    assert stage.store.session("a") is None


def test_a_fork_is_known_by_the_transcript_that_its_own_points_to(stage: Stage) -> None:
    stage.payload("parent", "start", source="startup")
    stage.write("parent.child", ("prompt", "another way"))
    stage.payload("parent.child", "start", source="fork")
    assert stage.store.lineage("parent.child").parent == "parent"  # type: ignore[union-attr]


def test_a_fork_that_its_harness_calls_resumed_is_known_by_its_transcript_too(stage: Stage) -> None:
    stage.payload("parent", "start", source="startup")
    stage.write("parent.child", ("prompt", "another way"))
    stage.payload("parent.child", "start", source="resume")
    assert stage.store.lineage("parent.child").parent == "parent"  # type: ignore[union-attr]


def test_what_was_resumed_is_no_fork_of_one_that_shares_its_records(stage: Stage) -> None:
    path = stage.write("parent", ("prompt", "the request"), ("says", "done"))
    stage.payload("parent", "other")
    stage.transcript("fork").write_bytes(path.read_bytes())
    stage.payload("fork", "other")
    stage.payload("parent", "start", source="resume")
    assert stage.store.lineage("parent") is None


def test_a_fork_is_known_by_the_records_it_shares(stage: Stage) -> None:
    path = stage.write("parent", ("prompt", "the request"), ("says", "done"))
    stage.payload("parent", "other")
    stage.payload("other", "prompt", text="unrelated", transcript="")
    stage.payload("fork", "start", source="fork")
    stage.transcript("fork").write_bytes(path.read_bytes())
    stage.payload("fork", "other")
    assert stage.store.lineage("fork").parent == "parent"  # type: ignore[union-attr]


class TestTimeAlone:
    def test_a_due_checkpoint_waits_a_moment_for_more(self, stage: Stage) -> None:
        for n in range(10):
            stage.payload("a", "prompt", text=f"step {n}", transcript="")
        assert maintain.take_due_checkpoints(stage.engine()) == 0
        stage.payload("a", "prompt", text="and one more", transcript="")
        stage.now += maintain.DEBOUNCE_MS
        assert maintain.take_due_checkpoints(stage.engine()) == 1
        assert "and one more" in stage.store.checkpoints_of_session("a", 1)[0].digest
        assert maintain.take_due_checkpoints(stage.engine()) == 0

    def test_an_idle_session_gets_its_checkpoint_after_fifteen_minutes(self, stage: Stage) -> None:
        stage.now += 1
        stage.payload("a", "prompt", text="one", transcript="")
        stage.now += 15 * MINUTE
        assert maintain.take_due_checkpoints(stage.engine()) == 0
        stage.now += maintain.DEBOUNCE_MS
        assert maintain.take_due_checkpoints(stage.engine()) == 1

    def test_a_session_whose_harness_is_gone_is_closed_with_all_it_had_written(self, stage: Stage) -> None:
        gone = Process(2**22 - 1, 1)
        stage.payload("a", "prompt", text="one", process=gone)
        stage.write("a", ("prompt", "one"), ("edits", "/x/after-the-last-letter.c"))
        assert maintain.finalise_orphans(stage.engine()) == []
        stage.now += maintain.GRACE_MS
        assert maintain.finalise_orphans(stage.engine()) == ["a"]
        assert stage.store.session("a").phase is Phase.ORPHANED  # type: ignore[union-attr]
        assert "after-the-last-letter.c" in stage.store.checkpoints_of_session("a", 1)[0].digest
        assert maintain.finalise_orphans(stage.engine()) == []

    def test_a_session_of_an_unknown_process_is_closed_when_it_is_too_old_to_be_picked_up(
        self, stage: Stage
    ) -> None:
        stage.payload("a", "prompt", text="one", transcript="")
        stage.now += 4 * 60 * MINUTE
        assert maintain.finalise_orphans(stage.engine()) == []
        stage.now += 1
        assert maintain.finalise_orphans(stage.engine()) == ["a"]

    def test_the_newest_checkpoint_of_a_session_outlives_the_others(self, stage: Stage) -> None:
        for _ in range(3):
            stage.payload("a", "prompt", text="one", transcript="")
            stage.payload("a", "compaction", transcript="")
            stage.now += MINUTE
        stage.now += 8 * 24 * 60 * MINUTE
        assert maintain.prune(stage.engine(), retention_days=7, records=Records()).checkpoints == 2
        stage.now += 90 * 24 * 60 * MINUTE
        assert maintain.prune(stage.engine(), retention_days=7, records=Records()).checkpoints == 1

    def test_at_most_fifty_checkpoints_a_session(self, stage: Stage) -> None:
        stage.config = Config(continuity=Continuity(max_checkpoints_per_session=3))
        for n in range(5):
            stage.payload("a", "prompt", text=f"step {n}", transcript="")
            stage.payload("a", "compaction", transcript="")
            stage.now += MINUTE
        assert len(stage.store.checkpoints_of_session("a", 99)) == 3


def asked(stage: Stage, **fields: object) -> str:
    payload = json.dumps({"session": "a", "cwd": "/home/you/app", **fields}).encode()
    return show_status(stage.engine(), "playhouse", payload).decode()


def begun(stage: Stage) -> None:
    stage.payload("a", "start", source="startup")
    stage.payload("a", "prompt", text="mend the parser")
    stage.write("a", ("prompt", "mend the parser"), ("says", "done"), ("usage", "50000"))
    stage.payload("a", "tools")


def test_a_session_that_is_not_known_yet_has_only_a_place(stage: Stage) -> None:
    assert asked(stage) == "app"


def test_it_is_reported_from_what_is_stored(stage: Stage) -> None:
    begun(stage)
    stage.now += 3 * MINUTE
    assert "25% 50k/200k" in asked(stage)
    assert asked(stage) == line_of(stage.engine(), stage.store.sessions(1)[0])


def test_what_the_harness_counts_now_is_newer(stage: Stage) -> None:
    begun(stage)
    assert "40% 80k/200k" in asked(stage, used=80_000)
    assert stage.store.sessions(1)[0].pressure.used == 50_000


def test_the_window_that_it_names_is_remembered(stage: Stage) -> None:
    begun(stage)
    assert "5% 50k/1M" in asked(stage, window=1_000_000)
    assert "5% 50k/1M" in asked(stage)


def test_asking_reads_no_transcript(stage: Stage) -> None:
    begun(stage)
    stage.write("a", ("usage", "90000"))
    assert "25% 50k/200k" in asked(stage)


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"cwd": "/x"}'])
def test_a_payload_that_names_no_session_gets_nothing(stage: Stage, payload: bytes) -> None:
    assert show_status(stage.engine(), "playhouse", payload) == b""
