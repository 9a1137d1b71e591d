"""The executor: what reads everything keeps no page waiting."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.daemon.access import Keys
from holdfast.daemon.api.dependencies import Executor
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.engine.engine import Engine

LOG = logging.getLogger("test")


def test_a_page_does_not_wait_for_what_reads_everything(tmp_path: Path) -> None:
    page_was_given = threading.Event()

    def everything(engine: Engine, in_time: Callable[[], bool]) -> int:
        assert page_was_given.wait(20)
        assert in_time()
        return engine.store.counts().sessions

    async def asked() -> tuple[int, int]:
        worker = Worker(asyncio.get_running_loop())
        dispatcher = Dispatcher(tmp_path, worker, asyncio.Event(), LOG, "")
        await worker.do(Urgency.CONTROL, lambda: dispatcher.open(0))
        executor = Executor(dispatcher, Keys(tmp_path, time.time), asyncio.Event(), LOG)
        reading = asyncio.create_task(executor.read_through(everything))
        page = await executor.do(lambda engine: engine.store.counts().checkpoints)
        page_was_given.set()
        read = await reading
        await executor.close()
        await worker.do(Urgency.CONTROL, dispatcher.close)
        worker.stop()
        return page, read

    assert asyncio.run(asked()) == (0, 0)
