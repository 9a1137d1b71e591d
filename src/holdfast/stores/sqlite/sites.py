"""Sites in SQLite: where each project is, and where it was before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from holdfast.core.events.identity import Marks, Site
from holdfast.stores.codec import decode_texts, encode_texts
from holdfast.stores.sqlite.database import Bindings, Database, Row


class Sites:
    """The table `sites`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sites(self) -> list[Site]:
        return self._sites(_SITES, {})

    def sites_at(self, location: str) -> list[Site]:
        return self._sites(_SITES_AT, {"location": location})

    def sites_of(self, project_id: str) -> list[Site]:
        return self._sites(_SITES_OF, {"project_id": project_id})

    def sites_around(self, paths: Sequence[str]) -> list[Site]:
        return self._sites(_SITES_AROUND, {"paths": encode_texts(tuple(paths))})

    def sites_like(self, inode: str, first_entry: str) -> list[Site]:
        return self._sites(_SITES_LIKE, {"inode": inode, "first_entry": first_entry})

    def put_site(self, site: Site) -> None:
        columns = {**asdict(site), **asdict(site.marks), "remotes": encode_texts(site.marks.remotes)}
        del columns["marks"]
        self._database.write(_PUT_SITE, columns)

    def forget_sites(self, project_id: str) -> int:
        return self._database.write(_FORGET_SITES, {"project_id": project_id})

    def prune_sites(self, before: int) -> int:
        return self._database.write(_PRUNE_SITES, {"before": before})

    def _sites(self, sql: str, bindings: Bindings) -> list[Site]:
        return [_site_of(row) for row in self._database.rows(sql, bindings)]


def _site_of(row: Row) -> Site:
    project_id, location, anchor, root, is_git, *marks, first_seen_at, last_seen_at, left_at, moved_from = row
    device, inode, born, first_entry, began_at, remotes = marks
    return Site(
        project_id,
        location,
        anchor,
        root,
        bool(is_git),
        Marks(device, inode, born, first_entry, began_at, decode_texts(remotes)),
        first_seen_at,
        last_seen_at,
        left_at,
        moved_from,
    )


_READ = """
select project_id, location, anchor, root, is_git, device, inode, born, first_entry, began_at, remotes,
       first_seen_at, last_seen_at, left_at, moved_from
  from sites
"""

# The current ones before those that were left, the latest of each first.
_ORDER = " order by left_at > 0, left_at desc, last_seen_at desc, location, project_id"

_SITES = f"{_READ}{_ORDER}"

_SITES_AT = f"{_READ} where location = :location{_ORDER}"

_SITES_OF = f"{_READ} where project_id = :project_id{_ORDER}"

_ONE_OF_THEM = "in (select value from json_each(:paths))"

_SITES_AROUND = f"""{_READ}
 where location {_ONE_OF_THEM}
    or root {_ONE_OF_THEM}
{_ORDER}
"""

_SITES_LIKE = f"""{_READ}
 where (inode = :inode and :inode <> '')
    or (first_entry = :first_entry and first_entry <> '')
{_ORDER}
"""

_PUT_SITE = """
insert or replace into sites (
    location, project_id, anchor, root, is_git, device, inode, born, first_entry, began_at, remotes,
    first_seen_at, last_seen_at, left_at, moved_from
) values (
    :location, :project_id, :anchor, :root, :is_git, :device, :inode, :born, :first_entry, :began_at,
    :remotes, :first_seen_at, :last_seen_at, :left_at, :moved_from
)
"""

_FORGET_SITES = """
delete from sites
 where project_id = :project_id
"""

_PRUNE_SITES = """
delete from sites
 where last_seen_at < :before
   and not exists (select 1 from sessions where sessions.project_id = sites.project_id)
   and not exists (select 1 from session_checkpoints where session_checkpoints.project_id = sites.project_id)
   and not exists (select 1 from memories where memories.project_id = sites.project_id)
   and not exists (select 1 from documents where documents.project_id = sites.project_id)
"""
