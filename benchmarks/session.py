"""What Holdfast costs a real session: the same 27 tool calls with the real Claude Code, with and without it.

Rounds are interleaved, and the result is a ratio of medians: this machine's noise falls on both sides alike.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.clients import install
from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, Step, call, say
from tests.clients.product import Product

TOOL_CALLS = 27
FLAGS = ("--allowedTools", "Bash,Read,Write,Edit")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each side is measured")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    binary = install.CLAUDE_CODE.install()
    without: list[Measured] = []
    with_it: list[Measured] = []
    for number in range(arguments.rounds):
        print(f"\rround {number + 1} of {arguments.rounds}", end="", file=sys.stderr, flush=True)
        without.append(measured(binary, with_holdfast=False))
        with_it.append(measured(binary, with_holdfast=True))
    print(file=sys.stderr)
    report(without, with_it, as_json=arguments.json)
    return 0


@dataclass(frozen=True, slots=True)
class Measured:
    """What one session took, and how large the daemon was at its end."""

    seconds: float
    daemon_mb: float


def measured(binary: Path, *, with_holdfast: bool) -> Measured:
    """One session of 27 tool calls."""
    with tempfile.TemporaryDirectory() as root, ModelServer() as server:
        claude = Claude(binary, Path(root), server)
        claude.make_repository()
        server.script(*steps(claude.project))
        with holdfast(claude) if with_holdfast else nothing():
            begin = time.perf_counter()
            done = claude.prompt("Do it.", *FLAGS)
            seconds = time.perf_counter() - begin
            memory = resident_mb(Product(claude).daemon())
        if done.text != "done":
            raise RuntimeError(f"the session did not end as scripted: {done.stdout}{done.stderr}")
        return Measured(seconds, memory)


def resident_mb(pid: int) -> float:
    """Memory of a process that is really in use; 0 where there is no such process."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if pid and status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def steps(project: Path) -> Iterator[Step]:
    for number in range(TOOL_CALLS // 3):
        path = str(project / f"file{number}.txt")
        yield call("Write", file_path=path, content=f"{number}\n")
        yield call("Read", file_path=path)
        yield call("Bash", command=f"cat file{number}.txt")
    yield say("done")


@contextmanager
def holdfast(claude: Claude) -> Iterator[None]:
    product = Product(claude)
    product.run("setup", "claude-code", "--yes")
    product.run("up")
    try:
        yield
    finally:
        product.end()


@contextmanager
def nothing() -> Iterator[None]:
    yield


def report(without: list[Measured], with_it: list[Measured], *, as_json: bool) -> None:
    floors, costs = [one.seconds for one in without], [one.seconds for one in with_it]
    floor, cost = statistics.median(floors), statistics.median(costs)
    memory = max(one.daemon_mb for one in with_it)
    found = {
        "tool_calls": TOOL_CALLS,
        "rounds": len(without),
        "without_s": round(floor, 3),
        "with_s": round(cost, 3),
        "ratio": round(cost / floor, 3),
        "daemon_mb": round(memory, 1),
    }
    if as_json:
        print(json.dumps(found))
        return
    print(f"a session of {TOOL_CALLS} tool calls with the real Claude Code, median of {len(without)} rounds")
    print(f"  without Holdfast  {floor:6.3f} s   (from {min(floors):.3f} to {max(floors):.3f})")
    print(f"  with Holdfast     {cost:6.3f} s   (from {min(costs):.3f} to {max(costs):.3f})")
    print(f"  ratio             {cost / floor:6.3f}")
    print(f"  daemon's memory   {memory:6.1f} MB, all that Holdfast runs beside the session")


if __name__ == "__main__":
    sys.exit(main())
