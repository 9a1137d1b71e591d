"""A hook that finds no daemon starts one, detached and without the harness's keys; it waits if it must."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast import hook
from tests.hook.fake_daemon import FakeDaemon
from tests.hook.harness import BASE_PYTHON, NOTHING, SECRETS, Harness, payload

# A daemon of a few lines: it tells the test how it was started and, if told to, opens a door for one letter.
DAEMON = """#!{python}
import json, os, socket, sys
umask = os.umask(0o077)
told = socket.socket(socket.AF_UNIX)
told.connect({told!r})
told.sendall(json.dumps(dict(
    words=sys.argv[1:], environment=dict(os.environ), folder=os.getcwd(), umask=umask,
    leads_session=os.getsid(0) == os.getpid(), open=[os.readlink(f"/proc/self/fd/{{n}}") for n in (0, 1, 2)],
)).encode())
told.close()
if {answers}:
    home = os.environ["HOLDFAST_HOME"]
    os.makedirs(f"{{home}}/run", exist_ok=True)
    door = socket.socket(socket.AF_UNIX)
    door.bind(f"{{home}}/run/s")
    door.listen()
    door.settimeout(30)
    with open(f"{{home}}/run/new", "w") as note:
        note.write(f"unix {{home}}/run/s")
    os.rename(f"{{home}}/run/new", f"{{home}}/run/endpoint")
    hook, _ = door.accept()
    while hook.recv(65536):
        pass
    hook.sendall(b"HOLDFAST/1 ok 7\\na brief")
"""


@dataclass(frozen=True, slots=True)
class Starts:
    """Where started daemons report, and the home whose daemon it is."""

    home: Path
    listener: socket.socket

    def install(self, *, answers: bool) -> None:
        program = self.home.parent / "daemon"
        told = str(self.home.parent / "told")
        program.write_text(DAEMON.format(python=BASE_PYTHON, told=told, answers=answers))
        program.chmod(0o700)
        (self.home / "bin/interpreter").write_text(f"{program}\n")

    def next_report(self) -> dict[str, object]:
        connection, _ = self.listener.accept()
        with connection, connection.makefile("rb") as report:
            fields: dict[str, object] = json.loads(report.read())
            return fields


@pytest.fixture
def starts(home: Path) -> Iterator[Starts]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.parent / "told"))
        listener.listen()
        listener.settimeout(30)
        yield Starts(home, listener)


def test_the_daemon_is_started_and_its_answer_printed(harness: Harness, starts: Starts) -> None:
    starts.install(answers=True)
    assert harness.fire(payload("SessionStart")) == (0, b"a brief", b"")
    assert harness.spool_names() == []


def test_nobody_waits_for_the_answer_to_a_quiet_event(harness: Harness, starts: Starts) -> None:
    starts.install(answers=True)
    assert harness.fire(payload("Stop")) == NOTHING
    assert len(harness.spooled()) == 1
    assert harness.fire(payload("SessionStart")) == (0, b"a brief", b"")  # It was there to be waited for.


def test_a_daemon_that_does_not_listen_is_given_up(harness: Harness, starts: Starts) -> None:
    starts.install(answers=False)
    assert harness.fire(payload("SessionStart")) == NOTHING
    assert len(harness.spooled()) == 1


def test_a_daemon_that_fails_at_once_is_not_waited_for(harness: Harness, starts: Starts) -> None:
    failing = starts.home.parent / "failing"
    failing.write_text("#!/bin/sh\nexit 1\n")
    failing.chmod(0o700)
    (starts.home / "bin/interpreter").write_text(f"{failing}\n")
    script = (
        f"from holdfast import hook\nhook.STARTING_TIME = 1e9\nhook.run({str(starts.home)!r}, 'a', (), ())"
    )
    # It would wait for more than thirty years.
    ran = subprocess.run(
        [sys.executable, "-c", script], input=payload("SessionStart"), timeout=60, check=True
    )
    assert ran.returncode == 0
    assert len(harness.spooled()) == 1


@pytest.mark.parametrize(("age", "starts_one"), [(0, False), (-3600, True), (3600, True)])
def test_a_daemon_that_refused_a_moment_ago_is_not_started_again(
    harness: Harness, starts: Starts, age: int, *, starts_one: bool
) -> None:
    starts.install(answers=True)
    refused = starts.home / hook.REFUSED
    refused.parent.mkdir(exist_ok=True)
    refused.write_text("the store was written by a later version\nupgrade\n")
    at = time.time() - age
    os.utime(refused, (at, at))
    assert harness.fire(payload("SessionStart")) == ((0, b"a brief", b"") if starts_one else NOTHING)
    assert len(harness.spooled()) == (0 if starts_one else 1)


def test_the_daemon_is_tied_to_nothing_of_the_harness(harness: Harness, starts: Starts) -> None:
    starts.install(answers=False)
    harness.fire(payload("Stop"), {"HOLDFAST_LOG": "debug", "LANG": "C.UTF-8", "SHELL": "/bin/sh"})
    report = starts.next_report()
    assert report["environment"] == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "HOLDFAST_LOG": "debug",
        "HOLDFAST_HOME": str(harness.home),
    }
    assert report["words"] == ["-P", "-m", "holdfast.daemon"]
    assert report["folder"] == "/"
    assert report["umask"] == 0o077
    assert report["leads_session"] is True
    assert report["open"] == [os.devnull] * 3


def test_no_key_of_the_harness_reaches_the_daemon(harness: Harness, starts: Starts) -> None:
    starts.install(answers=False)
    harness.fire(payload("Stop"))
    told = json.dumps(starts.next_report())
    assert str(harness.home) in told
    assert not [secret for secret in SECRETS.values() if secret in told]


def test_a_daemon_that_is_stuck_is_not_started_again(harness: Harness, starts: Starts) -> None:
    starts.install(answers=False)
    with FakeDaemon(harness.home, None):
        harness.fire(payload("Stop"), {"HOLDFAST_TEST": "stuck"})
    harness.fire(payload("Stop"), {"HOLDFAST_TEST": "gone"})
    environment = starts.next_report()["environment"]
    assert isinstance(environment, dict)
    assert environment["HOLDFAST_TEST"] == "gone"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full queue looks like a closed door")
def test_a_daemon_with_a_full_queue_of_connections_is_not_started_again(
    harness: Harness, starts: Starts
) -> None:
    starts.install(answers=False)
    (harness.home / "run").mkdir()
    door = harness.home / "run/endpoint"
    with contextlib.ExitStack() as queue:
        listener = queue.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(harness.home / "run/s"))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = queue.enter_context(socket.socket(socket.AF_UNIX))
                waiting.settimeout(0)
                waiting.connect(str(harness.home / "run/s"))
        door.write_text(f"unix {harness.home}/run/s\n")
        assert harness.fire(payload("Stop"), {"HOLDFAST_TEST": "full"}) == NOTHING
    assert len(harness.spooled()) == 1
    harness.fire(payload("Stop"), {"HOLDFAST_TEST": "gone"})
    environment = starts.next_report()["environment"]
    assert isinstance(environment, dict)
    assert environment["HOLDFAST_TEST"] == "gone"


@pytest.mark.parametrize("interpreter", [None, "", "/nonexistent/python\n", "/dev/null\n", "/\n"])
def test_without_an_interpreter_the_hook_event_is_kept_all_the_same(
    harness: Harness, interpreter: str | None
) -> None:
    if interpreter is not None:
        (harness.home / "bin/interpreter").write_text(interpreter)
    assert harness.fire(payload("SessionStart")) == NOTHING
    assert len(harness.spooled()) == 1
