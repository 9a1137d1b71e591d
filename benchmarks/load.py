"""What the daemon holds under load: events per second, how long they wait, memory, disk, time to a brief.

The hook's own functions carry the events, without its process, to the real daemon in homes of its own.
The floor is a server in another process that answers every event at once and keeps nothing: what the socket
and this very program cost. Compare ratios.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.hook import HARNESS, memory_of, running_daemon
from holdfast import hook
from holdfast.core.events.world import Project
from holdfast.core.redaction.redact import NO_LISTS
from holdfast.engine.redaction.redactor import mark_of
from holdfast.engine.repository.git import identity
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store
from tests.stores.contract import checkpoint, ended

PARTS: Final = ("held", "growth", "recovery")
SESSIONS: Final = 200
CLIENTS: Final = 8
ANSWER_S: Final = 30.0
SAMPLES: Final = 20
PER_SESSION: Final = 50
"""As many checkpoints as a session keeps."""
AT_ONCE: Final = 5_000
APART_MS: Final = 50
MARK: Final = mark_of(NO_LISTS)
BRIEFS: Final = 15
PROMPT: Final = "Make the parser of step {} faster, and never touch the lexer. "
FLOOR: Final = """
import socket, sys
server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1]); server.listen(128); print(flush=True)
while True:
    connection, _ = server.accept()
    while connection.recv(65536): pass
    connection.sendall(b"HOLDFAST/1 ok 0\\n"); connection.close()
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rates: tuple[int, ...]
    """Hook events per second that are offered; 0 is as many as are answered."""
    seconds: float
    events: int
    checkpoints: tuple[int, ...]


USUAL: Final = Plan((10, 25, 50, 100, 0), 5, 20_000, (1, 1_000, 10_000))
QUICK: Final = Plan((20, 0), 1, 200, (1, 100))
FULL: Final = Plan((50, 100, 200, 400, 0), 20, 1_000_000, (1, 10_000, 1_000_000))


@dataclass(frozen=True, slots=True)
class Held:
    """Hook events of 200 sessions at one rate: how many were answered per second, and their latency."""

    server: str
    offered: int
    answered: float
    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class Growth:
    """What many hook events without a pause leave: in memory, and in the store beside the bytes they said."""

    events: int
    rate: float
    processor_ms: float
    """Of the daemon, for each hook event: other programs weigh less on this than on the rate."""
    memory_mb: tuple[float, float]
    """Before, and after."""
    slope_kb: float
    """Of memory, for a thousand hook events, over the second half."""
    store_per_session_kb: float
    store_to_prompts: float


@dataclass(frozen=True, slots=True)
class Recovery:
    """Milliseconds to the brief of a new session, over a store with so many checkpoints."""

    checkpoints: int
    first: float
    p50: float
    to_one: float
    """As a multiple of the median over the smallest store."""
    store_mb: float


@dataclass(frozen=True, slots=True)
class Report:
    """What was asked for; of what was not, nothing."""

    held: list[Held]
    growth: Growth | None
    recovery: list[Recovery]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is named"
    )
    parser.add_argument("--events", type=int, help="how many hook events memory and store grow by")
    parser.add_argument("--full", action="store_true", help="a million events, a million checkpoints; hours")
    parser.add_argument("--quick", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    if strange := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(strange))}")
    plan = FULL if options.full else QUICK if options.quick else USUAL
    report = measured(replace(plan, events=options.events or plan.events), options.parts or PARTS)
    if options.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        show(report)


def measured(plan: Plan, parts: Collection[str]) -> Report:
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        place = Path(folder).resolve()
        held_at = held_rates(place, plan) if "held" in parts else []
        grown = None
        if "growth" in parts:
            with running_daemon(place / "grown") as pid:
                grown = growth(place / "grown", pid, plan.events)
        return Report(held_at, grown, recoveries(place, plan.checkpoints) if "recovery" in parts else [])


def tell(line: str) -> None:
    """How far it is: the whole takes hours."""
    print(line, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- hook events per second


def held_rates(place: Path, plan: Plan) -> list[Held]:
    """Every rate, with the floor beside the daemon."""
    found: list[Held] = []
    with floor(place / "floor") as bare, running_daemon(place / "up"):
        for rate in plan.rates:
            for name, home in (("floor", bare), ("daemon", place / "up")):
                found.append(held(name, home, rate, plan.seconds))
                tell(f"{name}, {rate or 'all'} a second: {found[-1].answered:.0f} answered")
    return found


def held(server: str, home: Path, rate: int, seconds: float) -> Held:
    """Clients side by side, each of which sends its share of the rate, and waits for each answer."""
    waits: list[float] = []
    until = time.perf_counter() + seconds
    clients = [
        threading.Thread(target=talk, args=(home, each, rate, until, waits)) for each in range(CLIENTS)
    ]
    began = time.perf_counter()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return Held(server, rate, len(waits) / (time.perf_counter() - began), *percentiles(waits))


def talk(home: Path, place: int, rate: int, until: float, waits: list[float]) -> None:
    """One client. A hook event that is due while another is not answered yet has waited since it was due."""
    due, number = time.perf_counter(), place
    while due < until:
        time.sleep(max(0.0, due - time.perf_counter()))
        deliver(home, number)
        waits.append((time.perf_counter() - due) * 1000)
        number += CLIENTS
        due = due + CLIENTS / rate if rate else time.perf_counter()


def deliver(home: Path, number: int) -> None:
    fields = {"hook_event_name": "UserPromptSubmit", "prompt": PROMPT.format(number)}
    ask(home, f"s-{number % SESSIONS}", fields)


def ask(home: Path, session: str, fields: dict[str, str]) -> bytes:
    """Carry a hook event as the hook does; what is answered, and an error where nothing is."""
    name = f"{time.time_ns()}-{threading.get_ident()}"
    header = hook.write_header(name, HARNESS, (), "")
    payload = json.dumps({"session_id": session, "cwd": str(project_of(home)), **fields}).encode()
    return hook.ask(str(home), header, payload, time.monotonic() + ANSWER_S)


def project_of(home: Path) -> Path:
    """Where the sessions of a home work: outside of it, as what is inside is never captured."""
    project = home.with_name(f"{home.name}-project")
    project.mkdir(exist_ok=True)
    return project


@contextlib.contextmanager
def floor(home: Path) -> Iterator[Path]:
    """A home whose listener answers at once, in a process of its own."""
    (home / "run").mkdir(parents=True)
    (home / "run" / "endpoint").write_text(f"unix {home}/d\n")
    with subprocess.Popen([sys.executable, "-c", FLOOR, f"{home}/d"], stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            yield home
        finally:
            server.kill()


def percentiles(waits: Sequence[float]) -> tuple[float, float]:
    """The median, and the value that 99 of 100 stay below."""
    ordered = sorted(waits)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


# ---------------------------------------------------------------- memory and disk


def growth(home: Path, pid: int, events: int) -> Growth:
    """Send hook events without a pause, and look at the daemon now and then."""
    before, sizes, used = memory_of(pid), [store_size(home)], processor_time(pid)
    seen: list[tuple[float, float]] = []
    step = max(1, events // SAMPLES)
    said = sum(len(PROMPT.format(number)) for number in range(events))
    began = time.perf_counter()
    for first in range(0, events, step):
        send_all(home, range(MANY + first, MANY + min(first + step, events)))
        seen.append((float(first + step), memory_of(pid) * 1024))
        tell(f"{first + step:,} events: {seen[-1][1] / 1024:.1f} MB, store {store_size(home) / 1e6:.1f} MB")
    rate = events / (time.perf_counter() - began)
    spent = (processor_time(pid) - used) * 1000 / events
    sizes.append(store_size(home))
    slope = statistics.linear_regression(*zip(*seen[len(seen) // 2 :], strict=True)).slope
    grown = sizes[1] - sizes[0]
    memory = (before, seen[-1][1] / 1024)
    return Growth(events, rate, spent, memory, slope * 1000, grown / SESSIONS / 1024, grown / said)


MANY: Final = 10_000_000
"""Numbers from here on are of hook events that nobody has sent before."""


def send_all(home: Path, numbers: Sequence[int]) -> None:
    """All of these hook events, from several clients at once."""

    def send(share: Sequence[int]) -> None:
        for number in share:
            deliver(home, number)

    clients = [threading.Thread(target=send, args=(numbers[each::CLIENTS],)) for each in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()


def processor_time(pid: int) -> float:
    """The seconds that a process has had the processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def store_size(home: Path) -> int:
    """Bytes of the store with its log."""
    return sum(file.stat().st_size for file in home.glob("store.db*"))


# ---------------------------------------------------------------- recovery


def recoveries(place: Path, counts: Sequence[int]) -> list[Recovery]:
    found: list[Recovery] = []
    for count in counts:
        home = place / f"r{count}"
        with running_daemon(home):
            ask(
                home,
                "past",
                {"hook_event_name": "UserPromptSubmit", "prompt": "Mend the parser of the shop."},
            )
            ask(home, "past", {"hook_event_name": "SessionEnd", "reason": "exit"})
            fill(home, count)
            tell(f"{count:,} checkpoints are there")
            waits = [brief(home, number) for number in range(BRIEFS)]
        p50 = statistics.median(waits[1:])
        base = found[0].p50 if found else p50
        found.append(Recovery(count, waits[0], p50, p50 / base, store_size(home) / 1e6))
    return found


def fill(home: Path, count: int) -> None:
    """So many checkpoints of ended sessions of the same project, one after the other until yesterday."""
    until = time.time_ns() // 1_000_000 - 24 * 3_600_000
    project = identity(str(project_of(home)))
    store = open_store(home / "store.db", home / "backups", until)
    with contextlib.closing(store):
        # As they come in life: not all in one transaction, nor in one millisecond, and redacted.
        for first in range(0, count, AT_ONCE):
            with store.writing():
                for number in range(first, min(first + AT_ONCE, count)):
                    put_checkpoint(store, project, number, until - (count - number) * APART_MS)


def put_checkpoint(store: Store, project: Project, number: int, at: int) -> None:
    key = f"old-{number // PER_SESSION}"
    if number % PER_SESSION == 0:
        store.put_session(ended(key, project=project, last_event_at=at, ended_at=at), MARK)
    taken = checkpoint(f"{key}-{number}", session=key, created_at=at, digest=PROMPT.format(number) * 20)
    store.add_checkpoint(replace(taken, project_id=project.project_id), MARK)


def brief(home: Path, number: int) -> float:
    """Milliseconds until a new session has its brief."""
    began = time.perf_counter()
    answer = ask(home, f"new-{number}", {"hook_event_name": "SessionStart", "source": "startup"})
    taken = (time.perf_counter() - began) * 1000
    if b"parser of the shop" not in answer:
        sys.exit(f"error: a session was given no brief; these figures would be wrong: {answer[:200]!r}")
    ask(home, f"new-{number}", {"hook_event_name": "SessionEnd", "reason": "exit"})
    return taken


def show(report: Report) -> None:
    if report.held:
        show_held(report.held)
    if report.growth:
        show_growth(report.growth)
    if report.recovery:
        show_recovery(report.recovery)


def show_held(rows: Sequence[Held]) -> None:
    title = "events per second, 200 sessions"
    print(f"{title:32} {'offered':>8} {'answered':>9} {'p50 ms':>8} {'p99 ms':>8}")
    for row in rows:
        offered = str(row.offered or "all")
        print(f"{row.server:32} {offered:>8} {row.answered:9.0f} {row.p50:8.1f} {row.p99:8.1f}")


def show_growth(grown: Growth) -> None:
    print(f"\n{grown.events:,} hook events without a pause: {grown.rate:.0f} per second, ", end="")
    print(f"{grown.processor_ms:.1f} ms of the processor each")
    print(f"memory: {grown.memory_mb[0]:.1f} MB before, {grown.memory_mb[1]:.1f} MB after, ", end="")
    print(f"{grown.slope_kb:+.1f} kB for each further thousand")
    print(f"store: {grown.store_per_session_kb:.1f} kB a session, ", end="")
    print(f"{grown.store_to_prompts:.1f} times the bytes of the prompts")


def show_recovery(rows: Sequence[Recovery]) -> None:
    print(f"\n{'time to a brief':32} {'first ms':>8} {'p50 ms':>8} {'x first row':>12} {'store MB':>9}")
    for one in rows:
        name = f"{one.checkpoints:,} checkpoints"
        print(f"{name:32} {one.first:8.1f} {one.p50:8.1f} {one.to_one:12.2f} {one.store_mb:9.1f}")


if __name__ == "__main__":
    main()
