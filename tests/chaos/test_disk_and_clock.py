"""The disk fills and empties, and the clock jumps: what was acknowledged is there, and work goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from holdfast.core.events.event import Prompt
from tests.engine.stage import HOUR, NOON, Stage

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DAY = 24 * HOUR
ON_A_SMALL_DISK = """
set -e
mkdir "$1/holdfast"
mount -t tmpfs -o size=4m,mode=700 tmpfs "$1/holdfast"
exec "$2" -m tests.chaos.full_disk "$1"
"""


def test_a_disk_that_fills_and_empties_loses_nothing_that_was_acknowledged() -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("no mount namespace here")
    root = Path(tempfile.mkdtemp(prefix="hf-")).resolve()
    try:
        done = subprocess.run(
            [
                *("unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc"),
                *("sh", "-c", ON_A_SMALL_DISK, "sh", str(root), sys.executable),
            ],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said = dict(line.split() for line in done.stdout.splitlines())
        assert (said["before"], said["after"]) == ("30", "30")
        assert int(said["full"]) < 30, "the disk was never full"
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize("jump", [-400 * DAY, -DAY, -1, DAY, 400 * DAY])
def test_when_the_clock_jumps_nothing_is_lost_and_the_next_session_knows_the_last(
    tmp_path: Path, jump: int
) -> None:
    stage = Stage(tmp_path)
    stage.payload("one", "start", source="startup")
    stage.write("one", ("prompt", "Move the parser to the new grammar."), ("edits", stage.file("parser.c")))
    stage.payload("one", "prompt", text="Move the parser to the new grammar.")
    stage.now += jump
    stage.write("one", ("prompt", "Keep the old error messages."), ("says", "Next step: port the lexer."))
    stage.payload("one", "prompt", text="Keep the old error messages.")
    stage.payload("one", "compaction")
    brief = stage.payload("one", "start", source="compact")
    assert "Move the parser to the new grammar." in brief
    assert "Keep the old error messages." in brief
    told = [event.text for event in stage.store.events("one", 100) if isinstance(event, Prompt)]
    assert sorted(told) == ["Keep the old error messages.", "Move the parser to the new grammar."]
    stage.now = max(stage.now, NOON) + HOUR
    assert "parser.c" in stage.payload("two", "start", source="clear", previous="one")
