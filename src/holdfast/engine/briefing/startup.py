"""Load: what of a project's continuity a session is given when it starts, and what else it may look at.

Everything here only looks. What is missing or out of date is a diagnostic; nothing is built for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from holdfast import harnesses
from holdfast.core.documents.continuity import LayerName, Part, Summary
from holdfast.core.documents.continuity_startup import (
    Layered,
    Limits,
    Loaded,
    Pointer,
    Pointing,
    merged_brief,
)
from holdfast.core.documents.promotion import Candidate, ReviewState
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory, strength
from holdfast.core.text.strings import one_line, query_terms, shortened
from holdfast.engine.documents import dream
from holdfast.engine.documents.continuity import ContinuityFiles, layered, readable, redacted, room
from holdfast.engine.engine import Engine
from holdfast.engine.index.scope import within
from holdfast.engine.memory import team
from holdfast.engine.memory.team import TeamEntry
from holdfast.engine.repository import git
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

SUGGESTED: Final = 5
MEMORIES_LOOKED_AT: Final = 500
TERMS: Final = 40
POINTER_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class ResumeContext:
    """What helps to go on: the goal, what comes next, and where more is to be found."""

    goal: str
    next_steps: tuple[str, ...]
    instruction_files: tuple[str, ...]
    durable: tuple[Memory, ...]
    dream: tuple[Candidate, ...]
    team: tuple[TeamEntry, ...]
    diagnostics: tuple[str, ...]


def loaded_at_start(engine: Engine, project: Project) -> Loaded | None:
    """What a starting session is given, if the user's own settings want that and there is a continuity."""
    if engine.home is None or not engine.config(project).continuity.auto_load:
        return None
    try:
        here = room(engine, engine.home, project)
        _count_refused(engine, readable(here).unreadable)
        return loaded(engine, here)
    except HoldfastError as error:
        _count_refused(engine, (error.message,))
        return None


def _count_refused(engine: Engine, reasons: tuple[str, ...]) -> None:
    """Count for `doctor` what was refused: the harness waits for its answer, and its user for nothing."""
    if reasons:
        with engine.store.writing():
            for reason in reasons:
                engine.store.count_skipped(f"continuity: {reason}", 1)


def loaded(engine: Engine, here: ContinuityFiles) -> Loaded | None:
    """What a session that started now would be given; None where there is no continuity of the user's own."""
    found = tuple(one for one in layered(readable(here).layers) if not _came_with_the_clone(here, one.name))
    if not found:
        return None
    config = engine.config(here.project)
    # What stands in files is a person's or a repository's: nobody has redacted it yet.
    redact = engine.redactor_to_show(here.project).of_session("")
    layers_told = tuple(replace(one, summary=redacted(one.summary, redact)) for one in found)
    pointers = _pointers(resume_context(engine, here, found))
    limits = Limits(config.continuity.startup_lines, config.brief.total_chars)
    return Loaded(layers_told, tuple(replace(one, text=redact(one.text)) for one in pointers), limits)


def resume_context(engine: Engine, here: ContinuityFiles, found: Iterable[Layered]) -> ResumeContext:
    """What helps a session to go on from these layers."""
    said = merged_brief(tuple(found))
    about, root = _about(said), Path(here.project.root)
    candidates, diagnostics = surfaced(here, about)
    return ResumeContext(
        said.goal,
        said.of(Part.NEXT),
        tuple(name for name in harnesses.instruction_files() if (root / name).is_file()),
        top_memories(engine, here.project, about),
        candidates,
        tuple(team.suggested(root, about, SUGGESTED)),
        diagnostics,
    )


def surfaced(here: ContinuityFiles, about: str) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """The candidates under review that are about this, and what is to be said of the sidecar."""
    try:
        inspected = dream.inspect(here)
    except HoldfastError as error:
        return (), (error.message,)
    rows = inspected.snapshot.candidates if inspected.snapshot else ()
    open_ones = [one for one in rows if one.standing in (ReviewState.PENDING, ReviewState.APPROVED)]
    wanted = _words(about)
    scored = [(len(wanted & _words(one.text)), one) for one in open_ones]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return tuple(one for _, one in best[:SUGGESTED]), inspected.diagnostics


def top_memories(engine: Engine, project: Project, about: str) -> tuple[Memory, ...]:
    """The memories that fit best; that they were looked at is not counted."""
    now, wanted = engine.clock(), _words(about)
    rows = engine.store.memories(within(project), MEMORIES_LOOKED_AT)
    # How much it is about the work comes first, then how strong it is; a pinned one is always worth a look.
    scored = [(len(wanted & _words(one.text)), strength(one, now), one) for one in rows]
    fitting = [row for row in scored if row[0] or row[2].pinned]
    best = sorted(fitting, key=lambda row: (-row[0], -row[1], row[2].id))
    return tuple(one for _, _, one in best[:SUGGESTED])


def _pointers(context: ResumeContext) -> Iterable[Pointer]:
    for name in context.instruction_files:
        yield Pointer(Pointing.INSTRUCTIONS, f"`{name}`", name)
    for candidate in context.dream:
        yield Pointer(Pointing.DREAM, _short(candidate.text), candidate.id)
    for memory in context.durable:
        yield Pointer(Pointing.DURABLE, f"{_short(memory.text)} ({memory.id[:8]})", memory.id)
    for entry in context.team:
        yield Pointer(Pointing.TEAM, f"{entry.title}: {_short(entry.text)} (`{entry.path}`)", entry.path)


def _came_with_the_clone(here: ContinuityFiles, name: LayerName) -> bool:
    """Whether a stranger may have written a layer: git tracks it, or nobody can tell and we did not."""
    if name is LayerName.SHARED:
        return False
    place = git.find(here.project.root)
    if place is None or place.repository is None:
        return not here.places.own(name).exists()
    path = here.places.target(name).whole.relative_to(place.root).as_posix()
    return git.tracks(place.repository, path) is not False


def _about(said: Summary) -> str:
    return " ".join((said.goal, *said.of(Part.NEXT)))


def _words(text: str) -> set[str]:
    return set(query_terms(text.lower(), TERMS).split())


def _short(text: str) -> str:
    return shortened(one_line(text), POINTER_CHARS)
