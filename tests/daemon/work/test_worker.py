"""The worker: the most urgent job first, and nobody waits for one that has ended."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from holdfast.daemon.work.worker import Urgency, Worker


def test_what_is_queued_is_done_before_it_ends() -> None:
    async def results() -> list[int]:
        worker = Worker(asyncio.get_running_loop())
        jobs = [asyncio.create_task(worker.do(Urgency.HOUSEKEEPING, partial(int, n))) for n in range(3)]
        await asyncio.sleep(0)
        worker.stop()
        return [await job for job in jobs]

    assert asyncio.run(results()) == [0, 1, 2]


def test_nobody_waits_for_a_worker_that_has_ended() -> None:
    async def ask_too_late() -> None:
        worker = Worker(asyncio.get_running_loop())
        worker.stop()
        await worker.do(Urgency.HOOK_EVENT, bool)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(ask_too_late())
