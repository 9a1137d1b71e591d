"""What comes over the wire: requests at the daemon, and at the hook payloads, endpoint and answers."""

from __future__ import annotations

import json
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from holdfast import hook
from holdfast.daemon.local import wire
from tests.fuzz.harness_targets import HOOK_EVENTS
from tests.fuzz.target import Target

REQUESTS = (
    b"HOLDFAST/1 hook-event\nid: 1-2\nharness: x\nat: 1800000000000\nprocess: 12 34\nlength: 2\n\n{}",
    wire.control("status", b"{}", "token"),
    wire.answer(b"the answer"),
    b"HOLDFAST/1 ok 3\nab",
    wire.GREETING,
)
NUMBERS = (b"3\n", b"-1", b"x", b"9" * 5_000)
ANSWER_S = 5.0


def targets() -> Iterator[Target]:
    """The wire's two sides, and every function of the hook that reads what others wrote."""
    yield Target("wire", REQUESTS, _wire)
    yield Target("hook-payloads", HOOK_EVENTS, _hook_event)
    yield Target("hook-counts", NUMBERS, _hook_count)
    yield Target("hook-answers", REQUESTS, _hook_answer)


def _wire(received: bytes) -> None:
    request = wire.parse(received)
    assert request is None or wire.opening(received) == request
    body = wire.answered(received)
    assert body is None or wire.answered(wire.answer(body)) == body


def _hook_event(payload: bytes) -> None:
    """Nothing but the allowed fields is spooled, and what is no hook event is refused as the hook expects."""
    assert isinstance(hook.event_name(payload), str)
    with suppress(ValueError, TypeError, RecursionError):
        kept = json.loads(hook.restrict(payload))
        assert kept.keys() <= hook.KEPT_FIELDS | hook.USERS_WORDS


def _hook_count(content: bytes) -> None:
    """A number that somebody spoiled begins again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dropped"
        path.write_bytes(content)
        hook.add_to(str(path), 1)
        assert path.read_bytes().endswith(b"\n")
        (Path(folder) / "spool").mkdir()
        hook.keep(folder, "1-2", hook.write_header("1-2", "x", (), "-"), content)
        assert len([*(Path(folder) / "spool").iterdir()]) == 1


def _hook_answer(said: bytes) -> None:
    """Whatever a daemon says, the hook takes what is a complete answer, and nothing else."""
    with tempfile.TemporaryDirectory(prefix="hf-") as home, socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{home}/d")
        door.listen()
        (Path(home) / "run").mkdir()
        (Path(home) / "run" / "endpoint").write_text(f"unix {home}/d\n")
        talker = threading.Thread(target=_say, args=(door, said))
        talker.start()
        answer = None
        with suppress(OSError, ValueError):
            answer = hook.ask(home, b"HOLDFAST/1 hook-event\n", b"{}", time.monotonic() + ANSWER_S)
        talker.join()
    assert answer is None or said.startswith(b"HOLDFAST/1 ok %d\n%b" % (len(answer), answer))


def _say(door: socket.socket, said: bytes) -> None:
    connection, _ = door.accept()
    with connection, suppress(OSError):
        while connection.recv(65536):
            pass
        connection.sendall(said)
