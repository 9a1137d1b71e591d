"""A disk that is full or read-only: the hook still exits 0, and the person gets one clear sentence."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOOK_EVENT = '{"session_id": "s1", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "hello"}'
COMMAND = f"{sys.executable} -m holdfast.cli"

FULL = """
set -e
mount -t tmpfs -o size=256k,mode=700 tmpfs "$HOLDFAST_HOME"
umask 077
head -c 262144 /dev/zero > "$HOLDFAST_HOME/filler" 2>/dev/null || true
"""
READ_ONLY = """
set -e
mount -t tmpfs -o size=1m,mode=700 tmpfs "$HOLDFAST_HOME"
mount -o remount,bind,ro "$HOLDFAST_HOME"
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
        input=HOOK_EVENT,
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
@pytest.mark.parametrize("command", ["up", "setup claude-code --yes"])
def test_a_person_gets_one_clear_sentence(tmp_path: Path, mounts: str, command: str) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    done = in_a_namespace(f"{mounts}\n{COMMAND} {command}", tmp_path / "home")
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.match(r"error: .*(No space left on device|Read-only file system)\n", done.stderr)
    assert "Traceback" not in done.stderr
    assert settings.read_text() == "{}"


@pytest.mark.parametrize(("mounts", "says"), [(FULL, "is full"), (READ_ONLY, "cannot be written")])
def test_the_doctor_sees_it(tmp_path: Path, mounts: str, says: str) -> None:
    done = in_a_namespace(f"{mounts}\n{COMMAND} doctor --json", tmp_path / "home")
    home = next(finding for finding in json.loads(done.stdout) if finding["check"] == "home")
    assert not home["ok"]
    assert says in home["detail"]
    assert home["fix"]
