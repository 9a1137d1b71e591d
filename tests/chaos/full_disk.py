"""The disk fills while sessions talk, and empties again: `python -m tests.chaos.full_disk ROOT`.

ROOT/holdfast is a small disk. Fails by an assertion; says how many letters were safe before, then and after.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from holdfast.daemon.local import client
from tests.chaos.conftest import assert_kept, assert_nobody_is_left, end, settle
from tests.chaos.crowd import Crowd
from tests.daemon.conftest import wait_until

EACH = 30


def main(root: Path) -> None:
    os.environ["HOME"] = str(root)
    crowd = Crowd(root, root / "holdfast", sessions=1)
    crowd.prepare()
    crowd.start()
    wait_until(lambda: client.is_up(crowd.home))
    try:
        _say("before", _safe(crowd, 0))
        fill(crowd.home / "ballast")
        _say("full", _safe(crowd, EACH))
        (crowd.home / "ballast").unlink()
        _say("after", _safe(crowd, 2 * EACH))
        settle(crowd)
        assert_kept(crowd)
        assert_nobody_is_left(crowd)
    finally:
        end(crowd)


def _say(when: str, safe: int) -> None:
    sys.stdout.write(f"{when} {safe}\n")


def fill(path: Path) -> None:
    """Leave not a byte."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def _safe(crowd: Crowd, first: int) -> int:
    """How many of some more letters were acknowledged."""
    before = sum(map(len, crowd.acknowledged.values()))
    for number in range(first, first + EACH):
        crowd.speak(number)
    return sum(map(len, crowd.acknowledged.values())) - before


if __name__ == "__main__":
    main(Path(sys.argv[1]))
