"""By which name other machines know a project: read from its remote, stored, or chosen by a person.

`core.sharing.identity` decides; `projects` stores the names that remotes give. Nothing is shared here.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.core.events.world import Project
from holdfast.core.sharing.identity import SharedIdentity, SharedName, bound_name, identity_of
from holdfast.engine.repository import marks, projects
from holdfast.errors import HoldfastError, NotThere
from holdfast.stores.base import Store


def shared_identity(store: Store, project: Project) -> SharedIdentity:
    """The project's name for others, and its former ones; nothing is written."""
    names = store.shared_names(project.project_id)
    return identity_of(names, next(_from_remotes(store, project), ""))


def bind(store: Store, project: Project, text: str, at: int) -> SharedIdentity:
    """Give a project a name that a person chose; the one chosen before becomes a former one."""
    name = bound_name(text)
    if not name:
        raise HoldfastError(
            f"`{text}` cannot be the name of a project",
            "use letters, digits, spaces, `.`, `_` and `-`, or the address of a repository",
        )
    with store.writing():
        for each in store.shared_names(project.project_id):
            if each.is_bound and each.name != name:
                store.put_shared_name(SharedName(each.project_id, each.name, each.first_seen_at, at))
        store.put_shared_name(SharedName(project.project_id, name, at, at, is_bound=True))
    return shared_identity(store, project)


def unbind(store: Store, project: Project, text: str) -> SharedIdentity:
    """Remove a name of a project: this one, or for an empty text the one that a person chose."""
    names = store.shared_names(project.project_id)
    meant = bound_name(text)
    chosen = [each.name for each in names if (each.name == meant if text else each.is_bound)]
    if not chosen:
        missing = f"this project is not known as `{text}`" if text else "no name was chosen for this project"
        raise NotThere(missing, "`holdfast project list --json` shows the names of each project")
    with store.writing():
        for name in chosen:
            store.drop_shared_name(project.project_id, name)
    return shared_identity(store, project)


def _from_remotes(store: Store, project: Project) -> Iterator[str]:
    """The names that the project's remote gives at its places, this directory first."""
    sites = (site for site in store.sites_of(project.project_id) if not site.left_at)
    for path in dict.fromkeys((project.normalized, *(marks.on_disk(site.root) for site in sites))):
        here = projects.resolve(store, path)
        # Another project may be at that path now.
        repository = here.place.repository if here.place else None
        is_same = here.project.project_id == project.project_id
        if repository and is_same and (name := marks.shared_name_of(repository)):
            yield name
