"""The dispatcher's jobs: the settings that each sees, and how often a hook event that waits is received."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from holdfast.core.events.world import Project
from holdfast.daemon.local import wire
from holdfast.daemon.work import dispatcher as dispatcher_module
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.stores.sqlite import open_store
from tests.engine.attic import Attic
from tests.harnesses.claude_code_records import Json, assistant, text, user

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


def test_imported_work_is_derived_step_by_step_while_nobody_needs_the_daemon(tmp_path: Path) -> None:
    attic = Attic(tmp_path / "user", open_store(tmp_path / "store.db", tmp_path / "backups", 0))
    attic.keeps("old", ("Rename it", "Done."), said="2026-03-01T09:00:00.000Z")
    attic.keeps("new", ("Why is it slow?", "The index is missing."))
    attic.imported()
    attic.store.close()

    async def derived() -> tuple[list[bool], list[str]]:
        worker = Worker(asyncio.get_running_loop())
        dispatcher = Dispatcher(tmp_path, worker, asyncio.Event(), logging.getLogger("test"), "")
        await worker.do(Urgency.CONTROL, lambda: dispatcher.open(0))
        busy = await dispatcher.derive_import()
        dispatcher.last_used_at -= dispatcher_module.QUIET_TIME
        steps = [busy]
        while await dispatcher.derive_import():
            steps.append(True)
        waiting = await worker.do(Urgency.CONTROL, lambda: dispatcher.engine.store.waiting_imports(9))
        await worker.do(Urgency.CONTROL, dispatcher.close)
        worker.stop()
        return steps, waiting

    assert asyncio.run(derived()) == ([False, True, True], [])


class WaitingStop:
    """A nearly full session of Claude Code whose agent stops before the transcript shows its last count."""

    def __init__(self, root: Path) -> None:
        self.transcript = root / ".claude" / "projects" / "p" / "s1.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.add(answer("a1", 160_000), user("go on"))

    def add(self, *records: Json) -> None:
        with self.transcript.open("a") as file:
            file.writelines(json.dumps(each) + "\n" for each in records)

    def request(self) -> wire.Request:
        payload = {
            "session_id": "s1",
            "cwd": "/",
            "hook_event_name": "Stop",
            "transcript_path": str(self.transcript),
        }
        # However slow this machine is, the hook event is not too old to be answered.
        at = int(time.time() * 1000) + 60_000
        fields = {"id": "1", "harness": "claude-code", "at": str(at)}
        return wire.Request("hook-event", fields, json.dumps(payload).encode())

    def answered(self, home: Path, meanwhile: Callable[[], None]) -> tuple[bytes, int]:
        """The answer, and how many jobs the worker did for it; `meanwhile` is called after the first."""

        async def done() -> tuple[bytes, int]:
            worker = Worker(asyncio.get_running_loop())
            dispatcher = Dispatcher(home, worker, asyncio.Event(), logging.getLogger("test"), "")
            await worker.do(Urgency.CONTROL, lambda: dispatcher.open(0))
            before = worker.begun
            answering = asyncio.create_task(dispatcher.answer(self.request()))
            await asyncio.sleep(0)  # The request's job is queued before the next one.
            await worker.do(Urgency.HOOK_EVENT, meanwhile)
            answer, jobs = await answering, worker.begun - before - 1
            await worker.do(Urgency.CONTROL, dispatcher.close)
            worker.stop()
            return answer, jobs

        return asyncio.run(done())


def answer(id: str, tokens: int) -> Json:
    usage = {"input_tokens": tokens, "output_tokens": 1}
    return assistant(text("Done."), uuid=id, request=id, usage=usage)


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WaitingStop:
    monkeypatch.setenv("HOME", str(tmp_path))
    return WaitingStop(tmp_path)


def test_a_hook_event_that_waits_for_its_transcript_is_received_once(
    waiting: WaitingStop, tmp_path: Path
) -> None:
    assert waiting.answered(tmp_path / "home", lambda: None) == (b"", 1)


def test_it_is_answered_when_the_transcript_shows_what_it_waits_for(
    waiting: WaitingStop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher_module, "SETTLING_TIME", 30.0)
    reply, jobs = waiting.answered(tmp_path / "home", lambda: waiting.add(answer("a2", 185_000)))
    assert "90%" in str(json.loads(reply)), reply
    assert jobs == 2
