"""A review of candidates at a terminal: one list, what each would change, and one key for each."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import click

from holdfast.cli.printing import say
from holdfast.core.documents.promotion import Destination, PromotionCandidate, ReviewState, ReviewStep
from holdfast.core.text.strings import shortened
from holdfast.core.text.untrusted import printable
from holdfast.engine.documents import dream
from holdfast.engine.documents.continuity import ContinuityFiles
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError

SHOWN: Final = 90
QUIT: Final = "q"
SKIP: Final = "s"
KEYS: Final[Mapping[str, tuple[ReviewStep, ...]]] = {
    "a": (ReviewStep.APPROVE,),
    "p": (ReviewStep.APPROVE, ReviewStep.PROMOTE),
    "r": (ReviewStep.REJECT,),
    SKIP: (),
}
ASKED: Final = "[a]pprove  [p]romote at once  [r]eject  [s]kip  [q]uit "


def one_by_one(engine: Engine, here: ContinuityFiles) -> None:
    """Have a person decide on all that waits; what they decided before they quit stands."""
    inspection = dream.inspect(here)
    rows = inspection.snapshot.candidates if inspection.snapshot else ()
    for diagnostic in inspection.diagnostics:
        say(f"note: {diagnostic}")
    waiting = [candidate for candidate in rows if candidate.standing is ReviewState.PENDING]
    if not waiting:
        say("nothing waits for a decision")
    elif not sys.stdin.isatty():
        raise HoldfastError(
            "a review needs someone to answer", "`holdfast dream review ID --approve` decides on one"
        )
    else:
        _list(waiting)
        decisions = _decide(engine, here, waiting)
        _sum_up(decisions, left=len(waiting) - len(decisions))
    blocked = sum(candidate.standing is ReviewState.BLOCKED for candidate in rows)
    if blocked:
        say(f"{blocked} more of subagents wait to be adopted: `holdfast dream candidates --standing blocked`")


def _list(waiting: Sequence[PromotionCandidate]) -> None:
    say(f"{len(waiting)} to decide on:")
    for number, candidate in enumerate(waiting, 1):
        kind = "rule  " if candidate.lane is Destination.INSTRUCTION else "memory"
        say(f"  {number:>2}  {kind}  {printable(shortened(candidate.text, SHOWN))}")


def _decide(
    engine: Engine, here: ContinuityFiles, waiting: Sequence[PromotionCandidate]
) -> list[PromotionCandidate]:
    done: list[PromotionCandidate] = []
    for number, candidate in enumerate(waiting, 1):
        say(f"\n{number} of {len(waiting)}  {candidate.id}  from {candidate.source}")
        say(_change(here, candidate))
        key = _key()
        if key == QUIT:
            break
        after = candidate
        for step in KEYS[key]:
            after = dream.take(engine, here, candidate.id, step)
        if after is not candidate:
            done.append(after)
            say(_became(after))
    return done


def _key() -> str:
    """The key that was pressed, once it is one of those that mean something."""
    click.echo(ASKED, nl=False, err=True)
    while True:
        pressed = click.getchar().lower()
        # The end of the input, or an interrupt that the terminal does not turn into a signal.
        pressed = QUIT if pressed in ("", "\x03", "\x04") else pressed
        if pressed == QUIT or pressed in KEYS:
            say(pressed)
            return pressed


def _change(here: ContinuityFiles, candidate: PromotionCandidate) -> str:
    """What would be changed by it, as a diff."""
    if candidate.lane is Destination.INSTRUCTION:
        return printable(dream.prepared(here, candidate).patch.rstrip("\n"))
    return f"+ memory: {printable(candidate.text)}"


def _became(candidate: PromotionCandidate) -> str:
    match candidate.standing:
        case ReviewState.PROMOTED:
            return f"remembered as {candidate.became[:8]}"
        case ReviewState.WAITING:
            then = f"apply it by hand, then `holdfast dream verify-apply {candidate.id}`"
            return f"proposed for {candidate.became}; {then}"
        case _:
            return candidate.standing.value


def _sum_up(decisions: Iterable[PromotionCandidate], left: int) -> None:
    counts = Counter(candidate.standing.value for candidate in decisions)
    parts = [f"{count} {standing}" for standing, count in counts.items()]
    say(f"\n{', '.join([*parts, f'{left} left'])}")
    if counts[ReviewState.APPROVED]:
        say("next: `holdfast dream promote ID` for what is approved")
