"""Team memories: those that a person marked for the team. No agent, no rule and no review marks one."""

from __future__ import annotations

from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory, MemoryScope
from holdfast.core.sharing.identity import identity_of
from holdfast.engine.engine import Engine
from holdfast.engine.sharing.shared_projects import policy_of
from holdfast.errors import HoldfastError


def share(engine: Engine, project: Project, memory: Memory) -> str:
    """Mark a memory for the team; returns what keeps it from being sent, empty if nothing does.

    Raises HoldfastError for a memory that is not of this project, or of one worktree alone.
    """
    if memory.scope is not MemoryScope.PROJECT or memory.project_id != project.project_id:
        raise HoldfastError(
            "only memories of this project can be shared with its team",
            "`holdfast memories show` says which scope and project one has",
        )
    with engine.store.writing_durably():
        engine.store.mark_for_team(memory.id, engine.clock())
        engine.store.stamp_announcements(engine.clock())
    return _obstacle(engine, project)


def take_back(engine: Engine, memory: Memory) -> bool:
    """Take the mark from a memory; returns whether it had one."""
    with engine.store.writing_durably():
        was_marked = engine.store.unmark_for_team(memory.id)
        engine.store.stamp_announcements(engine.clock())
    return was_marked


def _obstacle(engine: Engine, project: Project) -> str:
    names = identity_of(engine.store.shared_names(project.project_id), "").names
    policy = policy_of(engine.config(project), project, names)
    if not names:
        return "this project has no remote, and no name that others know (`holdfast hub bind NAME`)"
    if not policy.hub:
        return "no hub is for this project (`holdfast config sharing.hubs`)"
    if not policy.team_memories:
        return '`sharing.memories` is "none" (`holdfast config set sharing.memories team`)'
    return ""
