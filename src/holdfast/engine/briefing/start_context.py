"""Start context: the part of a project's continuity that a starting session gets, and where it finds more.

That includes hints that a repository gives to everyone who works in it, labelled as the repository's.
Nothing here writes. Missing or outdated files are reported, not built.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from holdfast import harnesses
from holdfast.core.documents.continuity import ContinuityPart, LayerName, LayerSummary
from holdfast.core.documents.continuity_startup import (
    LayerContent,
    Pointer,
    PointerKind,
    StartupInput,
    combined_layers,
)
from holdfast.core.documents.promotion import PromotionCandidate, ReviewState
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory, strength
from holdfast.core.text.strings import one_line, query_terms, shortened
from holdfast.engine.documents import dream
from holdfast.engine.documents.continuity import (
    ContinuityFiles,
    continuity_files,
    layers_with_paths,
    readable_layers,
    redacted_summary,
)
from holdfast.engine.engine import Engine
from holdfast.engine.index import visible_from
from holdfast.engine.repository import git
from holdfast.errors import HoldfastError, PathRefused
from holdfast.files import worktree
from holdfast.lazy_dataclass import dataclass

SUGGESTED: Final = 5
MEMORIES_LOOKED_AT: Final = 500
TERMS: Final = 40
POINTER_CHARS: Final = 200
TEAM_FILE: Final = "TEAM_MEMORY.md"
TEAM_FOLDER: Final = "team-memory"
ENTRY_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class ResumeContext:
    """The goal, the next steps, and where to find more."""

    goal: str
    next_steps: tuple[str, ...]
    instruction_files: tuple[str, ...]
    durable: tuple[Memory, ...]
    dream: tuple[PromotionCandidate, ...]
    team: tuple[TeamEntry, ...]
    diagnostics: tuple[str, ...]


def loaded_at_start(engine: Engine, project: Project) -> StartupInput | None:
    """The continuity for a starting session, if the user's own settings ask for it and there is one."""
    if engine.home is None or not engine.config(project).continuity.auto_load:
        return None
    try:
        continuity = continuity_files(engine, engine.home, project)
        _count_refused(engine, readable_layers(continuity).unreadable)
        return continuity_at_start(engine, continuity)
    except HoldfastError as error:
        _count_refused(engine, (error.message,))
        return None


def _count_refused(engine: Engine, reasons: tuple[str, ...]) -> None:
    """Count refused files for `doctor`: the harness is waiting, so this must not fail."""
    if reasons:
        with engine.store.writing():
            for reason in reasons:
                engine.store.count_skipped(f"continuity: {reason}", 1)


def continuity_at_start(engine: Engine, continuity: ContinuityFiles) -> StartupInput | None:
    """The continuity that a session starting now would get; None if the user has none of their own."""
    own_layers = tuple(
        one
        for one in layers_with_paths(readable_layers(continuity).layers)
        if not _came_with_the_clone(continuity, one.name)
    )
    if not own_layers:
        return None
    # Files are written by people or come with the repository, so they are not redacted yet.
    redact = engine.redactor_to_show(continuity.project).of_session("")
    layers_told = tuple(
        replace(one, summary=redacted_summary(one.summary, redact), by_user=tuple(map(redact, one.by_user)))
        for one in own_layers
    )
    pointers = _pointers(resume_context(engine, continuity, own_layers))
    return StartupInput(layers_told, tuple(replace(one, text=redact(one.text)) for one in pointers))


def resume_context(
    engine: Engine, continuity: ContinuityFiles, layers_read: Iterable[LayerContent]
) -> ResumeContext:
    """The context for a session that continues from these layers."""
    summary = combined_layers(tuple(layers_read))
    about, root = _about(summary), Path(continuity.project.root)
    candidates, diagnostics = candidates_about(continuity, about)
    return ResumeContext(
        summary.goal,
        summary.of(ContinuityPart.NEXT),
        tuple(name for name in harnesses.instruction_files() if (root / name).is_file()),
        top_memories(engine, continuity.project, about),
        candidates,
        tuple(team_entries_about(root, about, SUGGESTED)),
        diagnostics,
    )


def candidates_about(
    continuity: ContinuityFiles, about: str
) -> tuple[tuple[PromotionCandidate, ...], tuple[str, ...]]:
    """The candidates under review that are about this, and remarks on the sidecar."""
    try:
        inspected = dream.inspect(continuity)
    except HoldfastError as error:
        return (), (error.message,)
    rows = inspected.snapshot.candidates if inspected.snapshot else ()
    open_ones = [one for one in rows if one.standing in (ReviewState.PENDING, ReviewState.APPROVED)]
    words = _words(about)
    scored = [(len(words & _words(one.text)), one) for one in open_ones]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return tuple(one for _, one in best[:SUGGESTED]), inspected.diagnostics


def top_memories(engine: Engine, project: Project, about: str) -> tuple[Memory, ...]:
    """The memories that match best; they are not counted as recalled."""
    now, words = engine.clock(), _words(about)
    rows = engine.store.memories(visible_from(project), MEMORIES_LOOKED_AT)
    # First by how much it is about the work, then by strength; pinned memories are always considered.
    scored = [(len(words & _words(one.text)), strength(one, now), one) for one in rows]
    fitting = [row for row in scored if row[0] or row[2].pinned]
    best = sorted(fitting, key=lambda row: (-row[0], -row[1], row[2].id))
    return tuple(one for _, _, one in best[:SUGGESTED])


def _pointers(context: ResumeContext) -> Iterable[Pointer]:
    for name in context.instruction_files:
        yield Pointer(PointerKind.INSTRUCTIONS, f"`{name}`", name)
    for candidate in context.dream:
        yield Pointer(PointerKind.DREAM, _short(candidate.text), candidate.id)
    for memory in context.durable:
        yield Pointer(PointerKind.DURABLE, f"{_short(memory.text)} ({memory.id[:8]})", memory.id)
    for entry in context.team:
        yield Pointer(PointerKind.TEAM, f"{entry.title}: {_short(entry.text)} (`{entry.path}`)", entry.path)


def _came_with_the_clone(continuity: ContinuityFiles, name: LayerName) -> bool:
    """Whether a layer's author is unknown: git tracks it or may track it, and Holdfast did not write it."""
    if name is LayerName.SHARED:
        return False
    place = git.find(continuity.project.root)
    if place is None or place.repository is None:
        return not continuity.places.own(name).exists()
    path = continuity.places.target(name).whole.relative_to(place.root).as_posix()
    return git.tracks(place.repository, path) is not False


def _about(summary: LayerSummary) -> str:
    return " ".join((summary.goal, *summary.of(ContinuityPart.NEXT)))


def _words(text: str) -> set[str]:
    return set(query_terms(text.lower(), TERMS).split())


def _short(text: str) -> str:
    return shortened(one_line(text), POINTER_CHARS)


@dataclass(frozen=True, slots=True)
class TeamEntry:
    """One section of a team memory file."""

    path: str
    title: str
    text: str


def team_entries(root: Path) -> list[TeamEntry]:
    """Everything that the team wrote down; a file that cannot be read is left out."""
    try:
        paths = (TEAM_FILE, *(f"{TEAM_FOLDER}/{name}" for name in worktree.listed(root, TEAM_FOLDER)))
    except PathRefused:
        paths = (TEAM_FILE,)
    return [entry for path in paths for entry in _entries_of_file(root, path)]


def team_entries_about(root: Path, about: str, limit: int) -> list[TeamEntry]:
    """The entries that share most words with what the work is about."""
    query_words = set(query_terms(about.lower(), 40).split())
    scored = [(len(query_words & _words_of_entry(entry)), entry) for entry in team_entries(root)]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [entry for _, entry in best[:limit]]


def _words_of_entry(entry: TeamEntry) -> set[str]:
    return set(query_terms(f"{entry.title} {entry.text}".lower(), 400).split())


def _entries_of_file(root: Path, path: str) -> Iterator[TeamEntry]:
    try:
        raw = worktree.read(root, path)
    except PathRefused:
        return
    title, lines = path, list[str]()
    for line in (*(raw or b"").decode("utf-8", "replace").splitlines(), "# "):
        if not line.startswith("#"):
            lines.append(line)
            continue
        if text := one_line(" ".join(lines)):
            yield TeamEntry(path, title, shortened(text, ENTRY_CHARS))
        title, lines = one_line(line.lstrip("#")) or path, []
