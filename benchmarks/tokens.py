"""What counting tokens costs: to load the ranks, and per megabyte, beside the cheapest way to look at a text.

The texts are made up and the same in every run: prose, code, the output of commands, and what is hard to cut
into words. Times are those of the processor.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from holdfast.models import counter

MB: Final = 1_000_000
WORDS: Final = "the window is full and nobody wrote down what was decided about retries in queue.py".split()


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of text: characters to a token, and tokens and megabytes in a second."""

    text: str
    characters_a_token: float
    tokens_a_second: float
    megabytes_a_second: float
    to_floor: float
    """How often the time to encode the text as UTF-8 goes into it."""


@dataclass(frozen=True, slots=True)
class Report:
    load_ms: float
    memory_mb: float
    rows: list[Row]


def measure(rounds: int, size: float) -> Report:
    before, began = memory(), time.process_time()
    count = counter()
    load = (time.process_time() - began) * 1_000
    samples: dict[str, list[Row]] = {}
    # A text of its own for every round: what was counted before is remembered, and counted in no time.
    for seed in range(rounds):
        for name, text in made_up(int(size * MB), seed).items():
            samples.setdefault(name, []).append(sample(name, text, count))
    return Report(load, memory() - before, [middle(each) for each in samples.values()])


def sample(name: str, text: str, count: Callable[[list[str]], int]) -> Row:
    began = time.process_time()
    found = count([text])
    seconds = time.process_time() - began
    floor = timed(text.encode)
    speed = len(text.encode()) / seconds / MB
    return Row(name, len(text) / found, found / seconds, speed, seconds / max(floor, 1e-9))


def middle(rows: list[Row]) -> Row:
    return sorted(rows, key=lambda each: each.tokens_a_second)[len(rows) // 2]


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def made_up(characters: int, seed: int) -> Mapping[str, str]:
    chance = random.Random(seed)

    def filled(piece: Callable[[], str]) -> str:
        parts: list[str] = []
        while sum(map(len, parts[-1_000:])) * max(len(parts) // 1_000, 1) < characters:
            parts += [piece() for _ in range(1_000)]
        return "".join(parts)[:characters]

    def line() -> str:
        return f"src/app/{chance.choice(WORDS)}.py:{chance.randrange(900)}: {chance.random():.6f} ok\n"

    return {
        "prose": filled(lambda: f"{chance.choice(WORDS)} "),
        "code": filled(
            lambda: f"    {chance.choice(WORDS)}_{chance.choice(WORDS)} = self.{chance.choice(WORDS)}()\n"
        ),
        "output": filled(line),
        "hexadecimal": filled(lambda: f"{chance.getrandbits(64):016x}"),
        "one letter": "a" * characters,
    }


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


def show(report: Report) -> None:
    print(f"{'':14} {'chars/token':>12} {'tokens/s':>12} {'MB/s':>8} {'x floor':>8}")
    for each in report.rows:
        speeds = f"{each.tokens_a_second:12,.0f} {each.megabytes_a_second:8.1f} {each.to_floor:8.0f}"
        print(f"{each.text:14} {each.characters_a_token:12.2f} {speeds}")
    print(f"\nloading {report.load_ms:.0f} ms, {report.memory_mb:.0f} MB with the texts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=float, default=1.0, help="megabytes of each text")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = measure(options.rounds, options.size)
    if options.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
