"""What importing costs: megabytes of old transcripts a second, the memory it takes, how long hooks wait.

The history is made up: sessions of every harness, as `ingest.py` writes them; `--data` adds a folder of real
ones. Each import runs in a process of its own over a real store, so that its largest memory is its own, and
is measured beside the cheapest complete parse of the same files. In the end all of them run at once over one
store, while somebody else keeps writing to it, as the daemon does for a hook event.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Final

from benchmarks.ingest import DIALECTS, MB, lines, parse
from holdfast import harnesses
from holdfast.config import Config
from holdfast.engine.engine import Engine
from holdfast.engine.evaluation.survival import transcripts
from holdfast.engine.recording.importing import ImportChoice, side_by_side, survey, take_in
from holdfast.harnesses.base import Reader
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store

SESSION_MB: Final = 1.0
ROOM: Final = 1 << 40
PAUSE: Final = 0.02  # Between two writes of somebody else: a busy daemon gets some hook events per second.


@dataclass(frozen=True, slots=True)
class Import:
    """One import, in a process of its own."""

    harness: str
    megabytes: float
    sessions: int
    passages: int
    seconds: float
    processor_seconds: float
    """Its own and those of the processes that read for it."""
    peak_mb: float
    """Of the one that took most."""
    store_mb: float

    @property
    def speed(self) -> float:
        """Megabytes of transcript a second of the processor's time."""
        return self.megabytes / self.processor_seconds


@dataclass(frozen=True, slots=True)
class Waits:
    """Milliseconds that a small write took."""

    median: float
    p95: float
    longest: float


@dataclass(frozen=True, slots=True)
class Report:
    imports: list[Import]
    to_json: dict[str, float]
    """How often an import's time holds that of the cheapest parse."""
    growth: dict[str, float]
    """The speed over the longest history beside that over the shortest: 1 where time grows as size does."""
    alone: Waits
    beside: Waits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=[8, 32], help="megabytes of each history")
    parser.add_argument("--data", type=Path, metavar="DIR", help="real transcripts, below folders by harness")
    parser.add_argument("--quick", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--import", dest="work", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        harness, folder, store = options.work
        print(json.dumps(asdict(imported(harness, Path(folder), Path(store)))))
        return
    report = measured([0.5, 1] if options.quick else options.sizes, options.data)
    if options.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        show(report)


def measured(sizes: list[float], data: Path | None) -> Report:
    imports: list[Import] = []
    to_json: dict[str, float] = {}
    growth: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        for harness in DIALECTS:
            homes = [history(harness, size, Path(folder, f"{size:g}")) for size in sizes]
            own = [separately(harness, home) for home in homes]
            growth[harness] = own[-1].speed / own[0].speed
            to_json[harness] = parsed(homes[-1] / harness) / own[-1].speed
            imports += [*own, separately(harness, data)] if data is not None else own
        alone, beside = waits(Path(folder, f"{sizes[-1]:g}"))
    return Report(imports, to_json, growth, alone, beside)


def history(harness: str, size: float, home: Path) -> Path:
    """So many megabytes of sessions, all different, below a home."""
    folder, most = home / harness, min(size, SESSION_MB) * MB
    folder.mkdir(parents=True)
    for number in range(max(1, round(size / SESSION_MB))):
        with (folder / f"session-{number}.jsonl").open("wb") as file:
            if harness == "codex":
                about = {"id": f"thread-{number}", "cwd": "/home/you/proj"}
                file.write(json.dumps({"type": "session_meta", "payload": about}).encode() + b"\n")
            more = partial(_is_shorter, file.tell, most)
            file.writelines(takewhile(more, lines(harness, number * 100_000)))
    return home


def _is_shorter(tell: Callable[[], int], most: float, _: bytes) -> bool:
    return tell() < most


def parsed(folder: Path) -> float:
    """Megabytes a second of the cheapest complete parse."""
    paths = sorted(folder.iterdir())
    began = time.process_time()
    for path in paths:
        parse(path)
    return sum(path.stat().st_size for path in paths) / MB / (time.process_time() - began)


# ---------------------------------------------------------------- in processes of their own


def separately(harness: str, folder: Path) -> Import:
    with tempfile.TemporaryDirectory(prefix="holdfast-") as home:
        done = subprocess.run(
            command(harness, folder, Path(home, "store.db")), check=True, capture_output=True, text=True
        )
    return Import(**json.loads(done.stdout))


def command(harness: str, folder: Path, store: Path) -> list[str]:
    return [sys.executable, __file__, "--import", harness, str(folder), str(store)]


def imported(harness: str, folder: Path, path: Path) -> Import:
    store = opened(path)
    engine = Engine(
        store=store,
        harness=harnesses.get,
        config=lambda _: Config(),
        user_home=folder,
        clock=lambda: time.time_ns() // 1_000_000,
        new_id=lambda: str(uuid.uuid4()),
    )
    found = survey(engine, candidates(harnesses.reader(harness), folder), ImportChoice()).sessions
    began, began_processor = time.perf_counter(), processor_seconds()
    with side_by_side(os.cpu_count() or 1) as reading:
        taken = take_in(engine, found, ROOM, lambda _: None, reading)
    seconds, processor = time.perf_counter() - began, processor_seconds() - began_processor
    store.close()
    megabytes, kept = sum(one.size for one in found) / MB, path.stat().st_size / MB
    return Import(harness, megabytes, taken.sessions, taken.passages, seconds, processor, peak_mb(), kept)


def processor_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_mb() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(one.ru_maxrss for one in own) * unit / MB


def candidates(reader: Reader, folder: Path) -> Iterator[tuple[Reader, Path]]:
    return ((reader, one.path) for one in transcripts(folder) if one.harness.name == reader.name)


def opened(path: Path) -> Store:
    return open_store(path, path.parent / "backups", 0)


# ---------------------------------------------------------------- somebody else writes


def waits(home: Path) -> tuple[Waits, Waits]:
    """How long small writes take alone, and while all histories of a home are imported at once."""
    store = home / "shared.db"
    until = time.monotonic() + 1.0
    alone = written(store, lambda: time.monotonic() < until)
    imports = [
        subprocess.Popen(command(harness, home, store), stdout=subprocess.DEVNULL) for harness in DIALECTS
    ]
    return alone, written(store, lambda: any(one.poll() is None for one in imports))


def written(path: Path, goes_on: Callable[[], bool]) -> Waits:
    store, times = opened(path), list[float]()
    while goes_on():
        began = time.perf_counter()
        with store.writing():
            store.put_cursor("somebody", str(began))
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE)
    store.close()
    times.sort()
    return Waits(statistics.median(times), times[int(len(times) * 0.95)], times[-1])


def show(report: Report) -> None:
    head = f"{'MB':>7} {'sessions':>9} {'passages':>9} {'MB/s':>7} {'by clock':>9} {'peak MB':>8}"
    print(f"{'':12} {head} {'store MB':>9}")
    for one in report.imports:
        counts = f"{one.megabytes:7.1f} {one.sessions:9} {one.passages:9}"
        speeds = f"{one.speed:7.1f} {one.megabytes / one.seconds:9.1f}"
        print(f"{one.harness:12} {counts} {speeds} {one.peak_mb:8.0f} {one.store_mb:9.1f}")
    for harness in DIALECTS:
        print(f"{harness:12} {report.to_json[harness]:5.1f} x the parse, growth {report.growth[harness]:.2f}")
    for name, wait in (("alone", report.alone), ("beside imports", report.beside)):
        times = f"median {wait.median:6.2f} ms  p95 {wait.p95:6.2f}  most {wait.longest:6.2f}"
        print(f"a small write {name:15} {times}")


if __name__ == "__main__":
    main()
