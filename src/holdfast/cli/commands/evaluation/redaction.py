"""Evaluation of redaction on the command line: what gets through, what is eaten, how fast."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.engine.evaluation.redaction import (
    ALL,
    Changed,
    Family,
    RedactionResult,
    Share,
    clean_texts,
    labelled_secrets,
    made_clean,
    measure_redaction,
)
from holdfast.errors import TranscriptUnreadable

TITLES: Final[Mapping[str, str]] = {
    ALL: "all",
    Family.PROVIDER_KEYS: "keys of providers",
    Family.PRIVATE_KEYS: "private keys",
    Family.URLS: "passwords and tokens in URLs",
    Family.KEY_VALUES: "values behind names, in code, settings and commands",
    Family.PASSWORD_HASHES: "hashed passwords",
}


@command("holdfast eval redaction --data DIR", "holdfast eval redaction --data DIR --json")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Labelled secrets in a folder `secrets`, transcripts in folders named after their harness.",
)
@json_option("Print one JSON document with a number for every measure.")
def redaction(*, data: Path, as_json: bool) -> None:
    """Measure whether a secret gets through, and whether clean text is left alone.

    A labelled secret counts as gone if its value stands nowhere in what is left; once more with the prefixes
    and names of services changed, so that no rule knows them. Transcripts are taken to
    hold no secret; paths, commit ids, UUIDs, lock files and prose are made for the occasion.
    """
    with working("reading"):
        labels, transcripts = labelled_secrets(data), list(clean_texts(data))
    if not labels and not transcripts:
        raise TranscriptUnreadable(
            f"there are no labelled secrets and no transcripts below `{data}`",
            "labels stand in a folder `secrets`, transcripts in folders named after their harness",
        )
    with working("measuring"):
        report = measure_redaction(labels, transcripts, made_clean(), time.process_time)
    if as_json:
        give_json(_as_json(report))
        return
    _print(report)


def _as_json(report: RedactionResult) -> dict[str, Any]:
    return {
        "recall": _shares(report.recall),
        "recall_in_json": _shares(report.recall_in_json),
        "recall_of_unknown_services": _shares(report.recall_of_unknown),
        "halves": [_shares(half) for half in report.halves],
        "false_redactions_per_million": _rounded(report.clean, "redactions_per_million"),
        "changed_characters_per_million": _rounded(report.clean, "changed_per_million"),
        "characters": {name: changed.characters for name, changed in report.clean.items()},
        "megabytes_per_second": _round(report.megabytes_per_second),
    }


def _shares(shares: Mapping[str, Share]) -> dict[str, float | None]:
    """Each share under its family, with how many it is of beside it."""
    numbers: dict[str, float | None] = {}
    for name, share in shares.items():
        numbers[name] = _round(share.value, 4)
        numbers[f"{name}_n"] = share.n
    return numbers


def _rounded(clean: Mapping[str, Changed], measure: str) -> dict[str, float | None]:
    return {name: _round(getattr(changed, measure)) for name, changed in clean.items()}


def _round(number: float | None, digits: int = 2) -> float | None:
    return None if number is None else round(number, digits)


def _print(report: RedactionResult) -> None:
    titles = ("secrets", "n", "gone", "gone from JSON", "of unknown services", "one half", "the other")
    give_table(titles, _recall_rows(report))
    give("")
    per_million = ("false redactions per million", "characters changed per million")
    give_table(("clean text", "characters", *per_million), _clean_rows(report.clean))
    say(f"{_cell(report.megabytes_per_second, 1)} MB/s of processor time")


def _recall_rows(report: RedactionResult) -> Iterator[tuple[str, ...]]:
    for name, title in TITLES.items():
        shares = [of[name] for of in _recalls(report)]
        yield title, str(shares[0].n), *(_cell(share.value, 3) for share in shares)


def _recalls(report: RedactionResult) -> tuple[Mapping[str, Share], ...]:
    return report.recall, report.recall_in_json, report.recall_of_unknown, *report.halves


def _clean_rows(clean: Mapping[str, Changed]) -> Iterator[tuple[str, ...]]:
    for name, changed in clean.items():
        numbers = (_cell(changed.redactions_per_million, 1), _cell(changed.changed_per_million, 1))
        yield name.replace("_", " "), f"{changed.characters:,}", *numbers


def _cell(number: float | None, digits: int) -> str:
    return "–" if number is None else f"{number:.{digits}f}"
