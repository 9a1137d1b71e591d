"""Tuning: fits the weights by which a brief's items are selected to sessions.

A search along one weight at a time, with a fixed order and fixed steps, so that the same sessions give the
same table. Half of the sessions are fitted, the other half only measured, to show overfitting. Nothing is
written; a person decides whether to adopt the table.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from holdfast.core.brief.compose import Brief, BriefInput, Reason, compose
from holdfast.core.brief.weights import SENTENCES, THINGS, WEIGHTS, Weights
from holdfast.core.evaluation.facts import form_of
from holdfast.core.evaluation.survival import CutKind, Need, Rarity, cuts, mean, need, score
from holdfast.core.session.session import Session
from holdfast.engine.evaluation.survival import BUDGET, Recording, session_after
from holdfast.lazy_dataclass import dataclass

STEPS = (0.6, 0.3)
"""How far a weight is moved in each round over all weights."""
COST_SHARE = 0.15
"""Exponents of lengths are moved by less."""
BETTER = 0.0002
"""A smaller gain does not count: it would not carry over to other sessions."""
PRECISION_WANTED, CONSTRAINTS_WANTED = 0.36, 0.8


@dataclass(frozen=True, slots=True)
class Example:
    """One cut of a session: the state before it, and the facts needed after it."""

    name: str
    session: Session
    need: Need


@dataclass(frozen=True, slots=True)
class Worth:
    """The quality of a table's briefs, each measure as a mean over the examples."""

    survival: float
    survival_old: float
    survival_without_names: float
    precision: float
    constraints: float
    form: float
    state: float
    """The share of briefs that say what was done last and what comes next, if that is known."""

    @property
    def total(self) -> float:
        """One number: what agents need weighs most, but not at the expense of readability."""
        return (
            0.8 * self.survival
            + 0.5 * self.survival_without_names
            + 0.4 * self.survival_old
            + 0.5 * min(self.constraints, CONSTRAINTS_WANTED)
            + 0.24 * self.state
            - 3 * max(0.0, PRECISION_WANTED - self.precision)
            - (1 - self.form)
        )


@dataclass(frozen=True, slots=True)
class Tuned:
    """A fitted table, and its quality before and after, on fitted and on other sessions."""

    weights: Weights
    fitted: tuple[Worth, Worth]
    held_out: tuple[Worth, Worth] | None


def examples(recordings: Iterable[Recording]) -> Iterator[Example]:
    """The virtual cuts of the sessions, at which no summary influenced what the agent did next."""
    for recording in recordings:
        for cut in cuts(recording.events):
            needs = need(recording.events, recording.mentions, cut) if cut.kind is CutKind.VIRTUAL else None
            harness = recording.transcript.harness.name
            session = session_after(recording.before(cut), harness, recording.cwd) if needs else None
            if needs and session:
                yield Example(recording.transcript.path.name, session, needs)


def fit_weights(
    cuts: Sequence[Example], rarity: Rarity, report: Callable[[str], None], start: Weights = WEIGHTS
) -> Tuned:
    """Fit a table to half of the sessions, starting from another; `report` is called with each gain."""
    fitting = [one for one in cuts if _is_fitted(one.name)] or list(cuts)
    held_out = [one for one in cuts if one not in fitting]
    weights = start
    before = best = worth(fitting, rarity, weights)
    for step in STEPS:
        for names, by in _moves(step):
            moved = _moved(weights, names, by)
            after = worth(fitting, rarity, moved)
            if after.total > best.total + BETTER:
                weights, best = moved, after
                report(f"survival {best.survival:.3f}, in all {best.total:.4f}")
    held_out_worth = (worth(held_out, rarity, start), worth(held_out, rarity, weights)) if held_out else None
    return Tuned(weights, (before, best), held_out_worth)


def _is_fitted(name: str) -> bool:
    """Whether a session is fitted, by its name, so that all its cuts are on the same side."""
    return zlib.crc32(name.encode("utf-8", "surrogateescape")) % 2 == 0


def _moves(step: float) -> Iterator[tuple[frozenset[str], float]]:
    """All sentence weights together, all other weights together, then each alone; each up and down."""
    for names in (frozenset(SENTENCES), frozenset(THINGS), *(frozenset({name}) for name in WEIGHTS)):
        size = step * COST_SHARE if "cost" in names else step
        yield from ((names, size), (names, -size))


def _moved(weights: Weights, names: frozenset[str], by: float) -> Weights:
    return {name: value + by if name in names else value for name, value in weights.items()}


def worth(examples_measured: Iterable[Example], rarity: Rarity, weights: Weights) -> Worth:
    """The quality of these examples' briefs with that table."""
    briefs = [
        (one, compose(BriefInput(Reason.COMPACT, one.session, one.session.last_event_at), BUDGET, weights))
        for one in examples_measured
    ]
    scores = [score(brief.text, one.need, rarity) for one, brief in briefs]
    return Worth(
        survival=mean(each.survival for each in scores).value or 0.0,
        survival_old=mean(each.survival_old for each in scores).value or 0.0,
        survival_without_names=mean(each.survival_without_names for each in scores).value or 0.0,
        precision=mean(each.precision for each in scores).value or 0.0,
        constraints=mean(each.constraints for each in scores).value or 0.0,
        form=mean(float(form_of(brief.text).is_readable) for _, brief in briefs).value or 0.0,
        state=mean(_state(brief) for _, brief in briefs).value or 0.0,
    )


_STATE = (
    ("last_failure", "failed_command"),
    ("latest_file",),
    ("last_said", "next", "statement", "todo", "decision"),
)


def _state(brief: Brief) -> float | None:
    """How much of the last state the brief has: a failure, a changed file, a status sentence."""
    present = [kinds for kinds in _STATE if any(item.kind in kinds for item in brief.items)]
    rendered = [any(item.kind in kinds and item.rendered for item in brief.items) for kinds in present]
    return sum(rendered) / len(rendered) if rendered else None
