"""With the daemon up, a letter arrives as it was and the answer is printed whole or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import hook
from tests.hook.fake_daemon import TOKEN, DoorKind, FakeDaemon, answer
from tests.hook.harness import BASE_PYTHON, ENVIRONMENT, NOTHING, SECRETS, Harness, payload

PROMPT = payload("UserPromptSubmit", prompt="née\n")


@pytest.mark.parametrize("kind", ["unix", "tcp"])
@pytest.mark.parametrize(
    "text",
    [b"", b"a brief\n", b"HOLDFAST/1 ok 3\n", bytes(range(256)) * 4000],
    ids=["empty", "short", "like a header", "a megabyte"],
)
def test_the_answer_is_printed_byte_for_byte(harness: Harness, kind: DoorKind, text: bytes) -> None:
    with FakeDaemon(harness.home, answer(text), kind):
        assert harness.fire(PROMPT) == (0, text, b"")
    assert harness.spool_names() == []


def test_a_daemon_of_the_first_version_is_found_where_it_says(harness: Harness) -> None:
    with FakeDaemon(harness.home, answer(b"a brief"), note_name="door") as daemon:
        assert harness.fire(PROMPT) == (0, b"a brief", b"")
        assert len(daemon.received) == 1
    assert harness.spool_names() == []


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"HOLDFAST/1 ok 9",
        b"HOLDFAST/1 ok 0",
        b"HOLDFAST/1 ok 9\nshort",
        b"HOLDFAST/1 ok 4\nlonger",
        b"HOLDFAST/1 ok -1\n",
        b"HOLDFAST/2 ok 4\ntext",
        b"HOLDFAST/1 no 4\ntext",
        b"HTTP/1.1 200 OK\n\ntext",
        b"4\ntext",
    ],
)
def test_an_answer_that_is_not_complete_prints_nothing_and_the_hook_event_is_kept(
    harness: Harness, reply: bytes
) -> None:
    with FakeDaemon(harness.home, reply):
        assert harness.fire(PROMPT) == NOTHING
    assert len(harness.spooled()) == 1


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop"])
def test_a_daemon_that_does_not_answer_is_given_up_and_the_hook_event_kept(
    harness: Harness, event: str
) -> None:
    with FakeDaemon(harness.home, None) as daemon:
        assert harness.fire(payload(event)) == NOTHING
        assert len(daemon.received) == 1
    assert harness.spooled_fields()["hook_event_name"] == event


@pytest.mark.parametrize(("kind", "proof"), [("unix", None), ("tcp", TOKEN)])
def test_the_hook_event_arrives_as_it_was_in_an_envelope(
    harness: Harness, kind: DoorKind, proof: str | None
) -> None:
    with FakeDaemon(harness.home, answer(b""), kind) as daemon:
        harness.fire(PROMPT)
    (received,) = daemon.received
    time_ns, pid = received.header["id"].split("-")
    assert received.first_line == "HOLDFAST/1 hook-event"
    assert received.payload == PROMPT
    assert received.header["harness"] == "alpha"
    assert received.header["length"] == str(len(PROMPT))
    assert received.header.get("token") == proof
    assert pid.isdecimal()
    assert 0 <= int(received.header["at"]) - int(time_ns) // 1_000_000 < 60_000


def test_of_the_environment_only_what_was_named_travels(harness: Harness) -> None:
    with FakeDaemon(harness.home, answer(b"")) as daemon:
        harness.fire(PROMPT)
    (received,) = daemon.received
    assert {key for key in received.header if key.startswith("env.")} == {"env.ALPHA_SESSION_ID"}
    assert not set(SECRETS.values()) & set(received.header.values())


def test_a_value_cannot_add_lines_to_the_header(harness: Harness) -> None:
    with FakeDaemon(harness.home, answer(b"")) as daemon:
        harness.fire(PROMPT, {"ALPHA_SESSION_ID": "a\nlength: 0\r\n\nb\x7fc\u00e9"})
    (received,) = daemon.received
    assert received.header["env.ALPHA_SESSION_ID"] == "a length: 0   b cé"
    assert received.payload == PROMPT


@pytest.mark.parametrize(("named", "expected"), [({}, None), ({"HOLDFAST_PREVIOUS_SESSION": "old"}, "old")])
def test_the_previous_session_is_named_if_somebody_knows_it(
    harness: Harness, named: dict[str, str], expected: str | None
) -> None:
    with FakeDaemon(harness.home, answer(b"")) as daemon:
        harness.fire(PROMPT, named)
    assert daemon.received[0].header.get("previous") == expected


def test_the_process_is_the_one_that_started_the_hook(harness: Harness) -> None:
    with FakeDaemon(harness.home, answer(b"")) as daemon, harness.start() as process:
        process.communicate(PROMPT)
    assert daemon.received[0].header["process"] == f"{os.getpid()} {hook.start_of(str(os.getpid()))}"


@pytest.mark.parametrize(("named", "is_taken"), [("1", True), ("", False), ("12x", False), ("../1", False)])
def test_a_harness_may_name_its_process_in_a_variable(
    harness: Harness, named: str, *, is_taken: bool
) -> None:
    with FakeDaemon(harness.home, answer(b"")) as daemon:
        harness.fire(PROMPT, {"ALPHA_PID": named})
    pid, start = daemon.received[0].header["process"].split()
    assert (pid == named) == is_taken
    assert int(start) == hook.start_of(pid) or not is_taken


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
def test_the_start_of_a_process_is_found_behind_any_name(tmp_path: Path) -> None:
    program = shutil.copy("/bin/cat", tmp_path / "a) 1 (b c")
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"x")
        process.stdin.flush()
        process.stdout.read(1)  # It runs under its own name now.
        text = Path(f"/proc/{process.pid}/stat").read_text()
        found = hook.start_of(str(process.pid))
        process.stdin.close()
    assert text.startswith(f"{process.pid} (a) 1 (b c) ")
    assert found == int(text.removeprefix(f"{process.pid} (a) 1 (b c) ").split()[19])


def test_a_process_that_is_gone_has_no_start() -> None:
    assert hook.start_of("4194305") == 0


@pytest.mark.parametrize("switch", ["HOLDFAST_DISABLE", "HOLDFAST_INTERNAL"])
def test_it_can_be_switched_off(harness: Harness, switch: str) -> None:
    with FakeDaemon(harness.home, answer(b"a brief")) as daemon:
        assert harness.fire(PROMPT, {switch: "1"}) == NOTHING
        assert daemon.received == []
        assert harness.fire(PROMPT, {switch: "0"}) == (0, b"a brief", b"")
    assert harness.fire(PROMPT, {switch: "1"}) == NOTHING
    assert harness.spool_names() == []


def test_it_can_be_run_by_another_program_in_its_own_process(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeDaemon(home, answer(b"a brief")) as daemon:
        assert hook.run(str(home), "alpha", (), ()) == 0
    assert capfd.readouterr() == ("a brief", "")
    assert len(daemon.received) == 1


def test_it_loads_four_modules_and_no_more(harness: Harness) -> None:
    path = harness.home / "bin/hook.py"
    tell = "print(*sorted(sys.modules), flush=True)"
    with FakeDaemon(harness.home, answer(b"")) as daemon:
        load = "sys.path.append(os.path.dirname(p)); __import__('hook').main(p)"
        loaded = _loaded(f"import os, sys; p = {str(path)!r}; os._exit = lambda _: {tell}; {load}")
        assert len(daemon.received) == 1
    assert loaded == sorted([*_loaded(f"import sys, os, _socket, time; {tell}"), "hook"])


def _loaded(code: str) -> list[str]:
    ran = subprocess.run(
        [BASE_PYTHON, "-I", "-S", "-c", code], input=PROMPT, capture_output=True, check=True, env=ENVIRONMENT
    )
    return ran.stdout.decode().split()


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_an_interrupted_hook_says_nothing(harness: Harness) -> None:
    # Whoever runs the tests may ignore the signal, and a child would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with FakeDaemon(harness.home, None) as daemon, harness.start() as process:
        signal.signal(signal.SIGINT, before)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(PROMPT)
        process.stdin.close()
        assert daemon.asked.wait(30)
        process.send_signal(signal.SIGINT)
        assert (process.wait(30), process.stdout.read(), process.stderr.read()) == NOTHING
