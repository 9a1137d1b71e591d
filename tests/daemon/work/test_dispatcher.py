"""The settings that a letter is answered by: the same all through one job, and those of now for the next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from holdfast.core.events.world import Project
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.worker import Urgency, Worker

T = TypeVar("T")
PROJECT = Project("/p", "/p", "p", "p", "/p")


def in_turn(home: Path, *jobs: Callable[[Dispatcher], T]) -> list[T]:
    """What each of these jobs gives back, done by the worker one after the other."""

    async def done() -> list[T]:
        worker = Worker(asyncio.get_running_loop())
        dispatcher = Dispatcher(home, worker, asyncio.Event(), logging.getLogger("test"), "")
        await worker.do(Urgency.CONTROL, lambda: dispatcher.open(0))
        results = [await worker.do(Urgency.HOOK_EVENT, lambda job=job: job(dispatcher)) for job in jobs]  # type: ignore[misc]
        await worker.do(Urgency.CONTROL, dispatcher.close)
        worker.stop()
        return results

    return asyncio.run(done())


def interval(dispatcher: Dispatcher) -> int:
    return dispatcher.engine.config(PROJECT).continuity.prompt_interval


def test_settings_that_change_count_for_the_next_job(tmp_path: Path) -> None:
    def changed_meanwhile(dispatcher: Dispatcher) -> tuple[int, int]:
        before = interval(dispatcher)
        (tmp_path / "config.toml").write_text("[continuity]\nprompt_interval = 3\n")
        return before, interval(dispatcher)

    def later(dispatcher: Dispatcher) -> tuple[int, int]:
        return interval(dispatcher), interval(dispatcher)

    assert in_turn(tmp_path, changed_meanwhile, later) == [(10, 10), (3, 3)]


def test_an_engine_for_another_thread_reads_them_itself(tmp_path: Path) -> None:
    def beside(dispatcher: Dispatcher) -> tuple[int, int]:
        before = interval(dispatcher)
        (tmp_path / "config.toml").write_text("[continuity]\nprompt_interval = 3\n")
        with dispatcher.own_engine() as engine:
            return before, engine.config(PROJECT).continuity.prompt_interval

    assert in_turn(tmp_path, beside) == [(10, 3)]
