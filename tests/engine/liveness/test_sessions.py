"""What a session's process says about it: one of its own, one that it shares, one that is gone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from holdfast.core.session.session import Phase, Process
from holdfast.engine.liveness.processes import start_of
from holdfast.engine.liveness.sessions import Liveness, life_of
from holdfast.engine.upkeep.maintain import finalise_orphans
from tests.engine.stage import HOUR, Stage

GONE = Process(2**22 - 1, 1)


def _living(*words: str) -> Iterator[Process]:
    """A process that lives until the test is over, started with these words."""
    command = ["/bin/sh", "-c", "echo; read line", *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()  # a process that is just being started has no command line yet
        yield Process(child.pid, start_of(child.pid))


@pytest.fixture
def own() -> Iterator[Process]:
    yield from _living("alone")


@pytest.fixture
def shared() -> Iterator[Process]:
    yield from _living("shared")


def worked(stage: Stage, session: str, process: Process | None, *, stopped: bool = True) -> None:
    """A session that was asked something, and has stopped or is at it still."""
    stage.payload(session, "start", source="startup", process=process)
    stage.write(session, ("prompt", f"task of {session}"), ("fails", "make check"))
    stage.payload(session, "stop" if stopped else "other", process=process)


@pytest.mark.parametrize(
    ("process", "life"),
    [("own", Liveness.OWN), ("shared", Liveness.SHARED), (GONE, Liveness.GONE), (None, Liveness.UNKNOWN)],
)
def test_a_process_is_told_by_its_command_line(
    stage: Stage, request: pytest.FixtureRequest, process: str | Process | None, life: Liveness
) -> None:
    found = request.getfixturevalue(process) if isinstance(process, str) else process
    worked(stage, "a", found)
    session = stage.store.session("a")
    assert session is not None
    assert life_of(stage.engine(), session) is life


class TestAStartBesideASharedProcess:
    def test_a_session_that_has_stopped_is_continued_and_left_open(
        self, stage: Stage, shared: Process
    ) -> None:
        worked(stage, "a", shared)
        brief = stage.payload("b", "start", source="startup", process=shared)
        assert "task of a" in brief
        assert "may still be open" in brief
        assert stage.store.session("a").phase is Phase.LIVE  # type: ignore[union-attr]

    def test_what_it_wrote_since_is_in_the_brief(self, stage: Stage, shared: Process) -> None:
        worked(stage, "a", shared)
        stage.write("a", ("prompt", "and mind the TAX-19 case"))
        stage.payload("a", "stop", process=shared, transcript="")
        assert "TAX-19" in stage.payload("b", "start", source="startup", process=shared)

    def test_a_session_that_is_at_work_is_only_named(self, stage: Stage, shared: Process) -> None:
        worked(stage, "a", shared, stopped=False)
        brief = stage.payload("b", "start", source="startup", process=shared)
        assert "task of a" not in brief
        assert "is live" in brief

    def test_one_of_another_harness_goes_by_the_same_rule(
        self, stage: Stage, shared: Process, own: Process
    ) -> None:
        worked(stage, "a", shared)
        assert "task of a" in stage.payload("b", "start", source="startup", process=own)


class TestAClearInASharedProcess:
    def test_the_last_that_stopped_in_this_worktree_is_given_back(
        self, stage: Stage, shared: Process
    ) -> None:
        worked(stage, "a", shared)
        stage.now += 1
        worked(stage, "busy", shared, stopped=False)
        brief = stage.payload("b", "start", source="clear", process=shared)
        assert "task of a" in brief
        assert "task of busy" not in brief


@pytest.mark.parametrize(("hours", "closed"), [(1, []), (5, ["a"])])
def test_a_shared_process_keeps_no_session_alive_for_longer_than_it_can_be_picked_up(
    stage: Stage, shared: Process, hours: int, closed: list[str]
) -> None:
    worked(stage, "a", shared)
    stage.now += hours * HOUR
    assert finalise_orphans(stage.engine()) == closed


def test_a_process_of_its_own_keeps_its_session_alive(stage: Stage, own: Process) -> None:
    worked(stage, "a", own)
    stage.now += 50 * HOUR
    assert finalise_orphans(stage.engine()) == []
