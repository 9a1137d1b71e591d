"""The sixth part of a store's contract: where each project is, and where it was before.

A project has at most one site at a location. Which project a directory belongs to is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.core.events.identity import Site


class Sited(Protocol):
    """Sites of projects. Current sites come before former ones, of which the latest comes first."""

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
        """Delete all sites of a project; returns how many."""
        ...

    def prune_sites(self, before: int) -> int:
        """Delete sites last seen before that time, of projects with no other data; returns how many."""
        ...
