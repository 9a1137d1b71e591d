"""A review of candidates at a terminal: one list, what each would change, and one key for each."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import click

from holdfast.cli.printing import say
from holdfast.core.documents.promotion import Candidate, Destination, ReviewState, Step
from holdfast.core.text.defang import printable
from holdfast.core.text.strings import shortened
from holdfast.engine.documents import dream
from holdfast.engine.documents.continuity import ContinuityFiles
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError

SHOWN: Final = 90
QUIT: Final = "q"
SKIP: Final = "s"
KEYS: Final[Mapping[str, tuple[Step, ...]]] = {
    "a": (Step.APPROVE,),
    "p": (Step.APPROVE, Step.PROMOTE),
    "r": (Step.REJECT,),
    SKIP: (),
}
ASKED: Final = "[a]pprove  [p]romote at once  [r]eject  [s]kip  [q]uit "


def one_by_one(engine: Engine, here: ContinuityFiles) -> None:
    """Have a person decide on all that waits; what they decided before they quit stands."""
    found = dream.inspect(here)
    rows = found.snapshot.candidates if found.snapshot else ()
    for diagnostic in found.diagnostics:
        say(f"note: {diagnostic}")
    waiting = [one for one in rows if one.standing is ReviewState.PENDING]
    if not waiting:
        say("nothing waits for a decision")
    elif not sys.stdin.isatty():
        raise HoldfastError(
            "a review needs someone to answer", "`holdfast dream review ID --approve` decides on one"
        )
    else:
        _list(waiting)
        decided = _decided(engine, here, waiting)
        _sum_up(decided, left=len(waiting) - len(decided))
    blocked = sum(one.standing is ReviewState.BLOCKED for one in rows)
    if blocked:
        say(f"{blocked} more of subagents wait to be adopted: `holdfast dream candidates --standing blocked`")


def _list(waiting: Sequence[Candidate]) -> None:
    say(f"{len(waiting)} to decide on:")
    for number, one in enumerate(waiting, 1):
        kind = "rule  " if one.lane is Destination.INSTRUCTION else "memory"
        say(f"  {number:>2}  {kind}  {printable(shortened(one.text, SHOWN))}")


def _decided(engine: Engine, here: ContinuityFiles, waiting: Sequence[Candidate]) -> list[Candidate]:
    done: list[Candidate] = []
    for number, one in enumerate(waiting, 1):
        say(f"\n{number} of {len(waiting)}  {one.id}  from {one.source}")
        say(_change(here, one))
        key = _key()
        if key == QUIT:
            break
        after = one
        for step in KEYS[key]:
            after = dream.take(engine, here, one.id, step)
        if after is not one:
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


def _change(here: ContinuityFiles, one: Candidate) -> str:
    """What would be changed by it, as a diff."""
    if one.lane is Destination.INSTRUCTION:
        return printable(dream.prepared(here, one).patch.rstrip("\n"))
    return f"+ memory: {printable(one.text)}"


def _became(one: Candidate) -> str:
    match one.standing:
        case ReviewState.PROMOTED:
            return f"remembered as {one.became[:8]}"
        case ReviewState.WAITING:
            return f"proposed for {one.became}; apply it by hand, then `holdfast dream verify-apply {one.id}`"
        case _:
            return one.standing.value


def _sum_up(decided: Iterable[Candidate], left: int) -> None:
    counts = Counter(one.standing.value for one in decided)
    told = [f"{count} {standing}" for standing, count in counts.items()]
    say(f"\n{', '.join([*told, f'{left} left'])}")
    if counts[ReviewState.APPROVED]:
        say("next: `holdfast dream promote ID` for what is approved")
