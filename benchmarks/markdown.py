"""What reading Markdown costs: our reader of blocks beside `markdown-it-py`, which is installed with rich.

The evidence reads every message of an agent, and whoever waits for a hook waits for that. The messages are
made up and the same in every run: prose in paragraphs, and reports with headings, lists, code and tables.
`--data` adds the messages of a folder of real transcripts. Times are those of the processor. The floor is to
split the same messages into lines.
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
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

from holdfast.core.events.event import AssistantText, Event
from holdfast.core.text.markdown import blocks
from holdfast.engine.evaluation.survival import Transcript, transcripts
from holdfast.engine.recording.transcripts import BATCH_BYTES

MB: Final = 1_000_000
WORDS: Final = "the window is full and nobody wrote down what was decided about retries in `queue.py`".split()
IMPORTS: Final = {"ours": "holdfast.core.text.markdown", "markdown-it-py": "markdown_it"}


@dataclass(frozen=True, slots=True)
class Speed:
    """One kind of message, in megabytes a second, and how often their time goes into ours."""

    messages: str
    megabytes: float
    floor: float
    ours: float
    theirs: float
    times_as_fast: float


@dataclass(frozen=True, slots=True)
class Report:
    speeds: list[Speed]
    import_ms: dict[str, float]
    """What importing each adds to the start of Python."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured")
    parser.add_argument("--size", type=float, default=1, help="megabytes of each kind of made-up message")
    parser.add_argument("--data", type=Path, metavar="DIR", help="real transcripts, below folders by harness")
    parser.add_argument("--quick", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rounds, size = (1, 0.05) if options.quick else (options.rounds, options.size)
    kinds = {"prose": made_up(prose, size), "reports": made_up(report, size)}
    if options.data:
        real = list(dict.fromkeys(messages_in(options.data)))
        kinds["real, one line"] = [text for text in real if "\n" not in text]
        kinds["real, more lines"] = [text for text in real if "\n" in text]
    speeds = [measured(name, texts, rounds) for name, texts in kinds.items() if texts]
    result = Report(speeds, {name: import_time(module, rounds) for name, module in IMPORTS.items()})
    if options.json:
        print(json.dumps(asdict(result), indent=2))
    else:
        show(result)


def measured(name: str, texts: Sequence[str], rounds: int) -> Speed:
    # Only blocks are compared: what is inside them is not read by ours, and left unread by theirs.
    theirs = MarkdownIt("commonmark").enable("table").disable("inline").parse
    runs = (str.splitlines, blocks, theirs)
    seconds = zip(*([timed(run, texts) for run in runs] for _ in range(rounds)), strict=True)
    megabytes = sum(len(text.encode(errors="replace")) for text in texts) / MB
    floor, ours, other = (megabytes / statistics.median(each) for each in seconds)
    return Speed(name, megabytes, floor, ours, other, ours / other)


def timed(read: Callable[[str], object], texts: Sequence[str]) -> float:
    began = time.process_time()
    for text in texts:
        read(text)
    return time.process_time() - began


def made_up(message: Callable[[random.Random], str], megabytes: float) -> list[str]:
    chance = random.Random(7)
    texts: list[str] = []
    characters = 0
    while characters < megabytes * MB:
        texts.append(message(chance))
        characters += len(texts[-1])
    return texts


def prose(chance: random.Random) -> str:
    return "\n\n".join(paragraph(chance) for _ in range(chance.randint(2, 5)))


def paragraph(chance: random.Random) -> str:
    return " ".join(f"{words(chance, 12).capitalize()}." for _ in range(chance.randint(1, 4)))


def report(chance: random.Random) -> str:
    return "\n\n".join(section(chance) for _ in range(chance.randint(2, 4)))


def section(chance: random.Random) -> str:
    items = [f"{'  ' * chance.randint(0, 1)}- **{words(chance, 2)}**: {words(chance, 9)}" for _ in range(5)]
    steps = [f"{number}. {words(chance, 8)}" for number in range(1, 4)]
    code = ["```py", *(f"    {words(chance, 5)}" for _ in range(4)), "```"]
    table = ["| file | what |", "|---|---|", *(f"| `a.py` | {words(chance, 4)} |" for _ in range(3))]
    parts = [[f"## {words(chance, 3)}"], [paragraph(chance)], items, code, steps, table]
    return "\n\n".join("\n".join(part) for part in parts)


def words(chance: random.Random, number: int) -> str:
    return " ".join(chance.choices(WORDS, k=number))


def messages_in(data: Path) -> Iterator[str]:
    for one in transcripts(data):
        for event in events_of(one):
            if isinstance(event, AssistantText):
                yield event.text


def events_of(one: Transcript) -> Iterator[Event]:
    """What the transcript tells, batch by batch as the daemon reads it."""
    cursor, done = "", False
    while not done:
        batch = one.harness.read_transcript(one.path, one.path.stem, cursor, BATCH_BYTES)
        done = batch.done or batch.cursor == cursor
        cursor = batch.cursor
        yield from batch.events


def import_time(module: str, rounds: int) -> float:
    """Milliseconds of processor time in a new process."""
    program = f"import time; began = time.process_time(); import {module}; print(time.process_time() - began)"
    command = [sys.executable, "-c", program]
    runs = (subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(rounds))
    return statistics.median(float(run.stdout) for run in runs) * 1_000


def show(result: Report) -> None:
    print(f"{'MB/s':18} {'MB':>6} {'lines':>8} {'ours':>8} {'markdown-it-py':>15} {'ratio':>6}")
    for row in result.speeds:
        print(
            f"{row.messages:18} {row.megabytes:6.2f} {row.floor:8.0f} {row.ours:8.1f} {row.theirs:15.1f}"
            f" {row.times_as_fast:6.1f}"
        )
    for name, milliseconds in result.import_ms.items():
        print(f"import {name:15} {milliseconds:6.1f} ms")


if __name__ == "__main__":
    main()
