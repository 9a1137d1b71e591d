"""Processes told apart by pid and start, with real children: living, dead, waited for or not."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.liveness.processes import (
    Sighting,
    above,
    alive,
    command_of,
    from_proc,
    from_ps,
    start_of,
)

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
    assert alive(child.pid, start)
    assert alive(child.pid, 0)
    assert alive(os.getpid(), start_of(os.getpid()))


def test_a_process_is_known_by_the_words_it_was_started_with(child: subprocess.Popen[bytes]) -> None:
    assert command_of(child.pid) == (CAT,)
    child.kill()
    child.wait()
    assert command_of(child.pid) == ()


def test_another_process_under_the_same_pid_is_not_the_one_meant(child: subprocess.Popen[bytes]) -> None:
    assert not alive(child.pid, start_of(child.pid) + 1)


def test_a_zombie_is_dead_and_so_is_a_process_that_was_waited_for(child: subprocess.Popen[bytes]) -> None:
    start = start_of(child.pid)
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    os.kill(child.pid, 0)  # it is still there
    assert not alive(child.pid, start)
    assert not alive(child.pid, 0)
    child.wait()
    assert not alive(child.pid, start)
    assert not alive(child.pid, 0)
    assert start_of(child.pid) == 0


@pytest.mark.parametrize("pid", [0, -1, -(2**40), 2**22 + 1, 2**31, 2**80])
def test_a_pid_that_no_process_can_have_is_dead_and_has_no_start(pid: int) -> None:
    assert not alive(pid, 0)
    assert not alive(pid, 1)
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
        assert alive(process.pid, start_of(process.pid))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"7 (cat) S " + b"0 " * 18 + b"4711 0", Sighting("S", 4711)),
        (b"7 (a) Z (b) R " + b"1 " * 18 + b"12\n", Sighting("R", 12)),
        (b"7 (cat) S 1 2 3", None),
        (b"7 (cat) S " + b"0 " * 18 + b"soon", None),
        (b"", None),
    ],
)
def test_a_line_of_proc_is_read_or_refused(text: bytes, expected: Sighting | None) -> None:
    assert from_proc(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Ss   Thu Jan  1 00:01:40 1970\n", Sighting("S", 100)),
        ("Z+   Sat Nov 15 20:14:00 2025    \n", Sighting("Z", 1763237640)),
        ("S", None),
        ("S    Sa 15 Nov 20:14:00 2025", None),
        ("", None),
    ],
)
def test_a_line_of_ps_is_read_or_refused(line: str, expected: Sighting | None) -> None:
    assert from_ps(line) == expected


@given(st.binary(max_size=300))
def test_any_bytes_are_at_worst_unknown(text: bytes) -> None:
    for seen in (from_proc(text), from_ps(text.decode("latin-1"))):
        assert seen is None or isinstance(seen.start, int)


@NEEDS_PROC
def test_the_processes_above_one_are_seen_from_the_nearest_on(child: subprocess.Popen[bytes]) -> None:
    assert above(child.pid)[:2] == (os.getpid(), os.getppid())
    assert above(0) == ()
