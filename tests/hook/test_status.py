"""A status line is written by the daemon that is there; for it nobody is woken, and nothing is kept."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from holdfast import hook
from tests.hook.fake_daemon import DoorKind, FakeDaemon, answer
from tests.hook.harness import BASE_PYTHON, ENVIRONMENT, NOTHING

HOOK_EVENT = b'{"session_id": "s-1", "context_window": {}}'
LINE = "app · ██░░ 20%".encode()


def drawn(home: Path, **environment: str) -> tuple[int, bytes, bytes]:
    line = hook.status_command(BASE_PYTHON, str(home / "bin" / "hook.py"), "alpha")
    words = shlex.split(line.removesuffix(" 2>/dev/null || :"))
    env = {**ENVIRONMENT, **environment}
    done = subprocess.run(words, input=HOOK_EVENT, env=env, capture_output=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_it_is_what_the_daemon_says(home: Path, kind: DoorKind) -> None:
    with FakeDaemon(home, answer(LINE), kind) as daemon:
        assert drawn(home) == (0, LINE, b"")
    (request,) = daemon.received
    assert (request.first_line, request.header["harness"]) == ("HOLDFAST/1 status", "alpha")
    assert request.payload == HOOK_EVENT


@pytest.mark.parametrize("reply", [b"", b"HOLDFAST/1 ok 9\nshort", None])
def test_it_is_nothing_if_the_daemon_says_nothing_whole(home: Path, reply: bytes | None) -> None:
    with FakeDaemon(home, reply):
        assert drawn(home) == NOTHING
    assert not (home / "spool").exists()


def test_nobody_is_woken_for_it(home: Path, tmp_path: Path) -> None:
    woken = tmp_path / "woken"
    interpreter = tmp_path / "python"
    interpreter.write_text(f"#!/bin/sh\ntouch {woken}\n")
    interpreter.chmod(0o700)
    (home / "bin" / "interpreter").write_text(f"{interpreter}\n")
    assert drawn(home) == NOTHING
    assert not (home / "spool").exists()
    assert not woken.exists()


def test_it_is_nothing_where_holdfast_is_switched_off(home: Path) -> None:
    with FakeDaemon(home, answer(LINE)) as daemon:
        assert drawn(home, HOLDFAST_DISABLE="1") == NOTHING
    assert daemon.received == []


def test_its_command_line_says_nothing_once_its_file_is_gone(home: Path) -> None:
    line = hook.status_command(BASE_PYTHON, str(home / "bin" / "gone.py"), "alpha")
    done = subprocess.run(["/bin/sh", "-c", line], input=HOOK_EVENT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == NOTHING
