"""A hub on PostgreSQL, as the owner of the database uses it: prepares it, invites and revokes people.

The owner needs no superuser: to own the database and to be allowed to create roles is enough.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from holdfast.errors import HubRefused
from holdfast.stores.hub.base import Invitation, Member
from holdfast.stores.hub.names import checked_name
from holdfast.stores.hub.postgres import hub_errors
from holdfast.stores.hub.schema import HubRoles, migrate, quoted, refuse_other, shipped
from holdfast.stores.postgres.connection import (
    Connection,
    PostgresAddress,
    connect,
    require_driver,
    transaction,
)

OLDEST_SERVER: Final = 140_000
"""PostgreSQL 14."""
_WITH_INHERIT: Final = 160_000
"""From this version on, a grant says whether it is inherited."""
_PASSWORD_BYTES: Final = 32
_END_MS: Final = 5_000


class PostgresHubOwner:
    """The owner's connection. Used by one thread at a time; it raises only HubError."""

    def __init__(self, address: PostgresAddress) -> None:
        self._place = address.place
        with hub_errors():
            self._connection = connect(address)
            self.roles = HubRoles(self._connection.info.dbname)

    def prepare(self) -> bool:
        if self._connection.info.server_version < OLDEST_SERVER:
            raise HubRefused(f"the PostgreSQL at `{self._place}` is older than 14", "use a later one")
        with self._transaction() as connection:
            version = self._version(connection)
            if version > shipped()[-1].version:
                refuse_other(version, self._place)
            were_roles_missing = self._make_groups(connection)
            _run(connection, f"create schema if not exists holdfast_hub authorization {self._owner}")
            self._become_owner(connection)
            return migrate(connection, self.roles, version) or were_roles_missing

    def invite(self, name: str, team: str, *, is_read_only: bool) -> Invitation:
        name, team = checked_name(name, "person"), checked_name(team, "team")
        login, password = self.roles.person(name), secrets.token_urlsafe(_PASSWORD_BYTES)
        with self._transaction() as connection:
            self._refuse_unprepared(connection)
            known = self._member(connection, name)
            if known and known.name != name:
                raise HubRefused(f"there is `{known.name}` already", "invite the person by another name")
            if known and known.team != team:
                raise HubRefused(
                    f"`{known.name}` is in the team `{known.team}`", "invite the person by another name"
                )
            self._make_role(connection, login, f"login password {self._secret(login, password)}")
            self._make_role(connection, self.roles.team(team), "nologin")
            person, group = quoted(login), quoted(self.roles.team(team))
            writers = quoted(self.roles.writers)
            _run(connection, f"alter role {person} set search_path = pg_catalog")
            _run(connection, f"grant {quoted(self.roles.readers)} to {group}")
            _run(connection, f"grant {group} to {person}")
            if is_read_only:
                _run(connection, f"revoke {writers} from {person}")
            else:
                _run(connection, f"grant {writers} to {person}")
            self._become_owner(connection)
            connection.execute(_ADD_TEAM, {"team": team})
            named = {"role": login, "name": name, "team": team, "is_read_only": is_read_only}
            connection.execute(_ADD_MEMBER, named)
            self._note(connection, "invited", name)
        return Invitation(login, password)

    def revoke(self, name: str) -> None:
        with self._transaction() as connection:
            self._refuse_unprepared(connection)
            known = self._member(connection, name)
            if known is None:
                raise HubRefused(f"`{name}` was never invited", "`holdfast hub members` lists who was")
            login = self.roles.person(known.name)
            person = quoted(login)
            _run(connection, f"alter role {person} nologin password null")
            _run(connection, f"revoke {quoted(self.roles.writers)} from {person}")
            _run(connection, f"revoke {quoted(self.roles.team(known.team))} from {person}")
            self._become_owner(connection)
            if not known.revoked_at:
                connection.execute(_REVOKE, {"role": login})
                self._note(connection, "revoked", known.name)
        self._end_connections(login)

    def members(self) -> list[Member]:
        with self._transaction() as connection:
            self._refuse_unprepared(connection)
            self._become_owner(connection)
            return [Member(*row) for row in connection.execute(_MEMBERS).fetchall()]

    def close(self) -> None:
        self._connection.close()

    @property
    def _owner(self) -> str:
        return quoted(self.roles.owner)

    @contextmanager
    def _transaction(self) -> Generator[Connection]:
        """One transaction, while no other owner prepares, invites or revokes."""
        with hub_errors(), transaction(self._connection, self._place):
            self._connection.execute(_ONE_AT_A_TIME)
            yield self._connection

    def _become_owner(self, connection: Connection) -> None:
        _run(connection, f"set local role {self._owner}")

    def _refuse_unprepared(self, connection: Connection) -> None:
        refuse_other(self._version(connection), self._place)

    def _version(self, connection: Connection) -> int:
        """The version of the schema; 0 if there is none."""
        row = connection.execute(_HAS_SCHEMA).fetchone()
        if not row or not row[0]:
            return 0
        self._become_owner(connection)
        row = connection.execute(_VERSION).fetchone()
        _run(connection, "reset role")
        return int(row[0]) if row else 0

    def _member(self, connection: Connection, name: str) -> Member | None:
        self._become_owner(connection)
        row = connection.execute(_MEMBER, {"name": name}).fetchone()
        _run(connection, "reset role")
        return Member(*row) if row else None

    def _make_groups(self, connection: Connection) -> bool:
        """The roles that every hub has; returns whether one was missing."""
        roles = self.roles
        missing = [
            self._make_role(connection, role, "nologin")
            for role in (roles.owner, roles.readers, roles.writers)
        ]
        _run(connection, f"grant {self._owner} to current_user")
        database = quoted(connection.info.dbname)
        _run(connection, f"grant connect on database {database} to {quoted(roles.readers)}")
        return any(missing)

    def _make_role(self, connection: Connection, role: str, how: str) -> bool:
        """Make the role, or change the one there is; returns whether there was none."""
        is_there = connection.execute(_HAS_ROLE, {"role": role}).fetchone()
        _run(connection, f"{'alter' if is_there else 'create'} role {quoted(role)} {how}")
        return not is_there

    def _secret(self, login: str, password: str) -> str:
        """What the server needs to check the password; not the password, which would be in its log."""
        pq = require_driver().pq
        encrypted: bytes = self._connection.pgconn.encrypt_password(
            password.encode(), login.encode(), b"scram-sha-256"
        )
        return str(pq.Escaping(self._connection.pgconn).escape_literal(encrypted), "ascii")

    def _end_connections(self, login: str) -> None:
        """End every connection of that role; nobody can open another one."""
        connection, person = self._connection, quoted(login)
        with hub_errors(), transaction(connection, self._place):
            # To end somebody's connection, one must have their rights.
            inherit = " with inherit true" if connection.info.server_version >= _WITH_INHERIT else ""
            _run(connection, f"grant {person} to current_user{inherit}")
            connection.execute(_END, {"role": login, "wait": _END_MS})
            _run(connection, f"revoke {person} from current_user")

    def _note(self, connection: Connection, action: str, name: str) -> None:
        connection.execute(_ENSURE_MONTH)
        connection.execute(_NOTE, {"action": action, "name": name})


def _run(connection: Connection, statement: str) -> None:
    connection.execute(statement.encode())


_ONE_AT_A_TIME: Final = b"""
select pg_advisory_xact_lock(hashtextextended('holdfast_hub', 0))
"""

_HAS_SCHEMA: Final = b"""
select exists (
  select
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = 'holdfast_hub'
     and c.relname = 'schema_version'
)
"""

_VERSION: Final = b"""
select version
  from holdfast_hub.schema_version
"""

_HAS_ROLE: Final = b"""
select true
  from pg_catalog.pg_roles
 where rolname = %(role)s
"""

_ADD_TEAM: Final = b"""
insert into holdfast_hub.teams (name)
values (%(team)s)
on conflict do nothing
"""

_ADD_MEMBER: Final = b"""
insert into holdfast_hub.members (role, name, team_id, is_read_only, invited_at)
select %(role)s, %(name)s, id, %(is_read_only)s, holdfast_hub.clock_ms()
  from holdfast_hub.teams
 where name = %(team)s
on conflict (role) do update
   set is_read_only = excluded.is_read_only,
       invited_at = excluded.invited_at,
       revoked_at = 0
"""

_REVOKE: Final = b"""
update holdfast_hub.members
   set revoked_at = holdfast_hub.clock_ms()
 where role = %(role)s
"""

_MEMBER: Final = b"""
select m.name, t.name, m.is_read_only, m.invited_at, m.revoked_at
  from holdfast_hub.members m
  join holdfast_hub.teams t on t.id = m.team_id
 where lower(m.name) = lower(%(name)s)
"""

_MEMBERS: Final = b"""
select m.name, t.name, m.is_read_only, m.invited_at, m.revoked_at
  from holdfast_hub.members m
  join holdfast_hub.teams t on t.id = m.team_id
 order by m.name
"""

_ENSURE_MONTH: Final = b"""
select holdfast_hub.ensure_audit_month(holdfast_hub.clock_ms())
"""

_NOTE: Final = b"""
insert into holdfast_hub.audit
  (at, team_id, person_id, person, machine, action, project, kind, item_id, is_for_team)
select holdfast_hub.clock_ms(), m.team_id, 0, session_user, '', %(action)s, '', 'person', m.name, true
  from holdfast_hub.members m
 where m.name = %(name)s
"""

_END: Final = b"""
select pg_catalog.pg_terminate_backend(pid, %(wait)s)
  from pg_catalog.pg_stat_activity
 where usename = %(role)s
"""
