"""A hub on PostgreSQL, as a member uses it. Every rule about who may do what is in the database itself.

Members read tables under row-level security and write by functions; `migrations/` has both. A connection that
was lost is opened again once for each call: every call may be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from holdfast.core.sharing.identity import Machine
from holdfast.core.sharing.items import Audience, OutgoingItem, SharedItem, SharedKind, VersionRef
from holdfast.errors import HubAway, HubError, HubRefused
from holdfast.stores.hub.base import HubAuditEntry, Identification, MachineState
from holdfast.stores.hub.schema import refuse_other
from holdfast.stores.hub.texts import cleaned, cleaned_item
from holdfast.stores.postgres.connection import (
    Connection,
    PostgresAddress,
    PostgresProblem,
    ProblemKind,
    connect,
    transaction,
)

T = TypeVar("T")


class PostgresHub:
    """A member's connection. Used by one thread at a time; it raises only HubError."""

    def __init__(self, address: PostgresAddress) -> None:
        self._address = address
        with hub_errors():
            self._connection = self._connected()

    def identify(self, machine: Machine) -> Identification:
        row = self._first(_IDENTIFY, {"machine": cleaned(machine.id), "name": cleaned(machine.name)})
        return Identification(*row)

    def last_revision(self, machine: str) -> int:
        return int(self._first(_LAST_REVISION, {"machine": cleaned(machine)})[0])

    def push(self, project: str, machine: str, items: Sequence[OutgoingItem]) -> None:
        sent = [cleaned_item(item) for item in items]
        columns = {
            "kinds": [item.kind.value for item in sent],
            "ids": [item.id for item in sent],
            "revisions": [item.revision for item in sent],
            "ats": [item.at for item in sent],
            "audiences": [item.audience.value for item in sent],
            "recipients": [item.recipient if item.audience is Audience.TEAM else "" for item in sent],
            "bodies": [item.body for item in sent],
            "redactors": [item.redactor for item in sent],
            "replaced_machines": [item.replaces.machine if item.replaces else "" for item in sent],
            "replaced_revisions": [item.replaces.revision if item.replaces else 0 for item in sent],
        }
        self._first(_PUSH, {"project": cleaned(project), "machine": cleaned(machine), **columns})

    def pull(self, project: str, after: int, limit: int) -> list[SharedItem]:
        rows = self._rows(_PULL, {"project": cleaned(project), "after": after, "limit": limit})
        return [_shared_item(row) for row in rows]

    def confirm(self, project: str, machine: str, applied: int) -> None:
        named = {"project": cleaned(project), "machine": cleaned(machine), "applied": applied}
        self._first(_CONFIRM, named)

    def machines(self, project: str) -> list[MachineState]:
        rows = self._rows(_MACHINES, {"project": cleaned(project)})
        return [MachineState(Machine(id, name), *others) for id, name, *others in rows]

    def erase_own(self, project: str | None) -> int:
        named = {"project": None if project is None else cleaned(project)}
        return int(self._first(_ERASE, named)[0])

    def audit(self, limit: int) -> list[HubAuditEntry]:
        return [HubAuditEntry(*row) for row in self._rows(_AUDIT, {"limit": limit})]

    def close(self) -> None:
        self._connection.close()

    def _connected(self) -> Connection:
        connection = connect(self._address)
        try:
            _refuse_other_schema(connection, self._address.place)
        except (PostgresProblem, HubError):
            connection.close()
            raise
        return connection

    def _first(self, sql: bytes, parameters: dict[str, Any]) -> tuple[Any, ...]:
        return self._rows(sql, parameters)[0]

    def _rows(self, sql: bytes, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        def ask(connection: Connection) -> list[tuple[Any, ...]]:
            with transaction(connection, self._address.place):
                member = connection.execute(_ME).fetchone()
                if not member or member[0] is None:
                    raise HubRefused(
                        f"the hub at `{self._address.place}` no longer knows this member",
                        "ask its owner for an invitation",
                    )
                return connection.execute(sql, parameters).fetchall()

        with hub_errors():
            return self._again_if_lost(ask)

    def _again_if_lost(self, ask: Callable[[Connection], T]) -> T:
        """Ask once, and once more on a new connection if this one is gone."""
        try:
            return ask(self._connection)
        except PostgresProblem:
            if not self._connection.closed:
                raise
        self._connection = self._connected()
        return ask(self._connection)


@contextmanager
def hub_errors() -> Generator[None]:
    """Turn what went wrong with PostgreSQL into errors of a hub."""
    try:
        yield
    except PostgresProblem as problem:
        raise hub_error(problem) from problem


def hub_error(problem: PostgresProblem) -> HubError:
    """The error of a hub for what went wrong with PostgreSQL."""
    match problem.kind:
        case ProblemKind.AWAY | ProblemKind.BUSY:
            return HubAway(problem.message, problem.hint)
        case ProblemKind.UNPREPARED:
            return HubRefused(problem.message, "its owner prepares it with `holdfast hub init`")
        case ProblemKind.REFUSED:
            return HubRefused(problem.message, problem.hint)
        case ProblemKind.FAILED:
            return HubRefused(problem.message, "this is a fault of Holdfast or of the database")


def _refuse_other_schema(connection: Connection, place: str) -> None:
    with transaction(connection, place):
        row = connection.execute(_SCHEMA).fetchone()
    if row is None:
        raise HubRefused(f"the hub at `{place}` does not know this member", "ask its owner for an invitation")
    refuse_other(int(row[0]), place)


def _shared_item(row: tuple[Any, ...]) -> SharedItem:
    kind, id, revision, at, audience, body, redactor, replaced, replaced_revision, recipient, *rest = row
    person, machine, machine_name, sequence = rest
    base = VersionRef(replaced, replaced_revision) if replaced else None
    item = OutgoingItem(
        SharedKind(kind), id, revision, at, Audience(audience), body, redactor, base, recipient
    )
    return SharedItem(item, person, Machine(machine, machine_name), sequence)


_SCHEMA: Final = b"""
select version
  from holdfast_hub.schema_version
"""

_ME: Final = b"""
select holdfast_hub.me()
"""

_IDENTIFY: Final = b"""
select person, team, is_read_only, now_ms
  from holdfast_hub.identify(%(machine)s, %(name)s)
"""

_LAST_REVISION: Final = b"""
select coalesce(max(last_revision), 0)
  from holdfast_hub.machines
 where id = %(machine)s
   and person_id = (select holdfast_hub.me())
"""

_PUSH: Final = b"""
select holdfast_hub.push(
  %(project)s, %(machine)s, %(kinds)s::text[], %(ids)s::text[], %(revisions)s::bigint[], %(ats)s::bigint[],
  %(audiences)s::text[], %(recipients)s::text[], %(bodies)s::text[], %(redactors)s::text[],
  %(replaced_machines)s::text[], %(replaced_revisions)s::bigint[]
)
"""

# Each branch reads as many rows as asked for from one index, in order, however many there are.
_PULL: Final = b"""
with here as (
  select p.id as project_id,
         holdfast_hub.me() as person_id,
         holdfast_hub.my_name() as person
    from holdfast_hub.projects p
   where p.team_id = (select holdfast_hub.my_team())
     and p.name = %(project)s
),
changes as (
  (select v.*
     from holdfast_hub.versions v
    where v.project_id = (select project_id from here)
      and v.sequence > %(after)s
      and v.audience = 'team'
      and v.recipient = ''
      and v.person_id <> (select person_id from here)
    order by v.project_id, v.sequence
    limit %(limit)s)
  union all
  (select v.*
     from holdfast_hub.versions v
    where v.project_id = (select project_id from here)
      and v.person_id = (select person_id from here)
      and v.sequence > %(after)s
      and not v.is_withdrawn
    order by v.project_id, v.person_id, v.sequence
    limit %(limit)s)
  union all
  (select v.*
     from holdfast_hub.versions v
    where v.project_id = (select project_id from here)
      and v.recipient = (select person from here)
      and v.sequence > %(after)s
      and v.audience = 'team'
      and v.recipient <> ''
      and v.person_id <> (select person_id from here)
    order by v.project_id, v.recipient, v.sequence
    limit %(limit)s)
   order by sequence
   limit %(limit)s
)
select c.kind, c.item_id, c.revision, c.at, c.audience, c.body, c.redactor, c.replaces_machine,
       c.replaces_revision, c.recipient, p.name, m.id, m.name, c.sequence
  from changes c
  join holdfast_hub.members p on p.id = c.person_id
  join holdfast_hub.machines m on m.number = c.machine_number
 order by c.sequence
"""

_CONFIRM: Final = b"""
select holdfast_hub.confirm(%(project)s, %(machine)s, %(applied)s)
"""

_MACHINES: Final = b"""
select m.id, m.name, p.name, m.last_seen_at, a.sequence
  from holdfast_hub.applied a
  join holdfast_hub.machines m on m.number = a.machine_number
  join holdfast_hub.members p on p.id = m.person_id
 where a.project_id = (
         select id
           from holdfast_hub.projects
          where team_id = (select holdfast_hub.my_team())
            and name = %(project)s
       )
 order by m.last_seen_at desc, m.id
"""

_ERASE: Final = b"""
select holdfast_hub.erase_own(%(project)s::text)
"""

_AUDIT: Final = b"""
select at, person, machine, action, project, kind, item_id
  from (
    (select *
       from holdfast_hub.audit
      where team_id = (select holdfast_hub.my_team())
        and is_for_team
        and person_id <> (select holdfast_hub.me())
      order by team_id desc, id desc
      limit %(limit)s)
    union all
    (select *
       from holdfast_hub.audit
      where person_id = (select holdfast_hub.me())
      order by person_id desc, id desc
      limit %(limit)s)
  ) as visible
 order by id desc
 limit %(limit)s
"""
