"""The daemon is killed at random while two hundred sessions talk: nothing is lost, nothing is there twice.

Twenty times by default; `HOLDFAST_KILLS` says how often.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from functools import partial

import pytest

from holdfast.daemon.local import client
from holdfast.engine.health.doctor import leftovers
from holdfast.engine.liveness import lock_holder
from tests.chaos.conftest import assert_kept, assert_nobody_is_left, settle
from tests.chaos.crowd import Crowd
from tests.daemon.conftest import wait_until

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("HOLDFAST_KILLS", "20"))
EVENTS_A_SECOND = 50.0
TALKERS = 5
"""How many speak at a time; each waits for the answer to its letter."""
AT_MOST_S = 0.5
AT_WORK = 0.8
NOBODY = 1 << 30


def test_of_what_was_acknowledged_nothing_is_lost_and_nothing_doubled(crowd: Crowd) -> None:
    stop, moments = threading.Event(), random.Random(KILLS)
    talkers = [crowd.talk(EVENTS_A_SECOND / TALKERS, stop, place, TALKERS) for place in range(TALKERS)]
    try:
        for _ in range(KILLS):
            # Most die at work, and some before they have opened their door.
            wait_until(partial(_lives, crowd, at_work=moments.random() < AT_WORK))
            time.sleep(moments.uniform(0.0, AT_MOST_S))
            with suppress(ProcessLookupError):
                os.kill(lock_holder(crowd.home) or NOBODY, signal.SIGKILL)
    finally:
        stop.set()
        for talker in talkers:
            talker.join()
    settle(crowd)
    assert sum(map(len, crowd.acknowledged.values())) > KILLS
    assert_kept(crowd)
    assert_nobody_is_left(crowd)
    assert not [*(crowd.home / "run").glob("endpoint")], "nobody listens, and no note says so"


def _lives(crowd: Crowd, *, at_work: bool) -> bool:
    """Whether there is a daemon to kill."""
    crowd.reap()
    return client.is_up(crowd.home) if at_work else bool(lock_holder(crowd.home))


def test_of_daemons_that_start_at_once_one_stays(crowd: Crowd) -> None:
    for _ in range(8):
        crowd.start()
    for number in range(40):
        crowd.speak(number)
    alive = [daemon for daemon in crowd.daemons if daemon.poll() is None]
    assert lock_holder(crowd.home) in {daemon.pid for daemon in alive}
    settle(crowd)
    assert all(daemon.wait(20) == 0 for daemon in crowd.daemons)
    assert leftovers(crowd.home, 0) == []
    assert_kept(crowd)
