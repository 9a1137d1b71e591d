"""How much memory Holdfast takes beside a real session whose MCP server is connected: all of its processes.

A scripted session of the real Claude Code, in a fresh home. After each step the daemon, its children and the
relays are measured when they have come to rest. Hooks live for milliseconds: `hook.py` measures those.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from holdfast.engine.tools import table
from tests.clients import install
from tests.clients.claude import Claude, Stream
from tests.clients.model_server import ModelServer, Usage, call, say
from tests.clients.product import Product

TOOLS = ("--allowedTools", "mcp__holdfast__*")
REST_S = 3.0
"""The daemon reads, indexes and compiles for a moment after each step."""
GREETINGS = 100
NEARLY_HALF = 470_000
"""Tokens in a window of a million, less what the harness reserves; the first threshold is at half of it."""
LONG_PROMPT = "Go on with the report, and say what is left to do. " * 800
TARGET_MB = 70


@dataclass(frozen=True, slots=True)
class Memory:
    """One process, in megabytes: `pss` counts a page that several processes share in equal parts."""

    process: str
    pss: float
    rss: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All processes of Holdfast after one step of the session."""

    step: str
    processes: tuple[Memory, ...]

    @property
    def rss(self) -> float:
        return sum(one.rss for one in self.processes)

    @property
    def pss(self) -> float:
        return sum(one.pss for one in self.processes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    if not Path("/proc/self/smaps_rollup").exists():
        print("error: this system does not say what a process takes; it needs Linux", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as root, ModelServer() as server:
        claude = Claude(install.CLAUDE_CODE.install(), Path(root), server)
        claude.make_repository()
        product = Product(claude)
        product.run("setup", "claude-code", "--yes")
        try:
            measured = list(session(claude, server, product))
        finally:
            product.end()
    report(measured, as_json=arguments.json)
    return 0


def session(claude: Claude, server: ModelServer, product: Product) -> Iterator[Measured]:
    """One session of the real program, measured after each step."""
    with claude.start_stream(*TOOLS) as stream:
        steps: list[tuple[str, Callable[[], object]]] = [
            ("connected", lambda: connect(stream, server)),
            ("after a prompt", lambda: stream.ask("Fix the totals of report.py: round half up, never down.")),
            ("after a compaction and its brief", lambda: compact(stream)),
            ("after remember and recall", lambda: use_memory(stream, server)),
            ("after 20 more prompts", lambda: [stream.ask(f"Go on with part {n}.") for n in range(20)]),
            ("with a window that is nearly half full", lambda: approach_threshold(stream, server)),
            ("a minute and a half later", lambda: time.sleep(90.0)),
        ]
        for name, step in steps:
            step()
            time.sleep(REST_S)
            yield Measured(name, tuple(processes(product)))
        stream.close()


def connect(stream: Stream, server: ModelServer) -> None:
    """Say hello until the model was told of the tools: the harness does not wait for the MCP server."""
    for _ in range(GREETINGS):
        stream.ask("Hello.")
        if table.INSTRUCTIONS in server.last().text:
            return
    raise RuntimeError("the MCP server was never connected")


def compact(stream: Stream) -> None:
    stream.ask("/compact")
    stream.ask("Go on.")


def use_memory(stream: Stream, server: ModelServer) -> None:
    text = "Totals are rounded half up: the tax office rejects anything else."
    server.script(
        call("mcp__holdfast__remember", text=text),
        call("mcp__holdfast__recall", query="how are sums rounded?"),
        say("done"),
    )
    stream.ask("Remember it, then recall it.")
    if "tax office" not in server.last().text:
        raise RuntimeError("the tools were not used as scripted")


def approach_threshold(stream: Stream, server: ModelServer) -> None:
    """Send a prompt that may reach the first threshold, so that its tokens are counted."""
    server.script(say("ok", usage=Usage(input=NEARLY_HALF)), say("ok", usage=Usage(input=NEARLY_HALF)))
    stream.ask("Go on.")
    stream.ask(LONG_PROMPT)


def processes(product: Product) -> Iterator[Memory]:
    """The daemon of this home, its children, and the relays beside it."""
    daemon = product.daemon()
    yield memory_of(daemon, "daemon")
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            words = (folder / "cmdline").read_bytes().decode().split("\0")
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue  # It has just ended.
        if str(product.home / "bin" / "relay.py") in words and not words[0].endswith("sh"):
            yield memory_of(int(folder.name), "relay")
        elif int(parent) == daemon:
            yield memory_of(int(folder.name), "child of the daemon")


def memory_of(pid: int, name: str) -> Memory:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.endswith("kB")}
    return Memory(name, round(sizes["Pss"], 1), round(sizes["Rss"], 1))


def report(measured: list[Measured], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([{**asdict(one), "pss": one.pss, "rss": one.rss} for one in measured]))
        return
    print(f"{'':40}{'RSS MB':>8}{'PSS MB':>8}   each process (RSS)")
    for one in measured:
        each = ", ".join(f"{process.process} {process.rss:.1f}" for process in one.processes)
        print(f"{one.step:40}{one.rss:8.1f}{one.pss:8.1f}   {each}")
    print(f"target: {TARGET_MB} MB resident at every step")


if __name__ == "__main__":
    sys.exit(main())
