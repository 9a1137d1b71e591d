"""Tuning on the command line: what a fitted table is worth, and the table itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.core.brief.weights import WEIGHTS
from holdfast.core.evaluation.survival import rarity
from holdfast.engine.evaluation.survival import Recording
from holdfast.engine.evaluation.tuning import Tuned, Worth, examples, fit_weights
from holdfast.errors import TranscriptUnreadable


def tune(recordings: Sequence[Recording], *, as_json: bool) -> None:
    """Fit the weights to these sessions and print them; the product's own table stays as it is."""
    cuts = list(examples(recordings))
    if not cuts:
        raise TranscriptUnreadable(
            "there is nothing to fit: no session has enough on both sides of a cut",
            "give more or longer transcripts",
        )
    say(f"fitting {len(WEIGHTS)} weights to about half of {len(cuts)} cuts; this takes minutes")
    result = fit_weights(cuts, rarity(one.mentions for one in recordings), say)
    if as_json:
        give_json(_as_json(result))
        return
    rows = [("fitted sessions", result.fitted), *([("held out", result.held_out)] if result.held_out else [])]
    give_table(
        ["", "", "survival", "old", "no names", "precision", "constraints", "form", "state", "in all"],
        [
            [title, when, *_figures(one)]
            for title, pair in rows
            for when, one in zip(("now", "fitted"), pair, strict=True)
        ],
    )
    give("\nThe fitted table, where it differs:")
    for name, value in result.weights.items():
        if round(value - WEIGHTS[name], 3):
            give(f"  {name}: {value:.2f} (now {WEIGHTS[name]:.2f})")


def _figures(worth: Worth) -> list[str]:
    measures = (*asdict(worth).values(), worth.total)
    return [f"{measure:.3f}" for measure in measures]


def _as_json(result: Tuned) -> dict[str, Any]:
    before, after = result.fitted
    held_out = result.held_out or (None, None)
    return {
        "weights": {name: round(value, 3) for name, value in result.weights.items()},
        "fitted": {"before": _worth_row(before), "after": _worth_row(after)},
        "held_out": {
            "before": _worth_row(held_out[0]),
            "after": _worth_row(held_out[1]),
        },
    }


def _worth_row(worth: Worth | None) -> dict[str, float] | None:
    return {**asdict(worth), "total": worth.total} if worth else None
