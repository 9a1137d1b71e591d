"""A forked program does what the same program does in a new interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import fork_server

COMMAND = (sys.executable, "-m", "holdfast.cli")
MISTAKES = (["nonsense"], ["checkpoints", "--limit", "0"], ["brief", "--project", "nowhere"], ["config"])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / "holdfast"), "PATH": os.environ["PATH"]}


@pytest.mark.parametrize("words", [["--version"], ["--help"], *MISTAKES])
def test_it_prints_and_ends_like_an_executed_one(words: list[str], environment: dict[str, str]) -> None:
    forked, executed = (
        run([*COMMAND, *words], env=environment, cwd="/", capture_output=True, check=False)
        for run in (fork_server.run, subprocess.run)
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        executed.returncode,
        executed.stdout,
        executed.stderr,
    )


def test_a_signal_ends_it_and_is_reported(environment: dict[str, str]) -> None:
    command = [*COMMAND, "redact"]
    with fork_server.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0)
        process.kill()
        assert process.wait(60) == -signal.SIGKILL


def test_it_has_a_session_and_a_mask_of_its_own(environment: dict[str, str], tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    with fork_server.Popen(
        [*COMMAND, "redact"], env=environment, stdin=pipe, stdout=pipe, start_new_session=True, umask=0o077
    ) as process:
        assert os.getsid(process.pid) == process.pid
        assert process.communicate(b"nothing secret\n", 60)[0] == b"nothing secret\n"
    assert fork_server.run([*COMMAND, "up"], env=environment, cwd=tmp_path).returncode == 0
    assert fork_server.run([*COMMAND, "down"], env=environment, cwd=tmp_path).returncode == 0
    assert (tmp_path / "holdfast" / "logs" / "daemon.log").stat().st_mode & 0o077 == 0


def test_a_directory_that_is_not_there_is_refused(environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gone"):
        fork_server.run([*COMMAND, "--version"], env=environment, cwd=tmp_path / "gone")


def test_what_only_a_new_interpreter_can_obey_is_executed(environment: dict[str, str]) -> None:
    done = fork_server.run(
        [*COMMAND, "--version"], env=environment | {"PYTHONVERBOSE": "1"}, capture_output=True, text=True
    )
    assert "import 'site'" in done.stderr
