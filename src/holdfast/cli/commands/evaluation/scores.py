"""Scores: how sessions went on from what was before them, one by one and as means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from holdfast.cli.printing import give_json, give_table, say
from holdfast.cli.views.evaluation import cell, flat
from holdfast.core.evaluation.scores import MEASURES, compare_by_start
from holdfast.core.session.score import SessionScore, Start


def give_scores(scores: Sequence[SessionScore]) -> None:
    """The scores as a table, and below the means of those that were given a brief and those that were not."""
    if not scores:
        say("no session can be scored yet: it takes one whose agent was seen at work, not merely imported")
        return
    give_table(
        ("session", "start", "brief items used", "rediscovered", "novel", "recalled and used"),
        [
            (
                score.session,
                score.start,
                _of(score.brief_items_used, score.brief_items),
                _of(score.rediscovered, score.needed + score.rediscovered),
                str(score.novel_context_count),
                _of(score.memories_used, score.memories_recalled),
            )
            for score in scores
        ],
    )
    means = compare_by_start(scores)
    give_table(
        ("mean", *(name.replace("_", " ") for name in MEASURES)),
        [(start, *map(cell, means[start].values())) for start in Start],
    )


def give_scores_as_json(scores: Sequence[SessionScore]) -> None:
    """The same as one document."""
    means = compare_by_start(scores)
    give_json(
        {
            "sessions": [asdict(score) for score in scores],
            "means": {start.value: flat(means[start]) for start in Start},
        }
    )


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"
