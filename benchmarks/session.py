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
    binary = install.install()
    without: list[float] = []
    with_it: list[float] = []
    for number in range(arguments.rounds):
        print(f"\rround {number + 1} of {arguments.rounds}", end="", file=sys.stderr, flush=True)
        without.append(measured(binary, with_holdfast=False))
        with_it.append(measured(binary, with_holdfast=True))
    print(file=sys.stderr)
    report(without, with_it, as_json=arguments.json)
    return 0


def measured(binary: Path, *, with_holdfast: bool) -> float:
    """Seconds that one session of 27 tool calls takes."""
    with tempfile.TemporaryDirectory() as root, ModelServer() as server:
        claude = Claude(binary, Path(root), server)
        claude.make_repository()
        server.script(*steps(claude.project))
        with holdfast(claude) if with_holdfast else nothing():
            begin = time.perf_counter()
            done = claude.prompt("Do it.", *FLAGS)
            seconds = time.perf_counter() - begin
        if done.text != "done":
            raise RuntimeError(f"the session did not end as scripted: {done.stdout}{done.stderr}")
        return seconds


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


def report(without: list[float], with_it: list[float], *, as_json: bool) -> None:
    floor, cost = statistics.median(without), statistics.median(with_it)
    found = {
        "tool_calls": TOOL_CALLS,
        "rounds": len(without),
        "without_s": round(floor, 3),
        "with_s": round(cost, 3),
        "ratio": round(cost / floor, 3),
    }
    if as_json:
        print(json.dumps(found))
        return
    print(f"a session of {TOOL_CALLS} tool calls with the real Claude Code, median of {len(without)} rounds")
    print(f"  without Holdfast  {floor:6.3f} s   (from {min(without):.3f} to {max(without):.3f})")
    print(f"  with Holdfast     {cost:6.3f} s   (from {min(with_it):.3f} to {max(with_it):.3f})")
    print(f"  ratio             {cost / floor:6.3f}")


if __name__ == "__main__":
    sys.exit(main())
