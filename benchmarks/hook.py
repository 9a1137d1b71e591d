"""What a hook costs a user: its whole round trip at each event of a session, beside the floors it stands on.

The sessions have transcripts of 30 and of 3,000 records, payloads with the fields that Claude Code sends, and
an MCP server that is connected. A turn writes eight records: seven while the agent works, which the daemon
reads as they come, and the last one just before the hook. All states are measured in turn in every round,
so that whatever else the machine does hits them alike, and what one compares is the ratio. The daemon is the
real one, in homes of its own that are gone afterwards.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from uuid import uuid4

from benchmarks.ingest import lines
from holdfast import hook
from holdfast.daemon.local.client import ask

HARNESS = "claude-code"
CLIENTS = 4
LENGTHS = (30, 3_000)
RECORDS_A_TURN = 8
STEPS_APART = 12_000  # more than the steps of a session, so that no two of them say the same
READING_TIME = 0.25  # A turn takes seconds; in this time the daemon has read what its records say.
COMPACTED_EVERY = 5  # It takes a new session each time, which must be read first.
HUNG_EVERY = 10  # A hung daemon costs a second by design; it needs no hundred samples.
COLD_STARTS = 5
BASE_PYTHON: str = getattr(sys, "_base_executable", sys.executable)
Probe = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Row:
    """One state: median and 95th percentile in milliseconds, and the median as a multiple of both floors."""

    state: str
    samples: int
    p50: float
    p95: float
    to_true: float
    to_python: float


@dataclass(frozen=True, slots=True)
class Report:
    rows: list[Row]
    memory_mb: float


def measure(rounds: int) -> Report:
    with contextlib.ExitStack() as cleanup:
        place = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-")))
        cleanup.enter_context(running_daemon(place / "up"))
        sessions = {length: conversation(place / "up", length) for length in LENGTHS}
        probes: dict[str, Probe] = {
            "/bin/true": true_floor(),
            "python -I -S -c pass": python_floor(),
            **session_probes(cleanup, place / "up", sessions),
            "status line": status_line(place / "up"),
            "daemon down": daemon_down(place / "down"),
            "daemon busy": daemon_busy(cleanup, place / "busy"),
            "daemon hung": daemon_hung(cleanup, place / "hung", "UserPromptSubmit"),
            "daemon hung, no answer needed": daemon_hung(cleanup, place / "hung-quiet", "Stop"),
        }
        times: dict[str, list[float]] = {state: [] for state in probes}
        for number in range(rounds):
            for session in sessions.values():
                session.grow(RECORDS_A_TURN - 1)
            time.sleep(READING_TIME)
            for state, probe in probes.items():
                if number % every(state) == 0:
                    times[state].append(probe())
        memory = memory_of(daemon_pid(place / "up"))
        require_answered(place / "up")
        require_answered(place / "busy")
        for length in LENGTHS:
            times[f"start from nothing, {length:,} records"] = cold_starts(place / f"cold-{length}", length)
        return Report(rows(times), memory)


def every(state: str) -> int:
    """In which rounds a state is measured: in each of so many one."""
    if "hung" in state:
        return HUNG_EVERY
    return COMPACTED_EVERY if "compact" in state.lower() else 1


def true_floor() -> Probe:
    program = shutil.which("true") or "/bin/true"
    return lambda: timed([program], b"", dict(os.environ))


def python_floor() -> Probe:
    return lambda: timed([BASE_PYTHON, "-I", "-S", "-c", "pass"], b"", dict(os.environ))


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session of Claude Code from outside: a transcript that grows, and hooks that are called."""

    home: Path
    command: list[str]
    key: str
    transcript: Path
    records: Iterator[bytes]

    def grow(self, count: int) -> None:
        with self.transcript.open("ab") as file:
            file.writelines(islice(self.records, count))

    def call(self, event: str) -> float:
        return timed(self.command, self.payload(event), environment(self.home))

    def payload(self, event: str) -> bytes:
        more: dict[str, dict[str, object]] = {
            "UserPromptSubmit": {
                "permission_mode": "default",
                "prompt": "Now make the tests of the parser pass.",
            },
            "Stop": {
                "permission_mode": "default",
                "effort": {"level": "medium"},
                "stop_hook_active": False,
                "last_assistant_message": "The parser's tests pass; the cache is next.",
                "background_tasks": [],
                "session_crons": [],
            },
            "PreCompact": {"trigger": "auto", "custom_instructions": None},
            "SessionStart": {"source": "compact", "model": "model-x"},
        }
        about = {
            "session_id": self.key,
            "transcript_path": str(self.transcript),
            "cwd": str(project(self.home)),
        }
        return json.dumps(
            {**about, "prompt_id": str(uuid4()), "hook_event_name": event, **more[event]}
        ).encode()


def conversation(home: Path, length: int, first_step: int = 0) -> Conversation:
    """A session with a transcript of so many records, which the daemon has not seen yet."""
    key = str(uuid4())
    folder = user_home(home) / ".claude" / "projects" / "-proj"
    folder.mkdir(parents=True, exist_ok=True)
    command = shlex.split(holdfast(home, "hook-command", HARNESS))
    begun = Conversation(home, command, key, folder / f"{key}.jsonl", lines(HARNESS, first_step))
    begun.grow(length)
    return begun


def user_home(home: Path) -> Path:
    return home.with_name(f"{home.name}-user")


def project(home: Path) -> Path:
    return user_home(home) / "proj"


def session_probes(
    cleanup: contextlib.ExitStack, home: Path, sessions: Mapping[int, Conversation]
) -> dict[str, Probe]:
    """Each event of a short and of a long session, with its tools' server connected."""
    probes: dict[str, Probe] = {}
    for length, current in sessions.items():
        read_all(current)
        cleanup.enter_context(connected_tools(home))
        probes[f"prompt, {length:,} records"] = after_a_record(current, "UserPromptSubmit")
        probes[f"Stop, {length:,} records"] = after_a_record(current, "Stop")
        compacted = iter(compactions(home, length))
        probes[f"PreCompact, {length:,} records"] = partial(next, compacted)
        probes[f"SessionStart compact, {length:,} records"] = partial(next, compacted)
    return probes


def read_all(current: Conversation) -> None:
    """Let the daemon read what the session has so far; a long one takes longer than its hook waits."""
    current.call("UserPromptSubmit")
    ask(current.home, "flush", timeout=60)


def after_a_record(current: Conversation, event: str) -> Probe:
    def probe() -> float:
        current.grow(1)
        return current.call(event)

    return probe


def compactions(home: Path, length: int) -> Iterator[float]:
    """What the two hooks of a compaction take, one after the other, each time in a session of other texts."""
    for number in count(1):
        current = conversation(home, length, number * STEPS_APART)
        read_all(current)
        current.grow(1)
        yield current.call("PreCompact")
        yield current.call("SessionStart")


@contextlib.contextmanager
def connected_tools(home: Path) -> Iterator[None]:
    """The MCP server as a harness starts it, after its handshake and the list of its tools."""
    command = [sys.executable, "-m", "holdfast.cli", "mcp", "--harness", HARNESS]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, env=environment(home), cwd=project(home)
    ) as server:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        tell(
            server,
            {
                "id": 1,
                "method": "initialize",
                "params": {**hello, "clientInfo": {"name": "benchmark", "version": "1"}},
            },
        )
        answer(server)
        tell(server, {"method": "notifications/initialized"})
        tell(server, {"id": 2, "method": "tools/list"})
        answer(server)
        try:
            yield
        finally:
            server.communicate()


def tell(server: subprocess.Popen[bytes], message: dict[str, object]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def answer(server: subprocess.Popen[bytes]) -> None:
    assert server.stdout is not None
    if b'"result"' not in server.stdout.readline():
        sys.exit("error: the MCP server did not answer; these figures would be wrong")


def status_line(home: Path) -> Probe:
    """The same daemon, asked for the status line of the session that it knows."""
    words = shlex.split(hook.status_command(BASE_PYTHON, str(home / "bin" / "hook.py"), HARNESS))
    window = {"context_window_size": 200_000, "current_usage": {"input_tokens": 50_000}}
    body = json.dumps({"session_id": f"session-{home.name}", "cwd": str(home), "context_window": window})
    return lambda: timed(words, body.encode(), environment(home))


def daemon_down(home: Path) -> Probe:
    """No daemon and none to start: the hook event goes to the spool."""
    make_home(home)
    return hook_probe(home, "UserPromptSubmit")


def daemon_busy(cleanup: contextlib.ExitStack, home: Path) -> Probe:
    """Clients that never pause keep the daemon busy, but only while this state is measured."""
    cleanup.enter_context(running_daemon(home))
    clients = [
        cleanup.enter_context(paused([sys.executable, __file__, "--saturate", str(home)]))
        for _ in range(CLIENTS)
    ]
    ask = hook_probe(home, "UserPromptSubmit")

    def probe() -> float:
        for client in clients:
            client.send_signal(signal.SIGCONT)
        time.sleep(0.05)  # until they queue at the listener
        try:
            return ask()
        finally:
            for client in clients:
                client.send_signal(signal.SIGSTOP)

    return probe


def daemon_hung(cleanup: contextlib.ExitStack, home: Path, event: str) -> Probe:
    pid = cleanup.enter_context(running_daemon(home))
    os.kill(pid, signal.SIGSTOP)
    cleanup.callback(os.kill, pid, signal.SIGCONT)
    return hook_probe(home, event)


def cold_starts(home: Path, length: int) -> list[float]:
    """From a hook that finds no daemon to the first answer of the one it started, in a known session."""
    with running_daemon(home):
        current = conversation(home, length)
        read_all(current)
    samples: list[float] = []
    for _ in range(COLD_STARTS):
        current.grow(RECORDS_A_TURN)
        try:
            samples.append(current.call("UserPromptSubmit"))
            require_answered(home)
        finally:
            holdfast(home, "down")
    return samples


def saturate(home: str) -> None:
    """Send one hook event after the other, as a client of its own, until somebody ends us."""
    while True:
        header = hook.write_header(f"{time.time_ns()}-{os.getpid()}", HARNESS, (), "")
        body = hook_body("UserPromptSubmit", f"client-{os.getpid()}", Path(home))
        with contextlib.suppress(OSError, ValueError):
            hook.ask(home, header, body, time.monotonic() + 10)


def hook_probe(home: Path, event: str) -> Probe:
    """The installed command, without the shell, which the floors don't have either."""
    words = shlex.split(holdfast(home, "hook-command", HARNESS))
    body = hook_body(event, f"session-{home.name}", home)
    return lambda: timed(words, body, environment(home))


def timed(words: list[str], stdin: bytes, variables: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, input=stdin, env=variables, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1000


def hook_body(event: str, session: str, home: Path) -> bytes:
    fields = {"session_id": session, "hook_event_name": event, "cwd": str(home), "transcript_path": None}
    return json.dumps({**fields, "source": "startup", "prompt": "make the tests pass"}).encode()


@contextlib.contextmanager
def running_daemon(home: Path) -> Iterator[int]:
    make_home(home)
    try:
        yield daemon_pid(home)
    finally:
        holdfast(home, "down")


@contextlib.contextmanager
def paused(words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(words) as process:
        process.send_signal(signal.SIGSTOP)
        try:
            yield process
        finally:
            process.kill()


def make_home(home: Path) -> None:
    (home / "bin").mkdir(mode=0o700, parents=True)
    project(home).mkdir(parents=True)
    shutil.copyfile(hook.__file__, home / "bin" / "hook.py")


def holdfast(home: Path, *words: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "holdfast.cli", *words],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        text=True,
    )
    return ran.stdout


def environment(home: Path) -> dict[str, str]:
    # Python's own settings would measure something else than a user has: compiled files, above all.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST_", "PYTHON"))}
    return {**kept, "HOLDFAST_HOME": str(home), "HOME": str(user_home(home))}


def daemon_pid(home: Path) -> int:
    """The home's daemon, started if none runs."""
    return int(json.loads(holdfast(home, "up", "--json"))["pid"])


def memory_of(pid: int) -> float:
    """Resident megabytes of a process and its children."""
    table = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,rss="], stdout=subprocess.PIPE, check=True, text=True
    )
    lines = [tuple(map(int, line.split())) for line in table.stdout.splitlines()]
    return sum(kilobytes for own, parent, kilobytes in lines if pid in (own, parent)) / 1024


def require_answered(home: Path) -> None:
    """A hook event in the spool is a hook that gave up, and its time is not that of an answer."""
    left = len(list((home / "spool").glob("*.event")))
    if left:
        sys.exit(f"error: {left} hooks of {home.name} were not answered; these figures would be wrong")


def rows(times: dict[str, list[float]]) -> list[Row]:
    medians = {state: statistics.median(samples) for state, samples in times.items()}
    true, python = medians["/bin/true"], medians["python -I -S -c pass"]
    return [
        Row(state, len(samples), medians[state], p95(samples), medians[state] / true, medians[state] / python)
        for state, samples in times.items()
    ]


def p95(samples: list[float]) -> float:
    return sorted(samples)[int(len(samples) * 0.95)]


def show(report: Report) -> None:
    print(f"{'':36} {'n':>4} {'p50 ms':>8} {'p95 ms':>8} {'x true':>8} {'x python':>8}")
    for row in report.rows:
        times = f"{row.p50:8.1f} {row.p95:8.1f} {row.to_true:8.1f} {row.to_python:8.2f}"
        print(f"{row.state:36} {row.samples:4} {times}")
    print(f"\nmemory of the daemon   {report.memory_mb:8.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--saturate", metavar="HOME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.saturate:
        saturate(options.saturate)
    report = measure(options.rounds)
    if options.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
