"""Shared projects: which projects of this machine share what, by their settings and names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.config import Config, excluded, require_protection
from holdfast.core.events.world import Project
from holdfast.core.sharing.identity import identity_of
from holdfast.core.sharing.policy import PERSONAL, SharingPolicy, hub_for
from holdfast.engine.engine import Engine
from holdfast.engine.repository import projects
from holdfast.errors import ProtectionUnreadable
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

ALL_MEMORIES: Final = "team"
OWN_SESSIONS: Final = "own"


@dataclass(frozen=True, slots=True)
class SharedProject:
    """A project of this machine, the names by which others know it, and what it shares."""

    project: Project
    names: tuple[str, ...]
    """The current one first; empty for a project that others cannot know."""
    policy: SharingPolicy

    @property
    def name(self) -> str:
        """The name under which it shares."""
        return self.names[0] if self.names else ""


@dataclass(frozen=True, slots=True)
class SharedProjects:
    """All projects of this machine as far as sharing goes, and why some share nothing now."""

    by_id: dict[str, SharedProject]
    unreadable: dict[str, ProtectionUnreadable]
    """Projects whose settings cannot be read: what they announced waits."""

    def of_hub(self, hub: str) -> list[SharedProject]:
        """The projects that use this hub."""
        return [each for each in self.by_id.values() if each.policy.hub == hub]

    def named(self, hub: str, name: str) -> list[SharedProject]:
        """The projects that use this hub and have or had that name."""
        return [each for each in self.of_hub(hub) if name in each.names]

    def clones(self, hub: str) -> list[list[SharedProject]]:
        """The projects that use this hub, those with the same name together."""
        by_name: dict[str, list[SharedProject]] = {}
        for each in self.of_hub(hub):
            by_name.setdefault(each.name, []).append(each)
        return list(by_name.values())

    @property
    def hubs(self) -> list[str]:
        """The hubs that are used, by name."""
        return sorted({each.policy.hub for each in self.by_id.values() if each.policy.hub})


def shared_projects(engine: Engine) -> SharedProjects:
    """Every project with what it shares; one whose settings cannot be read shares nothing.

    Raises ProtectionUnreadable where the settings for all projects cannot be read.
    """
    personal = _personal(engine)
    config = engine.config(personal)
    require_protection(config)
    by_id = {"": SharedProject(personal, (PERSONAL,), _personal_policy(config))}
    unreadable: dict[str, ProtectionUnreadable] = {}
    for project in projects.known_projects(engine.store):
        names = identity_of(engine.store.shared_names(project.project_id), "").names
        try:
            policy = policy_of(engine.config(project), project, names)
        except ProtectionUnreadable as error:
            if engine.config(project).unreadable is None:
                raise
            unreadable[project.project_id] = error
        else:
            by_id[project.project_id] = SharedProject(project, names, policy)
    return SharedProjects(by_id, unreadable)


def policy_of(config: Config, project: Project, names: tuple[str, ...]) -> SharingPolicy:
    """What a project with these names shares; raises ProtectionUnreadable where that cannot be known."""
    require_protection(config)
    sharing = config.sharing
    # Only the name that counts now: under a former one the project may have belonged to somebody else.
    hub = hub_for(sharing.hubs, names[:1])
    if not hub or excluded(config, project.root) or excluded(config, project.normalized):
        return SharingPolicy()
    return SharingPolicy(
        hub,
        sharing.handoffs,
        sharing.continuity,
        sharing.memories == ALL_MEMORIES,
        sharing.own,
        sharing.checkpoints,
        sharing.sessions == OWN_SESSIONS,
    )


def announce_by_policy(store: Store, shared: SharedProjects) -> None:
    """Have the store announce the kinds that each project shares, and no others."""
    announced = store.announced_kinds()
    kinds_now = {id: each.policy.kinds for id, each in shared.by_id.items()}
    changed = {
        id: kinds_now.get(id, frozenset())
        for id in {*announced, *kinds_now} - shared.unreadable.keys()
        if kinds_now.get(id, frozenset()) != announced.get(id, frozenset())
    }
    if changed:
        with store.writing():
            for project_id, kinds in sorted(changed.items()):
                store.share_kinds(project_id, kinds)


def _personal(engine: Engine) -> Project:
    """What memories of no project belong to."""
    # A home directory is nobody's repository: where it has a `holdfast.toml`, that is not read.
    nowhere = str(Path(engine.home or engine.user_home) / "no-project")
    return Project(nowhere, nowhere, "", "", nowhere)


def _personal_policy(config: Config) -> SharingPolicy:
    return SharingPolicy(hub_for(config.sharing.hubs, (PERSONAL,)), own_memories=config.sharing.own)
