"""Sites in memory: where each project is, and where it was before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.core.identity import Site
from holdfast.stores.codec import clean
from holdfast.stores.memory.tables import Keeper, drop


class Sites(Keeper):
    """The table of sites."""

    def sites(self) -> list[Site]:
        return self._sites(lambda _: True)

    def sites_at(self, location: str) -> list[Site]:
        return self._sites(lambda site: site.location == clean(location))

    def sites_of(self, project_id: str) -> list[Site]:
        return self._sites(lambda site: site.project_id == clean(project_id))

    def sites_around(self, paths: Sequence[str]) -> list[Site]:
        wanted = set(map(clean, paths))
        return self._sites(lambda site: not wanted.isdisjoint((site.location, site.root)))

    def sites_like(self, inode: str, first_entry: str) -> list[Site]:
        return self._sites(
            lambda site: site.marks.inode == inode != "" or site.marks.first_entry == first_entry != ""
        )

    def put_site(self, site: Site) -> None:
        site = clean(site)
        self._writable().sites[site.location, site.project_id] = site

    def forget_sites(self, project_id: str) -> int:
        return drop(self._writable().sites, lambda site: site.project_id == clean(project_id))

    def prune_sites(self, before: int) -> int:
        tables = self._writable()
        kept = {each.project.project_id for each in tables.sessions.values()}
        for table in (tables.checkpoints, tables.memories, tables.documents):
            kept |= {each.project_id for each in table.values()}
        return drop(tables.sites, lambda site: site.last_seen_at < before and site.project_id not in kept)

    def _sites(self, chosen: Callable[[Site], bool]) -> list[Site]:
        return sorted(filter(chosen, self._tables.sites.values()), key=_order)


def _order(site: Site) -> tuple[bool, int, int, str, str]:
    return site.left_at > 0, -site.left_at, -site.last_seen_at, site.location, site.project_id
