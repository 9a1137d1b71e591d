"""Sharing in a store: announcements of changed rows, the versions of shared items, and cursors.

Triggers of the schema announce rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, SharedKind, VersionRef
from holdfast.core.sharing.versions import WRITTEN_AGAIN, resolve
from holdfast.stores.base import PageMark
from holdfast.stores.codec import decode_name
from holdfast.stores.shared import Announcement, ItemKey, SharedWithin, StoredVersion
from holdfast.stores.sql.database import Bindings, Row, SqlDatabase


class SharedRows:
    """The tables of sharing."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def share_kinds(self, project_id: str, kinds: Collection[SharedKind]) -> None:
        before = self.announced_kinds().get(project_id, frozenset[SharedKind]())
        for kind in before - set(kinds):
            self._database.write(_END_ANNOUNCING, {"project_id": project_id, "kind": kind.value})
        for kind in sorted(set(kinds) - before):
            self._database.write(_ANNOUNCE_KIND, {"project_id": project_id, "kind": kind.value})
            for id in self._ids(_ROWS_OF_KIND.get(kind, ""), project_id):
                self.announce(kind, id, project_id, 0)

    def announced_kinds(self) -> dict[str, frozenset[SharedKind]]:
        kinds: dict[str, set[SharedKind]] = {}
        for project_id, kind in self._database.rows("select project_id, kind from announced_kinds"):
            kinds.setdefault(str(project_id), set()).add(decode_name(SharedKind, kind))
        return {project_id: frozenset(each) for project_id, each in kinds.items()}

    def announce(self, kind: SharedKind, id: str, project_id: str, at: int) -> None:
        self._database.write("update last_revision set revision = revision + 1", {})
        columns: Bindings = {"kind": kind.value, "item_id": id, "project_id": project_id, "at": at}
        self._database.write(_ANNOUNCE, columns)

    def stamp_announcements(self, at: int) -> None:
        self._database.write("update announcements set at = :at where at = 0", {"at": at})

    def announcements(self, behind: int, limit: int) -> list[Announcement]:
        rows = self._database.rows(_ANNOUNCEMENTS, {"behind": behind, "limit": limit})
        return [Announcement(decode_name(SharedKind, kind), *rest) for kind, *rest in rows]

    def announcement(self, kind: SharedKind, id: str) -> Announcement | None:
        row = self._database.row(_ANNOUNCEMENT, {"kind": kind.value, "item_id": id})
        return Announcement(kind, *row) if row else None

    def last_announcement(self) -> int:
        return int(self._database.rows(_LAST_ANNOUNCEMENT)[0][0])

    def redactor_of(self, kind: SharedKind, id: str) -> str:
        row = self._database.row(_REDACTOR_OF[kind], {"id": id}) if kind in _REDACTOR_OF else None
        return str(row[0]) if row else ""

    def count_announcements(self) -> dict[str, int]:
        return {str(id): int(count) for id, count in self._database.rows(_COUNT_ANNOUNCEMENTS)}

    def acknowledge(self, announcements: Sequence[Announcement]) -> None:
        for each in announcements:
            revision: Bindings = {"kind": each.kind.value, "item_id": each.id, "revision": each.revision}
            self._database.write(_ACKNOWLEDGE, revision)

    def raise_revisions(self, above: int) -> None:
        first, last = self._database.rows(_REVISIONS)[0]
        # Those that wait move up by the same distance, so that they stay in order.
        distance = max(0, above - int(first) + 1)
        if distance and last is not None:
            # By way of negative numbers: no two of them have the same one in between.
            self._database.write(_MOVE_REVISIONS, {"distance": distance})
            self._database.write("update announcements set revision = -revision", {})
        highest = max(above, int(last) + distance if last is not None else 0)
        raise_last = "update last_revision set revision = :highest where revision < :highest"
        self._database.write(raise_last, {"highest": highest})

    def last_sent_revision(self, hub: str, machine: str) -> int:
        row = self._database.row(_LAST_SENT, {"hub": hub, "machine_id": machine})
        return int(row[0]) if row else 0

    def versions_acknowledged_above(self, hub: str, machine: str, revision: int) -> list[StoredVersion]:
        above: Bindings = {"hub": hub, "machine_id": machine, "revision": revision}
        return self._versions(_ACKNOWLEDGED_ABOVE, above)

    def mark_for_team(self, memory_id: str, at: int) -> bool:
        return self._database.write(_MARK_FOR_TEAM, {"memory_id": memory_id, "at": at}) > 0

    def unmark_for_team(self, memory_id: str) -> bool:
        unmark = "delete from team_memories where memory_id = :memory_id"
        return self._database.write(unmark, {"memory_id": memory_id}) > 0

    def team_memories(self) -> dict[str, int]:
        rows = self._database.rows("select memory_id, at from team_memories order by at, memory_id")
        return {str(id): int(at) for id, at in rows}

    def put_version(self, version: StoredVersion, redactor: str) -> StoredVersion | None:
        columns = _columns(version)
        self._database.write(_PUT_VERSION, {**columns, "redactor": redactor})
        for removal in self.versions(version.key):
            if removal.is_removed:
                until = removal.at if version.key.kind in WRITTEN_AGAIN else _FOREVER
                ended: Bindings = {"person": removal.person, "until": until}
                self._database.write(_EMPTY_VERSIONS, {**_key_columns(version.key), **ended})
        stored_versions = self.versions(version.key)
        winner = resolve(version.key.kind, (each.version for each in stored_versions))
        holder = next((each for each in stored_versions if winner and each.version == winner), None)
        if holder is None:
            return None
        self._database.write(_HOLD, {**columns, "holder": holder.machine.id})
        return replace(holder, holds=True)

    def note_sent(self, key: ItemKey, machine: str, revision: int, at: int) -> None:
        sent: Bindings = {"machine_id": machine, "revision": revision, "at": at}
        self._database.write(_NOTE_SENT, {**_key_columns(key), **sent})

    def versions(self, key: ItemKey) -> list[StoredVersion]:
        return self._versions(_VERSIONS, _key_columns(key))

    def versions_of(self, kind: SharedKind, id: str) -> list[StoredVersion]:
        return self._versions(_VERSIONS_OF, {"kind": kind.value, "item_id": id})

    def versions_without_hold(self, since: int, limit: int) -> list[StoredVersion]:
        return self._versions(_WITHOUT_HOLD, {"since": since, "limit": limit})

    def put_base(self, kind: SharedKind, id: str, ref: VersionRef) -> None:
        columns: Bindings = {"kind": kind.value, "item_id": id}
        ref_columns: Bindings = {"machine_id": ref.machine, "revision": ref.revision}
        self._database.write(_PUT_BASE, {**columns, **ref_columns})
        drop = "delete from announcements where kind = :kind and item_id = :item_id"
        self._database.write(drop, columns)

    def base(self, kind: SharedKind, id: str) -> VersionRef | None:
        row = self._database.row(_BASE, {"kind": kind.value, "item_id": id})
        return VersionRef(str(row[0]), int(row[1])) if row else None

    def shared_items(self, within: SharedWithin, behind: PageMark, limit: int) -> list[StoredVersion]:
        conditions, bindings = _conditions(within)
        mark: Bindings = {"behind_at": behind.at, "behind_id": behind.id, "limit": limit}
        return self._versions(_ITEMS.format(conditions=conditions), {**bindings, **mark})

    def shared_item(self, kind: SharedKind, id: str) -> StoredVersion | None:
        matches = self._versions(_ITEM, {"kind": kind.value, "item_id": id})
        return matches[0] if matches else None

    def shared_ids_beginning(self, kind: SharedKind, prefix: str, limit: int) -> list[str]:
        bindings: Bindings = {"first": prefix, "last": f"{prefix}\U0010ffff", "limit": limit}
        rows = self._database.rows(_IDS_BEGINNING, {"kind": kind.value, **bindings})
        return [str(id) for (id,) in rows]

    def addressed_to(self, person: str, limit: int) -> list[StoredVersion]:
        return self._versions(_ADDRESSED_TO, {"person": person, "limit": limit}) if person else []

    def pull_cursor(self, hub: str, project: str) -> int:
        return self.pull_cursors(hub).get(project, 0)

    def put_pull_cursor(self, hub: str, project: str, sequence: int) -> None:
        columns: Bindings = {"hub": hub, "project": project, "sequence": sequence}
        self._database.write(_PUT_PULL_CURSOR, columns)

    def pull_cursors(self, hub: str) -> Mapping[str, int]:
        rows = self._database.rows(_PULL_CURSORS, {"hub": hub})
        return {str(project): int(sequence) for project, sequence in rows}

    def drop_hub(self, hub: str) -> int:
        self._database.write(_DROP_BASES, {"hub": hub})
        self._database.write("delete from pull_cursors where hub = :hub", {"hub": hub})
        return self._database.write("delete from shared_versions where hub = :hub", {"hub": hub})

    def _ids(self, sql: str, project_id: str) -> list[str]:
        rows = self._database.rows(sql, {"project_id": project_id}) if sql else []
        return [str(id) for (id,) in rows]

    def _versions(self, sql: str, bindings: Bindings) -> list[StoredVersion]:
        return [_version_of(row) for row in self._database.rows(sql, bindings)]


def _key_columns(key: ItemKey) -> dict[str, str]:
    return {"hub": key.hub, "project": key.project, "kind": key.kind.value, "item_id": key.id}


def _columns(version: StoredVersion) -> Bindings:
    replaces = version.replaces or _NOTHING_REPLACED
    return {
        **_key_columns(version.key),
        "machine_id": version.machine.id,
        "machine_name": version.machine.name,
        "person": version.person,
        "is_mine": int(version.is_mine),
        "revision": version.revision,
        "at": version.at,
        "audience": version.audience.value,
        "recipient": version.recipient,
        "is_removed": int(version.is_removed),
        "replaces_machine": replaces.machine,
        "replaces_revision": replaces.revision,
        "sequence": version.sequence,
        "received_at": version.received_at,
        "body": version.body,
    }


def _version_of(row: Row) -> StoredVersion:
    """In the order of `_READ`."""
    hub, project, kind, item_id, machine_id, machine_name, person, is_mine, revision, at, *rest = row
    audience, recipient, is_removed, replaced_machine, replaced_revision, *rest = rest
    sequence, received_at, holds, body = rest
    return StoredVersion(
        ItemKey(hub, project, decode_name(SharedKind, kind), item_id),
        Machine(machine_id, machine_name),
        person,
        bool(is_mine),
        revision,
        at,
        decode_name(Audience, audience),
        body,
        bool(is_removed),
        VersionRef(replaced_machine, replaced_revision) if replaced_machine else None,
        recipient,
        sequence,
        received_at,
        bool(holds),
    )


def _conditions(within: SharedWithin) -> tuple[str, Bindings]:
    """What a query asks of an item, as SQL with a name for every value."""
    conditions, bindings = list[str](), dict[str, str | int]()
    if within.projects is not None:
        conditions.append(_one_of("project", within.projects, bindings))
    if within.kinds:
        conditions.append(_one_of("kind", (kind.value for kind in within.kinds), bindings))
    for column, value in (("person", within.person), ("machine_id", within.machine)):
        if value:
            conditions.append(_one_of(column, (value,), bindings))
    if within.except_machine:
        conditions.append("machine_id <> :except_machine")
        bindings["except_machine"] = within.except_machine
    return "".join(f"\n   and {each}" for each in conditions), bindings


def _one_of(column: str, values: Iterable[str], bindings: dict[str, str | int]) -> str:
    names = {f"{column}_{place}": value for place, value in enumerate(values)}
    bindings.update(names)
    return f"{column} in ({', '.join(f':{name}' for name in names)})" if names else "1 = 0"


_NOTHING_REPLACED: Final = VersionRef("", 0)
_FOREVER: Final = 2**62

_ROWS_OF_KIND: Final = {
    SharedKind.MEMORY: "select id from memories where project_id = :project_id order by created_at, id",
    SharedKind.CHECKPOINT: (
        "select id from session_checkpoints where project_id = :project_id order by created_at, id"
    ),
    SharedKind.SESSION: "select key from sessions where project_id = :project_id order by updated_at, key",
}
"""The other kinds are files."""

_REDACTOR_OF: Final = {
    SharedKind.MEMORY: "select redactor from memories where id = :id",
    SharedKind.CHECKPOINT: "select redactor from session_checkpoints where id = :id",
    SharedKind.SESSION: "select redactor from sessions where key = :id",
}

_ANNOUNCE_KIND = """
insert into announced_kinds (project_id, kind)
values (:project_id, :kind)
on conflict (project_id, kind) do nothing
"""

_END_ANNOUNCING = """
delete from announced_kinds
 where project_id = :project_id
   and kind = :kind
"""

_ANNOUNCE = """
insert into announcements (kind, item_id, project_id, revision, at)
select :kind, :item_id, :project_id, revision, :at
  from last_revision
 where true
on conflict (kind, item_id) do update
   set project_id = excluded.project_id,
       revision   = excluded.revision,
       at         = excluded.at
"""

_ANNOUNCEMENTS = """
select kind, item_id, project_id, revision, at
  from announcements
 where revision > :behind
 order by revision
 limit :limit
"""

_ANNOUNCEMENT = """
select item_id, project_id, revision, at
  from announcements
 where kind = :kind
   and item_id = :item_id
"""

_LAST_ANNOUNCEMENT = """
select coalesce(max(revision), 0)
  from announcements
"""

_COUNT_ANNOUNCEMENTS = """
select project_id, count(*)
  from announcements
 group by project_id
 order by project_id
"""

_ACKNOWLEDGE = """
delete from announcements
 where kind = :kind
   and item_id = :item_id
   and revision = :revision
"""

_REVISIONS = """
select coalesce(min(revision), 0), max(revision)
  from announcements
"""

_LAST_SENT = """
select coalesce(max(revision), 0)
  from shared_versions
 where hub = :hub
   and machine_id = :machine_id
"""

_MOVE_REVISIONS = """
update announcements
   set revision = -(revision + :distance)
"""

_MARK_FOR_TEAM = """
insert into team_memories (memory_id, at)
values (:memory_id, :at)
on conflict (memory_id) do nothing
"""

_PUT_VERSION = """
insert into shared_versions (
    hub, project, kind, item_id, machine_id, machine_name, person, is_mine, revision, at, audience, recipient,
    is_removed, replaces_machine, replaces_revision, sequence, received_at, holds, redactor, body
) values (
    :hub, :project, :kind, :item_id, :machine_id, :machine_name, :person, :is_mine, :revision, :at, :audience,
    :recipient, :is_removed, :replaces_machine, :replaces_revision, :sequence, :received_at, 0, :redactor,
    :body
)
on conflict (hub, project, kind, item_id, machine_id) do update
   set machine_name      = excluded.machine_name,
       person            = excluded.person,
       is_mine           = excluded.is_mine,
       revision          = excluded.revision,
       at                = excluded.at,
       audience          = excluded.audience,
       recipient         = excluded.recipient,
       is_removed        = excluded.is_removed,
       replaces_machine  = excluded.replaces_machine,
       replaces_revision = excluded.replaces_revision,
       sequence          = excluded.sequence,
       received_at       = excluded.received_at,
       redactor          = excluded.redactor,
       body              = excluded.body
 where excluded.revision > shared_versions.revision
    or (excluded.revision = shared_versions.revision and excluded.is_removed > shared_versions.is_removed)
"""

_ONE_ITEM = """
 where hub = :hub
   and project = :project
   and kind = :kind
   and item_id = :item_id
"""

# What was written after a removal stays, where the same item may be written again.
_EMPTY_VERSIONS = f"""
update shared_versions
   set body = ''
{_ONE_ITEM}
   and person = :person
   and at <= :until
   and body <> ''
"""  # noqa: S608 - both parts are ours

_HOLD = f"""
update shared_versions
   set holds = case when machine_id = :holder then 1 else 0 end
{_ONE_ITEM}
"""  # noqa: S608 - both parts are ours

_NOTE_SENT = f"""
update shared_versions
   set received_at = :at
{_ONE_ITEM}
   and machine_id = :machine_id
   and revision = :revision
"""  # noqa: S608 - both parts are ours

_READ = """
select hub, project, kind, item_id, machine_id, machine_name, person, is_mine, revision, at, audience,
       recipient, is_removed, replaces_machine, replaces_revision, sequence, received_at, holds, body
  from shared_versions
"""

_VERSIONS = f"""
{_READ}
{_ONE_ITEM}
 order by holds desc, at desc, machine_id
"""

_VERSIONS_OF = f"""
{_READ}
 where kind = :kind
   and item_id = :item_id
 order by holds desc, at desc, hub, project, machine_id
"""

_ITEMS = f"""
{_READ}
 where holds = 1
   and body <> ''
   and (at < :behind_at or (at = :behind_at and item_id < :behind_id)){{conditions}}
 order by at desc, item_id desc
 limit :limit
"""

_ITEM = f"""
{_READ}
 where kind = :kind
   and item_id = :item_id
   and holds = 1
   and body <> ''
 order by at desc, hub, project
 limit 1
"""

_IDS_BEGINNING = """
select distinct item_id
  from shared_versions
 where kind = :kind
   and item_id >= :first
   and item_id < :last
   and holds = 1
   and body <> ''
 order by item_id
 limit :limit
"""

_WITHOUT_HOLD = f"""
{_READ}
 where holds = 0
   and body <> ''
   and at >= :since
 order by at desc, item_id desc
 limit :limit
"""

_ACKNOWLEDGED_ABOVE = f"""
{_READ}
 where hub = :hub
   and machine_id = :machine_id
   and revision > :revision
   and received_at > 0
 order by revision, item_id
"""

_ADDRESSED_TO = f"""
{_READ}
 where recipient = :person
   and holds = 1
   and body <> ''
 order by at desc, item_id desc
 limit :limit
"""

_PUT_BASE = """
insert into shared_bases (kind, item_id, machine_id, revision)
values (:kind, :item_id, :machine_id, :revision)
on conflict (kind, item_id) do update
   set machine_id = excluded.machine_id,
       revision   = excluded.revision
"""

_BASE = """
select machine_id, revision
  from shared_bases
 where kind = :kind
   and item_id = :item_id
"""

_PUT_PULL_CURSOR = """
insert into pull_cursors (hub, project, sequence)
values (:hub, :project, :sequence)
on conflict (hub, project) do update
   set sequence = excluded.sequence
"""

_PULL_CURSORS = """
select project, sequence
  from pull_cursors
 where hub = :hub
 order by project
"""

_DROP_BASES = """
delete from shared_bases
 where exists (
       select true
         from shared_versions
        where shared_versions.hub = :hub
          and shared_versions.kind = shared_bases.kind
          and shared_versions.item_id = shared_bases.item_id
       )
"""
