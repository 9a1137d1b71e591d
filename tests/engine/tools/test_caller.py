"""Whose agent calls a tool, from what the connection and the call tell."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from holdfast.core.events.event import Action, Event, Origin, ToolCalled, ToolReturned
from holdfast.core.session.session import Process
from holdfast.engine.liveness import start_of
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.tools import caller
from holdfast.engine.tools.caller import CallContext, Caller, find_caller, seen_calling
from holdfast.errors import HarnessUnknown, HoldfastError
from holdfast.harnesses.base import Harness
from holdfast.settings import Capture, Config, Continuity
from tests.engine.stage import Playhouse, Stage

ONE = Process(os.getpid(), start_of(os.getpid()))
OTHER = Process(os.getppid(), start_of(os.getppid()))
READERS = (Playhouse(),)


def play(stage: Stage, session: str, process: Process | None = ONE, **fields: str) -> None:
    stage.payload(session, "start", process=process, transcript="", **({"source": "startup"} | fields))
    stage.payload(session, "prompt", process=process, transcript="", text=f"task of {session}", **fields)


def cleared(stage: Stage, session: str, process: Process | None = ONE) -> None:
    stage.payload(session, "end", reason="clear", process=process, transcript="")


def found(stage: Stage, call: CallContext) -> Caller:
    return find_caller(stage.engine(), call, READERS)


def taken(stage: Stage, call: CallContext) -> tuple[str, str]:
    """The session that was taken, and how."""
    which = found(stage, call)
    return (which.session.key if which.session else "", which.how)


def named(session: str, cwd: str = "", process: Process | None = None) -> CallContext:
    return CallContext({"SESSION": session}, cwd=cwd, process=process)


class TestByName:
    def test_the_harness_tells_the_session_by_its_environment(self, stage: Stage) -> None:
        play(stage, "a")
        play(stage, "b", OTHER)
        assert taken(stage, named("a")) == ("a", caller.CALLED)

    def test_or_with_the_call(self, stage: Stage) -> None:
        play(stage, "a")
        play(stage, "b", OTHER)
        assert taken(stage, CallContext(meta={"session": "a"})) == ("a", caller.CALLED)

    def test_its_project_is_the_sessions_wherever_the_process_stands(self, stage: Stage) -> None:
        play(stage, "a")
        which = found(stage, named("a", cwd="/"))
        assert which.project.path == stage.project("app")

    def test_a_cleared_session_is_followed_to_the_one_that_continues_it(self, stage: Stage) -> None:
        play(stage, "a")
        cleared(stage, "a")
        play(stage, "b", source="clear")
        assert taken(stage, named("a")) == ("b", caller.CONTINUES)

    def test_over_several_clears(self, stage: Stage) -> None:
        play(stage, "a")
        for before, after in ("ab", "bc", "cd"):
            cleared(stage, before)
            play(stage, after, source="clear")
        assert taken(stage, named("a")) == ("d", caller.CONTINUES)

    def test_by_its_process_where_there_was_nothing_to_continue(self, stage: Stage) -> None:
        stage.payload("a", "start", source="startup", process=ONE, transcript="")
        cleared(stage, "a")
        stage.payload("x", "start", source="startup", process=OTHER, transcript="")
        stage.payload("b", "start", source="clear", process=ONE, transcript="")
        stage.now += 1
        play(stage, "x", OTHER)
        assert taken(stage, named("a")) == ("b", caller.CONTINUES)

    def test_one_that_is_over_and_continued_by_nobody_is_still_the_caller(self, stage: Stage) -> None:
        play(stage, "a")
        stage.payload("a", "end", reason="other", process=ONE, transcript="")
        play(stage, "b", OTHER)
        assert taken(stage, named("a")) == ("a", caller.CALLED)

    def test_a_circle_of_sessions_is_left(self, stage: Stage) -> None:
        for session, previous in ("ab", "ba"):
            play(stage, session, None, previous=previous)
        for session in "ab":
            cleared(stage, session, None)
        play(stage, "c", None, previous="a")
        assert taken(stage, named("x" * 8, stage.project("app")))[0] == "x" * 8
        assert taken(stage, named("b")) == ("c", caller.CONTINUES)

    def test_one_that_no_hook_reported_is_known_from_now_on(self, stage: Stage) -> None:
        assert taken(stage, named("new", stage.project("app"), ONE)) == ("new", caller.CALLED)
        kept = stage.store.session("new")
        assert kept is not None
        assert (kept.harness, kept.process) == ("playhouse", ONE)

    def test_unless_its_harness_cannot_be_set_up(self, stage: Stage) -> None:
        def refuse(name: str) -> Harness:
            raise HarnessUnknown(name)

        call = named("new", stage.project("app"))
        assert find_caller(replace(stage.engine(), harness=refuse), call, READERS).session is None
        assert stage.store.session("new") is None


class TestWithoutAName:
    def test_the_live_session_of_the_process_that_calls(self, stage: Stage) -> None:
        play(stage, "a", ONE)
        stage.now += 1
        play(stage, "b", OTHER)
        assert taken(stage, CallContext(process=ONE)) == ("a", caller.SAME_PROCESS)

    def test_not_one_of_several_that_share_a_process(self, stage: Stage) -> None:
        play(stage, "a", ONE)
        play(stage, "b", ONE)
        stage.now += 1
        stage.payload("a", "prompt", process=ONE, transcript="", text="go on")
        stage.payload("a", "prompt", process=ONE, transcript="", text="and on")
        assert len(stage.store.live_sessions()) == 2
        with pytest.raises(HoldfastError, match="which project"):
            found(stage, CallContext(process=ONE))
        assert taken(stage, CallContext(process=ONE, cwd=stage.project("app"))) == ("a", caller.NEWEST)

    def test_the_newest_live_one_of_the_project(self, stage: Stage) -> None:
        for session in ("a", "b", "c"):
            stage.now += 1
            play(stage, session, None)
        cleared(stage, "c", None)
        assert taken(stage, CallContext(cwd=stage.project("app"))) == ("b", caller.NEWEST)

    def test_never_one_of_another_project(self, stage: Stage) -> None:
        play(stage, "a", None)
        which = found(stage, CallContext(cwd=stage.project("other")))
        assert which.session is None
        assert which.project.path == stage.project("other")

    def test_where_not_even_the_project_is_known_nothing_is_taken(self, stage: Stage) -> None:
        play(stage, "a", None)
        with pytest.raises(HoldfastError, match="does not say which project") as refused:
            found(stage, CallContext())
        assert "holdfast setup" in refused.value.hint

    @pytest.mark.parametrize(
        "config",
        [Config(continuity=Continuity(enabled=False)), Config(capture=Capture(exclude=("app",)))],
    )
    def test_where_it_is_turned_off_nothing_is_done(self, stage: Stage, config: Config) -> None:
        stage.config = config
        with pytest.raises(HoldfastError, match="turned off"):
            found(stage, CallContext(cwd=stage.project("app")))
        with pytest.raises(HoldfastError, match="turned off"):
            found(stage, named("a", stage.project("app")))
        assert stage.store.session("a") is None


class TestSeenInTheTranscript:
    def test_the_session_that_shows_the_call(self, stage: Stage) -> None:
        for session in ("a", "b"):
            stage.write(session, ("prompt", "go"), ("runs", f"make {session}"))
            stage.payload(session, "prompt", text="go")
        ids = [event.call for event in stage.store.events("b", 50) if isinstance(event, ToolCalled)]
        assert [seen_calling(stage.engine(), id) for id in ids] == ["b"]

    def test_nobody_where_none_shows_it(self, stage: Stage) -> None:
        play(stage, "a")
        assert seen_calling(stage.engine(), "toolu_1") == ""


class TestByWhoWaits:
    """Several sessions share the process and the call names none, but a hook event came before it."""

    def rang(self, stage: Stage, session: str, tool: str = "holdfast_recall") -> None:
        called = ToolCalled(
            session=session,
            record=f"call-{session}",
            at=stage.now,
            origin=Origin.ASSISTANT,
            call=f"call-{session}",
            tool=tool,
            action=Action.OTHER,
        )
        self.happened(stage, called)

    def returned(self, stage: Stage, session: str) -> None:
        call = f"call-{session}"
        end = ToolReturned(
            session=session, record=f"{call}/end", at=stage.now, origin=Origin.TOOL, call=call, ok=True
        )
        self.happened(stage, end)

    def happened(self, stage: Stage, event: Event) -> None:
        known = stage.store.session(event.session)
        assert known is not None
        record(stage.engine(), Arrival(event.session, "playhouse", known.project, (event,)))

    @pytest.fixture
    def two(self, stage: Stage) -> Stage:
        play(stage, "a")
        play(stage, "b", source="resume")
        return stage

    def test_the_session_that_rang_is_the_one_that_called(self, two: Stage) -> None:
        self.rang(two, "a")
        assert taken(two, CallContext(process=ONE, tool="recall", cwd=two.project("app"))) == (
            "a",
            caller.SHOWN,
        )

    def test_one_that_has_its_answer_waits_no_more(self, two: Stage) -> None:
        self.rang(two, "a")
        self.returned(two, "a")
        self.rang(two, "b")
        assert taken(two, CallContext(process=ONE, tool="recall")) == ("b", caller.SHOWN)

    @pytest.mark.parametrize("tool", ["holdfast_remember", "theirs_recall"])
    def test_whoever_called_another_tool_is_not_meant(self, two: Stage, tool: str) -> None:
        self.rang(two, "a", tool)
        assert taken(two, CallContext(process=ONE, tool="recall", cwd=two.project("app")))[1] == caller.NEWEST

    def test_where_two_wait_nobody_is_guessed(self, two: Stage) -> None:
        self.rang(two, "a")
        self.rang(two, "b")
        assert taken(two, CallContext(process=ONE, tool="recall", cwd=two.project("app")))[1] == caller.NEWEST

    def test_a_server_that_the_harness_started_by_another_process_is_its_own(self, stage: Stage) -> None:
        play(stage, "a", OTHER)
        self.rang(stage, "a")
        play(stage, "b", None)
        assert taken(stage, CallContext(process=ONE, tool="recall")) == ("a", caller.SHOWN)
