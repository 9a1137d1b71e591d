"""A disk that is full or read-only: the hook still exits 0, and the person gets one clear sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LETTER = '{"session_id": "s1", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "hello"}'
COMMAND = f"{sys.executable} -m holdfast.cli"

FULL = """
set -e
mount -t tmpfs -o size=256k,mode=700 tmpfs "$HOLDFAST_HOME"
head -c 250000 /dev/zero > "$HOLDFAST_HOME/filler" 2>/dev/null || true
"""
READ_ONLY = """
set -e
mount -t tmpfs -o size=1m,mode=700 tmpfs "$HOLDFAST_HOME"
mount -o remount,ro "$HOLDFAST_HOME"
"""


def in_a_namespace(script: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with mounts of its own, which vanish with it; whatever it started is ended too."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("no mount namespace here")
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "HOLDFAST_HOME": str(home)}
    return subprocess.run(
        ["unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c", script],
        env=environment,
        input=LETTER,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("mounts", [FULL, READ_ONLY])
def test_a_hook_exits_0_and_says_nothing(tmp_path: Path, mounts: str) -> None:
    done = in_a_namespace(f"{mounts}\n{COMMAND} hook --harness claude-code", tmp_path / "home")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("mounts", [FULL, READ_ONLY])
@pytest.mark.parametrize("command", ["sessions", "checkpoints --all"])
def test_a_person_gets_one_clear_sentence(tmp_path: Path, mounts: str, command: str) -> None:
    done = in_a_namespace(f"{mounts}\n{COMMAND} {command}", tmp_path / "home")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert "store.db" in done.stderr
