"""One spooled hook event that cannot be taken in keeps no other one waiting, and leaves no text behind."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path
from typing import Final, TypeVar

import pytest

from holdfast.daemon.local import spool
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.engine.health.doctor import check_spool, count_anew
from holdfast.engine.liveness import spooled_hook_events
from holdfast.errors import StoreError
from tests.daemon.conftest import request
from tests.stores.sqlite_files import first_names

T = TypeVar("T")
HUGE = "9" * 23
DEEP = '{"session_id": "s1", "cwd": ' + "[" * 5_000 + "]" * 5_000 + "}"


def prompt(session: str, text: str = "go on", **fields: object) -> str:
    return json.dumps(
        {"session_id": session, "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": text, **fields}
    )


def with_dispatcher(home: Path, work: Callable[[Dispatcher], Awaitable[T]]) -> T:
    async def done() -> T:
        worker = Worker(asyncio.get_running_loop())
        dispatcher = Dispatcher(home, worker, asyncio.Event(), logging.getLogger("test"), "")
        await worker.do(Urgency.CONTROL, lambda: dispatcher.open(0))
        try:
            return await work(dispatcher)
        finally:
            await worker.do(Urgency.CONTROL, dispatcher.close)
            worker.stop()

    return asyncio.run(done())


async def sessions_after_draining(dispatcher: Dispatcher) -> set[str]:
    await dispatcher.drain()
    return {
        session.key
        for session in await dispatcher.do(Urgency.CONTROL, lambda: dispatcher.engine.store.sessions(99))
    }


def put(home: Path, name: str, content: bytes) -> Path:
    (home / "spool").mkdir(exist_ok=True)
    path = home / "spool" / f"{name}.event"
    path.write_bytes(content)
    return path


BAD = {
    "process of 23 digits": request(prompt("bad"), "x", process=f"{HUGE} 5"),
    "start of 23 digits": request(prompt("bad"), "x", process=f"5 {HUGE}"),
    "superscript pid": request(prompt("bad"), "x", process="² ²"),
    "superscript at": request(prompt("bad"), "x", at="²"),
    "at of 23 digits": request(prompt("bad"), "x", at=HUGE),
    "negative at": request(prompt("bad"), "x", at="-1"),
    "at that is no number": request(prompt("bad"), "x", at="NaN"),
    "no harness": request(prompt("bad"), "x", harness="nobody"),
    "id that is no text": request(prompt("bad"), "x").replace(b"id: x", b"id: \xff\xfe"),
    "previous that is no text": request(prompt("bad"), "x").replace(b"id: x", b"id: x\nprevious: \xff\xfe"),
    "environment that is no text": request(prompt("bad"), "x").replace(
        b"id: x", b"id: x\nenv.CLAUDE_PID: \xff"
    ),
    "length of 5,000 digits": request(prompt("bad"), "x").replace(b"length: ", b"length: " + b"0" * 5_000),
    "deep JSON": request(DEEP, "x"),
    "huge number": request(prompt("bad", model=10**400), "x"),
    "NaN": request('{"session_id": "bad", "cwd": "/", "prompt": NaN}', "x"),
    "lone surrogate": request('{"session_id": "b\\ud800", "cwd": "/\\ud800", "prompt": "\\udfff"}', "x"),
    "NUL in paths": request(prompt("bad", cwd="/\0x", transcript_path="/\0y"), "x"),
    "long paths": request(prompt("bad", cwd="/" + "x" * 9_000, transcript_path="/" + "y" * 9_000), "x"),
    "not a request": b"\x00 nothing of ours",
    "empty": b"",
}
WRONG: Final[tuple[object, ...]] = (None, True, -1, 1e308, [], {}, [[]], "x" * 70_000)


def test_what_a_hook_of_the_first_version_spooled_is_recorded(tmp_path: Path) -> None:
    path = put(tmp_path, "1-1", request(prompt("old"), "1-1").replace(b"hook-event", b"letter"))
    path = path.rename(path.with_suffix(".letter"))
    put(tmp_path, "2-1", request(prompt("new"), "2-1"))
    assert spool.waiting(tmp_path) == spooled_hook_events(tmp_path) == 2
    assert with_dispatcher(tmp_path, sessions_after_draining) == {"old", "new"}
    assert not path.exists()
    assert spool.waiting(tmp_path) == 0


def test_a_hook_event_that_the_first_version_recorded_and_spooled_counts_once(tmp_path: Path) -> None:
    """Its hook had given up waiting when the daemon recorded it; then the daemon was upgraded."""
    first_names(tmp_path / "store.db")
    fix = json.dumps(
        {"session_id": "s1", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "Fix it"}
    )
    path = put(tmp_path, "1-2", request(fix, "1-2").replace(b"hook-event", b"letter"))
    path.rename(path.with_suffix(".letter"))

    async def events_and_prompts(dispatcher: Dispatcher) -> tuple[int, int]:
        def counts() -> tuple[int, int]:
            session = dispatcher.engine.store.session("s1")
            return len(dispatcher.engine.store.events("s1", 99)), session.prompts_known if session else 0

        before = await dispatcher.do(Urgency.CONTROL, counts)
        assert await dispatcher.drain() == 1
        assert await dispatcher.do(Urgency.CONTROL, counts) == before
        return before

    assert with_dispatcher(tmp_path, events_and_prompts) == (3, 1)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_event_keeps_no_other_waiting(tmp_path: Path, bad: bytes) -> None:
    put(tmp_path, "1", bad)
    put(tmp_path, "2", request(prompt("good"), "y"))
    assert "good" in with_dispatcher(tmp_path, sessions_after_draining)
    assert spool.waiting(tmp_path) == 0


@pytest.mark.parametrize("harness", ["claude-code", "codex", "gemini", "opencode", "openclaw"])
def test_fields_of_the_wrong_type_keep_no_other_waiting(tmp_path: Path, harness: str) -> None:
    events = (
        "SessionStart",
        "UserPromptSubmit",
        "BeforeAgent",
        "PreCompact",
        "Stop",
        "SessionEnd",
        "Request",
    )
    names = ("session_id", "cwd", "prompt", "transcript_path", "source", "trigger", "model", "prompt_id")
    for number, (name, value) in enumerate(product(names, WRONG)):
        event = events[number % len(events)]
        fields = {"session_id": "bad", "cwd": "/", "prompt": "x", "hook_event_name": event, name: value}
        put(tmp_path, f"{number:05}", request(json.dumps(fields), f"i{number}", harness=harness))
    put(tmp_path, "99999", request(prompt("good"), "y"))
    assert "good" in with_dispatcher(tmp_path, sessions_after_draining)
    assert spool.waiting(tmp_path) == 0


def test_an_absurd_pid_costs_the_pid_and_not_the_event(tmp_path: Path) -> None:
    put(tmp_path, "1", request(prompt("s1"), "x", process=f"{HUGE} 5", at="²"))
    assert with_dispatcher(tmp_path, sessions_after_draining) == {"s1"}
    assert check_spool(tmp_path).ok


def test_what_is_rejected_is_reported_without_its_text(tmp_path: Path) -> None:
    raw = request(
        json.dumps({"session_id": "s1", "hunter2 is my password": 1, "prompt": "secret words"}), "x"
    )
    put(tmp_path, "7-1", raw.replace(b"claude-code", b"nobody"))
    with_dispatcher(tmp_path, sessions_after_draining)
    finding = check_spool(tmp_path)
    assert not finding.ok
    assert "1 unreadable" in finding.detail
    assert "no such harness" in finding.detail
    (report,) = (tmp_path / "spool" / "rejected").iterdir()
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert json.loads(report.read_text())["body_fields"] == ["session_id", "prompt"]
    assert "secret" not in report.read_text()
    assert "hunter" not in report.read_text()
    count_anew(tmp_path)
    assert check_spool(tmp_path).ok


def test_no_more_than_a_hundred_reports_are_kept(tmp_path: Path) -> None:
    for number in range(spool.REPORTS_KEPT + 20):
        put(tmp_path, f"{number:05}", b"nothing of ours")
    with_dispatcher(tmp_path, sessions_after_draining)
    assert len(list((tmp_path / "spool" / "rejected").iterdir())) == spool.REPORTS_KEPT
    assert f"{spool.REPORTS_KEPT + 20} unreadable" in check_spool(tmp_path).detail


def test_old_reports_go(tmp_path: Path) -> None:
    put(tmp_path, "1", b"nothing of ours")
    with_dispatcher(tmp_path, sessions_after_draining)
    (report,) = (tmp_path / "spool" / "rejected").iterdir()
    later = int(report.stat().st_mtime * 1000) + spool.REPORT_AGE_MS + 1
    spool.sweep(tmp_path, 0, later)
    assert not report.exists()


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(request(prompt("linked"), "x"))
    folder = tmp_path / "spool"
    folder.mkdir()
    os.mkfifo(folder / "1.event")
    (folder / "2.event").symlink_to(elsewhere)
    (folder / "3.event").mkdir()
    os.mkfifo(folder / "unreadable")
    put(tmp_path, "4", request(prompt("good"), "y"))
    assert with_dispatcher(tmp_path, sessions_after_draining) == {"good"}
    assert elsewhere.exists()
    assert spool.waiting(tmp_path) == 0
    assert "2 unreadable" in check_spool(tmp_path).detail


def test_what_the_store_refuses_again_and_again_is_rejected_once_others_get_through(tmp_path: Path) -> None:
    put(tmp_path, "1", request(prompt("refused"), "x"))

    async def drained(dispatcher: Dispatcher) -> int:
        store = dispatcher.engine.store
        real = store.put_session

        def refusing(session: object, redactor: str = "") -> None:
            if getattr(session, "key", "") == "refused":
                raise StoreError("the store refused")
            real(session, redactor)  # type: ignore[arg-type]

        store.put_session = refusing  # type: ignore[method-assign]
        for _ in range(5):
            with pytest.raises(StoreError):
                await dispatcher.drain()  # Nothing else waits: it may be the store's fault.
        for number in range(2):
            put(tmp_path, f"{number + 2}", request(prompt(f"s{number}"), f"y{number}"))
            with pytest.raises(StoreError):
                await dispatcher.drain()
        put(tmp_path, "9", request(prompt("good"), "z"))
        return await dispatcher.drain()

    assert with_dispatcher(tmp_path, drained) == 1
    assert spool.waiting(tmp_path) == 0
    assert not check_spool(tmp_path).ok
