"""What recall costs: a query among 1,000, 10,000 and 100,000 memories, and loading the embedder.

A query is measured whole and in its parts, in turn, beside a floor: looking for one word in the texts of all
memories, which are in memory already. The memories are made up, the same in every run, and like each other at
every size, so that sizes can be compared.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, islice
from typing import Final

from holdfast.core.rank import POOL, SEEDS, Pool, query_words
from holdfast.engine.retrieval import FINDERS, OURS, Collection, Library, Turn, shelved
from holdfast.models import embedder

SIZES: Final = (1_000, 10_000, 100_000)
LOADS: Final = 5
LONGEST_SESSION: Final = 40

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
began = time.perf_counter()
import numpy
numpy_ms, before = (time.perf_counter() - began) * 1e3, memory()
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
print(json.dumps([numpy_ms, load_ms, memory() - before, first_ms, query_ms]))
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a query at one size: percentiles in milliseconds, and the median over the floor's."""

    memories: int
    part: str
    p50: float
    p95: float
    to_floor: float


@dataclass(frozen=True, slots=True)
class Loading:
    """The embedder in a process of its own, medians: milliseconds, and megabytes beside numpy's."""

    numpy_ms: float
    load_ms: float
    megabytes: float
    first_query_ms: float
    query_ms: float


@dataclass(frozen=True, slots=True)
class Report:
    loading: Loading
    parts: list[Part]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="how many queries are asked at each size")
    parser.add_argument("--quick", action="store_true", help="the smallest size alone, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    sizes = SIZES[:1] if options.quick else SIZES
    parts = [part for size in sizes for part in measured(size, options.rounds)]
    report = Report(loading(), parts)
    if options.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        show(report)


def measured(size: int, rounds: int) -> list[Part]:
    print(f"\r{size:,} memories", end="", file=sys.stderr, flush=True)
    collection = Collection(f"{size}", tuple(islice(turns(), size)), ())
    questions = islice(queries(), rounds)
    with shelved(collection, embedder()) as library:
        times = [[seconds(run) * 1000 for run in probes(library, question)] for question in questions]
    print("\r", end="\033[K", file=sys.stderr)
    columns = [sorted(column) for column in zip(*times, strict=True)]
    floor = statistics.median(columns[0])
    return [
        Part(size, name, statistics.median(column), percentile(column), statistics.median(column) / floor)
        for name, column in zip(PARTS, columns, strict=True)
    ]


PARTS: Final = ("floor: one word in every text", "keywords", "meaning", "word by word", "whole query")


def probes(library: Library, question: str) -> Sequence[Callable[[], object]]:
    words = query_words(question)
    pool = Pool(library.by_words(question, POOL), library.by_meaning(question, POOL))
    near = [turn.text for turn in library.around(pool.seeds(SEEDS))]
    return (
        lambda: sum(words[0] in turn.text for turn in library.turns.values()),
        lambda: library.by_words(question, POOL),
        lambda: library.by_meaning(question, POOL),
        lambda: library.embedder.nearness(words, near),
        lambda: FINDERS[OURS](library, question),
    )


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


def turns() -> Iterator[Turn]:
    """Memories without an end, in sessions of up to `LONGEST_SESSION`."""
    draw, number, session = random.Random(1), 0, 0
    while True:
        session += 1
        for place in range(draw.randint(1, LONGEST_SESSION)):
            number += 1
            yield Turn(f"m{number}", said(draw, draw.randint(8, 40)), f"s{session}", place, "")


def queries() -> Iterator[str]:
    """Questions without an end, each with at least one word worth looking for."""
    draw = random.Random(2)
    while True:
        yield f"where does {draw.choice(NAMES)} {said(draw, draw.randint(2, 8))}?"


def said(draw: random.Random, length: int) -> str:
    return " ".join(draw.choices(WORDS, cum_weights=SHARES, k=length))


def show(report: Report) -> None:
    print(f"{'memories':>9}  {'':30} {'p50 ms':>8} {'p95 ms':>8} {'x floor':>8}")
    for part in report.parts:
        print(f"{part.memories:9,}  {part.part:30} {part.p50:8.2f} {part.p95:8.2f} {part.to_floor:8.1f}")
    one = report.loading
    print(f"\nthe embedder: loaded in {one.load_ms:.0f} ms with {one.megabytes:.1f} MB", end="; ")
    print(f"numpy before it in {one.numpy_ms:.0f} ms", end="; ")
    print(f"first query {one.first_query_ms:.2f} ms, then {one.query_ms:.3f} ms")


if __name__ == "__main__":
    main()
