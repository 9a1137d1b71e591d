"""Processes are told apart by pid and start, with real children; what a process says about its session."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.session import Phase, Process
from holdfast.engine.liveness import (
    Liveness,
    ProcessState,
    ancestors_of,
    command_of,
    is_alive,
    liveness_of,
    parse_proc_stat,
    parse_ps,
    start_of,
)
from holdfast.engine.upkeep.maintain import finalise_orphans
from tests.engine.stage import HOUR, Stage

CAT = shutil.which("cat") or "/bin/cat"
NEEDS_PROC = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until its input ends."""
    yield from living([CAT])


def living(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"ready\n")
        process.stdin.flush()
        process.stdout.readline()  # so that it is past exec, and has its own name
        yield process


def test_a_living_process_is_alive_with_its_start_or_none(child: subprocess.Popen[bytes]) -> None:
    start = start_of(child.pid)
    assert start > 0
    assert start == start_of(child.pid)
    assert is_alive(child.pid, start)
    assert is_alive(child.pid, 0)
    assert is_alive(os.getpid(), start_of(os.getpid()))


def test_a_process_is_known_by_the_words_it_was_started_with(child: subprocess.Popen[bytes]) -> None:
    assert command_of(child.pid) == (CAT,)
    child.kill()
    child.wait()
    assert command_of(child.pid) == ()


def test_another_process_under_the_same_pid_is_not_the_one_meant(child: subprocess.Popen[bytes]) -> None:
    assert not is_alive(child.pid, start_of(child.pid) + 1)


def test_a_zombie_is_dead_and_so_is_a_process_that_was_waited_for(child: subprocess.Popen[bytes]) -> None:
    start = start_of(child.pid)
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    os.kill(child.pid, 0)  # it is still there
    assert not is_alive(child.pid, start)
    assert not is_alive(child.pid, 0)
    child.wait()
    assert not is_alive(child.pid, start)
    assert not is_alive(child.pid, 0)
    assert start_of(child.pid) == 0


@pytest.mark.parametrize("pid", [0, -1, -(2**40), 2**22 + 1, 2**31, 2**80])
def test_a_pid_that_no_process_can_have_is_dead_and_has_no_start(pid: int) -> None:
    assert not is_alive(pid, 0)
    assert not is_alive(pid, 1)
    assert start_of(pid) == 0


@NEEDS_PROC
def test_the_start_is_the_one_that_proc_shows(child: subprocess.Popen[bytes]) -> None:
    fields = Path(f"/proc/{child.pid}/stat").read_text(encoding="ascii").split()
    assert fields[1] == "(cat)"
    assert start_of(child.pid) == int(fields[21])


@NEEDS_PROC
@pytest.mark.parametrize("name", ["a b", "x) Z 1 (y", ")", "(("])
def test_a_name_with_spaces_and_brackets_confuses_nobody(tmp_path: Path, name: str) -> None:
    shutil.copy(CAT, tmp_path / name)
    for process in living([str(tmp_path / name)]):
        assert Path(f"/proc/{process.pid}/comm").read_text(encoding="ascii") == f"{name}\n"
        assert start_of(process.pid) >= start_of(os.getpid()) > 0
        assert is_alive(process.pid, start_of(process.pid))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"7 (cat) S " + b"0 " * 18 + b"4711 0", ProcessState("S", 4711)),
        (b"7 (a) Z (b) R " + b"1 " * 18 + b"12\n", ProcessState("R", 12)),
        (b"7 (cat) S 1 2 3", None),
        (b"7 (cat) S " + b"0 " * 18 + b"soon", None),
        (b"", None),
    ],
)
def test_a_line_of_proc_is_read_or_refused(text: bytes, expected: ProcessState | None) -> None:
    assert parse_proc_stat(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Ss   Thu Jan  1 00:01:40 1970\n", ProcessState("S", 100)),
        ("Z+   Sat Nov 15 20:14:00 2025    \n", ProcessState("Z", 1763237640)),
        ("S", None),
        ("S    Sa 15 Nov 20:14:00 2025", None),
        ("", None),
    ],
)
def test_a_line_of_ps_is_read_or_refused(line: str, expected: ProcessState | None) -> None:
    assert parse_ps(line) == expected


@given(st.binary(max_size=300))
def test_any_bytes_are_at_worst_unknown(text: bytes) -> None:
    for seen in (parse_proc_stat(text), parse_ps(text.decode("latin-1"))):
        assert seen is None or isinstance(seen.start, int)


@NEEDS_PROC
def test_the_processes_above_one_are_seen_from_the_nearest_on(child: subprocess.Popen[bytes]) -> None:
    assert ancestors_of(child.pid)[:2] == (os.getpid(), os.getppid())
    assert ancestors_of(0) == ()


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
def test_a_process_is_recognised_by_its_command_line(
    stage: Stage, request: pytest.FixtureRequest, process: str | Process | None, life: Liveness
) -> None:
    found = request.getfixturevalue(process) if isinstance(process, str) else process
    worked(stage, "a", found)
    session = stage.store.session("a")
    assert session is not None
    assert liveness_of(stage.engine(), session) is life


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
