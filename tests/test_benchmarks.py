"""The benchmarks: what can be said of them without measuring."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks import hook


def test_hooks_are_measured_against_a_daemon_of_a_home_without_setup(tmp_path: Path) -> None:
    with hook.running_daemon(tmp_path / "up") as pid:
        os.kill(pid, 0)
        assert hook.daemon_pid(tmp_path / "up") == pid
