"""What a session of one's own agent costs: appending to logs of any length, opening them, and making room.

What is measured is the library itself, with a real store; no model is asked but one that answers at once. The
floor beside it is what the same store takes for the bare rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from holdfast import embed
from holdfast.core.agent_log.records import Record, new_record
from holdfast.core.agent_log.summary import Material, Written
from holdfast.embed import Session, SessionStore
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_store
from tests.embed.loop import said

SIZES = (10, 10_000, 1_000_000)
QUICK = (10, 1_000)
WINDOW = 200_000
RECORDS_IN_A_WINDOW = 400
BATCH = 20_000
NOON = 1_767_268_800_000


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds: medians, and of an append the 95th percentile too."""

    size: int
    bulk: float
    """What one row took, in microseconds of the processor, where all of the past was written at once."""
    floor: float
    append: float
    append_p95: float
    open: float
    request: float
    megabytes: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50, help="how often each thing is measured")
    parser.add_argument("--quick", action="store_true", help="small logs alone, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    logs = [log_of(size, options.rounds) for size in (QUICK if options.quick else SIZES)]
    print(file=sys.stderr)
    report(logs, room(options.rounds), as_json=options.json)
    return 0


def log_of(size: int, rounds: int) -> Measured:
    """A log of that many records: what one more costs, what opening it does, and a request."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with closing(embed.open_store(home, project=home)) as store:
            bulk = filled(home, store, size)
            appends, requests = loop(store.load("k", window=WINDOW), rounds)
            opens = [timed(lambda: store.load("k", window=WINDOW)) for _ in range(rounds)]
        floor = bare(home, rounds)
        megabytes = sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) / 1e6
    p95 = statistics.quantiles(appends, n=20)[-1]
    middle = statistics.median
    return Measured(size, bulk, floor, middle(appends), p95, middle(opens), middle(requests), megabytes)


def filled(home: Path, store: SessionStore, size: int) -> float:
    """A session whose log has that many records, in windows as long as real ones; written in large pieces.

    How many microseconds of the processor a row of these took.
    """
    # The last window goes through the door, so that the session's state is what it would be.
    last = min(size, RECORDS_IN_A_WINDOW // 2)
    with closing(open_store(home / "store.db", home / "backups", NOON)) as bare_store:
        seed = store.load("k", window=WINDOW)
        seed.ask("Begin.")
        records, written, began = past(seed.records[-1].id, size - last), 0, time.process_time()
        while batch := list(islice(records, BATCH)):
            with bare_store.writing():
                written += bare_store.add_to_log("k", batch)
            print(f"\ra log of {size:,} records: {written:,}", end="\033[K", file=sys.stderr, flush=True)
        bulk = (time.process_time() - began) * 1e6 / written if written else 0.0
    session = store.load("k", window=WINDOW)
    for number in range(last // 2):
        session.ask(f"question {number}")
        session.answer(said(f"answer {number}", 20_000))
    return bulk


def past(parent: str, count: int) -> Iterator[Record]:
    """So many records that no model is told any more: each window ends in a compaction."""
    for number in range(count):
        id = f"{NOON + number}_{number:08x}"
        if number % RECORDS_IN_A_WINDOW == RECORDS_IN_A_WINDOW - 1 or number == count - 1:
            told: dict[str, object] = {"summary": "so far", "firstKeptEntryId": id, "tokensBefore": 190_000}
            record = new_record("compaction", id, parent, NOON + number, told)
        else:
            role = "user" if number % 2 else "assistant"
            message = {"role": role, "content": f"{role} says something of usual length: " + "word " * 40}
            record = new_record("message", id, parent, NOON + number, {"message": message})
        parent = record.id
        yield record


def loop(session: Session, rounds: int) -> tuple[list[float], list[float]]:
    """An agent's loop: what each append and each request took."""
    appends: list[float] = []
    requests: list[float] = []
    for number in range(rounds):
        appends.append(timed(lambda number=number: session.ask(f"question {number} " + "word " * 40)))  # type: ignore[misc]
        requests.append(timed(lambda: session.request("You are an agent.")))
        appends.append(timed(lambda number=number: session.answer(said(f"answer {number}", 20_000))))  # type: ignore[misc]
    return appends, requests


def bare(home: Path, rounds: int) -> float:
    """What the store takes for one row of the same log, with nothing that follows from it."""
    with closing(open_store(home / "store.db", home / "backups", NOON)) as store:
        rows = [
            new_record("custom", f"bare-{number}", "", NOON, {"data": "word " * 40})
            for number in range(rounds)
        ]
        return statistics.median(timed(lambda row=row: keep(store, row)) for row in rows)  # type: ignore[misc]


def keep(store: Store, row: Record) -> None:
    with store.writing():
        store.add_to_log("k", [row])


def room(rounds: int) -> dict[str, float]:
    """What making room in a full window takes: by a checkpoint, by a model that answers at once, by rule."""
    return {
        "checkpoint": compacted(rounds, None, checkpoints=True),
        "model": compacted(rounds, lambda _: Written("A summary of it.", "fake"), checkpoints=False),
        "rule": compacted(rounds, None, checkpoints=False),
    }


def compacted(rounds: int, summarize: Callable[[Material], Written] | None, *, checkpoints: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "config.toml").write_text(f"[checkpoint]\nenabled = {str(checkpoints).lower()}\n")
        with closing(embed.open_store(home, project=home, summarize=summarize)) as store:
            session = store.load("k", window=WINDOW)
            return statistics.median(full(session) for _ in range(max(3, rounds // 5)))


def full(session: Session) -> float:
    """Fill a window, and make room in it."""
    for number in range(RECORDS_IN_A_WINDOW // 2):
        session.ask(f"question {number} " + "word " * 40)
        session.answer(said(f"answer {number} " + "word " * 40, 1_000 + number * 900))
    return timed(session.compact)


def timed(act: Callable[[], object]) -> float:
    begin = time.perf_counter()
    act()
    return (time.perf_counter() - begin) * 1_000


def report(logs: list[Measured], made_room: dict[str, float], *, as_json: bool) -> None:
    if as_json:
        rows = [{name: getattr(one, name) for name in Measured.__slots__} for one in logs]
        print(json.dumps({"logs": rows, "room": made_room}, indent=2))
        return
    print("  records  µs/row   row   append (p95)      open  request       MB")
    for one in logs:
        print(
            f"{one.size:>9,} {one.bulk:7.0f} {one.floor:5.2f} {one.append:6.2f} ({one.append_p95:5.2f}) "
            f"{one.open:9.2f} {one.request:8.2f} {one.megabytes:8.1f}"
        )
    print("\nmaking room in a full window, in ms:")
    for name, took in made_room.items():
        print(f"  {name:<11} {took:7.2f}")


if __name__ == "__main__":
    sys.exit(main())
