"""What recall costs: a query among 1,000, 10,000 and 100,000 memories, remembering them, and the embedder.

Memories are remembered as `holdfast remember --jsonl` does it. A query is measured whole, as
`engine.memory.recall` answers it, and in its parts, in turn, beside a floor: looking for one word in the
texts of all memories, which are in memory already. The memories are made up, the same in every run, and like
each other at every size, so that sizes can be compared.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Final

from holdfast import harnesses
from holdfast.config import Config
from holdfast.core.events.world import Project
from holdfast.core.memory.ranking import NEIGHBOURS, POOL, SEEDS, Pool, query_words
from holdfast.engine.engine import Engine
from holdfast.engine.index import embed_missing, visible_from
from holdfast.engine.memory.recall import Query, recall
from holdfast.engine.memory.remember import MemoryRequest, remember_all
from holdfast.models import embedder
from holdfast.models.base import Embedder
from holdfast.stores.sqlite import open_store

SIZES: Final = (1_000, 10_000, 100_000)
PASSES: Final = 5
"""So often all questions are asked, one after the other."""
LOADS: Final = 5
LINES_AT_ONCE: Final = 500
PROJECT: Final = Project("", "", "benchmark", "", "")

# ---------------------------------------------------------------- what is remembered

PLAIN: Final = """the a we it and of to in is for that on with this when then after before because now never
always use run fix test build keep drop write read open close check find file line error branch""".split()
VERBS: Final = """parse fetch merge split render retry flush load store index encode decode filter route
resolve commit rotate prune queue cancel sign verify trace batch""".split()
NOUNS: Final = """hook token budget cursor session ledger window socket digest layout column record header
schema fixture release worker cache parser lexer reader writer invoice price cart order refund tenant
webhook migration timeout password avatar""".split()
NAMES: Final = [f"{verb}_{noun}" for verb in VERBS for noun in NOUNS]
WORDS: Final = [*PLAIN, *NOUNS, *VERBS, *NAMES]
SHARES: Final = list(accumulate(1 / (rank + 2) for rank in range(len(WORDS))))
"""A word is met as often as its place in the list says: the second half as often as the first (Zipf)."""

LOADING: Final = """
import json, os, time
def memory(): return int(os.popen(f"ps -o rss= -p {os.getpid()}").read()) / 1e3
before = memory()
began = time.perf_counter()
from holdfast.models import embedder
loaded = embedder()
load_ms = (time.perf_counter() - began) * 1e3
began = time.perf_counter()
loaded.embed(["Where does parse_hook fail?"])
first_ms = (time.perf_counter() - began) * 1e3
queries = [f"Where does parse_hook fail in run {number}?" for number in range(500)]
began = time.perf_counter()
for query in queries: loaded.embed([query])
query_ms = (time.perf_counter() - began) * 1e3 / len(queries)
print(json.dumps([load_ms, memory() - before, first_ms, query_ms]))
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a query at one size: percentiles in milliseconds, and the median over the floor's.

    In passing time, and in the processor's, which says the same on a machine that has other work to do.
    """

    memories: int
    part: str
    p50: float
    p95: float
    to_floor: float
    processor_p50: float
    processor_p95: float


@dataclass(frozen=True, slots=True)
class Loading:
    """The embedder in a process of its own, medians: milliseconds, and megabytes with what it needs."""

    load_ms: float
    megabytes: float
    first_query_ms: float
    query_ms: float


@dataclass(frozen=True, slots=True)
class Remembering:
    """How many memories a second were kept, how many a second got their vectors, and the store's size."""

    memories: int
    kept_a_second: float
    vectors_a_second: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Report:
    loading: Loading
    remembering: list[Remembering]
    parts: list[Part]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="how many queries are asked at each size")
    parser.add_argument("--quick", action="store_true", help="the smallest size alone, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    sizes = SIZES[:1] if options.quick else SIZES
    measurements = [measured(size, options.rounds) for size in sizes]
    report = Report(
        loading(), [one for one, _ in measurements], [part for _, parts in measurements for part in parts]
    )
    if options.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        show(report)


def measured(size: int, rounds: int) -> tuple[Remembering, list[Part]]:
    print(f"\r{size:,} memories", end="", file=sys.stderr, flush=True)
    texts, questions = list(islice(memories(), size)), islice(queries(), rounds)
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder, opened(Path(folder)) as engine:
        remembering = remembered(engine, texts, Path(folder, "store.db"))
        recall(engine, PROJECT, Query("what is read into memory is read before"))
        asked = [probes(engine, texts, question) for question in questions]
        passes = [[[timed(run) for run in runs] for runs in asked] for _ in range(PASSES)]
    # What else the machine does hits some of the passes: a question takes what it takes in the middle one.
    times = [[middle(cells) for cells in zip(*rows, strict=True)] for rows in zip(*passes, strict=True)]
    print("\r", end="\033[K", file=sys.stderr)
    floor = statistics.median(row[0].passed for row in times)
    columns = zip(*times, strict=True)
    return remembering, [part(size, name, column, floor) for name, column in zip(PARTS, columns, strict=True)]


def middle(cells: Sequence[Took]) -> Took:
    return Took(
        statistics.median(one.passed for one in cells), statistics.median(one.worked for one in cells)
    )


def part(size: int, name: str, times: Sequence[Took], floor: float) -> Part:
    passed, worked = sorted(one.passed for one in times), sorted(one.worked for one in times)
    middle = statistics.median(passed)
    return Part(
        size, name, middle, percentile(passed), middle / floor, statistics.median(worked), percentile(worked)
    )


@contextmanager
def opened(folder: Path) -> Generator[Engine]:
    """A desk over a new store, with everything that a command would have."""
    store, loaded = open_store(folder / "store.db", folder / "backups", 0), embedder()
    try:
        yield Engine(
            store=store,
            harness=harnesses.get,
            config=lambda _: Config(),
            user_home=folder,
            clock=lambda: time.time_ns() // 1_000_000,
            new_id=lambda: str(uuid.uuid4()),
            embedder=lambda: loaded,
        )
    finally:
        store.close()


def remembered(engine: Engine, texts: Sequence[str], path: Path) -> Remembering:
    def keep() -> None:
        for start in range(0, len(texts), LINES_AT_ONCE):
            wishes = [MemoryRequest(text) for text in texts[start : start + LINES_AT_ONCE]]
            remember_all(engine, PROJECT, wishes, source="cli")

    kept = len(texts) / seconds(keep)
    given = len(texts) / seconds(lambda: embed_missing(engine, loaded(engine), len(texts)))
    return Remembering(len(texts), kept, given, path.stat().st_size / 1e6)


PARTS: Final = ("floor: one word in every text", "keywords", "meaning", "word by word", "whole query")


def probes(engine: Engine, texts: Sequence[str], question: str) -> Sequence[Callable[[], object]]:
    words, where, model = query_words(question), visible_from(PROJECT), loaded(engine)

    def by_words() -> dict[str, float]:
        return {hit.id: hit.score for hit in engine.store.search(words, where, POOL)}

    def by_meaning() -> dict[str, float]:
        (vector,) = model.embed([question])
        return {hit.id: hit.score for hit in engine.store.nearest(vector, where, POOL)}

    seeds = Pool(by_words(), by_meaning()).seeds(SEEDS)
    near = [document.text for document in engine.store.around(seeds, len(NEIGHBOURS), where)]
    return (
        lambda: sum(words[0] in text for text in texts),
        by_words,
        by_meaning,
        lambda: model.nearness(words, near),
        lambda: recall(engine, PROJECT, Query(question, kinds=("memory",))),
    )


def loaded(engine: Engine) -> Embedder:
    model = engine.embedder()
    assert model is not None
    return model


@dataclass(frozen=True, slots=True)
class Took:
    """How many milliseconds passed, and how many of them the processor worked for it."""

    passed: float
    worked: float


def timed(run: Callable[[], object]) -> Took:
    began, worked = time.perf_counter(), time.process_time()
    run()
    return Took((time.perf_counter() - began) * 1000, (time.process_time() - worked) * 1000)


def seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def percentile(values: Sequence[float]) -> float:
    return values[min(len(values) - 1, int(len(values) * 0.95))]


def loading() -> Loading:
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", LOADING], check=True, capture_output=True).stdout)
        for _ in range(LOADS)
    ]
    return Loading(*(statistics.median(column) for column in zip(*runs, strict=True)))


def memories() -> Iterator[str]:
    """Memories without an end, no two alike."""
    draw, given = random.Random(1), set[str]()
    while True:
        text = said(draw, draw.randint(8, 40))
        if text not in given:
            given.add(text)
            yield text


def queries() -> Iterator[str]:
    """Questions without an end, each with at least one word worth looking for."""
    draw = random.Random(2)
    while True:
        yield f"where does {draw.choice(NAMES)} {said(draw, draw.randint(2, 8))}?"


def said(draw: random.Random, length: int) -> str:
    return " ".join(draw.choices(WORDS, cum_weights=SHARES, k=length))


def show(report: Report) -> None:
    print(f"{'memories':>9}  {'':30} {'p50 ms':>8} {'p95 ms':>8} {'x floor':>8} {'cpu p50':>8} {'p95':>8}")
    for one in report.parts:
        passed = f"{one.p50:8.2f} {one.p95:8.2f} {one.to_floor:8.1f}"
        print(f"{one.memories:9,}  {one.part:30} {passed} {one.processor_p50:8.2f} {one.processor_p95:8.2f}")
    loading = report.loading
    for run in report.remembering:
        print(
            f"\n{run.memories:,} memories: {run.kept_a_second:,.0f} a second are kept, "
            f"{run.vectors_a_second:,.0f} a second get their vectors; {run.megabytes:.0f} MB",
            end="",
        )
    print(f"\n\nthe embedder: loaded in {loading.load_ms:.0f} ms with {loading.megabytes:.1f} MB", end="; ")
    print(f"first query {loading.first_query_ms:.2f} ms, then {loading.query_ms:.3f} ms")


if __name__ == "__main__":
    main()
