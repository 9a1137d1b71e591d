"""A hub on a real PostgreSQL for tests: its owner, its members, and raw connections as each of them."""

from __future__ import annotations

import itertools
import secrets
from pathlib import Path
from typing import Any

import psycopg

from holdfast.stores.hub.base import Hub, Invitation
from holdfast.stores.hub.owner import PostgresHubOwner
from holdfast.stores.hub.postgres import PostgresHub
from holdfast.stores.postgres.connection import PostgresAddress
from tests.postgres.server import Address
from tests.stores.hub.contract import Place


class PostgresRoom:
    """A database with a hub in it. Close it."""

    def __init__(self, server: Address, database: str, owner: str, password: str, folder: Path) -> None:
        self.server = server
        self.database = database
        self.invitations: dict[str, Invitation] = {}
        self._folder = folder
        self._numbers = itertools.count()
        self._open: list[psycopg.Connection[Any]] = []
        self.owner_login = Invitation(owner, password)
        self.owner = PostgresHubOwner(self.address(self.owner_login))
        self.was_prepared = self.owner.prepare()
        self.place = Place(self.owner, self._log_in)

    def address(self, invitation: Invitation) -> PostgresAddress:
        """Where and as whom to log in, with the password in a file."""
        file = self._folder / f"password-{next(self._numbers)}"
        file.touch(0o600)
        file.write_text(f"{invitation.password}\n", encoding="utf-8")
        return PostgresAddress(self.server.url(self.database, invitation.login), str(file))

    def sql(self, name: str) -> psycopg.Connection[Any]:
        """A raw connection of a member, as any program may open one."""
        return self._raw(self.invitations[name])

    def owner_sql(self) -> psycopg.Connection[Any]:
        """A raw connection of the owner."""
        return self._raw(self.owner_login)

    def superuser_sql(self) -> psycopg.Connection[Any]:
        return self._kept(psycopg.connect(self.server.url(self.database), autocommit=True))

    def close(self) -> None:
        for each in self._open:
            each.close()
        self.place.close()

    def _log_in(self, invitation: Invitation) -> Hub:
        self.invitations[invitation.login.rpartition("_person_")[2]] = invitation
        return PostgresHub(self.address(invitation))

    def _raw(self, invitation: Invitation) -> psycopg.Connection[Any]:
        url = self.server.url(self.database, invitation.login)
        return self._kept(psycopg.connect(url, password=invitation.password, autocommit=True))

    def _kept(self, connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
        self._open.append(connection)
        return connection


def room_on(server: Address, database: str, folder: Path) -> PostgresRoom:
    """A hub in that database, prepared by an owner who is no superuser."""
    owner, password = f"owner_of_{database}", secrets.token_hex()
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create role {owner} login createrole password '{password}'".encode())
        connection.execute(f"alter database {database} owner to {owner}".encode())
    return PostgresRoom(server, database, owner, password, folder)
