"""The dream sidecar on the command line: put candidates up, review them, and promote what was approved."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

import click

from holdfast.cli import access
from holdfast.cli.options import command, group, json_option, project_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.core.documents.promotion import Destination, PromotionCandidate, ReviewState, ReviewStep
from holdfast.core.text.strings import shortened
from holdfast.core.text.untrusted import printable
from holdfast.engine.documents import continuity, dream
from holdfast.engine.documents import continuity_source as sources
from holdfast.engine.documents.continuity import ContinuityFiles
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError

ROW_CHARS: Final = 100
STANDINGS: Final = tuple(one.value for one in ReviewState)
_Opening: TypeAlias = Callable[[], AbstractContextManager[Engine]]


@group("holdfast dream build", "holdfast dream review", name="dream")
def dream_group() -> None:
    """Review what of the continuity is worth keeping for good.

    Nothing is promoted by itself. What you approve becomes a memory; what reads like an instruction becomes a
    proposal, a patch that you apply by hand. No file of yours is ever changed here. In order: `build` puts up
    candidates, `review` decides on them, `promote` makes memories and proposals of what was approved, and
    `verify-apply` closes a proposal that you have applied. Most people need only `build` and `review`.
    """


@contextmanager
def _opened(
    project: Path | None, opened: _Opening = access.current_engine
) -> Generator[tuple[Engine, ContinuityFiles]]:
    with opened() as engine:
        where = access.register_project(engine, project)
        yield engine, continuity.continuity_files(engine, access.home(), where)


@command("holdfast dream build", "holdfast dream build --subagent agent-1.jsonl --harness HARNESS")
@project_option()
@click.option(
    "--subagent", type=click.Path(path_type=Path), metavar="FILE", help="Also a subagent's transcript."
)
@click.option("--harness", default="", metavar="HARNESS", help="Whose transcript that is.")
@json_option()
def build(*, project: Path | None, subagent: Path | None, harness: str, as_json: bool) -> None:
    """Put up candidates from the continuity; what you decided before stands."""
    with _opened(project) as (engine, files):
        source = sources.source_named(subagent, harness) if subagent else None
        snapshot = dream.build(engine, files, source)
    _give_list(snapshot.candidates, as_json=as_json)


@command("holdfast dream inspect --json")
@project_option()
@json_option()
def inspect(*, project: Path | None, as_json: bool) -> None:
    """Show the snapshot as it is, and whether it is out of date; builds nothing."""
    with _opened(project) as (_, files):
        inspection = dream.inspect(files)
    rows = inspection.snapshot.candidates if inspection.snapshot else ()
    if as_json:
        built_at = inspection.snapshot.built_at if inspection.snapshot else None
        candidates = [dream.as_json(candidate) for candidate in rows]
        give_json(
            {"built_at": built_at, "candidates": candidates, "diagnostics": list(inspection.diagnostics)}
        )
        return
    for diagnostic in inspection.diagnostics:
        say(f"note: {diagnostic}")
    _give_list(rows, as_json=False)


@command("holdfast dream candidates", "holdfast dream candidates --standing pending --json")
@project_option()
@click.option(
    "--standing",
    type=click.Choice(STANDINGS),
    metavar="STANDING",
    help=f"Only those that stand so: {', '.join(STANDINGS[:-1])} or {STANDINGS[-1]}.",
)
@json_option()
def candidates(*, project: Path | None, standing: str | None, as_json: bool) -> None:
    """List the candidates and how far they have come."""
    with _opened(project) as (_, files):
        snapshot = dream.inspect(files).snapshot
    rows = snapshot.candidates if snapshot else ()
    _give_list([candidate for candidate in rows if standing in (None, candidate.standing)], as_json=as_json)


@command("holdfast dream review", "holdfast dream review 1f2e3d --approve")
@click.argument("id", required=False)
@click.option("--approve", "decision", flag_value="approve", help="Say yes to this candidate.")
@click.option("--reject", "decision", flag_value="reject", help="Say no to it.")
@project_option()
@json_option()
def review(*, id: str | None, decision: str | None, project: Path | None, as_json: bool) -> None:
    """Decide on candidates: one by name, or all that wait, with one key for each."""
    # One key may make a memory, which needs a store also if nothing was ever kept in this home.
    with _opened(project, access.writable_engine) as (engine, files):
        if id is None:
            review_one_by_one(engine, files)
            return
        if decision is None:
            raise HoldfastError("it is not said what to decide", "add --approve or --reject")
        _tell(dream.take(engine, files, id, ReviewStep(decision)), as_json=as_json)


def _step(step: ReviewStep, name: str, says: str) -> click.Command:
    """A command that takes one step with one candidate."""

    @click.argument("id")
    @project_option()
    @click.option("--file", default="", metavar="FILE", help="The instruction file; else the first there is.")
    @json_option()
    def take_step(*, id: str, project: Path | None, file: str, as_json: bool) -> None:
        # A memory needs a store, also if nothing was ever kept in this home.
        with _opened(project, access.writable_engine) as (engine, files):
            _tell(dream.take(engine, files, id, step, file), as_json=as_json)

    take_step.__doc__ = says
    return command(f"holdfast dream {name} 1f2e3d")(take_step)


def _proposal(name: str, says: str) -> click.Command:
    """A command that shows what would become of a candidate, and changes nothing."""

    @click.argument("id")
    @project_option()
    @click.option("--file", default="", metavar="FILE", help="The instruction file; else the first there is.")
    @json_option()
    def show_proposal(*, id: str, project: Path | None, file: str, as_json: bool) -> None:
        _give_proposal(id, project, file, as_json=as_json)

    show_proposal.__doc__ = says
    return command(f"holdfast dream {name} 1f2e3d")(show_proposal)


def _give_proposal(id: str, project: Path | None, file: str, *, as_json: bool) -> None:
    with _opened(project) as (_, files):
        snapshot = dream.inspect(files).snapshot
        candidate = dream.find(snapshot.candidates if snapshot else (), id)
        change = dream.prepared(files, candidate, file) if candidate.lane is Destination.INSTRUCTION else None
    if as_json:
        made = {"file": change.file, "line": change.line, "patch": change.patch} if change else None
        give_json({**dream.as_json(candidate), "proposal": made})
    elif change:
        give(change.patch)
        say(f"apply it by hand to {change.file}, then `holdfast dream verify-apply {candidate.id}`")
    else:
        give(f"memory: {candidate.text}")


def _give_list(rows: Sequence[PromotionCandidate], *, as_json: bool) -> None:
    if as_json:
        give_json([dream.as_json(candidate) for candidate in rows])
        return
    if not rows:
        say(
            "no note of the continuity clearly states a rule, decision or need that lasts, "
            "so there are no candidates"
        )
        return
    cells = [
        (candidate.id, candidate.standing.value, candidate.lane.value, shortened(candidate.text, ROW_CHARS))
        for candidate in rows
    ]
    give_table(("id", "standing", "lane", "text"), cells)


def _tell(candidate: PromotionCandidate, *, as_json: bool) -> None:
    if as_json:
        give_json(dream.as_json(candidate))
        return
    became = f" ({candidate.became})" if candidate.became else ""
    give(f"{candidate.id} {candidate.standing}{became}")


for _name, _command in {
    "build": build,
    "inspect": inspect,
    "candidates": candidates,
    "review": review,
    "adopt": _step(
        ReviewStep.ADOPT, "adopt", "Take over a subagent's candidate, so that it can be reviewed."
    ),
    "proposal": _proposal(
        "proposal",
        """Show what would become of a candidate, whatever its state.

    The text of the memory, or the patch for an instruction file. Nothing is changed.
    """,
    ),
    "promote-prep": _proposal(
        "promote-prep",
        """Look before `promote`: the memory or the proposal that it would make.

    The same preview as `holdfast dream proposal`. Nothing is changed.
    """,
    ),
    "promote": _step(ReviewStep.PROMOTE, "promote", "Make an approved candidate a memory, or a proposal."),
    "apply-prep": _proposal(
        "apply-prep",
        """Look before you apply: the patch to put into an instruction file by hand.

    For a candidate that `promote` made a proposal. Nothing is changed; `verify-apply` closes it afterwards.
    """,
    ),
    "verify-apply": _step(
        ReviewStep.VERIFY, "verify-apply", "Close a proposal that you have applied by hand."
    ),
}.items():
    dream_group.add_command(_command, _name)


REVIEW_CHARS: Final = 90
QUIT: Final = "q"
SKIP: Final = "s"
KEYS: Final[Mapping[str, tuple[ReviewStep, ...]]] = {
    "a": (ReviewStep.APPROVE,),
    "p": (ReviewStep.APPROVE, ReviewStep.PROMOTE),
    "r": (ReviewStep.REJECT,),
    SKIP: (),
}
QUESTION: Final = "[a]pprove  [p]romote at once  [r]eject  [s]kip  [q]uit "


def review_one_by_one(engine: Engine, here: ContinuityFiles) -> None:
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
        _show_waiting(waiting)
        decisions = _decide(engine, here, waiting)
        _sum_up(decisions, left=len(waiting) - len(decisions))
    blocked = sum(candidate.standing is ReviewState.BLOCKED for candidate in rows)
    if blocked:
        say(f"{blocked} more of subagents wait to be adopted: `holdfast dream candidates --standing blocked`")


def _show_waiting(waiting: Sequence[PromotionCandidate]) -> None:
    say(f"{len(waiting)} to decide on:")
    for number, candidate in enumerate(waiting, 1):
        kind = "rule  " if candidate.lane is Destination.INSTRUCTION else "memory"
        say(f"  {number:>2}  {kind}  {printable(shortened(candidate.text, REVIEW_CHARS))}")


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
    click.echo(QUESTION, nl=False, err=True)
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
