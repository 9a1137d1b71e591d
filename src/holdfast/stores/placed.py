"""The part of a store's contract about where projects are, and by which names others know them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.core.events.identity import Site
from holdfast.core.sharing.identity import SharedName


class Placed(Protocol):
    """Sites and shared names of projects. Current sites come before former ones, the latest of each first."""

    def sites(self) -> list[Site]:
        """Every site."""
        ...

    def sites_at(self, location: str) -> list[Site]:
        """The sites at this location."""
        ...

    def sites_of(self, project_id: str) -> list[Site]:
        """The sites of a project."""
        ...

    def sites_around(self, paths: Sequence[str]) -> list[Site]:
        """The sites whose root or location is one of these paths."""
        ...

    def sites_like(self, inode: str, first_entry: str) -> list[Site]:
        """The sites with that inode or that first reflog entry; an empty one matches nothing."""
        ...

    def put_site(self, site: Site) -> None:
        """Store what is known of this project at this location."""
        ...

    def forget_sites(self, project_id: str) -> int:
        """Delete all sites of a project, and its shared names; returns how many sites."""
        ...

    def prune_sites(self, before: int) -> int:
        """Delete sites last seen before that time, of projects with no other data; returns how many.

        The shared names of a project without a site and without other data go with them.
        """
        ...

    # Shared names of projects: those that others know them by.

    def put_shared_name(self, name: SharedName) -> None:
        """Store a name of a project; when it was first seen stays as it is."""
        ...

    def shared_names(self, project_id: str) -> list[SharedName]:
        """The names of a project, a chosen one first, then the one seen last."""
        ...

    def projects_named(self, name: str) -> list[str]:
        """The projects that have or had that name, by id."""
        ...

    def drop_shared_name(self, project_id: str, name: str) -> bool:
        """Delete a name of a project; returns whether it had it."""
        ...
