"""What a hook costs: its whole round trip in every state of the daemon, beside the floors it stands on.

All states are measured in turn in every round, so that whatever else the machine does hits them alike, and
what one compares is the ratio. The daemon is the real one, in homes of its own that are gone afterwards.
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
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from holdfast import hook

HARNESS = "claude-code"
CLIENTS = 4
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
    cold_start_ms: float


def measure(rounds: int) -> Report:
    with contextlib.ExitStack() as cleanup:
        place = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-")))
        probes: dict[str, Probe] = {
            "/bin/true": true_floor(),
            "python -I -S -c pass": python_floor(),
            "daemon up": daemon_up(cleanup, place / "up"),
            "status line": status_line(place / "up"),
            "daemon down": daemon_down(place / "down"),
            "daemon busy": daemon_busy(cleanup, place / "busy"),
            "daemon hung": daemon_hung(cleanup, place / "hung", "UserPromptSubmit"),
            "daemon hung, no answer needed": daemon_hung(cleanup, place / "hung-quiet", "Stop"),
        }
        times: dict[str, list[float]] = {state: [] for state in probes}
        for number in range(rounds):
            for state, probe in probes.items():
                if "hung" not in state or number % HUNG_EVERY == 0:
                    times[state].append(probe())
        memory = memory_of(daemon_pid(place / "up"))
        require_answered(place / "up")
        require_answered(place / "busy")
        return Report(rows(times), memory, cold_start(cleanup, place / "cold"))


def true_floor() -> Probe:
    program = shutil.which("true") or "/bin/true"
    return lambda: timed([program], b"", dict(os.environ))


def python_floor() -> Probe:
    return lambda: timed([BASE_PYTHON, "-I", "-S", "-c", "pass"], b"", dict(os.environ))


def daemon_up(cleanup: contextlib.ExitStack, home: Path) -> Probe:
    cleanup.enter_context(running_daemon(home))
    return hook_probe(home, "UserPromptSubmit")


def status_line(home: Path) -> Probe:
    """The same daemon, asked for the status line of the session that it knows."""
    words = shlex.split(hook.status_command(BASE_PYTHON, str(home / "bin" / "hook.py"), HARNESS))
    window = {"context_window_size": 200_000, "current_usage": {"input_tokens": 50_000}}
    body = json.dumps({"session_id": f"session-{home.name}", "cwd": str(home), "context_window": window})
    return lambda: timed(words, body.encode(), environment(home))


def daemon_down(home: Path) -> Probe:
    """No daemon and none to start: the letter goes to the spool."""
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
        time.sleep(0.05)  # until they queue at the door
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


def cold_start(cleanup: contextlib.ExitStack, home: Path) -> float:
    """From a hook that finds no daemon to the first answer of the one it started; the median."""
    with running_daemon(home):
        pass  # The first daemon of a home makes the store, and says which interpreter starts the next.
    cleanup.callback(holdfast, home, "down")
    ask = hook_probe(home, "SessionStart")
    samples: list[float] = []
    for _ in range(COLD_STARTS):
        samples.append(ask())
        require_answered(home)
        holdfast(home, "down")
    return statistics.median(samples)


def saturate(home: str) -> None:
    """Send one letter after the other, as a client of its own, until somebody ends us."""
    while True:
        header = hook.write_header(f"{time.time_ns()}-{os.getpid()}", HARNESS, (), "")
        body = letter("UserPromptSubmit", f"client-{os.getpid()}", Path(home))
        with contextlib.suppress(OSError, ValueError):
            hook.ask(home, header, body, time.monotonic() + 10)


def hook_probe(home: Path, event: str) -> Probe:
    """The installed command, without the shell, which the floors don't have either."""
    words = shlex.split(holdfast(home, "hook-command", HARNESS))
    body = letter(event, f"session-{home.name}", home)
    return lambda: timed(words, body, environment(home))


def timed(words: list[str], stdin: bytes, variables: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, input=stdin, env=variables, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1000


def letter(event: str, session: str, home: Path) -> bytes:
    fields = {"session_id": session, "hook_event_name": event, "cwd": str(home), "transcript_path": None}
    return json.dumps({**fields, "source": "startup", "prompt": "make the tests pass"}).encode()


@contextlib.contextmanager
def running_daemon(home: Path) -> Iterator[int]:
    make_home(home)
    holdfast(home, "up")
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
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    return {**kept, "HOLDFAST_HOME": str(home)}


def daemon_pid(home: Path) -> int:
    return int(json.loads(holdfast(home, "status", "--json"))["pid"])


def memory_of(pid: int) -> float:
    """Resident megabytes of a process and its children."""
    table = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,rss="], stdout=subprocess.PIPE, check=True, text=True
    )
    lines = [tuple(map(int, line.split())) for line in table.stdout.splitlines()]
    return sum(kilobytes for own, parent, kilobytes in lines if pid in (own, parent)) / 1024


def require_answered(home: Path) -> None:
    """A letter in the spool is a hook that gave up, and its time is not that of an answer."""
    left = len(list((home / "spool").glob("*.letter")))
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
    print(f"{'':30} {'n':>4} {'p50 ms':>8} {'p95 ms':>8} {'x true':>8} {'x python':>8}")
    for row in report.rows:
        times = f"{row.p50:8.1f} {row.p95:8.1f} {row.to_true:8.1f} {row.to_python:8.2f}"
        print(f"{row.state:30} {row.samples:4} {times}")
    print(f"\nmemory of the daemon   {report.memory_mb:8.1f} MB")
    print(f"cold start to answer   {report.cold_start_ms:8.1f} ms")


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
