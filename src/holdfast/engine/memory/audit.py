"""Audit of memories: finds doubtful ones, for instance by comparing them with the project's files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from holdfast.core.events.world import Project
from holdfast.core.memory.audit import ReviewReason, files_named, review_reasons
from holdfast.core.memory.memory import Memory
from holdfast.engine.engine import Engine
from holdfast.engine.memory.remember import memories
from holdfast.engine.repository import git
from holdfast.engine.repository.world import file_states
from holdfast.lazy_dataclass import dataclass

READ_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class Audited:
    """How many memories were checked, and the doubtful ones, each with its doubt."""

    looked_at: int
    found: tuple[tuple[ReviewReason, Memory], ...]


def audit(engine: Engine, project: Project, *, all_projects: bool = False) -> Audited:
    """Check the memories that can be seen from the project."""
    all_memories = memories(engine, project, all_projects=all_projects, limit=READ_MOST)
    by_id = {memory.id: memory for memory in all_memories}
    # Another project's files cannot be checked from here.
    own = (memory for memory in all_memories if memory.project_id == project.project_id)
    missing = _missing(project, {path for memory in own for path in files_named(memory.text)})
    doubtful = review_reasons(all_memories, missing, engine.clock())
    return Audited(len(all_memories), tuple((doubt, by_id[doubt.id]) for doubt in doubtful))


def _missing(project: Project, paths: Iterable[str]) -> frozenset[str]:
    """The paths that are no file below the project's root, and no suffix of a tracked file's path."""
    missing = {state.path for state in file_states(project.root, paths) if not state.exists}
    place = git.find(project.root) if missing else None
    if place is None or place.repository is None:
        return frozenset(missing)
    ends = tuple(f"/{path}" for path in missing)
    tracked = git.tracked(place.repository, lambda file: f"/{file.name}".endswith(ends), READ_MOST)
    there = {path for path in missing if any(f"/{name}".endswith(f"/{path}") for name in tracked)}
    return frozenset(missing - there)
