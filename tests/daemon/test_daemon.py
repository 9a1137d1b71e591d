"""The daemon as a process: one for a home, there when it is needed, and gone without a trace."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import stat
import tempfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from holdfast.daemon.local import client, wire
from holdfast.errors import DaemonAway
from holdfast.stores.sqlite import open_store
from tests.daemon.conftest import LIMIT_S, Lodging, request, wait_until
from tests.harnesses import opencode_records as opencode


def prompt(text: str, session: str = "s1") -> str:
    return json.dumps(
        {"session_id": session, "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": text}
    )


def prompts_kept(lodging: Lodging, session: str = "s1") -> int:
    store = open_store(lodging.home / "store.db", lodging.home / "backups", 0)
    try:
        found = store.session(session)
        return found.prompts_known if found else 0
    finally:
        store.close()


def test_it_says_how_it_is(lodging: Lodging) -> None:
    daemon = lodging.start()
    status = lodging.ask("status")
    assert status["pid"] == daemon.pid
    assert status["spooled"] == 0


def test_there_is_one_for_a_home(lodging: Lodging) -> None:
    first = lodging.start()
    assert lodging.launch().wait(LIMIT_S) == 0
    assert lodging.ask("status")["pid"] == first.pid


def test_it_leaves_no_socket_and_no_note_behind(lodging: Lodging) -> None:
    daemon = lodging.start()
    lodging.ask("stop")
    assert daemon.wait(LIMIT_S) == 0
    assert sorted(path.name for path in (lodging.home / "run").iterdir()) == ["lock"]
    with pytest.raises(DaemonAway):
        lodging.ask("status")


def test_a_killed_one_is_in_nobodys_way(lodging: Lodging) -> None:
    first = lodging.start()
    first.kill()
    first.wait(LIMIT_S)
    second = lodging.start()
    assert lodging.ask("status")["pid"] == second.pid


def test_what_was_acknowledged_survives_a_kill(lodging: Lodging) -> None:
    daemon = lodging.start()
    for n in range(20):
        assert lodging.payload(prompt(f"step {n}"), f"id-{n}") == b""
    daemon.send_signal(signal.SIGKILL)
    daemon.wait(LIMIT_S)
    assert prompts_kept(lodging) == 20


def test_a_hook_event_that_comes_twice_counts_once(lodging: Lodging) -> None:
    lodging.start()
    lodging.payload(prompt("once"), "same")
    lodging.payload(prompt("once"), "same")
    assert prompts_kept(lodging) == 1


def test_it_takes_in_what_hooks_left_in_the_spool(lodging: Lodging) -> None:
    spool = lodging.home / "spool"
    spool.mkdir()
    for n in range(3):
        (spool / f"{n}.event").write_bytes(request(prompt(f"step {n}"), f"id-{n}"))
    (spool / "3.event").write_bytes(b"\x00 nothing of ours")
    lodging.start()
    wait_until(lambda: not list(spool.glob("*.event")))
    assert prompts_kept(lodging) == 3


def test_an_absurd_envelope_is_answered_and_keeps_no_other_waiting(lodging: Lodging) -> None:
    spool = lodging.home / "spool"
    spool.mkdir()
    (spool / "1.event").write_bytes(request(prompt("one"), "id-1", at="²", process=f"{'9' * 23} ²"))
    (spool / "2.event").write_bytes(request(prompt("two"), "id-2"))
    lodging.start()
    assert lodging.payload(prompt("three"), "id-3", process=f"{'9' * 23} 1") == b""
    wait_until(lambda: not list(spool.glob("*.event")))
    assert prompts_kept(lodging) == 3
    assert lodging.ask("status")["troubles"] == {}
    assert "failed" not in lodging.log()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00\xff" * 500,
        b"GET / HTTP/1.1\r\n\r\n",
        request("{}", "x")[:-1],
        request("[" * 100_000, "x"),
        request("{", "x", harness="nobody"),
        b"HOLDFAST/1 hook-event\nlength: 99999999999999999999\n\n",
        b"HOLDFAST/1 hook-event\nprocess: 1 x\nat: -\nlength: 2\n\n{}",
    ],
)
def test_nothing_that_is_sent_to_it_stops_it(lodging: Lodging, raw: bytes) -> None:
    daemon = lodging.start()
    lodging.send(raw)
    assert lodging.ask("status")["pid"] == daemon.pid
    assert daemon.poll() is None


def test_more_than_it_takes_is_refused(lodging: Lodging) -> None:
    lodging.start()
    assert lodging.send(b"HOLDFAST/1 hook-event\n" + b"x" * (18 * 1024 * 1024)) == b""
    assert lodging.ask("status")["spooled"] == 0


class TestListeners:
    def test_where_there_are_no_unix_sockets_it_listens_on_loopback_and_asks_for_a_token(
        self, lodging: Lodging
    ) -> None:
        lodging.start(HOLDFAST_ENDPOINT="tcp")
        assert (lodging.home / "run" / "endpoint").read_text().startswith("tcp ")
        token = (lodging.home / "run" / "token").read_text().strip()
        assert lodging.payload(prompt("hello"), "1") is None
        assert lodging.payload(prompt("hello"), "2", token="0" * len(token)) is None
        assert lodging.payload(prompt("hello"), "3", token=token) == b""
        assert prompts_kept(lodging) == 1

    def test_a_home_with_a_path_too_long_for_a_socket_gets_a_private_place(self, tmp_path: Path) -> None:
        deep = tmp_path / ("d" * 60) / ("e" * 60)
        deep.mkdir(parents=True)
        lodging = Lodging(deep)
        runtime = Path(tempfile.mkdtemp(prefix="hf-"))
        try:
            lodging.start(XDG_RUNTIME_DIR=str(runtime))
            (place,) = runtime.iterdir()
            assert stat.S_IMODE(place.stat().st_mode) == 0o700
            assert lodging.payload(prompt("hello"), "1") == b""
            lodging.ask("stop")
            wait_until(lambda: not client.is_up(lodging.home))
            wait_until(lambda: not list(runtime.iterdir()))
        finally:
            lodging.end()
            shutil.rmtree(runtime)

    def test_a_place_that_is_not_private_is_left_for_another(self, tmp_path: Path) -> None:
        deep = tmp_path / ("d" * 60) / ("e" * 60)
        deep.mkdir(parents=True)
        lodging = Lodging(deep)
        runtime = Path(tempfile.mkdtemp(prefix="hf-"))
        name = hashlib.sha256(os.fsencode(lodging.home)).hexdigest()[:12]
        foreign = runtime / f"holdfast-{os.getuid()}-{name}"
        foreign.mkdir()
        foreign.chmod(0o777)
        try:
            lodging.start(XDG_RUNTIME_DIR=str(runtime))
            assert lodging.payload(prompt("hello"), "1") == b""
            assert not list(foreign.iterdir())
            (place,) = set(runtime.iterdir()) - {foreign}
            assert stat.S_IMODE(place.stat().st_mode) == 0o700
            lodging.ask("stop")
            wait_until(lambda: set(runtime.iterdir()) == {foreign})
        finally:
            lodging.end()
            shutil.rmtree(runtime)

    def test_a_run_folder_that_others_may_enter_is_closed(self, lodging: Lodging) -> None:
        run = lodging.home / "run"
        run.mkdir()
        run.chmod(0o777)
        lodging.start()
        assert lodging.payload(prompt("hello"), "1") == b""
        assert stat.S_IMODE(run.stat().st_mode) == 0o700

    def test_connections_that_send_half_a_header_keep_no_hook_waiting(self, lodging: Lodging) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
        number = min(1_200, min(hard, 4_096) - 200)
        daemon = lodging.start(HOLDFAST_ENDPOINT="tcp")
        port = int((lodging.home / "run" / "endpoint").read_text().split()[1])
        token = (lodging.home / "run" / "token").read_text().strip()
        with contextlib.ExitStack() as opened:
            opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            for n in range(number):
                half = opened.enter_context(socket.create_connection(("127.0.0.1", port), LIMIT_S))
                half.sendall(b"HOLDFAST/1 hook-event\nid: ")
                if n % 300 == 299:
                    assert lodging.payload(prompt(f"step {n}"), f"id-{n}", token=token) == b""
            assert len(list(Path(f"/proc/{daemon.pid}/fd").iterdir())) < 400
        assert prompts_kept(lodging) == number // 300


def test_links_in_its_home_are_never_followed(lodging: Lodging) -> None:
    mine = lodging.root / "mine"
    mine.write_text("precious")
    for folder in ("run", "logs"):
        (lodging.home / folder).mkdir(mode=0o700)
    (lodging.home / "run" / "lock").symlink_to(mine)
    (lodging.home / "logs" / "daemon.log").symlink_to(mine)
    daemon = lodging.start()
    assert lodging.payload(prompt("hello"), "1") == b""
    assert mine.read_text() == "precious"
    assert "listening" in lodging.log()
    assert (lodging.home / "run" / "lock").read_text() == f"{daemon.pid}\n"


def test_pipes_in_its_home_keep_it_from_nothing(lodging: Lodging) -> None:
    for folder in ("run", "logs"):
        (lodging.home / folder).mkdir(mode=0o700)
    os.mkfifo(lodging.home / "run" / "lock")
    os.mkfifo(lodging.home / "logs" / "daemon.log")
    lodging.start()
    assert lodging.payload(prompt("hello"), "1") == b""
    assert "listening" in lodging.log()


def test_only_its_owner_can_read_what_it_writes(lodging: Lodging) -> None:
    lodging.start()
    lodging.payload(prompt("hello"), "1")
    for path in [lodging.home, *lodging.home.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_it_goes_when_its_home_is_gone(lodging: Lodging) -> None:
    daemon = lodging.start()
    lodging.payload(prompt("hello"), "1")

    def is_gone() -> bool:
        # The daemon may write there once more while it goes.
        shutil.rmtree(lodging.home, ignore_errors=True)
        return not lodging.home.exists()

    wait_until(is_gone)
    assert daemon.wait(LIMIT_S) == 0


def test_a_corrupt_store_is_set_aside_and_said_so(lodging: Lodging) -> None:
    broken = b"this is no database" * 500
    (lodging.home / "store.db").write_bytes(broken)
    lodging.start()
    assert lodging.payload(prompt("hello"), "1") == b""
    (aside,) = lodging.home.glob("store.corrupt-*.db")
    assert aside.read_bytes() == broken
    assert "set aside" in lodging.log()


def test_a_store_of_a_later_version_is_left_alone(lodging: Lodging) -> None:
    first = lodging.start()
    lodging.payload(prompt("hello"), "1")
    lodging.ask("stop")
    assert first.wait(LIMIT_S) == 0
    path = lodging.home / "store.db"
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 999)
    connection.close()
    before = path.read_bytes()
    daemon = lodging.launch()
    assert daemon.wait(LIMIT_S) == 1
    assert path.read_bytes() == before
    assert "later version" in lodging.log()


def test_the_log_holds_no_secret(lodging: Lodging) -> None:
    secret = "ghp_" + "Zz9y" * 9
    lodging.start()
    lodging.send(request("{", "x", harness=f"key {secret}"))
    wait_until(lambda: "no harness" in lodging.log())
    assert secret not in lodging.log()


def test_a_transcript_that_grows_is_followed_without_a_hook_event(lodging: Lodging) -> None:
    lodging.start()
    path = lodging.root / ".claude" / "projects" / "p" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    payload = {"session_id": "s1", "cwd": "/", "hook_event_name": "Stop", "transcript_path": str(path)}
    lodging.payload(json.dumps(payload), "1", process=f"{os.getpid()} 0")
    record = {
        "type": "user",
        "uuid": "u1",
        "timestamp": "2026-11-15T12:00:00.000Z",
        "message": {"role": "user", "content": "typed later"},
    }

    def grown() -> bool:
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        return prompts_kept(lodging) == 1

    wait_until(grown)


def test_a_hook_of_the_first_version_finds_the_daemon_and_is_recorded(lodging: Lodging) -> None:
    daemon = lodging.start()
    note = (lodging.home / "run" / "door").read_text()
    assert note == (lodging.home / "run" / "endpoint").read_text()
    body = prompt("typed")
    old_request = (
        f"HOLDFAST/1 letter\nid: 1\nharness: claude-code\nat: 1800000000000\nlength: {len(body)}\n\n{body}"
    )
    assert wire.answered(lodging.send(old_request.encode())) is not None
    assert prompts_kept(lodging) == 1
    daemon.terminate()
    daemon.wait()
    assert not (lodging.home / "run" / "door").exists()


def test_a_hook_event_is_answered_when_all_of_it_came_though_the_line_stays_open(lodging: Lodging) -> None:
    lodging.start()
    payload = request(json.dumps({"session_id": "s1", "cwd": "/", "hook_event_name": "Stop"}), "1")
    assert wire.answered(lodging.send(payload, hang_up=False)) == b""


def test_sessions_in_a_database_that_grows_are_followed_too(lodging: Lodging) -> None:
    lodging.start()
    folder = lodging.root / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    kept = opencode.Written(folder / "opencode.db")
    with closing(sqlite3.connect(kept.path)) as writer:
        # As the program itself does: what is written stands in a log beside the database.
        writer.execute("pragma journal_mode = wal")
        for session in ("s1", "s2"):
            kept.session(session)
            payload = {
                "session_id": session,
                "cwd": "/",
                "hook_event_name": "Stop",
                "transcript_path": f"{kept.path}/{session}",
            }
            sender = f"{os.getpid()} 0"
            lodging.payload(json.dumps(payload), session, harness="opencode", process=sender)
        for session in ("s1", "s2"):
            kept.message(session, *opencode.asked(opencode.text("typed later")))

        def grown() -> bool:
            writer.execute("update session set title = title || '.'")
            writer.commit()
            return {prompts_kept(lodging, session) for session in ("s1", "s2")} == {1}

        wait_until(grown)
